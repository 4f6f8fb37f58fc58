//! What ours is measured against: each peer does the same job in its own best way.

pub(crate) mod by_hand;
pub(crate) mod group_commit;
pub(crate) mod native;
pub(crate) mod old_azure;
pub(crate) mod python;
pub(crate) mod redb;
pub(crate) mod sqlite;
pub(crate) mod sqlite_batch;
pub(crate) mod stored_row;

/// Rows that one commit of a load writes.
pub(crate) const LOAD_BATCH: usize = 1_600;
