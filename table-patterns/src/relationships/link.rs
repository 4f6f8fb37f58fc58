//! A stored link: the key of another entity as a property.

use std::fmt;
use std::marker::PhantomData;

use table_core::{EdmType, EntityKey, Error, Key, Property, Result, Value};

/// The key of an entity of type `R`, as a field of another.
///
/// It is stored as text, `Sales/empid_000223`: no key holds a slash. A link says where the other
/// stands and nothing of whether it is there.
///
/// ```
/// use table_core::{Entity, Property, Value};
/// use table_patterns::relationships::Link;
///
/// #[derive(Entity)]
/// #[entity(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
///     mentor: Option<Link<Employee>>,
/// }
///
/// let mentor = Link::to(&Employee::key("Sales", 7))?;
/// assert_eq!(mentor.to_value()?, Some(Value::from("Sales/empid_000007")));
/// let jo = Employee { department: "Marketing".into(), id: 8, mentor: Some(mentor) };
/// // `table.get(link)` reads what it leads to; so do a `Lookup` and `Table::get_many`.
/// assert_eq!(jo.mentor.map(|mentor| mentor.key().row.to_string()).as_deref(), Some("empid_000007"));
/// # Ok::<(), table_core::Error>(())
/// ```
pub struct Link<R> {
    key: EntityKey,
    row: PhantomData<fn() -> R>,
}

/// What stands between partition key and row key.
const SEPARATOR: char = '/';

impl<R> Link<R> {
    /// A link to the entity of a key.
    ///
    /// # Errors
    /// [`InvalidKey`](table_core::ErrorKind::InvalidKey) for a field that does not fit its template.
    pub fn to(key: &Key<R>) -> Result<Self> {
        Ok(Self::from(key.resolve()?))
    }

    /// Where the link leads.
    #[must_use]
    pub const fn key(&self) -> &EntityKey {
        &self.key
    }
}

impl<R> From<EntityKey> for Link<R> {
    fn from(key: EntityKey) -> Self {
        Self { key, row: PhantomData }
    }
}

impl<R> From<Link<R>> for Key<R> {
    fn from(link: Link<R>) -> Self {
        Self::new(Ok(link.key))
    }
}

impl<R> From<&Link<R>> for Key<R> {
    fn from(link: &Link<R>) -> Self {
        Self::new(Ok(link.key.clone()))
    }
}

impl<R> Property for Link<R> {
    const EDM: EdmType = EdmType::String;

    fn to_value(&self) -> Result<Option<Value>> {
        Ok(Some(Value::String(format!("{}{SEPARATOR}{}", self.key.partition, self.key.row))))
    }

    fn from_value(value: Value) -> Result<Self> {
        let keys = value.as_str().and_then(|text| text.split_once(SEPARATOR));
        let key = keys.and_then(|(partition, row)| EntityKey::parse(partition, row).ok());
        key.map(Self::from).ok_or_else(|| {
            Error::corrupted("the stored value is no link, which is a partition key, a slash and a row key")
        })
    }
}

impl<R> Clone for Link<R> {
    fn clone(&self) -> Self {
        Self::from(self.key.clone())
    }
}

impl<R> PartialEq for Link<R> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<R> Eq for Link<R> {}

impl<R> fmt::Debug for Link<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Link").field(&self.key).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_comes_back_from_its_text() {
        for (partition, row) in [("", ""), ("Sales", ""), ("", "r"), ("S_1~", "é😀'\"")] {
            let link = Link::<()>::from(EntityKey::parse(partition, row).unwrap());
            let value = link.to_value().unwrap().unwrap();
            assert_eq!(Link::from_value(value).unwrap(), link);
        }
    }

    #[test]
    fn what_is_no_link_is_refused() {
        for value in [Value::from("Sales"), Value::from("a/b/c"), Value::from("a/#"), Value::Int32(1)] {
            let error = Link::<()>::from_value(value).unwrap_err();
            assert_eq!(error.kind(), table_core::ErrorKind::Corrupted);
        }
    }
}
