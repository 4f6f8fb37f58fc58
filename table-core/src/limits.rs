//! Every number of the table and queue services, once.
//!
//! Nothing else in the workspace spells one of these out. Keys, names and operations are checked
//! when they are made, so a store only ever sees data that the service would take.

/// UTF-16 code units in a partition key or a row key (1 KiB).
pub const KEY_UTF16_UNITS: usize = 512;
/// Properties of an entity beside its keys and timestamp.
pub const ENTITY_PROPERTIES: usize = 252;
/// Bytes of an entity in all, strings counted as UTF-16.
pub const ENTITY_BYTES: usize = 1024 * 1024;
/// UTF-16 code units of a string property (64 KiB).
pub const STRING_UTF16_UNITS: usize = 32 * 1024;
/// Bytes of a binary property.
pub const BINARY_BYTES: usize = 64 * 1024;
/// Characters of a property name.
pub const PROPERTY_NAME_CHARS: usize = 255;
/// Fewest characters of a table name.
pub const TABLE_NAME_MIN_CHARS: usize = 3;
/// Most characters of a table name.
pub const TABLE_NAME_MAX_CHARS: usize = 63;
/// Fewest characters of a queue name.
pub const QUEUE_NAME_MIN_CHARS: usize = 3;
/// Most characters of a queue name.
pub const QUEUE_NAME_MAX_CHARS: usize = 63;
/// Operations of one entity group transaction.
pub const TRANSACTION_OPERATIONS: usize = 100;
/// Bytes of one entity group transaction.
pub const TRANSACTION_BYTES: usize = 4 * 1024 * 1024;
/// Entities on one page of a query, tables on one page of a listing.
pub const PAGE_ENTITIES: usize = 1000;
/// Bytes of a queue message's body: 64 KiB once it is base64 text.
pub const MESSAGE_BYTES: usize = 48 * 1024;
/// Messages that one receive or peek returns.
pub const RECEIVE_MESSAGES: usize = 32;
/// The longest time that a message stays hidden: seven days.
pub const VISIBILITY_SECONDS: u64 = 7 * 24 * 60 * 60;
/// The time to live of a message for which none is given: seven days.
pub const DEFAULT_TIME_TO_LIVE_SECONDS: u64 = 7 * 24 * 60 * 60;
/// The first year that a DateTime property can hold.
pub const DATE_TIME_FIRST_YEAR: i32 = 1601;
