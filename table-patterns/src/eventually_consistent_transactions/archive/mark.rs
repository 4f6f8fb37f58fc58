//! What a copy in the archive says about itself, until it is settled.

use table_core::{DynamicEntity, Value, reserved};
use uuid::Uuid;

/// Whose copy a row of the archive is, and of what.
///
/// Copies of one version share their copy id, whichever messages write them: by it a worker learns whether
/// anybody has moved that version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    /// The copy, which the move's fence names.
    pub(super) copy: String,
    /// The message that wrote it last.
    pub(super) message: String,
    /// Whether something stood there that was not known to be a copy under way.
    pub(super) replaces: bool,
    /// The version of the current row that was copied.
    pub(super) version: String,
}

impl Mark {
    /// The mark of a copy by this message, in place of what was found in the archive.
    pub(super) fn new(message: &str, found: &DynamicEntity, archived: Option<&DynamicEntity>) -> Self {
        let version = found.etag.as_ref().map(ToString::to_string).unwrap_or_default();
        let message = message.to_owned();
        let before = archived.and_then(Self::of);
        match (archived, before) {
            (Some(_), Some(before)) if before.version == version => Self { message, ..before },
            (Some(_), Some(before)) if before.message == message => Self { copy: copy_id(), version, ..before },
            (archived, _) => Self { copy: copy_id(), message, replaces: archived.is_some(), version },
        }
    }

    /// The mark of a row, where it bears one.
    pub(super) fn of(row: &DynamicEntity) -> Option<Self> {
        let text = row.get(reserved::ROW_TOKEN.as_str()).and_then(Value::as_str)?;
        let mut words = text.splitn(4, ' ');
        let (copy, message) = (words.next()?.to_owned(), words.next()?.to_owned());
        let replaces = words.next()? == "replaces";
        Some(Self { copy, message, replaces, version: words.next()?.to_owned() })
    }

    /// The mark as a row bears it.
    pub(super) fn value(&self) -> Value {
        let Self { copy, message, version, .. } = self;
        let kind = if self.replaces { "replaces" } else { "new" };
        Value::from(format!("{copy} {message} {kind} {version}"))
    }
}

fn copy_id() -> String {
    Uuid::new_v4().simple().to_string()
}
