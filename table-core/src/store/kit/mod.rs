//! Parts that every store of our own is made of: times that never repeat, what a write does to a
//! row, and where the pages of a query begin and end.
//!
//! A store that keeps its own order of keys as [`SortKey`](crate::SortKey) bytes needs little more.

mod change;
mod scan;
mod stamps;
mod token;

pub use change::{Change, Current};
pub use scan::{ROWS_LOOKED_AT, Scan, Step};
pub use stamps::Stamps;
pub use token::{key_of_token, table_of_token, token_of_key, token_of_table};
