//! `Flatten`: a struct whose fields become properties of the entity that holds it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Path};

use super::codec;
use crate::field::{Field, Storage};

/// Everything that `#[derive(Flatten)]` generates.
///
/// The properties stand in one list: those of the plain fields, then those of each flattened
/// field. Reading and writing walk the list in that order.
pub(crate) fn flatten(input: &DeriveInput, krate: &Path, fields: &[Field<'_>]) -> TokenStream {
    let ident = &input.ident;
    let (impl_generics, parameters, where_clause) = input.generics.split_for_impl();
    let all: Vec<usize> = (0..fields.len()).collect();
    let constants = codec::flat_constants(krate, fields);
    let names = codec::property_names(krate, fields, &all);
    let plain: Vec<&Field<'_>> = codec::plain(fields, &all).map(|(_, field)| field).collect();
    let nested: Vec<&Field<'_>> = fields.iter().filter(|field| matches!(field.storage, Storage::Flatten(_))).collect();
    let name = |at: usize| quote!(#krate::__private::name(__names, #at));

    let writes = plain.iter().enumerate().map(|(at, field)| codec::write_field(krate, field, &name(at)));
    let nested_writes = nested.iter().enumerate().map(|(at, field)| {
        let (ident, ty) = (field.ident, field.ty);
        let (start, count) = stretch(krate, &plain, &nested, at);
        quote! {
            <#ty as #krate::Flatten>::write(&self.#ident, #krate::__private::slice(__names, #start, #count), properties)?;
        }
    });
    let reads = plain.iter().enumerate().map(|(at, field)| {
        let ident = field.ident;
        let value = codec::read_field(krate, field, &name(at), &quote!(#krate::__private::take(__values, #at)));
        quote!(#ident: #value)
    });
    let nested_reads = nested.iter().enumerate().map(|(at, field)| {
        let (ident, ty) = (field.ident, field.ty);
        let (start, count) = stretch(krate, &plain, &nested, at);
        quote! {
            #ident: <#ty as #krate::Flatten>::read(
                #krate::__private::slice(__names, #start, #count),
                #krate::__private::slice_mut(__values, #start, #count),
            )?
        }
    });
    let skipped = fields.iter().filter(|field| matches!(field.storage, Storage::Skip)).map(|field| {
        let ident = field.ident;
        quote!(#ident: ::core::default::Default::default())
    });
    quote! {
        const _: () = {
            #constants

            #[automatically_derived]
            #[allow(unused_variables)]
            impl #impl_generics #krate::Flatten for #ident #parameters #where_clause {
                const PROPERTIES: &'static [&'static str] = #names;

                fn write(
                    &self,
                    __names: &[&'static str],
                    properties: &mut #krate::Properties,
                ) -> #krate::Result<()> {
                    #(#writes)*
                    #(#nested_writes)*
                    ::core::result::Result::Ok(())
                }

                fn read(
                    __names: &[&'static str],
                    __values: &mut [::core::option::Option<#krate::Value>],
                ) -> #krate::Result<Self> {
                    ::core::result::Result::Ok(Self {
                        #(#reads,)*
                        #(#nested_reads,)*
                        #(#skipped,)*
                    })
                }
            }
        };
    }
}

/// Where the properties of one nested field stand in the list, and how many there are.
fn stretch(krate: &Path, plain: &[&Field<'_>], nested: &[&Field<'_>], at: usize) -> (TokenStream, TokenStream) {
    let first = plain.len();
    let count = |field: &&Field<'_>| {
        let ty = field.ty;
        quote!(<#ty as #krate::Flatten>::PROPERTIES.len())
    };
    let before = nested.iter().take(at).map(count);
    let own = nested.get(at).map(count);
    (quote!(#first #(+ #before)*), quote!(#own))
}
