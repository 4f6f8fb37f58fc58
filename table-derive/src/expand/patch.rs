//! Patch builders: `Employee::patch(key).age(41)`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::Context;
use crate::ast::Entity;
use crate::field::{Field, Storage};
use crate::shape::Shape;

/// The builder's type, and the function that begins one.
///
/// There is no setter for a field that a key or an index copy holds, so that a patch can never
/// leave an index stale; none for a field that may be in a blob, which a patch would orphan; and none
/// for a flattened field, since a merge cannot take away the properties that its new value lacks.
pub(super) fn patch(context: &Context<'_>) -> (TokenStream, TokenStream) {
    let Context { krate, entity } = context;
    let free = |position: &usize| {
        !entity.key.holds(*position) && !entity.indexes.iter().any(|index| entity.copied(index).contains(position))
    };
    let setters: Vec<TokenStream> = (0..entity.fields.len())
        .filter(free)
        .filter_map(|position| entity.fields.get(position))
        .filter(|field| !can_be_blob(entity, field))
        .filter_map(|field| setter(context, field))
        .collect();
    if setters.is_empty() {
        return (TokenStream::new(), TokenStream::new());
    }
    let (vis, this, ident) = (context.vis(), context.this(), context.ident());
    let generics = context.generics();
    let (impl_generics, parameters, where_clause) = generics.split_for_impl();
    let function = entity.attrs.patch_fn.clone().unwrap_or_else(|| format_ident!("patch"));
    let builder = context.named_after(&function);
    let doc = format!("A partial update of an `{ident}`: only the fields that are named here are sent.");
    let upgraded = entity.attrs.upgrade_from.as_ref().map(|_| {
        quote! {
            ///
            /// Patch only rows that were written as the current version: one of an old version is
            /// read through its old type, which does not know what was merged into it.
        }
    });
    let types = quote! {
        #[doc = #doc]
        ///
        /// A field that a key or an index copy holds has no method here: it takes the full
        /// read, change and write, which keeps the index in step.
        #upgraded
        #[allow(dead_code)]
        #[must_use]
        #vis struct #builder #impl_generics (#krate::Patch<#this>) #where_clause;

        #[allow(dead_code)]
        #[automatically_derived]
        impl #impl_generics #builder #parameters #where_clause {
            #(#setters)*
        }

        #[automatically_derived]
        impl #impl_generics ::core::convert::From<#builder #parameters> for #krate::Patch<#this> #where_clause {
            fn from(patch: #builder #parameters) -> Self {
                patch.0
            }
        }

        #[automatically_derived]
        impl #impl_generics ::core::fmt::Debug for #builder #parameters #where_clause {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(&self.0, f)
            }
        }
    };
    let begin = quote! {
        /// Begins a partial update of the entity with this key, or of the version that was read.
        #vis fn #function(target: impl ::core::convert::Into<#krate::PatchTarget<Self>>) -> #builder #parameters {
            #builder(#krate::Patch::new(target))
        }
    };
    (types, begin)
}

fn can_be_blob(entity: &Entity<'_>, field: &Field<'_>) -> bool {
    let movable =
        matches!(field.storage, Storage::Json) || matches!(field.shape, Shape::Text | Shape::Bytes | Shape::Opaque);
    field.blob.is_some() || (entity.attrs.blob_above.is_some() && movable)
}

fn setter(context: &Context<'_>, field: &Field<'_>) -> Option<TokenStream> {
    let krate = &context.krate;
    let vis = context.vis();
    let Field { ident, inner, name, property, .. } = field;
    let doc = format!("Sets the field `{name}`.");
    let (ty, value) = match (&field.storage, field.shape) {
        (Storage::Property, Shape::Text) => (
            quote!(impl ::core::convert::Into<::std::string::String>),
            quote!(<#inner as #krate::Property>::to_value(&value.into())),
        ),
        (Storage::Property, _) => (quote!(#inner), quote!(<#inner as #krate::Property>::to_value(&value))),
        (Storage::Json, _) => (quote!(&#inner), quote!(#krate::__private::json_value(value))),
        (Storage::Flatten(_) | Storage::Skip, _) => return None,
    };
    Some(quote! {
        #[doc = #doc]
        #vis fn #ident(self, value: #ty) -> Self {
            Self(self.0.set(#krate::PropertyName::checked(#property), #value))
        }
    })
}
