//! Structs whose fields become properties of the entity that holds them.

use crate::dynamic::Properties;
use crate::error::Result;
use crate::value::Value;

/// A struct whose fields are stored as properties of the entity that holds it, for
/// `#[entity(flatten)]` and `#[entity(flatten(prefix = "Home"))]`.
///
/// Derive it. `Option` of such a struct is `None` where none of its properties is stored; so a
/// `Some` all of whose fields are `None` comes back as `None`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be flattened",
    note = "derive `Flatten` for it, or mark the field `#[entity(json)]` to store it as one property"
)]
pub trait Flatten: Sized {
    /// The names of the properties, without a prefix.
    const PROPERTIES: &'static [&'static str];

    /// Writes the fields under these names, which stand for [`PROPERTIES`](Self::PROPERTIES) one by one.
    ///
    /// # Errors
    /// [`InvalidValue`](crate::ErrorKind::InvalidValue), naming the property.
    fn write(&self, names: &[&'static str], properties: &mut Properties) -> Result<()>;

    /// Reads the fields from the values that were stored under these names.
    ///
    /// # Errors
    /// [`Corrupted`](crate::ErrorKind::Corrupted), naming the property.
    fn read(names: &[&'static str], values: &mut [Option<Value>]) -> Result<Self>;
}

impl<T: Flatten> Flatten for Option<T> {
    const PROPERTIES: &'static [&'static str] = T::PROPERTIES;

    fn write(&self, names: &[&'static str], properties: &mut Properties) -> Result<()> {
        self.as_ref().map_or(Ok(()), |inner| inner.write(names, properties))
    }

    fn read(names: &[&'static str], values: &mut [Option<Value>]) -> Result<Self> {
        if values.iter().all(Option::is_none) { Ok(None) } else { T::read(names, values).map(Some) }
    }
}
