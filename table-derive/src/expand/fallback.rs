//! Implementations for types whose attributes have mistakes, so that only the mistakes are
//! reported and not every use of the type.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Path};

/// `Entity` that is never run.
pub(crate) fn broken_entity(input: &DeriveInput, krate: &Path) -> TokenStream {
    let row = broken_row(input, krate);
    if row.is_empty() {
        return row;
    }
    let ident = &input.ident;
    let (impl_generics, parameters, where_clause) = input.generics.split_for_impl();
    quote! {
        #row

        #[automatically_derived]
        impl #impl_generics #krate::Entity for #ident #parameters #where_clause {
            const SCHEMA: &'static #krate::Schema = #krate::__private::BROKEN_SCHEMA;

            fn entity_key(&self) -> #krate::Result<#krate::EntityKey> {
                ::core::unreachable!()
            }

            fn write_properties(&self, _: &mut #krate::Properties) -> #krate::Result<()> {
                ::core::unreachable!()
            }

            fn index_key(&self, _: usize) -> #krate::Result<::core::option::Option<#krate::EntityKey>> {
                ::core::unreachable!()
            }

            fn write_index_properties(&self, _: usize, _: &mut #krate::Properties) -> #krate::Result<()> {
                ::core::unreachable!()
            }
        }

        #[automatically_derived]
        impl #impl_generics #krate::Unindexed for #ident #parameters #where_clause {}
    }
}

/// `FromRow` that is never run.
pub(crate) fn broken_row(input: &DeriveInput, krate: &Path) -> TokenStream {
    // A type with a lifetime can never be read, and saying so once is enough.
    if input.generics.lifetimes().next().is_some() {
        return TokenStream::new();
    }
    let ident = &input.ident;
    let (impl_generics, parameters, where_clause) = input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::FromRow for #ident #parameters #where_clause {
            fn recognizes(_: &#krate::DynamicEntity) -> bool {
                ::core::unreachable!()
            }

            fn from_row(_: #krate::DynamicEntity) -> #krate::Result<#krate::Versioned<Self>> {
                ::core::unreachable!()
            }
        }
    }
}

/// `Flatten` that is never run.
pub(crate) fn broken_flatten(input: &DeriveInput, krate: &Path) -> TokenStream {
    let ident = &input.ident;
    let (impl_generics, parameters, where_clause) = input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::Flatten for #ident #parameters #where_clause {
            const PROPERTIES: &'static [&'static str] = &[];

            fn write(&self, _: &[&'static str], _: &mut #krate::Properties) -> #krate::Result<()> {
                ::core::unreachable!()
            }

            fn read(
                _: &[&'static str],
                _: &mut [::core::option::Option<#krate::Value>],
            ) -> #krate::Result<Self> {
                ::core::unreachable!()
            }
        }
    }
}

/// `Property` and `KeyPart` that are never run.
pub(crate) fn broken_property(input: &DeriveInput, krate: &Path) -> TokenStream {
    let ident = &input.ident;
    let (impl_generics, parameters, where_clause) = input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::Property for #ident #parameters #where_clause {
            const EDM: #krate::EdmType = #krate::EdmType::String;

            fn to_value(&self) -> #krate::Result<::core::option::Option<#krate::Value>> {
                ::core::unreachable!()
            }

            fn from_value(_: #krate::Value) -> #krate::Result<Self> {
                ::core::unreachable!()
            }
        }

        #[automatically_derived]
        impl #impl_generics #krate::keys::KeyPart for #ident #parameters #where_clause {
            const KIND: #krate::keys::PartKind = #krate::keys::PartKind::Text;

            fn to_key(&self) -> #krate::Result<#krate::keys::KeyValue<'_>> {
                ::core::unreachable!()
            }

            fn from_key(_: #krate::keys::KeyValue<'_>) -> #krate::Result<Self> {
                ::core::unreachable!()
            }
        }
    }
}
