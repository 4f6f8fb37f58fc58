//! What the example apps share. The examples themselves live beside this folder: each app in a folder of its own, and
//! each pattern in a file of `patterns`.

mod store;

pub use store::{OpenStore, StoreChoice};
