//! `EntitySet`: several entity types that share a table.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Path};

use crate::set::Member;

/// Everything that `#[derive(EntitySet)]` generates.
pub(crate) fn set(input: &DeriveInput, krate: &Path, members: &[Member<'_>]) -> TokenStream {
    let ident = &input.ident;
    let name = ident.to_string();
    let (impl_generics, parameters, where_clause) = input.generics.split_for_impl();
    let schemas: Vec<TokenStream> = members
        .iter()
        .filter(|member| !member.other)
        .map(|Member { entity, .. }| quote!(<#entity as #krate::Entity>::SCHEMA))
        .collect();
    let resolve = members.iter().filter(|member| !member.other).map(|member| {
        let Member { entity, .. } = member;
        let read = read(krate, member);
        quote! {
            if <#entity as #krate::FromRow>::recognizes(&row) {
                return #read;
            }
        }
    });
    let rest = members.iter().find(|member| member.other).map_or_else(
        || {
            quote! {
                ::core::result::Result::Err(#krate::__private::unknown_member(
                    #name,
                    <Self as #krate::EntitySet>::MEMBERS,
                    &row,
                ))
            }
        },
        |other| read(krate, other),
    );
    let conversions = members.iter().filter(|member| !member.other).map(|member| {
        let Member { variant, entity, .. } = member;
        let wrapped = member.wrap(&quote!(entity));
        quote! {
            #[automatically_derived]
            impl #impl_generics ::core::convert::From<#entity> for #ident #parameters #where_clause {
                fn from(entity: #entity) -> Self {
                    Self::#variant(#wrapped)
                }
            }
        }
    });
    let distinct = input
        .generics
        .params
        .is_empty()
        .then(|| quote!(const _: () = #krate::__private::assert_distinct(&[#(#schemas),*]);));
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::FromRow for #ident #parameters #where_clause {
            fn label() -> &'static str {
                #name
            }

            fn recognizes(row: &#krate::DynamicEntity) -> bool {
                row.get(#krate::reserved::ROW_KIND.as_str()).is_none()
            }

            fn from_row(row: #krate::DynamicEntity) -> #krate::Result<#krate::Versioned<Self>> {
                #(#resolve)*
                #rest
            }
        }

        #[automatically_derived]
        impl #impl_generics #krate::EntitySet for #ident #parameters #where_clause {
            const MEMBERS: &'static [&'static #krate::Schema] = &[#(#schemas),*];
        }

        #(#conversions)*
        #distinct
    }
}

/// Reads `row` as one member.
fn read(krate: &Path, member: &Member<'_>) -> TokenStream {
    let Member { variant, entity, .. } = member;
    let wrapped = member.wrap(&quote!(entity));
    quote! {
        <#entity as #krate::FromRow>::from_row(row).map(|read| read.map(|entity| Self::#variant(#wrapped)))
    }
}
