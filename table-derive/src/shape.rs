//! What a field's type looks like. The macro sees syntax only: an alias or a newtype stays
//! [`Shape::Opaque`], and the constants that the generated code evaluates check those.

use quote::ToTokens;
use syn::{GenericArgument, PathArguments, Type, TypePath};

/// What sort of value a type holds, as far as its syntax tells.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// An unsigned integer of at most so many digits.
    Unsigned {
        digits: u8,
    },
    /// A signed integer of at most so many digits.
    Signed {
        digits: u8,
    },
    /// A float that a key writes as so many hexadecimal digits.
    Float {
        hex_digits: u8,
    },
    Bool,
    Uuid,
    Time,
    Text,
    Bytes,
    /// A type of the user's, perhaps a newtype or an alias.
    Opaque,
    /// A type that no property holds, with what to do instead.
    Unsupported(&'static str),
}

const JSON: &str = "mark the field `#[entity(json)]` to store it as JSON";
const SIZE: &str = "its size differs between machines; use u32, u64, i32 or i64";
const WIDE: &str = "the service has no number so wide; use Uuid, String or two fields";
const BORROWED: &str = "an entity owns its data; use String, Vec<u8> or Bytes";

impl Shape {
    /// The shape of a type that is no `Option`.
    pub(crate) fn of(ty: &Type) -> Self {
        match peel(ty) {
            Type::Path(path) => of_path(path),
            Type::Reference(_) | Type::Ptr(_) => Self::Unsupported(BORROWED),
            Type::Array(_) | Type::Slice(_) | Type::Tuple(_) => Self::Unsupported(JSON),
            Type::FnPtr(_) | Type::TraitObject(_) | Type::ImplTrait(_) | Type::Never(_) => {
                Self::Unsupported("it is no data; mark the field `#[entity(skip)]`")
            }
            _ => Self::Opaque,
        }
    }

    pub(crate) const fn is_integer(self) -> bool {
        matches!(self, Self::Unsigned { .. } | Self::Signed { .. })
    }

    /// Whether a function takes such a value itself rather than a reference.
    pub(crate) const fn is_by_value(self) -> bool {
        self.is_integer() || matches!(self, Self::Float { .. } | Self::Bool | Self::Uuid | Self::Time)
    }
}

fn of_path(path: &TypePath) -> Shape {
    let Some(last) = path.path.segments.last() else { return Shape::Opaque };
    if path.qself.is_some() {
        return Shape::Opaque;
    }
    let plain = matches!(last.arguments, PathArguments::None);
    match last.ident.to_string().as_str() {
        "u8" if plain => Shape::Unsigned { digits: 3 },
        "u16" if plain => Shape::Unsigned { digits: 5 },
        "u32" if plain => Shape::Unsigned { digits: 10 },
        "u64" if plain => Shape::Unsigned { digits: 20 },
        "i8" if plain => Shape::Signed { digits: 3 },
        "i16" if plain => Shape::Signed { digits: 5 },
        "i32" if plain => Shape::Signed { digits: 10 },
        "i64" if plain => Shape::Signed { digits: 19 },
        "f32" if plain => Shape::Float { hex_digits: 8 },
        "f64" if plain => Shape::Float { hex_digits: 16 },
        "bool" if plain => Shape::Bool,
        "Uuid" if plain => Shape::Uuid,
        "Timestamp" | "OffsetDateTime" if plain => Shape::Time,
        "DateTime" => Shape::Time,
        "String" if plain => Shape::Text,
        "Bytes" if plain => Shape::Bytes,
        "Vec" if argument(path).is_some_and(|inner| inner.to_token_stream().to_string() == "u8") => Shape::Bytes,
        "usize" | "isize" if plain => Shape::Unsupported(SIZE),
        "u128" | "i128" if plain => Shape::Unsupported(WIDE),
        "char" if plain => Shape::Unsupported("the service has no single characters; use String"),
        "str" if plain => Shape::Unsupported(BORROWED),
        "Vec" | "VecDeque" | "HashMap" | "HashSet" | "BTreeMap" | "BTreeSet" => Shape::Unsupported(JSON),
        "Option" => Shape::Unsupported("an absent property is one `None`; use one `Option`"),
        _ => Shape::Opaque,
    }
}

/// The type in `Option<...>`.
pub(crate) fn in_option(ty: &Type) -> Option<&Type> {
    inside(ty, "Option")
}

/// The type in `Box<...>`.
pub(crate) fn in_box(ty: &Type) -> Option<&Type> {
    inside(ty, "Box")
}

fn inside<'t>(ty: &'t Type, wrapper: &str) -> Option<&'t Type> {
    match peel(ty) {
        Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == wrapper) => argument(path),
        _ => None,
    }
}

fn argument(path: &TypePath) -> Option<&Type> {
    let PathArguments::AngleBracketed(list) = &path.path.segments.last()?.arguments else { return None };
    match (list.args.first(), list.args.len()) {
        (Some(GenericArgument::Type(inner)), 1) => Some(inner),
        _ => None,
    }
}

/// The type without the invisible groups that `macro_rules` leaves.
fn peel(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            other => return other,
        };
    }
}
