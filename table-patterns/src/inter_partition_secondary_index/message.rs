//! What the message of an intent names.

use serde::{Deserialize, Serialize};
use table_core::{Entity, Table};

use super::place::Place;
use crate::intent::Named;

/// The index rows of an entity's old and new keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Places {
    pub(super) places: Vec<Place>,
}

impl Named for Places {
    const KIND: &'static str = "table-patterns/index";
}

/// Which messages a worker of an entity's indexes has: those of its type in its table.
pub(super) fn scope<E: Entity>(table: &Table) -> String {
    format!("{}/{}", table.name().as_str().to_ascii_lowercase(), E::SCHEMA.name)
}
