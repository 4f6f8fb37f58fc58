//! Range builders by leading key parts: `Employee::range("Sales").id_range(100..200)`.
//!
//! The number of row parts fixed so far is a const parameter of the builder, so that each part
//! has its methods at its own place only.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Generics, parse_quote};

use super::{Context, keys, without_defaults};
use crate::ast::Key;
use crate::field::Field;
use crate::shape::Shape;

/// What a range builder is for: the primary rows, or the copies of an index.
pub(super) struct Rows<'e> {
    /// The builder's type.
    pub(super) builder: Ident,
    /// The function that begins one.
    pub(super) function: Ident,
    /// What the rows are read as.
    pub(super) read_as: TokenStream,
    pub(super) key: &'e Key,
    /// Expressions for the two templates.
    pub(super) partition: TokenStream,
    pub(super) row: TokenStream,
    /// The table of the rows, as an `Option`.
    pub(super) table: TokenStream,
    /// What the rows are, for the docs.
    pub(super) what: String,
}

/// The builder over the primary rows.
pub(super) fn primary(context: &Context<'_>) -> (TokenStream, TokenStream) {
    let schema = context.schema();
    let function = context.entity.attrs.range_fn.clone().unwrap_or_else(|| format_ident!("range"));
    builder(
        context,
        &Rows {
            builder: context.named("Range"),
            function,
            read_as: context.this(),
            key: &context.entity.key,
            partition: quote!(&#schema.partition),
            row: quote!(&#schema.row),
            table: quote!(::core::option::Option::None),
            what: format!("rows of `{}`", context.ident()),
        },
    )
}

/// The builder's type, and the function that begins one.
pub(super) fn builder(context: &Context<'_>, rows: &Rows<'_>) -> (TokenStream, TokenStream) {
    let Context { krate, entity } = context;
    let Rows { builder, function, read_as, key, partition, row, table, what } = rows;
    let (vis, phantom) = (context.vis(), context.phantom());
    let any = with_count(context.generics(), parse_quote!(const FIXED: usize));
    let (impl_generics, parameters, where_clause) = any.split_for_impl();
    let fields: Vec<&Field<'_>> = key.row.fields().filter_map(|(field, _)| entity.fields.get(field)).collect();
    let methods = (0..fields.len()).filter_map(|at| part_methods(context, rows, at));
    // A part of that name takes the place of the general method; `Query::from` serves there.
    let finish = (!fields.iter().any(|field| field.name == "query")).then(|| {
        quote! {
            /// All rows with the parts so far.
            #[must_use]
            #vis fn query(self) -> #krate::Query<#read_as> {
                ::core::convert::From::from(self)
            }
        }
    });
    let begin_doc = format!("Begins a range over the {what} of a partition, by the leading parts of the row key.");
    let type_doc = format!("A range over {what}, with `FIXED` leading parts of the row key fixed so far.");
    let start = at_count(context, builder, 0);
    let arguments = parameters_of(&key.partition.fields().map(|(field, _)| field).collect::<Vec<_>>(), &entity.fields);
    let values = keys::values(&key.partition, &entity.fields, |field| keys::parameter_value(krate, field));
    let types = quote! {
        #[doc = #type_doc]
        #[allow(dead_code)]
        #[derive(Clone)]
        #[must_use]
        #vis struct #builder #impl_generics #where_clause {
            prefix: #krate::keys::KeyPrefix,
            entity: #phantom,
        }

        #[allow(dead_code)]
        #[automatically_derived]
        impl #impl_generics #builder #parameters #where_clause {
            #finish
        }

        #(#methods)*

        #[automatically_derived]
        impl #impl_generics ::core::convert::From<#builder #parameters> for #krate::Query<#read_as> #where_clause {
            fn from(range: #builder #parameters) -> Self {
                #krate::Query::in_range(range.prefix.finish()).in_table(#table)
            }
        }

        #[automatically_derived]
        impl #impl_generics ::core::fmt::Debug for #builder #parameters #where_clause {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(&self.prefix, f)
            }
        }
    };
    let begin = quote! {
        #[doc = #begin_doc]
        #vis fn #function(#(#arguments),*) -> #start {
            #builder {
                prefix: #krate::keys::KeyPrefix::new(#krate::__private::partition_key(#partition, #values), #row),
                entity: ::core::marker::PhantomData,
            }
        }
    };
    (types, begin)
}

/// The methods that one row part has at its place.
fn part_methods(context: &Context<'_>, rows: &Rows<'_>, at: usize) -> Option<TokenStream> {
    let Context { krate, entity } = context;
    let Rows { builder, read_as, key, table, .. } = rows;
    let vis = context.vis();
    let (position, spec) = key.row.fields().nth(at)?;
    let field = entity.fields.get(position)?;
    let Field { ident, inner, name, .. } = field;
    let last = matches!(key.row.parts.last(), Some(crate::template::Part::Field { field, .. }) if *field == position);
    let (here, next) = (at_count(context, builder, at), at_count(context, builder, at + 1));
    let generics = without_defaults(context.generics());
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let parameter = keys::parameter(field);
    let value = keys::parameter_value(krate, field);
    let query = |range: TokenStream| quote!(#krate::Query::in_range(#range).in_table(#table));
    let lossy = if spec.is_exact() { "" } else { " Times count as far as the key's calendar format tells them." };
    let fix_doc = format!("Fixes the part `{name}`.");
    let range_doc = format!("The rows whose `{name}` lies in a range, both ends by the part's order.{lossy}");
    let prefix_doc = format!("The rows whose `{name}` begins with a text.");

    let between = match field.shape {
        Shape::Bool => None,
        Shape::Text if !last => None,
        Shape::Text => {
            let body = query(quote! {
                self.prefix.between(
                    #krate::__private::text_bound(range.start_bound()),
                    #krate::__private::text_bound(range.end_bound()),
                )
            });
            Some((quote!(<'text>), quote!(impl #krate::__private::RangeBounds<&'text str>), body))
        }
        _ => {
            let body = query(quote! {
                self.prefix.between(
                    #krate::__private::bound(#name, range.start_bound()),
                    #krate::__private::bound(#name, range.end_bound()),
                )
            });
            Some((TokenStream::new(), quote!(impl #krate::__private::RangeBounds<#inner>), body))
        }
    };
    let between = between.map(|(lifetime, ty, body)| {
        let method = format_ident!("{name}_range", span = ident.span());
        quote! {
            #[doc = #range_doc]
            #[must_use]
            #vis fn #method #lifetime (self, range: #ty) -> #krate::Query<#read_as> {
                #body
            }
        }
    });
    let prefix = (field.shape == Shape::Text).then(|| {
        let method = format_ident!("{name}_prefix", span = ident.span());
        let body = query(quote!(self.prefix.text_prefix(prefix)));
        quote! {
            #[doc = #prefix_doc]
            #[must_use]
            #vis fn #method(self, prefix: &str) -> #krate::Query<#read_as> {
                #body
            }
        }
    });
    Some(quote! {
        #[allow(dead_code)]
        #[automatically_derived]
        impl #impl_generics #here #where_clause {
            #[doc = #fix_doc]
            #vis fn #ident(self, #parameter) -> #next {
                #builder { prefix: self.prefix.push(#value), entity: ::core::marker::PhantomData }
            }

            #between
            #prefix
        }
    })
}

/// The entity's parameters and the count of fixed parts.
fn with_count(generics: &Generics, count: syn::GenericParam) -> Generics {
    let mut generics = without_defaults(generics);
    generics.params.push(count);
    generics
}

/// The builder's type with so many parts fixed.
fn at_count(context: &Context<'_>, builder: &Ident, count: usize) -> TokenStream {
    let parameters = context.generics().params.iter().filter_map(|parameter| match parameter {
        syn::GenericParam::Type(parameter) => Some(&parameter.ident),
        syn::GenericParam::Const(parameter) => Some(&parameter.ident),
        syn::GenericParam::Lifetime(_) => None,
    });
    quote!(#builder<#(#parameters,)* #count>)
}

/// One parameter for each field.
pub(super) fn parameters_of(positions: &[usize], fields: &[Field<'_>]) -> Vec<TokenStream> {
    positions.iter().filter_map(|position| fields.get(*position)).map(keys::parameter).collect()
}
