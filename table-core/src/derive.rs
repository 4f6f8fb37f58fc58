//! The derive macros under the names of their traits.

pub use table_derive::{Entity, EntitySet, Flatten, Projection, Property};
