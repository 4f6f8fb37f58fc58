//! Range builders by leading key parts: `Employee::range("Sales").id_range(100..200)`.
//!
//! The number of row parts fixed so far is a const parameter of the builder, so that each part
//! has its methods at its own place only.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Generics, parse_quote};

use super::keys::KeySource;
use super::{Context, keys, without_defaults};
use crate::field::Field;
use crate::shape::Shape;
use crate::template::{Part, Spec};

/// What a range builder is for: the primary rows, or the copies of an index.
pub(super) struct Rows<'e> {
    /// The builder's type.
    pub(super) builder: Ident,
    /// The function that begins one.
    pub(super) function: Ident,
    /// What the rows are read as.
    pub(super) read_as: TokenStream,
    pub(super) source: KeySource<'e>,
    /// The table of the rows, as an `Option`.
    pub(super) table: TokenStream,
    /// What the rows are, for the docs.
    pub(super) what: String,
}

/// The builder over the primary rows.
pub(super) fn primary(context: &Context<'_>) -> (TokenStream, TokenStream) {
    let function = context.entity.attrs.range_fn.clone().unwrap_or_else(|| format_ident!("range"));
    builder(
        context,
        &Rows {
            builder: context.named_after(&function),
            function,
            read_as: context.this(),
            source: context.key_source(),
            table: quote!(::core::option::Option::None),
            what: format!("rows of `{}`", context.ident()),
        },
    )
}

/// The builder's type, and the function that begins one.
pub(super) fn builder(context: &Context<'_>, rows: &Rows<'_>) -> (TokenStream, TokenStream) {
    let Context { krate, entity } = context;
    let Rows { builder, function, read_as, source, table, what } = rows;
    let KeySource { key, row, .. } = source;
    let (vis, phantom) = (context.vis(), context.phantom());
    let any = with_count(context.generics(), parse_quote!(const FIXED: usize));
    let (impl_generics, parameters, where_clause) = any.split_for_impl();
    let fields: Vec<&Field<'_>> = key.row.fields().filter_map(|(field, _)| entity.fields.get(field)).collect();
    let methods = (0..fields.len()).filter_map(|at| part_methods(context, rows, at));
    // A part of that name takes the place of the general method; `Query::from` serves there.
    let finish = (!fields.iter().any(|field| field.name == "query")).then(|| {
        quote! {
            /// All rows with the parts so far.
            #vis fn query(self) -> #krate::Query<#read_as> {
                ::core::convert::From::from(self)
            }
        }
    });
    let begin_doc = format!("Begins a range over the {what} of a partition, by the leading parts of the row key.");
    let type_doc = format!("A range over {what}, with `FIXED` leading parts of the row key fixed so far.");
    let start = at_count(context, builder, 0);
    let arguments = parameters_of(&key.partition.fields().map(|(field, _)| field).collect::<Vec<_>>(), &entity.fields);
    let partition = source.write_partition(krate, &entity.fields, |field| keys::parameter_value(krate, field));
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
                prefix: #krate::keys::KeyPrefix::new(#partition, #row),
                entity: ::core::marker::PhantomData,
            }
        }
    };
    (types, begin)
}

/// The methods that one row part has at its place.
fn part_methods(context: &Context<'_>, rows: &Rows<'_>, at: usize) -> Option<TokenStream> {
    let (position, spec) = rows.source.key.row.fields().nth(at)?;
    let field = context.entity.fields.get(position)?;
    let last = matches!(rows.source.key.row.parts.last(), Some(Part::Field { field, .. }) if *field == position);
    let (here, next) = (at_count(context, &rows.builder, at), at_count(context, &rows.builder, at + 1));
    let generics = without_defaults(context.generics());
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let (krate, vis, builder, ident) = (&context.krate, context.vis(), &rows.builder, field.ident);
    let parameter = keys::parameter(field);
    let value = keys::parameter_value(krate, field);
    let doc = format!("Fixes the part `{}`.", field.name);
    let between = between_method(context, rows, field, spec, last);
    let prefix = prefix_method(context, rows, field);
    Some(quote! {
        #[allow(dead_code)]
        #[automatically_derived]
        impl #impl_generics #here #where_clause {
            #[doc = #doc]
            #vis fn #ident(self, #parameter) -> #next {
                #builder { prefix: self.prefix.push(#value), entity: ::core::marker::PhantomData }
            }

            #between
            #prefix
        }
    })
}

/// `id_range(...)`: not for a text that more parts follow, since those do not sort as their rows do.
fn between_method(
    context: &Context<'_>,
    rows: &Rows<'_>,
    field: &Field<'_>,
    spec: &Spec,
    last: bool,
) -> Option<TokenStream> {
    let krate = &context.krate;
    let Rows { read_as, table, .. } = rows;
    let Field { inner, name, .. } = field;
    let text = field.shape == Shape::Text;
    if field.shape == Shape::Bool || (text && !last) {
        return None;
    }
    let (lifetime, ty) = if text { (quote!(<'text>), quote!(&'text str)) } else { (quote!(), quote!(#inner)) };
    let bound = |end: TokenStream| {
        if text {
            quote!(#krate::__private::text_bound(range.#end()))
        } else {
            quote!(#krate::__private::bound(#name, range.#end()))
        }
    };
    let (lower, upper) = (bound(quote!(start_bound)), bound(quote!(end_bound)));
    let method = format_ident!("{name}_range", span = field.ident.span());
    let lossy = if spec.is_exact() {
        ""
    } else {
        " The rows are those of every day, or what the key's calendar format tells, that the range touches."
    };
    let doc = format!("The rows whose `{name}` lies in a range.{lossy}");
    let vis = context.vis();
    Some(quote! {
        #[doc = #doc]
        #vis fn #method #lifetime (self, range: impl #krate::__private::RangeBounds<#ty>) -> #krate::Query<#read_as> {
            #krate::Query::in_range(self.prefix.between(#lower, #upper)).in_table(#table)
        }
    })
}

/// `name_prefix(...)`, for a text.
fn prefix_method(context: &Context<'_>, rows: &Rows<'_>, field: &Field<'_>) -> Option<TokenStream> {
    if field.shape != Shape::Text {
        return None;
    }
    let (krate, vis) = (&context.krate, context.vis());
    let Rows { read_as, table, .. } = rows;
    let method = format_ident!("{}_prefix", field.name, span = field.ident.span());
    let doc = format!("The rows whose `{}` begins with a text.", field.name);
    Some(quote! {
        #[doc = #doc]
        #vis fn #method(self, prefix: &str) -> #krate::Query<#read_as> {
            #krate::Query::in_range(self.prefix.text_prefix(prefix)).in_table(#table)
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
