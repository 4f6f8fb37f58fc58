//! Derive macros that turn plain structs into typed table entities.
//!
//! Use them through `table_core`, which re-exports and explains them. Each macro reads its input
//! (`ast`, `attr`, `template`), checks it (`valid`) and writes code (`expand`). All
//! mistakes of a type are reported at once, each where it was made; the type then gets an
//! implementation that is never run, so that its uses report nothing more.

mod ast;
mod attr;
mod error;
mod expand;
mod field;
mod names;
mod projection;
mod property;
mod set;
mod shape;
mod template;
mod valid;

use proc_macro::TokenStream;
use syn::{DeriveInput, Path, parse_macro_input, parse_quote};

use crate::error::Errors;

/// Implements `Entity` for a struct: keys by template, fields as properties, indexes.
#[proc_macro_derive(Entity, attributes(entity, index))]
pub fn derive_entity(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let mut errors = Errors::default();
    let entity = ast::Entity::parse(&input, &mut errors);
    if let Some(entity) = &entity {
        valid::check_entity(entity, &mut errors);
    }
    match entity {
        Some(entity) if errors.is_empty() => expand::entity(&entity),
        entity => {
            let krate = entity.map_or_else(default_krate, |entity| entity.attrs.krate());
            let fallback = expand::broken_entity(&input, &krate);
            with_errors(errors, fallback)
        }
    }
    .into()
}

/// Implements `EntitySet` for an enum whose variants hold one entity type each.
#[proc_macro_derive(EntitySet, attributes(entity))]
pub fn derive_entity_set(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let mut errors = Errors::default();
    let krate = set::krate(&input, &mut errors).unwrap_or_else(default_krate);
    let members = set::members(&input, &mut errors);
    if errors.is_empty() {
        expand::set(&input, &krate, &members).into()
    } else {
        with_errors(errors, expand::broken_row(&input, &krate)).into()
    }
}

/// Implements `Property` and `KeyPart` for a C-like enum, as text, or for a newtype.
#[proc_macro_derive(Property, attributes(property))]
pub fn derive_property(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let mut errors = Errors::default();
    let (krate, property) = property::parse(&input, &mut errors);
    let krate = krate.unwrap_or_else(default_krate);
    match property {
        Some(property) if errors.is_empty() => expand::property(&input, &krate, &property),
        _ => with_errors(errors, expand::broken_property(&input, &krate)),
    }
    .into()
}

/// Implements `Flatten` for a struct whose fields become properties of the entity that holds it.
#[proc_macro_derive(Flatten, attributes(entity))]
pub fn derive_flatten(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let mut errors = Errors::default();
    let attrs = ast::FlattenAttributes::parse(&input, &mut errors);
    let krate = attrs.krate.unwrap_or_else(default_krate);
    let fields = ast::named_fields(&input, "Flatten", attrs.case.unwrap_or_default(), &mut errors);
    if let Some(fields) = &fields {
        valid::check_fields(fields, &input.generics, &mut errors);
        valid::refuse_blobs(fields, &mut errors);
    }
    match fields {
        Some(fields) if errors.is_empty() => expand::flatten(&input, &krate, &fields),
        _ => with_errors(errors, expand::broken_flatten(&input, &krate)),
    }
    .into()
}

/// Implements `FromRow` for a smaller struct that is read from an entity's rows.
#[proc_macro_derive(Projection, attributes(projection))]
pub fn derive_projection(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let mut errors = Errors::default();
    let (krate, projection) = projection::Projection::parse(&input, &mut errors);
    let krate = krate.unwrap_or_else(default_krate);
    match projection {
        Some(projection) if errors.is_empty() => expand::projection(&input, &krate, &projection),
        _ => with_errors(errors, expand::broken_row(&input, &krate)),
    }
    .into()
}

fn default_krate() -> Path {
    parse_quote!(::table_core)
}

fn with_errors(errors: Errors, fallback: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    errors.into_tokens().into_iter().chain(fallback).collect()
}
