//! What a sabotage makes of one write.

use table_core::{Action, DynamicEntity, ETag, EntityKey, IfMatch, TableName, Value, reserved};

use super::Sabotage;

/// The table whose rows are those of an index.
pub(super) const INDEX_TABLE: &str = "EmployeesByEmail";
/// The table whose rows are lists.
const LIST_TABLE: &str = "EmployeesByCity";

/// Whether the rows of a table are copies of what others say.
pub(super) fn holds_copies(table: &TableName) -> bool {
    matches!(table.as_str(), INDEX_TABLE | LIST_TABLE | TARGET_TABLE)
}

/// The table of sources that others copy.
pub(super) const SOURCE_TABLE: &str = "Products";
/// The table of those that copy them.
pub(super) const TARGET_TABLE: &str = "Shelves";

/// What becomes of a write.
pub(super) enum Altered {
    /// It is made, perhaps another one.
    Write(Action),
    /// It is left out, and its answer is this version.
    Skip(ETag),
}

/// The version of a row that was never written.
pub(super) fn no_version() -> ETag {
    ETag::from("never written")
}

/// What a row is, where it is no entity.
pub(super) fn kind(row: &DynamicEntity) -> &str {
    row.get(reserved::ROW_KIND.as_str()).and_then(Value::as_str).unwrap_or_default()
}

fn is_index_row(row: &DynamicEntity) -> bool {
    let kind = kind(row);
    let is_copy = kind.starts_with(reserved::INDEX_KIND_PREFIX) || kind.starts_with("list:");
    is_copy || kind == reserved::TOMBSTONE_KIND || is_claim(kind)
}

fn is_claim(kind: &str) -> bool {
    kind.starts_with(reserved::CLAIM_KIND_PREFIX)
}

impl Sabotage {
    /// What becomes of a write, where that depends on nothing that was read.
    pub(super) fn alter(self, table: &TableName, action: Action) -> Altered {
        if table.as_str() == "Archive" {
            self.alter_archive(action)
        } else if table.as_str() == TARGET_TABLE {
            self.alter_target(action)
        } else if action.entity().is_some_and(is_index_row) {
            self.alter_index(action)
        } else {
            self.alter_source(action)
        }
    }

    fn alter_index(self, action: Action) -> Altered {
        let written = action.entity().map(|row| kind(row).to_owned()).unwrap_or_default();
        match (self, written.as_str(), action) {
            (Self::NoTombstone, reserved::TOMBSTONE_KIND, Action::Replace(row, condition)) => {
                Altered::Write(Action::Delete(row.key, condition))
            }
            (Self::NoTombstone, reserved::TOMBSTONE_KIND, _) => Altered::Skip(no_version()),
            (Self::NoClaim, kind, action) if is_claim(kind) => Altered::Skip(version_of(&action)),
            (Self::UnconditionalIndexWrites, kind, Action::Insert(row) | Action::Replace(row, _))
                if !is_claim(kind) =>
            {
                Altered::Write(Action::InsertOrReplace(row))
            }
            (_, _, action) => Altered::Write(action),
        }
    }

    fn alter_archive(self, action: Action) -> Altered {
        let is_tombstone = action.entity().is_some_and(|row| kind(row) == reserved::TOMBSTONE_KIND);
        match (self, action) {
            (Self::ArchiveCopiesWithoutCondition, Action::Insert(row) | Action::Replace(row, _)) => {
                Altered::Write(Action::InsertOrReplace(row))
            }
            (Self::ArchiveLeavesNoTombstone, Action::Replace(row, condition)) if is_tombstone => {
                Altered::Write(Action::Delete(row.key, condition))
            }
            (Self::ArchiveLeavesNoTombstone, _) if is_tombstone => Altered::Skip(no_version()),
            (_, action) => Altered::Write(action),
        }
    }

    fn alter_target(self, action: Action) -> Altered {
        Altered::Write(match (self, action) {
            (Self::UnconditionalTargetWrites, Action::Replace(row, _)) => Action::Replace(row, IfMatch::Any),
            (_, action) => action,
        })
    }

    fn alter_source(self, action: Action) -> Altered {
        match (self, action) {
            (Self::ArchiveDeletesWithoutCondition, Action::Delete(key, _)) => {
                Altered::Write(Action::Delete(key, IfMatch::Any))
            }
            (Self::ArchiveLeavesNoFence, Action::Insert(row)) if is_named(&row.key, "~moved_") => {
                Altered::Skip(no_version())
            }
            (_, action) => Altered::Write(action),
        }
    }

    /// Hides from the code what it shall not see of a row that it reads.
    pub(super) fn hide(self, table: &TableName, mut row: DynamicEntity) -> DynamicEntity {
        if table.as_str() == INDEX_TABLE && self == Self::NoOwner {
            row.properties.remove(reserved::ROW_OWNER.as_str());
        }
        row
    }
}

pub(super) fn is_named(key: &EntityKey, prefix: &str) -> bool {
    key.row.as_str().starts_with(prefix)
}

/// The version that a write was to replace.
fn version_of(action: &Action) -> ETag {
    match action.if_match() {
        Some(IfMatch::Version(etag)) => etag.clone(),
        _ => no_version(),
    }
}
