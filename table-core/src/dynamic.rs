//! The property bag: an entity without a type.

use crate::error::Result;
use crate::etag::ETag;
use crate::keys::EntityKey;
use crate::names::PropertyName;
use crate::timestamp::Timestamp;
use crate::value::{Value, utf16_units};

/// Properties up to which each name is looked at.
const FEW: usize = 16;

/// The properties of an entity, sorted by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Properties(Vec<(PropertyName, Value)>);

impl Properties {
    /// No properties.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Room for so many properties.
    #[must_use]
    pub fn with_capacity(count: usize) -> Self {
        Self(Vec::with_capacity(count))
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Properties that stand in the order of their names already, none of them twice.
    ///
    /// A store that keeps them so need not sort them again.
    #[must_use]
    pub fn from_ordered(properties: Vec<(PropertyName, Value)>) -> Self {
        debug_assert!(properties.is_sorted_by(|(one, _), (next, _)| one < next), "properties out of order");
        Self(properties)
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(each, _)| each.as_str().cmp(name))
    }

    #[inline]
    fn position(&self, name: &str) -> Option<usize> {
        // Names of different lengths differ at a glance, so looking at a few is faster than searching.
        if self.0.len() <= FEW {
            self.0.iter().position(|(each, _)| each.as_str() == name)
        } else {
            self.place(name).ok()
        }
    }

    /// The value of a property.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(self.position(name)?).map(|(_, value)| value)
    }

    /// Sets a property, and gives its old value back.
    #[inline]
    pub fn insert(&mut self, name: PropertyName, value: Value) -> Option<Value> {
        // Stores and the derive write names in order, so the end is the usual place.
        if self.0.last().is_none_or(|(last, _)| *last < name) {
            self.0.push((name, value));
            return None;
        }
        match self.place(name.as_str()) {
            Ok(at) => self.0.get_mut(at).map(|(_, old)| std::mem::replace(old, value)),
            Err(at) => {
                self.0.insert(at, (name, value));
                None
            }
        }
    }

    /// Takes a property out.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.position(name).map(|at| self.0.remove(at).1)
    }

    /// All properties by name.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&PropertyName, &Value)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// Takes all properties out, by name.
    #[inline]
    pub fn drain(&mut self) -> impl ExactSizeIterator<Item = (PropertyName, Value)> {
        self.0.drain(..)
    }

    /// Keeps the properties for which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&PropertyName) -> bool) {
        self.0.retain(|(name, _)| keep(name));
    }

    /// Sets all properties of `other`, and leaves the rest: what a merge does.
    pub fn merge(&mut self, other: Self) {
        for (name, value) in other.0 {
            self.insert(name, value);
        }
    }
}

impl FromIterator<(PropertyName, Value)> for Properties {
    fn from_iter<I: IntoIterator<Item = (PropertyName, Value)>>(items: I) -> Self {
        let mut properties = Self::new();
        properties.extend(items);
        properties
    }
}

impl Extend<(PropertyName, Value)> for Properties {
    fn extend<I: IntoIterator<Item = (PropertyName, Value)>>(&mut self, items: I) {
        for (name, value) in items {
            self.insert(name, value);
        }
    }
}

impl IntoIterator for Properties {
    type Item = (PropertyName, Value);
    type IntoIter = std::vec::IntoIter<(PropertyName, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// An entity without a type: keys, version mark and properties. What stores take and give.
///
/// ```
/// use table_core::{DynamicEntity, EntityKey, Value};
///
/// let don = DynamicEntity::new(EntityKey::parse("Marketing", "00001")?)
///     .with("FirstName", "Don")?
///     .with("Age", 34)?;
/// assert_eq!(don.get("Age"), Some(&Value::Int32(34)));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicEntity {
    /// Where the entity stands in its table.
    pub key: EntityKey,
    /// The version that was read; none on an entity that is yet to be written.
    pub etag: Option<ETag>,
    /// When that version was written; none where a selection left it out.
    pub timestamp: Option<Timestamp>,
    /// The properties beside the keys.
    pub properties: Properties,
}

impl DynamicEntity {
    /// An entity with no properties, yet to be written.
    #[must_use]
    pub const fn new(key: EntityKey) -> Self {
        Self { key, etag: None, timestamp: None, properties: Properties::new() }
    }

    /// Sets a property.
    ///
    /// # Errors
    /// [`InvalidName`](crate::ErrorKind::InvalidName) for a name that the service does not take.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Result<Self> {
        self.set(name, value)?;
        Ok(self)
    }

    /// Sets a property.
    ///
    /// # Errors
    /// [`InvalidName`](crate::ErrorKind::InvalidName) for a name that the service does not take.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) -> Result<()> {
        self.properties.insert(PropertyName::new(name)?, value.into());
        Ok(())
    }

    /// The value of a property.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.properties.get(name)
    }

    /// The bytes that the service counts for this entity, strings as UTF-16.
    #[must_use]
    pub fn counted_bytes(&self) -> usize {
        let properties: usize = self
            .properties
            .iter()
            .map(|(name, value)| 8 + utf16_units(name.as_str()) * 2 + value.counted_bytes())
            .sum();
        4 + self.key.counted_bytes() + properties
    }
}
