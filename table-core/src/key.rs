//! A typed key: where a row of a type stands.

use std::fmt;
use std::marker::PhantomData;

use crate::error::Result;
use crate::keys::EntityKey;

/// Where a row stands that can be read as `R`.
///
/// The generated constructors make it, such as `Employee::key("Sales", 223)`. A field that does
/// not fit its template makes a key that holds the error, and every use of the key returns it.
///
/// ```
/// use table_core::{Entity, ErrorKind};
///
/// #[derive(Entity)]
/// #[entity(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
/// }
///
/// assert_eq!(Employee::key("Sales", 223).resolve()?.row.as_str(), "empid_000223");
/// // Seven digits do not fit six: whoever uses the key is told.
/// let too_wide = Employee::key("Sales", 1_000_000);
/// assert_eq!(too_wide.resolve().unwrap_err().kind(), ErrorKind::InvalidKey);
/// # Ok::<(), table_core::Error>(())
/// ```
#[must_use]
pub struct Key<R> {
    table: Option<&'static str>,
    place: Result<EntityKey>,
    row: PhantomData<fn() -> R>,
}

impl<R> Key<R> {
    /// A key in the table that it is used with.
    pub const fn new(key: Result<EntityKey>) -> Self {
        Self { table: None, place: key, row: PhantomData }
    }

    /// The same key in a table of its own, as that of an index elsewhere.
    pub fn in_table(mut self, table: Option<&'static str>) -> Self {
        self.table = table;
        self
    }

    /// The table that the key names, where it names one.
    #[must_use]
    pub const fn table(&self) -> Option<&'static str> {
        self.table
    }

    /// The raw key.
    ///
    /// # Errors
    /// [`InvalidKey`](crate::ErrorKind::InvalidKey) for a field that does not fit its template.
    pub fn resolve(&self) -> Result<EntityKey> {
        self.place.clone()
    }

    /// The raw key, where it stands.
    pub(crate) fn place(&self) -> Result<&EntityKey> {
        self.place.as_ref().map_err(Clone::clone)
    }
}

impl<R> Clone for Key<R> {
    fn clone(&self) -> Self {
        Self { table: self.table, place: self.place.clone(), row: PhantomData }
    }
}

impl<R> fmt::Debug for Key<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("table", &self.table).field("key", &self.place).finish()
    }
}

impl<R> From<EntityKey> for Key<R> {
    fn from(key: EntityKey) -> Self {
        Self::new(Ok(key))
    }
}
