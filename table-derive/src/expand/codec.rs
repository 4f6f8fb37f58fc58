//! Fields to properties and back: what entities, index copies and flattened structs share.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

use super::keys;
use crate::field::{Fallback, Field, Storage};

/// The constant with the property names of a flattened field.
fn flat_names(position: usize) -> Ident {
    format_ident!("FLAT_{position}")
}

/// The constants with the property names of all flattened fields.
pub(super) fn flat_constants(krate: &Path, fields: &[Field<'_>]) -> TokenStream {
    let constants = fields.iter().enumerate().filter_map(|(position, field)| {
        let Storage::Flatten(prefix) = &field.storage else { return None };
        let (constant, ty) = (flat_names(position), field.ty);
        let names = quote_spanned!(ty.span()=> <#ty as #krate::Flatten>::PROPERTIES);
        Some(quote! {
            const #constant: &[&str] = {
                const NAMES: &[&str] = #names;
                const BYTES: [u8; #krate::__private::prefixed_len(#prefix, NAMES)] =
                    #krate::__private::prefixed_bytes(#prefix, NAMES);
                const LIST: [&str; NAMES.len()] = #krate::__private::prefixed_names(&BYTES, #prefix, NAMES);
                &LIST
            };
        })
    });
    quote!(#(#constants)*)
}

/// The names of the properties that these fields become, as a constant expression.
pub(super) fn property_names(krate: &Path, fields: &[Field<'_>], stored: &[usize]) -> TokenStream {
    let plain = plain(fields, stored).map(|(_, field)| &field.property);
    let flat: Vec<Ident> = flat(fields, stored).map(|(position, _)| flat_names(position)).collect();
    if flat.is_empty() {
        return quote!(&[#(#plain),*]);
    }
    quote! {{
        const LISTS: &[&[&str]] = &[&[#(#plain),*], #(#flat),*];
        const LIST: [&str; #krate::__private::count(LISTS)] = #krate::__private::join(LISTS);
        &LIST
    }}
}

/// The fields that become one property each, with their positions.
pub(super) fn plain<'f, 'a>(
    fields: &'f [Field<'a>],
    stored: &'f [usize],
) -> impl Iterator<Item = (usize, &'f Field<'a>)> {
    of(fields, stored).filter(|(_, field)| matches!(field.storage, Storage::Property | Storage::Json))
}

fn flat<'f, 'a>(fields: &'f [Field<'a>], stored: &'f [usize]) -> impl Iterator<Item = (usize, &'f Field<'a>)> {
    of(fields, stored).filter(|(_, field)| matches!(field.storage, Storage::Flatten(_)))
}

fn of<'f, 'a>(fields: &'f [Field<'a>], positions: &'f [usize]) -> impl Iterator<Item = (usize, &'f Field<'a>)> {
    positions.iter().filter_map(|position| Some((*position, fields.get(*position)?)))
}

/// Statements that write fields of `self` into `properties`, by name, since that is their order.
pub(super) fn write(krate: &Path, fields: &[Field<'_>], stored: &[usize]) -> TokenStream {
    let mut plain: Vec<_> = plain(fields, stored).map(|(_, field)| field).collect();
    plain.sort_by(|a, b| a.property.cmp(&b.property));
    let plain = plain.into_iter().map(|field| {
        let property = &field.property;
        write_field(krate, field, &quote!(#property))
    });
    let flat = flat(fields, stored).map(|(position, field)| {
        let (ident, ty, names) = (field.ident, field.ty, flat_names(position));
        quote!(<#ty as #krate::Flatten>::write(&self.#ident, #names, properties)?;)
    });
    quote!(#(#plain)* #(#flat)*)
}

/// A statement that writes one field of `self` under a name.
pub(super) fn write_field(krate: &Path, field: &Field<'_>, name: &TokenStream) -> TokenStream {
    let Field { ident, ty, .. } = field;
    match &field.storage {
        Storage::Json if field.optional => quote! {
            if let ::core::option::Option::Some(value) = &self.#ident {
                #krate::__private::write_json(properties, #name, value)?;
            }
        },
        Storage::Json => quote!(#krate::__private::write_json(properties, #name, &self.#ident)?;),
        _ => quote_spanned!(ty.span()=> #krate::__private::write::<#ty>(properties, #name, &self.#ident)?;),
    }
}

/// An expression that reads one field from an optional value.
pub(super) fn read_field(krate: &Path, field: &Field<'_>, name: &TokenStream, value: &TokenStream) -> TokenStream {
    let ty = field.ty;
    let default = field.default.as_ref().map(|default| match default {
        Fallback::Type => quote!(::core::default::Default::default),
        Fallback::Function(path) => quote!(#path),
    });
    match (&field.storage, default) {
        (Storage::Json, Some(default)) => quote!(#krate::__private::read_json_or(#name, #value, #default)?),
        (Storage::Json, None) if field.optional => {
            quote!(#krate::__private::read_json_or(#name, #value, || ::core::option::Option::None)?)
        }
        (Storage::Json, None) => quote!(#krate::__private::read_json(#name, #value)?),
        (_, Some(default)) => quote!(#krate::__private::read_or::<#ty>(#name, #value, #default)?),
        (_, None) => quote_spanned!(ty.span()=> #krate::__private::read::<#ty>(#name, #value)?),
    }
}

/// Statements that take `__properties` apart, and the fields that come of them and of the parts of the key.
///
/// A default may be any function of the user's, so no local here has a name that one would have.
pub(super) fn read(
    krate: &Path,
    fields: &[Field<'_>],
    given: &[usize],
    of_key: &[usize],
) -> (TokenStream, Vec<TokenStream>) {
    let stored: Vec<usize> = given.iter().copied().filter(|field| !of_key.contains(field)).collect();
    let statements = drain(krate, fields, &stored);
    let fields = of(fields, given).map(|(position, field)| {
        let Field { ident, property, .. } = field;
        let value = match &field.storage {
            Storage::Skip => quote!(::core::default::Default::default()),
            Storage::Flatten(_) => {
                let flat = format_ident!("__flat_{position}");
                quote!(#flat.read()?)
            }
            _ if of_key.contains(&position) => {
                let part = keys::part_local(position);
                if field.optional { quote!(::core::option::Option::Some(#part)) } else { quote!(#part) }
            }
            _ => {
                let value = format_ident!("__value_{position}");
                read_field(krate, field, &quote!(#property), &quote!(#value))
            }
        };
        quote!(#ident: #value)
    });
    (statements, fields.collect())
}

/// Takes the properties out one by one; those of no field are dropped.
fn drain(krate: &Path, fields: &[Field<'_>], stored: &[usize]) -> TokenStream {
    let slots: Vec<Ident> = plain(fields, stored).map(|(position, _)| format_ident!("__value_{position}")).collect();
    let names = plain(fields, stored).map(|(_, field)| &field.property);
    let flats: Vec<Ident> = flat(fields, stored).map(|(position, _)| format_ident!("__flat_{position}")).collect();
    let flat_names = flat(fields, stored).map(|(position, _)| flat_names(position));
    if slots.is_empty() && flats.is_empty() {
        return TokenStream::new();
    }
    let rest = if flats.is_empty() {
        quote!(_ => {})
    } else {
        quote! {
            other => {
                let rest = ::core::option::Option::Some(value);
                #(let rest = rest.and_then(|value| #flats.offer(other, value));)*
                ::core::mem::drop(rest);
            }
        }
    };
    quote! {
        #(let mut #slots = ::core::option::Option::None;)*
        #(let mut #flats = #krate::__private::Flat::new(#flat_names);)*
        for (name, value) in __properties.drain() {
            match name.as_str() {
                #(#names => #slots = ::core::option::Option::Some(value),)*
                #rest
            }
        }
    }
}
