//! Keys: raw ones, and the template codec that writes fields into them and reads them back.
//!
//! A key is text, since the service's are. The invariant of this module: two different field
//! tuples never give one key, a key gives its fields back exactly, and keys sort by UTF-16 code
//! unit as the fields do. `docs/key-encoding.md` specifies every form.

mod bucket;
mod calendar;
mod format;
mod number;
mod part;
mod prefix;
mod raw;
mod sort_key;
mod span;
pub(crate) mod straight;
mod template;
mod text;
pub(crate) mod utf16;

pub use bucket::Buckets;
pub use calendar::Calendar;
pub use format::{PartFormat, PartSpec};
pub use part::{KeyPart, KeyValue, PartKind};
pub use prefix::KeyPrefix;
pub use raw::{EntityKey, PartitionKey, RowKey};
pub use sort_key::SortKey;
pub use span::{KeyRange, Span};
pub use template::{KeyTemplate, TemplatePart};
