//! Typed entities: what the derive macros implement.

use crate::dynamic::{DynamicEntity, Properties};
use crate::error::Result;
use crate::key::Key;
use crate::keys::{EntityKey, KeyTemplate};
use crate::names::PropertyName;
use crate::reserved;
use crate::store::Selection;
use crate::value::Value;
use crate::versioned::Versioned;

/// A type that stored rows can be read into: an [`Entity`], an [`EntitySet`], the copy that an
/// index keeps, or [`DynamicEntity`] itself.
#[diagnostic::on_unimplemented(
    message = "rows cannot be read into `{Self}`",
    note = "derive `Entity` for a struct, `EntitySet` for an enum of entities, or `Projection` for a part of an entity"
)]
pub trait FromRow: Sized + Send + 'static {
    /// The properties that reading needs.
    #[must_use]
    fn selection() -> Selection {
        Selection::All
    }

    /// What the row key of every such row begins with.
    #[must_use]
    fn row_prefix() -> &'static str {
        ""
    }

    /// The name of what rows are read into, which binds a continuation to its query.
    #[must_use]
    fn label() -> &'static str {
        ""
    }

    /// Whether a row is of this type. Queries skip the rows that are not.
    ///
    /// It looks at the keys and at the properties `EntityType`, `EntityVersion` and `RowKind` only,
    /// since a query may have selected no others.
    fn recognizes(row: &DynamicEntity) -> bool;

    /// Reads a row, keeping its version and its keys.
    ///
    /// # Errors
    /// [`Corrupted`](crate::ErrorKind::Corrupted), naming entity and property, where the row is
    /// not what its type says; [`Unsupported`](crate::ErrorKind::Unsupported) for one of a newer version
    /// than the program knows.
    fn from_row(row: DynamicEntity) -> Result<Versioned<Self>>;
}

impl FromRow for DynamicEntity {
    fn recognizes(_: &DynamicEntity) -> bool {
        true
    }

    fn from_row(row: DynamicEntity) -> Result<Versioned<Self>> {
        let read = row.clone();
        Versioned::from_read(read, row, Vec::new())
    }
}

/// A struct that is stored as one row: keys by template, fields as properties.
///
/// Derive it; see [the crate's front page](crate) for what the attributes say.
pub trait Entity: FromRow + Sync {
    /// Names, templates and indexes.
    const SCHEMA: &'static Schema;

    /// The primary key that the fields give.
    ///
    /// # Errors
    /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for a field that does not fit its template.
    fn entity_key(&self) -> Result<EntityKey>;

    /// Writes the fields that the primary key does not hold.
    ///
    /// # Errors
    /// [`InvalidValue`](crate::ErrorKind::InvalidValue), naming the property.
    fn write_properties(&self, properties: &mut Properties) -> Result<()>;

    /// The key of the copy that an index keeps, by the index's position in the schema; `None`
    /// where a part of it is `None`, so that there is no copy.
    ///
    /// # Errors
    /// As [`Entity::entity_key`].
    fn index_key(&self, index: usize) -> Result<Option<EntityKey>>;

    /// Writes the fields that the copy of an index holds beside its key.
    ///
    /// # Errors
    /// As [`Entity::write_properties`].
    fn write_index_properties(&self, index: usize, properties: &mut Properties) -> Result<()>;

    /// The key of the entity that a copy was made of, by the index's position in the schema.
    ///
    /// # Errors
    /// [`Corrupted`](crate::ErrorKind::Corrupted) where the row is no such copy.
    fn copy_source(index: usize, copy: DynamicEntity) -> Result<EntityKey> {
        let _ = index;
        Err(crate::__private::no_copy(copy))
    }

    /// The primary row.
    ///
    /// # Errors
    /// As [`Entity::entity_key`] and [`Entity::write_properties`].
    fn to_row(&self) -> Result<DynamicEntity> {
        let mut row = DynamicEntity::new(self.entity_key()?);
        row.properties = Properties::with_capacity(Self::SCHEMA.properties.len() + 2);
        Self::SCHEMA.write_discriminator(&mut row.properties);
        self.write_properties(&mut row.properties).map_err(|error| error.with_key(row.key.clone()))?;
        Ok(row)
    }

    /// The copy that an index keeps, if it keeps one.
    ///
    /// # Errors
    /// As [`Entity::to_row`].
    fn index_row(&self, index: usize) -> Result<Option<DynamicEntity>> {
        let (Some(key), Some(schema)) = (self.index_key(index)?, Self::SCHEMA.indexes.get(index)) else {
            return Ok(None);
        };
        let mut row = DynamicEntity::new(key);
        Self::SCHEMA.write_discriminator(&mut row.properties);
        row.properties.insert(reserved::ROW_KIND, Value::String(schema.row_kind()));
        self.write_index_properties(index, &mut row.properties).map_err(|error| error.with_key(row.key.clone()))?;
        Ok(Some(row))
    }

    /// The keys of all copies.
    ///
    /// # Errors
    /// As [`Entity::index_key`].
    fn index_keys(&self) -> Result<Vec<IndexKey>> {
        let mut keys = Vec::with_capacity(Self::SCHEMA.indexes.len());
        for (position, index) in Self::SCHEMA.indexes.iter().enumerate() {
            if let Some(key) = self.index_key(position)? {
                keys.push(IndexKey { index: index.name, table: index.table, key });
            }
        }
        Ok(keys)
    }
}

/// An entity without indexes and without blobs, which can be written row by row.
///
/// An entity with indexes is written by the patterns crate's `Indexed`, which keeps its copies, and
/// one with fields in blobs by its `Large`: nobody can bypass an index or orphan a blob by accident.
#[diagnostic::on_unimplemented(
    message = "`{Self}` declares indexes or blobs, so its rows cannot be written one by one",
    note = "write an entity with indexes through `Indexed` of table-patterns, which keeps the index rows in step, and one with `#[entity(blob)]` through `Large`"
)]
pub trait Unindexed: Entity {}

/// The copy that a declared index keeps of an entity, such as `EmployeeByEmail`.
///
/// The derive implements it for the struct of each index, so that code which reads any index can
/// follow a copy to the entity it was made of.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the copy of an index",
    note = "pass what a generated lookup such as `Employee::by_email(..)` gives"
)]
pub trait IndexCopy: FromRow + Sync {
    /// The entity that the index is declared on.
    type Source: Entity;

    /// The position of the index in the entity's schema.
    const INDEX: usize;

    /// The key of the entity that this is a copy of.
    fn source(&self) -> Key<Self::Source>;
}

/// Several entity types that share a table: an enum whose `match` tells them apart.
pub trait EntitySet: FromRow {
    /// The schemas of all members.
    const MEMBERS: &'static [&'static Schema];
}

/// How a row says which type it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discriminator {
    /// By the property `EntityType`.
    Property,
    /// By its row key alone, which follows the type's template.
    RowKey,
}

/// What an entity type says of itself.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// The type's name, as stored.
    pub name: &'static str,
    /// The version of its properties, from 1.
    pub version: u32,
    /// Whether rows of older versions are read through another type, which does not know what a
    /// patch of this version writes.
    pub upgrades: bool,
    /// How rows say that they are of this type.
    pub discriminator: Discriminator,
    /// The partition key's template.
    pub partition: KeyTemplate,
    /// The row key's template.
    pub row: KeyTemplate,
    /// The properties that the primary row stores.
    pub properties: &'static [&'static str],
    /// The declared indexes.
    pub indexes: &'static [IndexSchema],
    /// Which properties are kept in blobs.
    pub blobs: BlobSchema,
}

/// Which properties of an entity are kept in blobs, with a reference in the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobSchema {
    /// The properties that always are: the fields with `#[entity(blob)]`.
    pub properties: &'static [&'static str],
    /// The bytes above which any other text or binary property is, text counted as UTF-16.
    pub above: Option<u32>,
}

impl BlobSchema {
    /// An entity without blobs.
    pub const NONE: Self = Self { properties: &[], above: None };

    /// Whether no property can be in a blob.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.properties.is_empty() && self.above.is_none()
    }
}

/// What a declared index says of itself.
#[derive(Debug, Clone, Copy)]
pub struct IndexSchema {
    /// The index's name.
    pub name: &'static str,
    /// The table of the copies, where it is not the entity's own.
    pub table: Option<&'static str>,
    /// The copies' partition key, where it is not the entity's own.
    pub partition: Option<KeyTemplate>,
    /// The copies' row key.
    pub row: KeyTemplate,
    /// Whether one key belongs to one entity only: the key lacks a part of the primary key.
    pub unique: bool,
    /// The properties that a copy stores.
    pub properties: &'static [&'static str],
}

impl IndexSchema {
    /// The mark of a copy of this index.
    #[must_use]
    pub fn row_kind(&self) -> String {
        format!("{}{}", reserved::INDEX_KIND_PREFIX, self.name)
    }

    /// Whether the copies stand in the partition of their entity, so that one transaction keeps both.
    #[must_use]
    pub const fn is_local(&self) -> bool {
        self.table.is_none() && self.partition.is_none()
    }
}

impl Schema {
    fn write_discriminator(&self, properties: &mut Properties) {
        if self.discriminator == Discriminator::Property {
            properties.insert(reserved::ENTITY_TYPE, Value::String(self.name.to_owned()));
        }
        if self.version > 1 {
            let version = i32::try_from(self.version).unwrap_or(i32::MAX);
            properties.insert(reserved::ENTITY_VERSION, Value::Int32(version));
        }
    }

    /// Whether a row is a primary row of this type: unmarked, of this name, and with keys of the templates.
    #[must_use]
    pub fn recognizes(&self, row: &DynamicEntity) -> bool {
        self.is_primary(row) && self.has_keys(&row.key)
    }

    /// Whether a row is unmarked and of this name, whatever its keys are.
    pub(crate) fn is_primary(&self, row: &DynamicEntity) -> bool {
        // One look at each name finds both, where two searches took twice as long.
        row.properties.iter().all(|(name, value)| {
            let name = name.as_str();
            name != reserved::ROW_KIND.as_str()
                && (name != reserved::ENTITY_TYPE.as_str() || value.as_str() == Some(self.name))
        })
    }

    /// Whether a row is the copy that an index of this type keeps.
    #[must_use]
    pub fn recognizes_copy(&self, index: &IndexSchema, row: &DynamicEntity) -> bool {
        let kind = row.get(reserved::ROW_KIND.as_str()).and_then(Value::as_str);
        kind.and_then(|kind| kind.strip_prefix(reserved::INDEX_KIND_PREFIX)) == Some(index.name) && self.is_named(row)
    }

    /// Rows without `EntityType` are those of other programs, or of a type told by its row key.
    fn is_named(&self, row: &DynamicEntity) -> bool {
        row.get(reserved::ENTITY_TYPE.as_str()).is_none_or(|name| name.as_str() == Some(self.name))
    }

    fn has_keys(&self, key: &EntityKey) -> bool {
        self.row.matches(key.row.as_str()) && self.partition.matches(key.partition.as_str())
    }

    /// The version of the properties that a row was written with.
    #[must_use]
    pub fn version_of(row: &DynamicEntity) -> u32 {
        match row.get(reserved::ENTITY_VERSION.as_str()) {
            Some(Value::Int32(version)) => u32::try_from(*version).unwrap_or(1),
            // Another program may write its numbers wide.
            Some(Value::Int64(version)) => u32::try_from((*version).max(1)).unwrap_or(u32::MAX),
            _ => 1,
        }
    }
}

/// The key of one copy of an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexKey {
    /// The index's name.
    pub index: &'static str,
    /// The table of the copy, where it is not the entity's own.
    pub table: Option<&'static str>,
    /// The copy's key.
    pub key: EntityKey,
}

/// The properties that typed reads always select: the discriminator and the mark.
#[must_use]
pub(crate) fn marks() -> [PropertyName; 3] {
    [reserved::ENTITY_TYPE, reserved::ENTITY_VERSION, reserved::ROW_KIND]
}
