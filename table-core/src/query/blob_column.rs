//! The column of a field that is kept in a blob.

use std::fmt;
use std::marker::PhantomData;

use crate::names::PropertyName;
use crate::property::Property;
use crate::value::EdmType;

/// A field of an entity that is kept in a blob, with a reference in the row.
///
/// It names the field to whoever opens the blob as a stream. A store cannot look into blobs, so there is
/// nothing to compare it with.
pub struct BlobColumn<E, T> {
    name: PropertyName,
    types: PhantomData<fn() -> (E, T)>,
}

impl<E, T: Property> BlobColumn<E, T> {
    /// The column of a property whose name the derive macro has checked.
    ///
    /// # Panics
    /// At compile time, where the field is neither text nor binary.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        assert!(
            matches!(T::EDM, EdmType::String | EdmType::Binary),
            "a blob holds bytes, text or JSON; leave out `blob`, or add `json`"
        );
        Self { name: PropertyName::checked(name), types: PhantomData }
    }

    /// Whether the field is text, in UTF-8.
    #[must_use]
    pub const fn is_text(&self) -> bool {
        matches!(T::EDM, EdmType::String)
    }
}

impl<E, T> BlobColumn<E, T> {
    /// The property's name.
    #[must_use]
    pub const fn name(&self) -> &PropertyName {
        &self.name
    }
}

impl<E, T> Clone for BlobColumn<E, T> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), types: PhantomData }
    }
}

impl<E, T> fmt::Debug for BlobColumn<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BlobColumn").field(&self.name).finish()
    }
}
