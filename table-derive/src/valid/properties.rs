//! Fields as properties: their types, and names that can be told apart.

use std::collections::HashMap;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Generics, Type};

use crate::error::Errors;
use crate::field::{Field, Storage};
use crate::names;
use crate::shape::Shape;

/// Checks that every field can be stored, under a name of its own.
pub(crate) fn check_fields(fields: &[Field<'_>], generics: &Generics, errors: &mut Errors) {
    let mut seen: HashMap<&str, &str> = HashMap::new();
    for field in fields {
        check_type(field, generics, errors);
        if !matches!(field.storage, Storage::Property | Storage::Json) {
            continue;
        }
        if let Some(problem) = names::property_problem(&field.property) {
            report(field, problem, errors);
        }
        if let Some(other) = seen.insert(&field.property, &field.name) {
            let problem = format!(
                "the fields `{other}` and `{}` both become the property `{}`; choose another with `#[entity(rename = \"...\")]`",
                field.name, field.property
            );
            report(field, problem, errors);
        }
    }
}

/// At the name as the user wrote it.
fn report(field: &Field<'_>, problem: String, errors: &mut Errors) {
    match &field.renamed {
        Some(text) => errors.add(text, problem),
        None => errors.add(field.ident, problem),
    }
}

fn check_type(field: &Field<'_>, generics: &Generics, errors: &mut Errors) {
    match (&field.storage, field.shape) {
        (Storage::Property, Shape::Unsupported(hint)) => {
            errors.add(field.inner, format!("this type cannot be a property: {hint}"));
        }
        (Storage::Flatten(prefix), shape) => {
            if !matches!(shape, Shape::Opaque) {
                errors.add(field.inner, "`flatten` needs a struct that derives `Flatten`");
            } else if !prefix.is_empty() && names::property_problem(&format!("{prefix}A")).is_some() {
                errors.add(field.ident, format!("the prefix `{prefix}` cannot begin a property name"));
            } else if mentions(field.ty, generics) {
                errors.add(
                    field.ty,
                    "a flattened field cannot depend on a generic parameter, since its names are made at compile time",
                );
            }
        }
        _ => {}
    }
}

/// Checks that what goes to a blob is text, bytes or JSON. A type of the user's is checked where its column is made.
pub(super) fn check_blobs(fields: &[Field<'_>], errors: &mut Errors) {
    for field in fields.iter().filter(|field| field.blob.is_some() && field.is_property()) {
        if !matches!(field.shape, Shape::Text | Shape::Bytes | Shape::Opaque | Shape::Unsupported(_)) {
            let name = &field.name;
            let problem = format!(
                "a blob holds bytes, text or JSON, and `{name}` is none of them; leave out `blob`, or add `json`"
            );
            errors.add(field.inner, problem);
        }
    }
}

/// Refuses blobs in a struct that is flattened: only the entity itself knows which of its properties are in blobs.
pub(crate) fn refuse_blobs(fields: &[Field<'_>], errors: &mut Errors) {
    for field in fields {
        if let Some(blob) = &field.blob {
            errors.add(
                blob,
                format!("a flattened struct keeps nothing in blobs; move `{}` to the entity itself", field.name),
            );
        }
    }
}

/// Whether a type names a generic parameter.
fn mentions(ty: &Type, generics: &Generics) -> bool {
    let parameters: Vec<String> = generics
        .type_params()
        .map(|parameter| parameter.ident.to_string())
        .chain(generics.const_params().map(|parameter| parameter.ident.to_string()))
        .collect();
    any_of(ty.to_token_stream(), &parameters)
}

fn any_of(tokens: TokenStream, names: &[String]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => names.contains(&ident.to_string()),
        TokenTree::Group(group) => any_of(group.stream(), names),
        _ => false,
    })
}

/// Checks that the column constants can be told apart.
pub(super) fn check_columns(fields: &[Field<'_>], errors: &mut Errors) {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for field in fields.iter().filter(|field| matches!(field.storage, Storage::Property | Storage::Json)) {
        if let Some(other) = seen.insert(field.column.to_string(), &field.name) {
            errors.add(
                field.ident,
                format!(
                    "the fields `{other}` and `{}` both become the column `{}`; choose another with `#[entity(column = \"...\")]`",
                    field.name, field.column
                ),
            );
        }
    }
}
