//! `Projection`: a smaller struct that is read from an entity's rows.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, Path};

use crate::field::Fallback;
use crate::projection::{Projected, Projection};

/// Everything that `#[derive(Projection)]` generates.
pub(crate) fn projection(input: &DeriveInput, krate: &Path, projection: &Projection<'_>) -> TokenStream {
    let ident = &input.ident;
    let label = ident.to_string();
    let (impl_generics, parameters, where_clause) = input.generics.split_for_impl();
    let Projection { of, fields } = projection;
    let columns: Vec<Ident> = (0..fields.len()).map(|at| format_ident!("column_{at}")).collect();
    // Each function is the one place where a field meets its column, so a mismatch is one error.
    let sources = fields.iter().zip(&columns).map(|(field, function)| {
        let Projected { column, inner, .. } = field;
        let source = quote_spanned!(inner.span()=> impl #krate::__private::Source<#of, #inner>);
        quote! {
            fn #function() -> #source {
                <#of>::#column
            }
        }
    });
    let reads = fields.iter().zip(&columns).map(|(field, function)| {
        let Projected { ident, name, default, .. } = field;
        let read = quote!(#krate::__private::Source::read(&#function(), __key, __properties)?);
        let value = match default {
            _ if field.optional => read,
            Some(Fallback::Type) => quote!(#read.unwrap_or_default()),
            Some(Fallback::Function(path)) => quote!(#read.unwrap_or_else(#path)),
            None => quote!(#read.ok_or_else(|| #krate::__private::absent(#name))?),
        };
        quote!(#ident: #value)
    });
    quote! {
        const _: () = {
            #(#sources)*

            #[automatically_derived]
            impl #impl_generics #krate::FromRow for #ident #parameters #where_clause {
                fn selection() -> #krate::store::Selection {
                    let properties = [#(#krate::__private::Source::property(&#columns())),*];
                    #krate::__private::selection(properties.into_iter().flatten())
                }

                fn row_prefix() -> &'static str {
                    <#of as #krate::FromRow>::row_prefix()
                }

                fn label() -> &'static str {
                    #label
                }

                fn recognizes(row: &#krate::DynamicEntity) -> bool {
                    <#of as #krate::FromRow>::recognizes(row)
                }

                fn from_row(__row: #krate::DynamicEntity) -> #krate::Result<#krate::Versioned<Self>> {
                    #krate::__private::check_version(<#of as #krate::Entity>::SCHEMA, &__row)?;
                    #krate::__private::read_row(__row, |__key, __properties| {
                        ::core::result::Result::Ok(Self { #(#reads),* })
                    })
                }
            }
        };
    }
}
