//! The enum that derives `EntitySet`.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Fields, Path, Type};

use crate::ast::refuse_lifetimes;
use crate::attr;
use crate::error::Errors;
use crate::shape;

/// One variant.
pub(crate) struct Member<'a> {
    pub(crate) variant: &'a Ident,
    /// The type of the rows, without a `Box` around it.
    pub(crate) entity: &'a Type,
    pub(crate) boxed: bool,
    /// Whether the variant takes the rows of all other types.
    pub(crate) other: bool,
}

impl Member<'_> {
    /// What the variant holds, made of an entity.
    pub(crate) fn wrap(&self, entity: &TokenStream) -> TokenStream {
        if self.boxed { quote!(::std::boxed::Box::new(#entity)) } else { entity.clone() }
    }
}

/// The path to the core crate that the enum names.
pub(crate) fn krate(input: &DeriveInput, errors: &mut Errors) -> Option<Path> {
    let mut krate = None;
    for item in attr::items(&input.attrs, "entity", errors) {
        match attr::name(&item).as_str() {
            "crate" => attr::put(&mut krate, &item, attr::path(&item, errors), errors),
            _ => attr::unknown(&item, &["crate"], errors),
        }
    }
    krate
}

/// Reads the variants.
pub(crate) fn members<'a>(input: &'a DeriveInput, errors: &mut Errors) -> Vec<Member<'a>> {
    refuse_lifetimes(input, errors);
    let Data::Enum(data) = &input.data else {
        errors.add(&input.ident, "`EntitySet` needs an enum; derive `Entity` for a struct");
        return Vec::new();
    };
    if data.variants.is_empty() {
        errors.add(&input.ident, "an entity set needs a variant for each type, as in `Employee(Employee)`");
    }
    let mut members: Vec<Member<'a>> = Vec::new();
    for variant in &data.variants {
        let mut other = None;
        for item in attr::items(&variant.attrs, "entity", errors) {
            match attr::name(&item).as_str() {
                "other" => attr::put(&mut other, &item, attr::flag(&item, errors), errors),
                _ => attr::unknown(&item, &["other"], errors),
            }
        }
        let Fields::Unnamed(fields) = &variant.fields else {
            errors.add(variant, one_field(&variant.ident));
            continue;
        };
        let (Some(field), 1) = (fields.unnamed.first(), fields.unnamed.len()) else {
            errors.add(variant, one_field(&variant.ident));
            continue;
        };
        if other.is_some() && members.iter().any(|member| member.other) {
            errors.add(&variant.ident, "an entity set has one `other` variant at most");
        }
        let inner = shape::in_box(&field.ty);
        let entity = inner.unwrap_or(&field.ty);
        members.push(Member { variant: &variant.ident, entity, boxed: inner.is_some(), other: other.is_some() });
    }
    members
}

fn one_field(variant: &Ident) -> String {
    format!("the variant `{variant}` must hold one entity, as in `{variant}({variant})`")
}
