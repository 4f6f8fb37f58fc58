//! One column for each field: `Employee::AGE`.

use proc_macro2::TokenStream;
use quote::quote;

use super::Context;
use crate::field::{Field, Storage};

/// The column constants.
pub(super) fn columns(context: &Context<'_>) -> TokenStream {
    let Context { krate, entity } = context;
    let vis = context.vis();
    let columns = entity.fields.iter().enumerate().map(|(position, field)| {
        let Field { column, inner, name, property, .. } = field;
        match &field.storage {
            Storage::Property if entity.key.holds_exactly(position) => {
                let doc = format!("The field `{name}`, which the key holds.");
                quote! {
                    #[doc = #doc]
                    #vis const #column: #krate::query::KeyColumn<Self, #inner> = #krate::query::KeyColumn::new(#name);
                }
            }
            Storage::Property if field.blob.is_some() => {
                let doc = format!("The property `{property}`, which holds the field `{name}` in a blob.");
                quote! {
                    #[doc = #doc]
                    #vis const #column: #krate::query::BlobColumn<Self, #inner> =
                        #krate::query::BlobColumn::new(#property);
                }
            }
            Storage::Property => {
                let doc = format!("The property `{property}`, which holds the field `{name}`.");
                quote! {
                    #[doc = #doc]
                    #vis const #column: #krate::query::Column<Self, #inner> = #krate::query::Column::new(#property);
                }
            }
            Storage::Json => quote! {
                #[doc(hidden)]
                #vis const #column: #krate::__private::JsonColumn<Self, #inner> =
                    #krate::__private::JsonColumn::new(#property);
            },
            Storage::Flatten(_) | Storage::Skip => TokenStream::new(),
        }
    });
    quote!(#(#columns)*)
}
