//! `Property` and `KeyPart` for C-like enums (as text) and newtypes (as what they hold).

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, Member, Path, Type, parse_quote};

use crate::property::Property;

/// Everything that `#[derive(Property)]` generates.
pub(crate) fn property(input: &DeriveInput, krate: &Path, property: &Property<'_>) -> TokenStream {
    match property {
        Property::Texts(texts) => enumeration(input, krate, texts),
        Property::Newtype(member, inner) => newtype(input, krate, member, inner),
    }
}

fn enumeration(input: &DeriveInput, krate: &Path, texts: &[(&Ident, String)]) -> TokenStream {
    let ident = &input.ident;
    let name = ident.to_string();
    let variants = texts.iter().map(|(variant, _)| variant);
    let more_variants = variants.clone();
    let texts: Vec<&String> = texts.iter().map(|(_, text)| text).collect();
    quote! {
        const _: () = {
            fn to_text(value: &#ident) -> &'static str {
                match value {
                    #(#ident::#variants => #texts,)*
                }
            }

            fn from_text(text: &str) -> #krate::Result<#ident> {
                match text {
                    #(#texts => ::core::result::Result::Ok(#ident::#more_variants),)*
                    _ => ::core::result::Result::Err(#krate::__private::corrupted_variant(#name)),
                }
            }

            #[automatically_derived]
            impl #krate::Property for #ident {
                const EDM: #krate::EdmType = #krate::EdmType::String;

                fn to_value(&self) -> #krate::Result<::core::option::Option<#krate::Value>> {
                    ::core::result::Result::Ok(::core::option::Option::Some(#krate::Value::from(to_text(self))))
                }

                fn from_value(value: #krate::Value) -> #krate::Result<Self> {
                    from_text(&<::std::string::String as #krate::Property>::from_value(value)?)
                }
            }

            #[automatically_derived]
            impl #krate::keys::KeyPart for #ident {
                const KIND: #krate::keys::PartKind = #krate::keys::PartKind::Text;

                fn to_key(&self) -> #krate::Result<#krate::keys::KeyValue<'_>> {
                    #krate::__private::text(to_text(self))
                }

                fn from_key(value: #krate::keys::KeyValue<'_>) -> #krate::Result<Self> {
                    from_text(&<::std::string::String as #krate::keys::KeyPart>::from_key(value)?)
                }
            }
        };
    }
}

fn newtype(input: &DeriveInput, krate: &Path, member: &Member, inner: &Type) -> TokenStream {
    let ident = &input.ident;
    let mut generics = input.generics.clone();
    if !generics.params.is_empty() {
        generics.make_where_clause().predicates.push(parse_quote!(#inner: #krate::Property));
    }
    let (impl_generics, parameters, where_clause) = generics.split_for_impl();
    let as_property = quote_spanned!(inner.span()=> <#inner as #krate::Property>);
    // Binary newtypes are properties and no key parts: the bound leaves the implementation out
    // there, and the binder keeps the compiler from checking it at once.
    let mut key_generics = input.generics.clone();
    key_generics.make_where_clause().predicates.push(parse_quote!(for<'any> #inner: #krate::keys::KeyPart));
    let (_, _, key_where) = key_generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::Property for #ident #parameters #where_clause {
            const EDM: #krate::EdmType = #as_property::EDM;

            fn to_value(&self) -> #krate::Result<::core::option::Option<#krate::Value>> {
                #krate::Property::to_value(&self.#member)
            }

            fn from_value(value: #krate::Value) -> #krate::Result<Self> {
                #krate::Property::from_value(value).map(|inner| Self { #member: inner })
            }

            fn absent() -> ::core::option::Option<Self> {
                <#inner as #krate::Property>::absent().map(|inner| Self { #member: inner })
            }
        }

        #[automatically_derived]
        impl #impl_generics #krate::keys::KeyPart for #ident #parameters #key_where {
            const KIND: #krate::keys::PartKind = <#inner as #krate::keys::KeyPart>::KIND;

            fn to_key(&self) -> #krate::Result<#krate::keys::KeyValue<'_>> {
                #krate::keys::KeyPart::to_key(&self.#member)
            }

            fn from_key(value: #krate::keys::KeyValue<'_>) -> #krate::Result<Self> {
                #krate::keys::KeyPart::from_key(value).map(|inner| Self { #member: inner })
            }
        }
    }
}
