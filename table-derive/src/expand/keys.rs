//! Key templates, key constructors and the values that fill them.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Path;

use super::Context;
use crate::field::Field;
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

/// The values of a template's fields as a slice.
pub(super) fn values(
    template: &Template,
    fields: &[Field<'_>],
    value: impl Fn(&Field<'_>) -> TokenStream,
) -> TokenStream {
    let values = template.fields().filter_map(|(field, _)| fields.get(field)).map(value);
    quote!(&[#(#values),*])
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

/// `Employee::key(...)`.
pub(super) fn constructor(context: &Context<'_>) -> TokenStream {
    let Context { krate, entity } = context;
    let vis = context.vis();
    let function = entity.attrs.key_fn.clone().unwrap_or_else(|| quote::format_ident!("key"));
    let parameters = entity.key.fields().into_iter().filter_map(|field| entity.fields.get(field)).map(parameter);
    let value = |field: &Field<'_>| parameter_value(krate, field);
    let partition = values(&entity.key.partition, &entity.fields, value);
    let row = values(&entity.key.row, &entity.fields, value);
    let schema = context.schema();
    let doc = format!(
        "The key of the `{}` with these key fields: partition `{}`, row `{}`.",
        context.ident(),
        entity.key.partition.text.value(),
        entity.key.row.text.value()
    );
    quote! {
        #[doc = #doc]
        #vis fn #function(#(#parameters),*) -> #krate::Key<Self> {
            #krate::Key::new(#krate::__private::entity_key(&#schema.partition, #partition, &#schema.row, #row))
        }
    }
}
