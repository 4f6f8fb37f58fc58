//! Attributes as lists of words, values and lists: `name = "Employee"`, `json`, `include(a, b)`.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, Path, Token, Type};

use crate::error::Errors;
use crate::names;

/// What stands in the parentheses of every attribute of this name.
pub(crate) fn items(attributes: &[Attribute], name: &str, errors: &mut Errors) -> Vec<Meta> {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident(name))
        .flat_map(|attribute| arguments(attribute, errors))
        .collect()
}

/// What stands in the parentheses of one attribute.
pub(crate) fn arguments(attribute: &Attribute, errors: &mut Errors) -> Vec<Meta> {
    match attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) {
        Ok(list) => list.into_iter().collect(),
        Err(error) => {
            errors.parser(error);
            Vec::new()
        }
    }
}

/// The first word of an item.
pub(crate) fn name(item: &Meta) -> String {
    item.path().get_ident().map_or_else(|| item.path().to_token_stream().to_string(), names::plain)
}

/// Keeps a value, unless the same attribute gave one already.
pub(crate) fn put<T>(slot: &mut Option<T>, item: &Meta, value: Option<T>, errors: &mut Errors) {
    if slot.is_some() {
        errors.add(item, format!("`{}` is given twice; keep one", name(item)));
    } else {
        *slot = value;
    }
}

/// Reports a word that no attribute knows.
pub(crate) fn unknown(item: &Meta, known: &[&str], errors: &mut Errors) {
    let name = name(item);
    errors.add(item.path(), format!("unknown attribute `{name}`{}", names::suggestion(&name, known.iter().copied())));
}

/// The text of `name = "..."`.
pub(crate) fn text(item: &Meta, errors: &mut Errors) -> Option<LitStr> {
    if let Meta::NameValue(pair) = item
        && let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = peel(&pair.value)
    {
        return Some(text.clone());
    }
    errors.add(item, format!("`{0}` needs a text, as in `{0} = \"...\"`", name(item)));
    None
}

/// The path in `name = "..."`.
pub(crate) fn path(item: &Meta, errors: &mut Errors) -> Option<Path> {
    let text = text(item, errors)?;
    let path = text.parse_with(Path::parse_mod_style).ok();
    if path.is_none() {
        errors.add(&text, format!("`{}` needs a path, as in `\"module::name\"`", name(item)));
    }
    path
}

/// The identifier in `name = "..."`.
pub(crate) fn ident(item: &Meta, errors: &mut Errors) -> Option<Ident> {
    let text = text(item, errors)?;
    let ident = text.parse::<Ident>().ok();
    if ident.is_none() {
        errors.add(&text, format!("`{}` needs the name of an item, as in `\"find\"`", name(item)));
    }
    ident
}

/// The number of `name = 2`.
pub(crate) fn number(item: &Meta, errors: &mut Errors) -> Option<u32> {
    if let Meta::NameValue(pair) = item
        && let Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) = peel(&pair.value)
        && let Ok(number) = number.base10_parse()
    {
        return Some(number);
    }
    errors.add(item, format!("`{0}` needs a number, as in `{0} = 2`", name(item)));
    None
}

/// A word alone.
pub(crate) fn flag(item: &Meta, errors: &mut Errors) -> Option<()> {
    if matches!(item, Meta::Path(_)) {
        return Some(());
    }
    errors.add(item, format!("`{}` takes no value", name(item)));
    None
}

/// The items of `name(...)`.
pub(crate) fn list(item: &Meta, errors: &mut Errors) -> Option<Vec<Meta>> {
    parse_list(item, "item", errors, Punctuated::<Meta, Token![,]>::parse_terminated)
        .map(|list| list.into_iter().collect())
}

/// The identifiers of `name(a, b)`.
pub(crate) fn idents(item: &Meta, errors: &mut Errors) -> Option<Vec<Ident>> {
    parse_list(item, "name", errors, Punctuated::<Ident, Token![,]>::parse_terminated)
        .map(|list| list.into_iter().collect())
}

/// The paths of `name(A, b::C)`.
pub(crate) fn paths(item: &Meta, errors: &mut Errors) -> Option<Vec<Path>> {
    parse_list(item, "Trait", errors, Punctuated::<Path, Token![,]>::parse_terminated)
        .map(|list| list.into_iter().collect())
}

/// The type of `name(Type)`.
pub(crate) fn type_in(item: &Meta, errors: &mut Errors) -> Option<Type> {
    parse_list(item, "Type", errors, <Type as syn::parse::Parse>::parse)
}

/// The path of `name = Type`, without quotes.
pub(crate) fn type_path(item: &Meta, errors: &mut Errors) -> Option<Path> {
    if let Meta::NameValue(pair) = item
        && let Expr::Path(path) = peel(&pair.value)
    {
        return Some(path.path.clone());
    }
    errors.add(item, format!("`{0}` needs a type, as in `{0} = Employee`", name(item)));
    None
}

fn parse_list<P: syn::parse::Parser>(item: &Meta, example: &str, errors: &mut Errors, parser: P) -> Option<P::Output> {
    let Meta::List(list) = item else {
        errors.add(item, format!("`{0}` needs parentheses, as in `{0}({example})`", name(item)));
        return None;
    };
    match list.parse_args_with(parser) {
        Ok(output) => Some(output),
        Err(error) => {
            errors.parser(error);
            None
        }
    }
}

/// The expression without the invisible groups that `macro_rules` leaves around `$text:literal`.
fn peel(mut expression: &Expr) -> &Expr {
    while let Expr::Group(group) = expression {
        expression = &group.expr;
    }
    expression
}
