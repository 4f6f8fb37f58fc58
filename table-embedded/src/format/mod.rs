//! The bytes of the file: what each redb table holds. `docs/file-format.md` specifies them.

pub(crate) mod catalog;
pub(crate) mod message;
pub(crate) mod names;
pub(crate) mod row;
