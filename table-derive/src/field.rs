//! One field of a struct, with its attributes.

use proc_macro2::Ident;
use syn::{LitStr, Meta, Path, Type, Visibility};

use crate::attr;
use crate::error::Errors;
use crate::names::{self, Case};
use crate::shape::{self, Shape};

/// A field of a struct that derives `Entity`, `Flatten` or `Projection`.
pub(crate) struct Field<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) vis: &'a Visibility,
    /// The name without `r#`.
    pub(crate) name: String,
    pub(crate) ty: &'a Type,
    /// The type in an `Option`, or the type itself.
    pub(crate) inner: &'a Type,
    pub(crate) optional: bool,
    /// The shape of the inner type.
    pub(crate) shape: Shape,
    pub(crate) storage: Storage,
    /// Where the field is kept in a blob, its attribute.
    pub(crate) blob: Option<Meta>,
    /// The property's name.
    pub(crate) property: String,
    /// Where the property was named by hand.
    pub(crate) renamed: Option<LitStr>,
    /// The name of the column constant.
    pub(crate) column: Ident,
    pub(crate) default: Option<Fallback>,
}

/// How a field is kept.
pub(crate) enum Storage {
    /// As a property.
    Property,
    /// As a text property that holds JSON.
    Json,
    /// As one property for each field of a nested struct, with a prefix.
    Flatten(String),
    /// Not at all.
    Skip,
}

/// What an absent property stands for.
pub(crate) enum Fallback {
    /// The type's default.
    Type,
    /// What a function returns.
    Function(Path),
}

/// The attributes of a field.
#[derive(Default)]
struct Attributes {
    rename: Option<LitStr>,
    column: Option<Ident>,
    default: Option<Fallback>,
    skip: Option<()>,
    json: Option<()>,
    flatten: Option<String>,
    blob: Option<Meta>,
}

impl Attributes {
    const KNOWN: [&'static str; 7] = ["rename", "column", "default", "skip", "flatten", "json", "blob"];

    fn parse(items: Vec<Meta>, errors: &mut Errors) -> Self {
        let mut out = Self::default();
        for item in items {
            match attr::name(&item).as_str() {
                "rename" => attr::put(&mut out.rename, &item, attr::text(&item, errors), errors),
                "column" => attr::put(&mut out.column, &item, attr::ident(&item, errors), errors),
                "default" => attr::put(&mut out.default, &item, Fallback::parse(&item, errors), errors),
                "skip" => attr::put(&mut out.skip, &item, attr::flag(&item, errors), errors),
                "json" => attr::put(&mut out.json, &item, attr::flag(&item, errors), errors),
                "blob" => {
                    let flag = attr::flag(&item, errors).map(|()| item.clone());
                    attr::put(&mut out.blob, &item, flag, errors);
                }
                "flatten" => attr::put(&mut out.flatten, &item, parse_prefix(&item, errors), errors),
                _ => attr::unknown(&item, &Self::KNOWN, errors),
            }
        }
        out
    }
}

impl Fallback {
    pub(crate) fn parse(item: &Meta, errors: &mut Errors) -> Option<Self> {
        if matches!(item, Meta::Path(_)) { Some(Self::Type) } else { attr::path(item, errors).map(Self::Function) }
    }
}

/// The prefix of `flatten` or `flatten(prefix = "...")`.
fn parse_prefix(item: &Meta, errors: &mut Errors) -> Option<String> {
    if matches!(item, Meta::Path(_)) {
        return Some(String::new());
    }
    let mut prefix = None;
    for item in attr::list(item, errors)? {
        match attr::name(&item).as_str() {
            "prefix" => attr::put(&mut prefix, &item, attr::text(&item, errors), errors),
            _ => attr::unknown(&item, &["prefix"], errors),
        }
    }
    Some(prefix.as_ref().map(LitStr::value).unwrap_or_default())
}

impl<'a> Field<'a> {
    /// Reads a named field.
    pub(crate) fn parse(field: &'a syn::Field, case: Case, errors: &mut Errors) -> Option<Self> {
        let ident = field.ident.as_ref()?;
        let attributes = Attributes::parse(attr::items(&field.attrs, "entity", errors), errors);
        let name = names::plain(ident);
        let option = shape::in_option(&field.ty);
        let inner = option.unwrap_or(&field.ty);
        Some(Self {
            ident,
            vis: &field.vis,
            ty: &field.ty,
            inner,
            optional: option.is_some(),
            shape: Shape::of(inner),
            storage: storage(ident, &attributes, errors),
            blob: attributes.blob,
            property: attributes.rename.as_ref().map_or_else(|| case.apply(&name), LitStr::value),
            renamed: attributes.rename,
            column: attributes.column.unwrap_or_else(|| Ident::new(&names::column(&name), ident.span())),
            default: attributes.default,
            name,
        })
    }

    /// Whether the field becomes one property that a column can name.
    pub(crate) const fn is_property(&self) -> bool {
        matches!(self.storage, Storage::Property)
    }
}

fn storage(ident: &Ident, attributes: &Attributes, errors: &mut Errors) -> Storage {
    let Attributes { skip, json, flatten, rename, default, blob, .. } = attributes;
    let chosen = usize::from(skip.is_some()) + usize::from(json.is_some()) + usize::from(flatten.is_some());
    if chosen > 1 {
        errors.add(ident, format!("the field `{ident}` has more than one of `skip`, `json` and `flatten`; keep one"));
    }
    if let Some(blob) = blob
        && (skip.is_some() || flatten.is_some())
    {
        let word = if skip.is_some() { "skip" } else { "flatten" };
        errors.add(
            blob,
            format!("a field with `{word}` is no single property that a blob could hold; keep one of the two"),
        );
    }
    if (skip.is_some() || flatten.is_some()) && (rename.is_some() || default.is_some()) {
        let word = if skip.is_some() { "skip" } else { "flatten" };
        errors.add(ident, format!("`rename` and `default` say nothing of a field with `{word}`; remove them"));
    }
    match (skip, json, flatten) {
        (Some(()), _, _) => Storage::Skip,
        (None, Some(()), _) => Storage::Json,
        (None, None, Some(prefix)) => Storage::Flatten(prefix.clone()),
        (None, None, None) => Storage::Property,
    }
}
