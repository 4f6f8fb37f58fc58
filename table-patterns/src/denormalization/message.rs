//! What the protocol puts on the queue.

use serde::{Deserialize, Serialize};
use table_core::query::Continuation;
use table_core::{DynamicEntity, Entity, Result, Table};

use super::KeepsCopies;
use super::targets::{Lookup, Targets};
use crate::intent::{Keeper, Named, rows};

/// What the names of these intents begin with, by which they are told from those of indexes beside them.
const COPY_ID: &str = "copy_";

/// A source has changed: where its targets are found, and how far they are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Behind {
    /// The lookups that are not done.
    lookups: Vec<Lookup>,
    /// Where the first of them goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<Continuation>,
}

impl Named for Behind {
    const KIND: &'static str = "table-patterns/copies";
}

impl Behind {
    /// The targets of a source before and after a change.
    pub(super) fn of<T: Entity>(targets: impl IntoIterator<Item = Targets<T>>) -> Result<Self> {
        let lookups = targets.into_iter().filter_map(|targets| targets.lookup().transpose());
        let mut lookups = lookups.collect::<Result<Vec<_>>>()?;
        lookups.sort_unstable();
        lookups.dedup();
        Ok(Self { lookups, after: None })
    }

    /// What is to be read next; none where everything is done.
    pub(super) fn next(&self) -> Option<(&Lookup, Option<&Continuation>)> {
        self.lookups.first().map(|lookup| (lookup, self.after.as_ref()))
    }

    /// Notes that a page is done, and where the next begins.
    pub(super) fn done(&mut self, next: Option<Continuation>) {
        if next.is_none() && !self.lookups.is_empty() {
            self.lookups.remove(0);
        }
        self.after = next;
    }
}

/// A target was pointed at a source that may have changed meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pointed {}

impl Named for Pointed {
    const KIND: &'static str = "table-patterns/copy";
}

/// Which messages a worker of these copies has, by what they are about.
pub(super) fn scope<T: KeepsCopies>(about: About, sources: &Table, targets: &Table) -> String {
    let lower = |table: &Table| table.name().as_str().to_ascii_lowercase();
    let about = match about {
        About::Sources => "sources",
        About::Targets => "targets",
    };
    let (source, target) = (T::Source::SCHEMA.name, T::SCHEMA.name);
    format!("{about}/{}/{source}/{}/{target}", lower(sources), lower(targets))
}

/// Whose intents they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    Sources,
    Targets,
}

/// A new name for an intent.
pub(super) fn new_id() -> String {
    format!("{COPY_ID}{}", Keeper::new_id())
}

/// Whether an intent or a fence is one of copies, and not of an index.
pub(crate) fn is_of_copies(row: &DynamicEntity) -> bool {
    let name = row.key.row.as_str().strip_prefix(rows::INTENT_PREFIX);
    name.is_some_and(|name| name.starts_with(COPY_ID))
}
