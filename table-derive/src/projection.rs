//! The struct that derives `Projection`.

use proc_macro2::Ident;
use syn::{Data, DeriveInput, Fields, Path, Type};

use crate::ast::refuse_lifetimes;
use crate::attr;
use crate::error::Errors;
use crate::field::Fallback;
use crate::names;
use crate::shape;

/// A smaller struct, read from an entity's rows.
pub(crate) struct Projection<'a> {
    /// The entity.
    pub(crate) of: Path,
    pub(crate) fields: Vec<Projected<'a>>,
}

/// One field of it.
pub(crate) struct Projected<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) name: String,
    /// The entity's column of the same name.
    pub(crate) column: Ident,
    /// The type in an `Option`, or the type itself.
    pub(crate) inner: &'a Type,
    pub(crate) optional: bool,
    pub(crate) default: Option<Fallback>,
}

impl<'a> Projection<'a> {
    /// Reads a struct, and the path to the core crate that it names.
    pub(crate) fn parse(input: &'a DeriveInput, errors: &mut Errors) -> (Option<Path>, Option<Self>) {
        let (mut of, mut krate) = (None, None);
        refuse_lifetimes(input, errors);
        for item in attr::items(&input.attrs, "projection", errors) {
            match attr::name(&item).as_str() {
                "of" => attr::put(&mut of, &item, attr::type_path(&item, errors), errors),
                "crate" => attr::put(&mut krate, &item, attr::path(&item, errors), errors),
                _ => attr::unknown(&item, &["of", "crate"], errors),
            }
        }
        if of.is_none() && errors.is_empty() {
            errors.add(&input.ident, "a projection names its entity: `#[projection(of = Employee)]`");
        }
        let Data::Struct(syn::DataStruct { fields: Fields::Named(named), .. }) = &input.data else {
            errors.add(&input.ident, "`Projection` needs a struct with named fields");
            return (krate, None);
        };
        let fields = named.named.iter().filter_map(|field| Projected::parse(field, errors)).collect();
        (krate, of.map(|of| Self { of, fields }))
    }
}

impl<'a> Projected<'a> {
    fn parse(field: &'a syn::Field, errors: &mut Errors) -> Option<Self> {
        let ident = field.ident.as_ref()?;
        let (mut default, mut column) = (None, None);
        for item in attr::items(&field.attrs, "projection", errors) {
            match attr::name(&item).as_str() {
                "default" => attr::put(&mut default, &item, Fallback::parse(&item, errors), errors),
                "column" => attr::put(&mut column, &item, attr::ident(&item, errors), errors),
                _ => attr::unknown(&item, &["default", "column"], errors),
            }
        }
        let name = names::plain(ident);
        let option = shape::in_option(&field.ty);
        Some(Self {
            ident,
            column: column.unwrap_or_else(|| Ident::new(&names::column(&name), ident.span())),
            inner: option.unwrap_or(&field.ty),
            optional: option.is_some(),
            default,
            name,
        })
    }
}
