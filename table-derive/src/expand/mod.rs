//! Generated code: one file for each thing that is generated.

mod codec;
mod columns;
mod entity;
mod fallback;
mod flatten;
mod index;
mod keys;
mod patch;
mod projection;
mod property;
mod range;
mod set;

pub(crate) use entity::entity;
pub(crate) use fallback::{broken_entity, broken_flatten, broken_property, broken_row};
pub(crate) use flatten::flatten;
pub(crate) use projection::projection;
pub(crate) use property::property;
pub(crate) use set::set;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{GenericParam, Generics, Path, Visibility};

use crate::ast::Entity;
use crate::names::{self, Case};
use keys::KeySource;

/// What most generated items name.
struct Context<'e> {
    krate: Path,
    entity: &'e Entity<'e>,
}

impl<'e> Context<'e> {
    fn new(entity: &'e Entity<'e>) -> Self {
        Self { krate: entity.attrs.krate(), entity }
    }

    fn ident(&self) -> &Ident {
        &self.entity.input.ident
    }

    fn vis(&self) -> &Visibility {
        &self.entity.input.vis
    }

    fn generics(&self) -> &Generics {
        &self.entity.input.generics
    }

    /// The entity's type with its parameters.
    fn this(&self) -> TokenStream {
        let ident = self.ident();
        let (_, parameters, _) = self.generics().split_for_impl();
        quote!(#ident #parameters)
    }

    /// The entity's schema.
    fn schema(&self) -> TokenStream {
        let krate = &self.krate;
        let this = self.this();
        quote!(<#this as #krate::Entity>::SCHEMA)
    }

    /// The primary key, with its templates in the schema.
    fn key_source(&self) -> KeySource<'e> {
        let schema = self.schema();
        KeySource { key: &self.entity.key, partition: quote!(&#schema.partition), row: quote!(&#schema.row) }
    }

    /// A type that is named after the entity.
    fn named(&self, suffix: &str) -> Ident {
        format_ident!("{}{suffix}", names::plain(self.ident()), span = self.ident().span())
    }

    /// The type that one of the entity's functions gives: `EmployeeRange` of `range`. So a function
    /// with another name has a type with another name, and neither clashes with the user's own.
    fn named_after(&self, function: &Ident) -> Ident {
        self.named(&Case::Pascal.apply(&names::plain(function)))
    }

    /// The parameters of the entity as a type that a struct can hold without owning anything.
    fn phantom(&self) -> TokenStream {
        let this = self.this();
        quote!(::core::marker::PhantomData<fn() -> #this>)
    }

    fn is_generic(&self) -> bool {
        !self.generics().params.is_empty()
    }
}

/// An `Option` as the generated code writes it.
fn option(value: Option<TokenStream>) -> TokenStream {
    value.map_or_else(|| quote!(::core::option::Option::None), |value| quote!(::core::option::Option::Some(#value)))
}

/// The parameters without their defaults, which only a type's definition may have.
fn without_defaults(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    for parameter in &mut generics.params {
        match parameter {
            GenericParam::Type(parameter) => parameter.default = None,
            GenericParam::Const(parameter) => parameter.default = None,
            GenericParam::Lifetime(_) => {}
        }
    }
    generics
}
