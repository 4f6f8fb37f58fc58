//! The type that derives `Property`: a C-like enum or a newtype.

use proc_macro2::Ident;
use syn::{Data, DeriveInput, Fields, LitStr, Member, Path, Type};

use crate::ast::{parse_case, refuse_lifetimes};
use crate::attr;
use crate::error::Errors;
use crate::names::{self, Case};

/// What `#[derive(Property)]` was put on.
pub(crate) enum Property<'a> {
    /// Each variant with its text.
    Texts(Vec<(&'a Ident, String)>),
    /// The one field, and its type.
    Newtype(Member, &'a Type),
}

/// Reads the type, and the path to the core crate that it names.
pub(crate) fn parse<'a>(input: &'a DeriveInput, errors: &mut Errors) -> (Option<Path>, Option<Property<'a>>) {
    let (mut krate, mut case) = (None, None);
    refuse_lifetimes(input, errors);
    for item in attr::items(&input.attrs, "property", errors) {
        match attr::name(&item).as_str() {
            "crate" => attr::put(&mut krate, &item, attr::path(&item, errors), errors),
            "rename_all" => attr::put(&mut case, &item, parse_case(&item, errors), errors),
            _ => attr::unknown(&item, &["rename_all", "crate"], errors),
        }
    }
    let property = match &input.data {
        Data::Enum(data) => texts(input, data, case, errors),
        Data::Struct(data) => newtype(input, &data.fields, errors),
        Data::Union(_) => {
            errors.add(&input.ident, "`Property` needs a C-like enum or a newtype");
            None
        }
    };
    (krate, property)
}

fn texts<'a>(
    input: &DeriveInput,
    data: &'a syn::DataEnum,
    case: Option<Case>,
    errors: &mut Errors,
) -> Option<Property<'a>> {
    if data.variants.is_empty() {
        errors.add(&input.ident, "an enum without variants has no values to store");
        return None;
    }
    let mut texts: Vec<(&Ident, String)> = Vec::new();
    for variant in &data.variants {
        let mut rename = None;
        for item in attr::items(&variant.attrs, "property", errors) {
            match attr::name(&item).as_str() {
                "rename" => attr::put(&mut rename, &item, attr::text(&item, errors), errors),
                _ => attr::unknown(&item, &["rename"], errors),
            }
        }
        if !matches!(variant.fields, Fields::Unit) {
            errors.add(
                variant,
                format!(
                    "the variant `{}` has fields, so no text can stand for it; mark the entity's field `#[entity(json)]` instead",
                    variant.ident
                ),
            );
        }
        let name = names::plain(&variant.ident);
        let text = rename.as_ref().map_or_else(|| case.map_or(name.clone(), |case| case.apply(&name)), LitStr::value);
        if let Some((other, _)) = texts.iter().find(|(_, other)| *other == text) {
            errors.add(
                &variant.ident,
                format!("the variants `{other}` and `{}` are both stored as `{text}`; rename one", variant.ident),
            );
        }
        texts.push((&variant.ident, text));
    }
    Some(Property::Texts(texts))
}

fn newtype<'a>(input: &DeriveInput, fields: &'a Fields, errors: &mut Errors) -> Option<Property<'a>> {
    if let (Some(member), Some(field), 1) = (fields.members().next(), fields.iter().next(), fields.len()) {
        return Some(Property::Newtype(member, &field.ty));
    }
    errors.add(
        &input.ident,
        "`Property` needs a C-like enum or a struct of one field; derive `Flatten` for a struct of several",
    );
    None
}
