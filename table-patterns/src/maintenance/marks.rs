//! Rows of the protocols that are no copies: what they are, and whether somebody still comes for them.

use std::time::Duration;

use table_core::keys::{KeyRange, Span};
use table_core::store::StoreQuery;
use table_core::{DynamicEntity, EntityKey, Result, Table, Timestamp, Value, reserved};

use crate::denormalization::is_of_copies;
use crate::index_entities::is_of_lists;
use crate::intent::rows::{self, INTENT_PREFIX};

/// A row of the protocol that is no copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Claim,
    Tombstone,
    Intent,
    Fence,
}

impl Mark {
    pub(crate) fn of(row: &DynamicEntity) -> Option<Self> {
        match row.get(reserved::ROW_KIND.as_str()).and_then(Value::as_str)? {
            reserved::TOMBSTONE_KIND => Some(Self::Tombstone),
            reserved::INTENT_KIND => Some(Self::Intent),
            reserved::FENCE_KIND => Some(Self::Fence),
            kind => kind.starts_with(reserved::CLAIM_KIND_PREFIX).then_some(Self::Claim),
        }
    }

    /// What it is called where a finding names an index, none of which can be called so.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Claim => "~claim",
            Self::Tombstone => "~tombstone",
            Self::Intent => "~intent",
            Self::Fence => "~fence",
        }
    }
}

/// Whether an intent or a fence is one of indexes, and not of copies or lists.
pub(crate) fn is_of_indexes(row: &DynamicEntity) -> bool {
    !is_of_copies(row) && !is_of_lists(row)
}

/// Whether a row stands for so long that nobody comes for it any more.
pub(crate) fn is_overdue(row: &DynamicEntity, now: Timestamp, grace: Duration) -> bool {
    let written = row.timestamp.or_else(|| row.etag.as_ref().and_then(table_core::ETag::timestamp));
    written.is_some_and(|written| now.saturating_since(written) > grace * 2)
}

/// Whether an entity has an intent of some sort that somebody comes for.
pub(crate) async fn has_intent(
    table: &Table,
    entity: &EntityKey,
    now: Timestamp,
    grace: Duration,
    is_meant: impl Fn(&DynamicEntity) -> bool,
) -> Result<bool> {
    has_any_intent(table, entity, |row| is_meant(row) && !is_overdue(row, now, grace)).await
}

/// Whether an entity has an intent of some sort, however old.
pub(crate) async fn has_any_intent(
    table: &Table,
    entity: &EntityKey,
    is_meant: impl Fn(&DynamicEntity) -> bool,
) -> Result<bool> {
    let partition = KeyRange::partition(&entity.partition).partition;
    let mut query = StoreQuery::new(KeyRange { partition, row: Span::prefix(INTENT_PREFIX) });
    let owner = rows::owner(table, entity);
    loop {
        let page = table.store().query(table.name(), &query).await?;
        let found = page.entities.iter().any(|row| {
            let is_of_entity = row.get(reserved::ROW_OWNER.as_str()).and_then(Value::as_str) == Some(owner.as_str());
            is_of_entity && Mark::of(row) == Some(Mark::Intent) && is_meant(row)
        });
        if found || page.next.is_none() {
            return Ok(found);
        }
        query.after = page.next;
    }
}
