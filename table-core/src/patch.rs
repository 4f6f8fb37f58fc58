//! Partial updates: only the named fields are sent.

use std::fmt;
use std::marker::PhantomData;

use crate::dynamic::{DynamicEntity, Properties};
use crate::entity::{Entity, Schema};
use crate::error::{Error, Result};
use crate::key::Key;
use crate::keys::EntityKey;
use crate::names::PropertyName;
use crate::operation::{Action, IfMatch, Operation};
use crate::value::Value;
use crate::versioned::Versioned;

/// What a patch is for: whatever version a key has, or the version that was read.
#[derive(Debug, Clone)]
pub struct PatchTarget<E> {
    key: Result<EntityKey>,
    if_match: IfMatch,
    entity: PhantomData<fn() -> E>,
}

impl<E> From<Key<E>> for PatchTarget<E> {
    fn from(key: Key<E>) -> Self {
        Self { key: key.resolve(), if_match: IfMatch::Any, entity: PhantomData }
    }
}

impl<E> From<&Versioned<E>> for PatchTarget<E> {
    fn from(read: &Versioned<E>) -> Self {
        let key = read.key().clone();
        let key = if read.is_upgraded() { Err(outdated().with_key(key)) } else { Ok(key) };
        Self { key, if_match: IfMatch::Version(read.etag().clone()), entity: PhantomData }
    }
}

/// A row of an older version is read through its old type, which would not see what a patch wrote.
fn outdated() -> Error {
    Error::unsupported(
        "the row is of an older version of its type, which a patch cannot change; read it and replace it, which stores it as the new version",
    )
}

/// A merge of some fields into a stored entity; the others stay as they are.
///
/// The generated patch builders wrap it. They have no method for a field that a key or an index
/// copy holds, so a patch can never leave an index stale. A merge cannot remove a property: to
/// clear an optional field, read the entity and replace it.
///
/// A type with `upgrade_from` reads rows of older versions through the old type, so a patch of such
/// a row is refused: [`Table::patch`](crate::Table::patch) looks at the row's version first, which
/// takes one more request.
///
/// ```
/// # use std::sync::Arc;
/// # use table_core::{Entity, MemoryStore, Table};
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[entity(partition = "{department}", row = "empid_{id:06}")]
/// # struct Employee { department: String, id: u32, name: String, age: i32 }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// # let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
/// # table.create().await?;
/// # let employee = |id, age| Employee { department: "Sales".into(), id, name: "Jo".into(), age };
/// table.insert(&employee(223, 41)).await?;
/// table.patch(Employee::patch(Employee::key("Sales", 223)).age(42)).await?;
/// let jo = table.require(Employee::key("Sales", 223)).await?;
/// assert_eq!((jo.age, jo.name.as_str()), (42, "Jo"));
/// # Ok(())
/// # }
/// ```
pub struct Patch<E> {
    target: PatchTarget<E>,
    properties: Result<Properties>,
}

impl<E: Entity> Patch<E> {
    /// A patch that sets nothing yet.
    #[must_use]
    pub fn new(target: impl Into<PatchTarget<E>>) -> Self {
        Self { target: target.into(), properties: Ok(Properties::new()) }
    }

    /// Sets a property; what cannot be stored is reported when the patch is used.
    #[must_use]
    pub fn set(mut self, name: PropertyName, value: Result<Option<Value>>) -> Self {
        self.properties = self.properties.and_then(|mut properties| {
            if let Some(value) = value.map_err(|error| error.with_property(name.as_str()))? {
                properties.insert(name, value);
            }
            Ok(properties)
        });
        self
    }

    /// The key of a row whose version must be looked at before the patch is written.
    pub(crate) fn unread_key(&self) -> Option<Result<EntityKey>> {
        (E::SCHEMA.upgrades && self.target.if_match == IfMatch::Any).then(|| self.target.key.clone())
    }

    /// The same patch for a row that was looked at.
    pub(crate) fn for_row(&self, row: &DynamicEntity) -> Result<Self> {
        if Schema::version_of(row) != E::SCHEMA.version {
            return Err(outdated().with_key(row.key.clone()));
        }
        let etag = row.etag.clone().ok_or_else(|| Error::corrupted("the row has no ETag"))?;
        let target = PatchTarget { key: Ok(row.key.clone()), if_match: IfMatch::Version(etag), entity: PhantomData };
        Ok(Self { target, properties: self.properties.clone() })
    }

    /// The merge that the patch stands for.
    ///
    /// # Errors
    /// The first error of the key or of a property; [`Unsupported`](crate::ErrorKind::Unsupported)
    /// for a patch by key of a type with `upgrade_from`, where the row's version is not known.
    pub fn into_operation(self) -> Result<Operation> {
        if let Some(key) = self.unread_key() {
            return Err(Error::unsupported(
                "rows of this type may be of an older version; make the patch from what was read",
            )
            .with_key(key?));
        }
        let mut row = DynamicEntity::new(self.target.key?);
        row.properties = self.properties.map_err(|error| error.with_key(row.key.clone()))?;
        Operation::new(Action::Merge(row, self.target.if_match))
    }
}

impl<E> fmt::Debug for Patch<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.properties.as_ref().map(|all| all.iter().map(|(name, _)| name).collect::<Vec<_>>());
        f.debug_struct("Patch").field("key", &self.target.key).field("properties", &names).finish()
    }
}
