//! `Entity` and `FromRow` of an entity, and the order of everything that is generated for it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::codec;
use super::{Context, columns, index, keys, patch, range};
use crate::ast::{Entity, Index};
use crate::field::Field;
use crate::names;

/// Everything that `#[derive(Entity)]` generates.
pub(crate) fn entity(entity: &Entity<'_>) -> TokenStream {
    let context = Context::new(entity);
    let this = context.this();
    let (impl_generics, _, where_clause) = context.generics().split_for_impl();
    let constructor = keys::constructor(&context);
    let key_fields = keys::fields(&context);
    let columns = columns::columns(&context);
    let (range_types, range_functions) = range::primary(&context);
    let (patch_types, patch_function) = patch::patch(&context);
    let (index_types, index_functions, index_rows): (Vec<_>, Vec<_>, Vec<_>) = index::indexes(&context);
    let flat = codec::flat_constants(&context.krate, &entity.fields);
    let from_row = from_row(&context);
    let implementation = implementation(&context);
    quote! {
        #range_types
        #patch_types
        #(#index_types)*

        #[allow(dead_code, clippy::too_many_arguments)]
        #[automatically_derived]
        impl #impl_generics #this #where_clause {
            #columns
            #constructor
            #key_fields
            #range_functions
            #patch_function
            #(#index_functions)*
        }

        const _: () = {
            #flat
            #from_row
            #implementation
            #(#index_rows)*
        };
    }
}

fn from_row(context: &Context<'_>) -> TokenStream {
    let Context { krate, entity } = context;
    let (this, schema) = (context.this(), context.schema());
    let (impl_generics, _, where_clause) = context.generics().split_for_impl();
    let given: Vec<usize> = (0..entity.fields.len()).collect();
    let matches = context.key_source().matches(krate);
    let (read_key, of_key) = context.key_source().read(krate, &entity.fields, &given);
    let (read_properties, fields) = codec::read(krate, &entity.fields, &given, &of_key);
    let prefix = quote!(#schema.row.literal_prefix());
    let (prefix, old_recognizes, old_reads) = match &entity.attrs.upgrade_from {
        None => (prefix, TokenStream::new(), TokenStream::new()),
        Some(old) => (
            quote!(#krate::__private::common_prefix(#prefix, <#old as #krate::FromRow>::row_prefix())),
            quote! {
                || (#krate::Schema::version_of(row) < #schema.version && <#old as #krate::FromRow>::recognizes(row))
            },
            quote! {
                if #krate::Schema::version_of(&__row) < #schema.version {
                    let old = <#old as #krate::FromRow>::from_row(__row)?;
                    return ::core::result::Result::Ok(old.upgrade(<Self as ::core::convert::From<#old>>::from));
                }
            },
        ),
    };
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::FromRow for #this #where_clause {
            fn row_prefix() -> &'static str {
                #prefix
            }

            fn label() -> &'static str {
                #schema.name
            }

            fn recognizes(row: &#krate::DynamicEntity) -> bool {
                (#krate::__private::is_primary(#schema, row) && #matches) #old_recognizes
            }

            fn from_row(__row: #krate::DynamicEntity) -> #krate::Result<#krate::Versioned<Self>> {
                #krate::__private::check_version(#schema, &__row)?;
                #old_reads
                #krate::__private::read_entity(__row, |__key, __properties| {
                    #read_key
                    #read_properties
                    ::core::result::Result::Ok(Self { #(#fields),* })
                })
            }
        }
    }
}

fn implementation(context: &Context<'_>) -> TokenStream {
    let Context { krate, entity } = context;
    let (this, schema) = (context.this(), context.schema());
    let (impl_generics, _, where_clause) = context.generics().split_for_impl();
    let constant = schema_constant(context);
    let write_key = context.key_source().write(krate, &entity.fields, |field| keys::own_value(krate, field));
    let write = codec::write(krate, &entity.fields, &entity.stored());
    let index_keys = entity.indexes.iter().enumerate().map(|(position, index)| index_key(context, position, index));
    let index_writes = entity.indexes.iter().enumerate().map(|(position, index)| {
        let write = codec::write(krate, &entity.fields, &entity.copy_stored(index));
        quote!(#position => { #write })
    });
    let copy_source = (!entity.indexes.is_empty()).then(|| copy_source(context));
    let row_by_row = entity.indexes.is_empty() && !entity.keeps_blobs();
    let unindexed = row_by_row.then(|| {
        quote! {
            #[automatically_derived]
            impl #impl_generics #krate::Unindexed for #this #where_clause {}
        }
    });
    // A generic schema is evaluated where it is used; any other at once, so that mistakes show.
    let evaluated = (!context.is_generic()).then(|| {
        let blobs = entity.fields.iter().filter(|field| field.blob.is_some() && field.is_property()).map(|field| {
            let Field { column, inner, .. } = field;
            quote_spanned!(inner.span()=> const _: #krate::query::BlobColumn<#this, #inner> = <#this>::#column;)
        });
        quote! {
            const _: &#krate::Schema = #schema;
            #(#blobs)*
        }
    });
    quote! {
        #[automatically_derived]
        #[allow(unused_variables, clippy::match_single_binding)]
        impl #impl_generics #krate::Entity for #this #where_clause {
            const SCHEMA: &'static #krate::Schema = &#constant;

            fn entity_key(&self) -> #krate::Result<#krate::EntityKey> {
                #write_key
            }

            fn write_properties(&self, properties: &mut #krate::Properties) -> #krate::Result<()> {
                #write
                ::core::result::Result::Ok(())
            }

            fn index_key(&self, index: usize) -> #krate::Result<::core::option::Option<#krate::EntityKey>> {
                match index {
                    #(#index_keys)*
                    _ => ::core::result::Result::Ok(::core::option::Option::None),
                }
            }

            fn write_index_properties(&self, index: usize, properties: &mut #krate::Properties) -> #krate::Result<()> {
                match index {
                    #(#index_writes)*
                    _ => {}
                }
                ::core::result::Result::Ok(())
            }

            #copy_source
        }
        #unindexed
        #evaluated
    }
}

/// The function that reads a copy of an index by its position, and follows it to its entity.
fn copy_source(context: &Context<'_>) -> TokenStream {
    let Context { krate, entity } = context;
    let arms = entity.indexes.iter().enumerate().map(|(position, index)| {
        let copy = super::index::copy_type(context, index);
        quote!(#position => <#copy as #krate::FromRow>::from_row(copy)?.source_key().resolve(),)
    });
    quote! {
        fn copy_source(index: usize, copy: #krate::DynamicEntity) -> #krate::Result<#krate::EntityKey> {
            match index {
                #(#arms)*
                _ => ::core::result::Result::Err(#krate::__private::no_copy(copy)),
            }
        }
    }
}

/// The arm that makes the key of one index's copy.
fn index_key(context: &Context<'_>, position: usize, index: &Index) -> TokenStream {
    let Context { krate, entity } = context;
    let unwrapped = |field: &Field<'_>| format_ident!("part_{}", field.name);
    let present =
        index.key.fields().into_iter().filter_map(|field| entity.fields.get(field)).filter(|field| field.optional).map(
            |field| {
                let (part, ident) = (unwrapped(field), field.ident);
                quote! {
                    let ::core::option::Option::Some(#part) = &self.#ident else {
                        return ::core::result::Result::Ok(::core::option::Option::None);
                    };
                }
            },
        );
    let value = |field: &Field<'_>| {
        if field.optional {
            let (part, name) = (unwrapped(field), &field.name);
            quote!(#krate::__private::part(#name, #part))
        } else {
            keys::own_value(krate, field)
        }
    };
    let write = index::key_source(context, index, position).write(krate, &entity.fields, value);
    quote! {
        #position => {
            #(#present)*
            #write.map(::core::option::Option::Some)
        }
    }
}

fn schema_constant(context: &Context<'_>) -> TokenStream {
    let Context { krate, entity } = context;
    let (name, version) = (entity.name(), entity.version());
    let upgrades = entity.attrs.upgrade_from.is_some();
    let by_row_key = entity.attrs.discriminator.as_ref().is_some_and(|text| text.value() == "row_key");
    let discriminator = if by_row_key { quote!(RowKey) } else { quote!(Property) };
    let partition = keys::template(krate, &entity.key.partition, &entity.fields);
    let row = keys::template(krate, &entity.key.row, &entity.fields);
    let properties = codec::property_names(krate, &entity.fields, &entity.stored());
    let indexes = entity.indexes.iter().map(|index| index_schema(context, index));
    let blobs = entity.fields.iter().filter(|field| field.blob.is_some()).map(|field| &field.property);
    let above = super::option(entity.attrs.blob_above.map(|above| quote!(#above)));
    quote! {
        #krate::Schema {
            name: #name,
            version: #version,
            upgrades: #upgrades,
            discriminator: #krate::Discriminator::#discriminator,
            partition: #partition,
            row: #row,
            properties: #properties,
            indexes: &[#(#indexes),*],
            blobs: #krate::BlobSchema { properties: &[#(#blobs),*], above: #above },
        }
    }
}

fn index_schema(context: &Context<'_>, index: &Index) -> TokenStream {
    let Context { krate, entity } = context;
    let name = names::plain(&index.name);
    let table = super::option(index.table.as_ref().map(|table| quote!(#table)));
    let partition =
        super::option(index.own_partition.then(|| keys::template(krate, &index.key.partition, &entity.fields)));
    let row = keys::template(krate, &index.key.row, &entity.fields);
    let unique = entity.is_unique(index);
    let properties = codec::property_names(krate, &entity.fields, &entity.copy_stored(index));
    quote! {
        #krate::IndexSchema {
            name: #name,
            table: #table,
            partition: #partition,
            row: #row,
            unique: #unique,
            properties: #properties,
        }
    }
}
