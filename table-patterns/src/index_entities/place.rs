//! Where lists stand.

use std::fmt;

use serde::{Deserialize, Serialize};
use table_core::keys::{KeyTemplate, KeyValue, PartFormat, TemplatePart};
use table_core::{Entity, EntityKey, Error, PartitionKey, Result, RowKey, Table, TableName};

use super::list::Lines;

/// `list_Employee:last_name:Jones`: the row key of a list beside its entities, and the partition key of one elsewhere
/// in their table. With the type in it, lists of one name share no row.
const HERE: KeyTemplate = KeyTemplate::new(&[TemplatePart::Literal("list_"), TYPE, COLON, LIST, COLON, VALUE]);

/// `list:employees:Employee:city:Berlin`: the partition key of a list in another table, which may have such lists of
/// other tables, and of its own.
const THERE: KeyTemplate =
    KeyTemplate::new(&[TemplatePart::Literal("list:"), TABLE, COLON, TYPE, COLON, LIST, COLON, VALUE]);

const COLON: TemplatePart = TemplatePart::Literal(":");
const TABLE: TemplatePart = up_to_a_colon("table");
const TYPE: TemplatePart = up_to_a_colon("type");
const LIST: TemplatePart = up_to_a_colon("list");
const VALUE: TemplatePart = TemplatePart::Field { name: "value", format: PartFormat::Text { terminator: None } };

const fn up_to_a_colon(name: &'static str) -> TemplatePart {
    TemplatePart::Field { name, format: PartFormat::Text { terminator: Some(':') } }
}

/// Where a list stands, and in what.
///
/// ```
/// use table_patterns::index_entities::ListPlace;
///
/// let by_city = ListPlace::table("EmployeesByCity").in_blob();
/// assert_ne!(by_city, ListPlace::partition());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPlace {
    stands: Stands,
    pub(super) always_in_blob: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Beside,
    Partition,
    Table(&'static str),
}

impl ListPlace {
    /// Beside its entities: a list for each value and partition, which changes in the same transaction.
    #[must_use]
    pub const fn beside() -> Self {
        Self { stands: Stands::Beside, always_in_blob: false }
    }

    /// In a partition of its own, in the table of its entities: one list for each value, of entities of all
    /// partitions. A mover keeps it.
    #[must_use]
    pub const fn partition() -> Self {
        Self { stands: Stands::Partition, always_in_blob: false }
    }

    /// As [`partition`](ListPlace::partition), in another table of the same store.
    #[must_use]
    pub const fn table(name: &'static str) -> Self {
        Self { stands: Stands::Table(name), always_in_blob: false }
    }

    /// Keeps the keys always in a blob, with a reference in the row.
    #[must_use]
    pub const fn in_blob(mut self) -> Self {
        self.always_in_blob = true;
        self
    }

    /// The table where it stands, if that is another.
    pub(super) const fn other_table(self) -> Option<&'static str> {
        match self.stands {
            Stands::Table(name) => Some(name),
            Stands::Beside | Stands::Partition => None,
        }
    }
}

impl fmt::Display for ListPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.stands {
            Stands::Beside => f.write_str("beside its entities")?,
            Stands::Partition => f.write_str("in a partition of its own")?,
            // Tables are told apart without regard to case.
            Stands::Table(name) => write!(f, "in the table {}", name.to_ascii_lowercase())?,
        }
        f.write_str(if self.always_in_blob { " in blobs" } else { "" })
    }
}

/// A declared list: its name, where it stands, and the value by which an entity is listed.
pub(super) struct List<E> {
    pub(super) name: &'static str,
    pub(super) place: ListPlace,
    pub(super) value: fn(&E) -> Option<String>,
}

impl<E> List<E> {
    /// Whether no transaction spans it and its entities.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.place.stands != Stands::Beside
    }

    pub(super) fn lines(&self) -> Lines {
        if self.is_elsewhere() { Lines::Keys } else { Lines::Rows }
    }
}

impl<E: Entity> List<E> {
    /// Where the list of a value stands, for entities of a partition.
    pub(super) fn spot(&self, source: &Table, partition: &PartitionKey, value: &str) -> Result<Spot> {
        let table = self.place.other_table().map_or_else(|| Ok(source.name().clone()), TableName::new)?;
        let (template, values) = self.name_in(source, &table, value);
        let key = if self.is_elsewhere() {
            EntityKey::new(template.partition_key(&values)?, RowKey::new("")?)
        } else {
            EntityKey::new(partition.clone(), template.row_key(&values)?)
        };
        Ok(Spot { list: self.name.to_owned(), table, key })
    }

    /// What the list of a value is called in a table.
    fn name_in<'v>(&self, source: &Table, table: &TableName, value: &'v str) -> (KeyTemplate, Vec<KeyValue<'v>>) {
        let mut values = [E::SCHEMA.name, self.name, value].map(|text| KeyValue::Text(text.into())).to_vec();
        if table == source.name() {
            return (HERE, values);
        }
        values.insert(0, KeyValue::Text(source.name().as_str().to_ascii_lowercase().into()));
        (THERE, values)
    }

    /// Whether a key is one that rows of this list have in a table, beside entities or elsewhere as it is declared. Where
    /// it stood the other way before, its rows held other lines.
    pub(super) fn is_called(&self, source: &Table, table: &TableName, key: &EntityKey) -> bool {
        let (template, values) = self.name_in(source, table, "");
        let is_elsewhere = key.row.as_str().is_empty();
        let name = if is_elsewhere { key.partition.as_str() } else { key.row.as_str() };
        is_elsewhere == self.is_elsewhere()
            && template.partition_key(&values).is_ok_and(|prefix| name.starts_with(prefix.as_str()))
    }

    /// Whether a row that a message names is one of this list, as it is declared here.
    pub(super) fn has(&self, source: &Table, spot: &Spot) -> bool {
        let table = self.place.other_table().map_or_else(|| Ok(source.name().clone()), TableName::new);
        self.is_elsewhere()
            && table.is_ok_and(|table| table == spot.table)
            && self.is_called(source, &spot.table, &spot.key)
    }

    /// Where an entity is listed.
    pub(super) fn spot_of(&self, table: &Table, source: &EntityKey, entity: &E) -> Result<Option<Spot>> {
        (self.value)(entity).map(|value| self.spot(table, &source.partition, &value)).transpose()
    }
}

/// The row of a list for one value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Spot {
    pub(super) list: String,
    pub(super) table: TableName,
    pub(super) key: EntityKey,
}

impl Spot {
    /// The error, with where it happened.
    pub(super) fn at(&self, error: Error) -> Error {
        error.with_table(self.table.as_str()).with_key(self.key.clone())
    }
}

impl<E> Clone for List<E> {
    fn clone(&self) -> Self {
        Self { name: self.name, place: self.place, value: self.value }
    }
}

impl<E> fmt::Debug for List<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List").field("name", &self.name).field("place", &self.place).finish_non_exhaustive()
    }
}
