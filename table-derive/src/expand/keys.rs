//! Key templates, and the code that writes fields into keys and takes keys apart.
//!
//! That code goes straight down a template, part by part, with each part's form as a constant.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Path;

use super::Context;
use crate::ast::Key;
use crate::field::Field;
use crate::names;
use crate::shape::Shape;
use crate::template::{Part, Spec, Template};

/// A template as a constant.
pub(super) fn template(krate: &Path, template: &Template, fields: &[Field<'_>]) -> TokenStream {
    // The constants check what the macro cannot see, and point at the template when they fail.
    let span = template.text.span();
    let krate = &at_span(krate, span);
    let parts = template.with_next().filter_map(|(part, next)| match part {
        Part::Literal(literal) => Some(quote!(#krate::keys::TemplatePart::Literal(#literal))),
        Part::Field { field, spec } => {
            let Field { name, inner, .. } = fields.get(*field)?;
            let spec = spec_tokens(krate, spec);
            let ending = match next {
                Some(Part::Literal(literal)) => literal.chars().next(),
                _ => None,
            };
            let ending = super::option(ending.map(|ending| quote!(#ending)));
            Some(quote_spanned! {span=>
                #krate::keys::TemplatePart::Field {
                    name: #name,
                    format: #krate::keys::PartFormat::new(<#inner as #krate::keys::KeyPart>::KIND, #spec, #ending),
                }
            })
        }
    });
    quote_spanned!(span=> #krate::keys::KeyTemplate::new(&[#(#parts),*]))
}

/// The path as if it were written at another place.
fn at_span(path: &Path, span: Span) -> TokenStream {
    let moved = |mut token: TokenTree| {
        token.set_span(span.resolved_at(token.span()));
        token
    };
    path.to_token_stream().into_iter().map(moved).collect()
}

fn spec_tokens(krate: &TokenStream, spec: &Spec) -> TokenStream {
    match spec {
        Spec::Default => quote!(#krate::keys::PartSpec::Default),
        Spec::Width(width) => quote!(#krate::keys::PartSpec::Width(#width)),
        Spec::Desc => quote!(#krate::keys::PartSpec::Desc),
        Spec::Calendar(format) => quote!(#krate::keys::PartSpec::Calendar(#format)),
        Spec::Bucket { count, width } => quote!(#krate::keys::PartSpec::Bucket { count: #count, width: #width }),
    }
}

/// A key with expressions for its two templates.
pub(super) struct KeySource<'e> {
    pub(super) key: &'e Key,
    pub(super) partition: TokenStream,
    pub(super) row: TokenStream,
}

impl KeySource<'_> {
    /// The partition key of these values, or the first error among them.
    pub(super) fn write_partition(
        &self,
        krate: &Path,
        fields: &[Field<'_>],
        value: impl Fn(&Field<'_>) -> TokenStream,
    ) -> TokenStream {
        let (statements, pieces) = pieces(krate, "partition", &self.key.partition, &self.partition, fields, value);
        quote! {
            (|| {
                #statements
                #krate::__private::partition_key(#pieces)
            })()
        }
    }

    /// The key of these values, or the first error among them.
    pub(super) fn write(
        &self,
        krate: &Path,
        fields: &[Field<'_>],
        value: impl Fn(&Field<'_>) -> TokenStream,
    ) -> TokenStream {
        let (partition, of_partition) =
            pieces(krate, "partition", &self.key.partition, &self.partition, fields, &value);
        let (row, of_row) = pieces(krate, "row", &self.key.row, &self.row, fields, &value);
        quote! {
            (|| {
                #partition
                #row
                #krate::__private::entity_key(#of_partition, #of_row)
            })()
        }
    }

    /// An expression that says whether `row` has keys of these templates.
    pub(super) fn matches(&self, krate: &Path) -> TokenStream {
        let partition = matches(krate, &self.key.partition, &self.partition, &quote!(row.key.partition));
        let row = matches(krate, &self.key.row, &self.row, &quote!(row.key.row));
        quote!(#row && #partition)
    }

    /// Statements that take `__key` apart, and the fields of `given` that it holds whole: each is a `__part_` of its
    /// position then.
    pub(super) fn read(&self, krate: &Path, fields: &[Field<'_>], given: &[usize]) -> (TokenStream, Vec<usize>) {
        let mut bound = Vec::new();
        let partition = read(krate, &self.key.partition, &self.partition, fields, given, &mut bound);
        let row = read(krate, &self.key.row, &self.row, fields, given, &mut bound);
        let (partition_template, row_template) = (&self.partition, &self.row);
        let statements = quote! {
            #[allow(unused_mut)]
            let mut __reader = #krate::__private::KeyReader::new(#partition_template, __key.partition.as_str());
            #partition
            #[allow(unused_mut)]
            let mut __reader = #krate::__private::KeyReader::new(#row_template, __key.row.as_str());
            #row
        };
        (statements, bound)
    }
}

/// The form of a part as a constant.
fn format_at(krate: &Path, template: &TokenStream, position: usize) -> TokenStream {
    quote!(const { #krate::__private::format(#template, #position) })
}

/// Statements that write a key part by part, and the array of the pieces that it is joined from.
fn pieces(
    krate: &Path,
    key: &str,
    template: &Template,
    constant: &TokenStream,
    fields: &[Field<'_>],
    value: impl Fn(&Field<'_>) -> TokenStream,
) -> (TokenStream, TokenStream) {
    let mut statements = TokenStream::new();
    let pieces = template.parts.iter().enumerate().filter_map(|(position, part)| match part {
        Part::Literal(literal) => Some(quote!(#literal)),
        Part::Field { field, .. } => {
            let field = fields.get(*field)?;
            let (name, value, format) = (&field.name, value(field), format_at(krate, constant, position));
            let (piece, text) = (local(&format!("{key}_piece_{position}")), local(&format!("{key}_text_{position}")));
            statements.extend(quote! {
                let mut #piece = #krate::__private::KeyPiece::new(#name, #format, #value)?;
                let #text = #piece.text()?;
            });
            Some(quote!(#text))
        }
    });
    let pieces: Vec<TokenStream> = pieces.collect();
    (statements, quote!([#(#pieces),*]))
}

/// Statements that read a key part by part. The parts that give a field back whole are named, each once.
fn read(
    krate: &Path,
    template: &Template,
    constant: &TokenStream,
    fields: &[Field<'_>],
    given: &[usize],
    bound: &mut Vec<usize>,
) -> TokenStream {
    let parts = template.parts.iter().enumerate().filter_map(|(position, part)| match part {
        Part::Literal(literal) => Some(quote!(__reader.literal(#literal)?;)),
        Part::Field { field: at, spec } => {
            let Field { name, inner, .. } = fields.get(*at)?;
            let format = format_at(krate, constant, position);
            if !spec.is_exact() || !given.contains(at) || bound.contains(at) {
                return Some(quote!(__reader.skip(#name, #format)?;));
            }
            bound.push(*at);
            let part = part_local(*at);
            Some(quote!(let #part = __reader.field::<#inner>(#name, #format)?;))
        }
    });
    quote! {
        #(#parts)*
        __reader.end()?;
    }
}

/// An expression that says whether a key is of a template.
fn matches(krate: &Path, template: &Template, constant: &TokenStream, key: &TokenStream) -> TokenStream {
    let parts = template.parts.iter().enumerate().map(|(position, part)| match part {
        Part::Literal(literal) => quote!(reader.has_literal(#literal)),
        Part::Field { .. } => {
            let format = format_at(krate, constant, position);
            quote!(reader.has_field(#format))
        }
    });
    quote! {{
        #[allow(unused_mut)]
        let mut reader = #krate::__private::KeyReader::new(#constant, #key.as_str());
        #(#parts &&)* reader.is_at_end()
    }}
}

/// The local that holds a field which a key gave back.
pub(super) fn part_local(field: usize) -> Ident {
    local(&format!("part_{field}"))
}

/// A local that no name of the user's can mean, not even the same one.
fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// A field of `self` on its way into a key.
pub(super) fn own_value(krate: &Path, field: &Field<'_>) -> TokenStream {
    let Field { ident, name, .. } = field;
    quote!(#krate::__private::part(#name, &self.#ident))
}

/// The type of the parameter that stands for a field: `&str`, a value, or a reference.
pub(super) fn parameter_type(field: &Field<'_>) -> TokenStream {
    let inner = field.inner;
    match field.shape {
        Shape::Text => quote!(&str),
        shape if shape.is_by_value() => quote!(#inner),
        _ => quote!(&#inner),
    }
}

/// The parameter that stands for a field.
pub(super) fn parameter(field: &Field<'_>) -> TokenStream {
    let ident = field.ident;
    let ty = parameter_type(field);
    quote!(#ident: #ty)
}

/// The parameter on its way into a key.
pub(super) fn parameter_value(krate: &Path, field: &Field<'_>) -> TokenStream {
    let Field { ident, name, .. } = field;
    match field.shape {
        Shape::Text => quote!(#krate::__private::text(#ident)),
        shape if shape.is_by_value() => quote!(#krate::__private::part(#name, &#ident)),
        _ => quote!(#krate::__private::part(#name, #ident)),
    }
}

/// The name of the function that makes a key.
fn function(context: &Context<'_>) -> Ident {
    context.entity.attrs.key_fn.clone().unwrap_or_else(|| format_ident!("key"))
}

/// The name of the function that reads one.
fn fields_function(context: &Context<'_>) -> Ident {
    let function = function(context);
    let default = || format_ident!("{}_fields", names::plain(&function), span = function.span());
    context.entity.attrs.key_fields_fn.clone().unwrap_or_else(default)
}

/// `Employee::key(...)`.
pub(super) fn constructor(context: &Context<'_>) -> TokenStream {
    let Context { krate, entity } = context;
    let vis = context.vis();
    let function = function(context);
    let parameters = entity.key.fields().into_iter().filter_map(|field| entity.fields.get(field)).map(parameter);
    let write = context.key_source().write(krate, &entity.fields, |field| parameter_value(krate, field));
    let doc = format!(
        "The key of the `{}` with these key fields: partition `{}`, row `{}`.",
        context.ident(),
        entity.key.partition.text.value(),
        entity.key.row.text.value()
    );
    quote! {
        #[doc = #doc]
        #vis fn #function(#(#parameters),*) -> #krate::Key<Self> {
            #krate::Key::new(#write)
        }
    }
}

/// `Employee::key_fields(...)`: the inverse of `Employee::key(...)`.
pub(super) fn fields(context: &Context<'_>) -> TokenStream {
    let Context { krate, entity } = context;
    let vis = context.vis();
    let function = fields_function(context);
    let all: Vec<usize> = (0..entity.fields.len()).collect();
    let (read, of_key) = context.key_source().read(krate, &entity.fields, &all);
    let types = of_key.iter().filter_map(|field| entity.fields.get(*field)).map(|field| field.inner);
    let parts = of_key.iter().map(|field| part_local(*field));
    let doc = format!(
        "The fields that the key of `{}` gives back: partition `{}`, row `{}`.",
        context.ident(),
        entity.key.partition.text.value(),
        entity.key.row.text.value()
    );
    quote! {
        #[doc = #doc]
        #vis fn #function(__key: &#krate::EntityKey) -> #krate::Result<(#(#types,)*)> {
            #read
            ::core::result::Result::Ok((#(#parts,)*))
        }
    }
}
