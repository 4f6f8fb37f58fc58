//! Key templates as they are written: `empid_{id:06}`.
//!
//! Literals stand for themselves, `{field}` for a field in its default form, `{field:06}` for a
//! number of six digits, `{field:desc}` for a time with the latest first, `{field:%Y%m%d}` for a
//! time by calendar, `{bucket(field, 16):02}` for one of sixteen buckets, and `{{` and `}}` for braces.

use syn::LitStr;

use crate::error::Errors;
use crate::field::Field;
use crate::names;

/// A template whose placeholders are known fields.
pub(crate) struct Template {
    /// Where it is written, for messages.
    pub(crate) text: LitStr,
    pub(crate) parts: Vec<Part>,
    /// Whether a part was left out because of a mistake, so that no check of the whole makes sense.
    pub(crate) broken: bool,
}

/// One part of a template.
pub(crate) enum Part {
    Literal(String),
    Field {
        /// The position in the struct.
        field: usize,
        spec: Spec,
    },
}

/// What follows the colon of a placeholder.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Spec {
    Default,
    Width(u8),
    Desc,
    Calendar(String),
    Bucket { count: u16, width: u8 },
}

impl Spec {
    /// Whether the key gives the field back whole.
    pub(crate) const fn is_exact(&self) -> bool {
        !matches!(self, Self::Calendar(_) | Self::Bucket { .. })
    }
}

/// The most digits that a number has.
const MAX_WIDTH: u8 = 20;

impl Template {
    /// Reads a template, and resolves its placeholders.
    pub(crate) fn parse(text: &LitStr, fields: &[Field<'_>], errors: &mut Errors) -> Self {
        let mut template = Self { text: text.clone(), parts: Vec::new(), broken: false };
        let value = text.value();
        for piece in pieces(&value) {
            let part = piece.and_then(|piece| match piece {
                Piece::Literal(literal) => Ok(Part::Literal(literal)),
                Piece::Placeholder(inside) => placeholder(&inside, fields),
            });
            match part {
                Ok(part) => template.push(part),
                Err(message) => {
                    template.broken = true;
                    errors.add(text, message);
                }
            }
        }
        template
    }

    /// A template that stands in for one that is missing.
    pub(crate) fn missing() -> Self {
        Self { text: LitStr::new("", proc_macro2::Span::call_site()), parts: Vec::new(), broken: true }
    }

    fn push(&mut self, part: Part) {
        match (self.parts.last_mut(), part) {
            (Some(Part::Literal(last)), Part::Literal(more)) => last.push_str(&more),
            (_, part) => self.parts.push(part),
        }
    }

    /// The fields and how they are written, in order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (usize, &Spec)> {
        self.parts.iter().filter_map(|part| match part {
            Part::Literal(_) => None,
            Part::Field { field, spec } => Some((*field, spec)),
        })
    }

    /// Each part with the literal that follows it.
    pub(crate) fn with_next(&self) -> impl Iterator<Item = (&Part, Option<&Part>)> {
        let next = self.parts.iter().skip(1).map(Some).chain([None]);
        self.parts.iter().zip(next)
    }
}

enum Piece {
    Literal(String),
    Placeholder(String),
}

/// Splits a template at its braces.
fn pieces(text: &str) -> Vec<Result<Piece, String>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = if let Some(after) = rest.strip_prefix("{{") {
            (Ok(Piece::Literal("{".to_owned())), after)
        } else if let Some(after) = rest.strip_prefix("}}") {
            (Ok(Piece::Literal("}".to_owned())), after)
        } else if let Some(after) = rest.strip_prefix('}') {
            (Err("a `}` stands alone in the key template; write `}}` for a brace".to_owned()), after)
        } else if let Some(inside) = rest.strip_prefix('{') {
            let unclosed = || (Err(format!("the placeholder `{rest}` is never closed; write `{{{{` for a brace")), "");
            inside
                .split_once('}')
                .map_or_else(unclosed, |(inside, after)| (Ok(Piece::Placeholder(inside.to_owned())), after))
        } else {
            let end = rest.find(['{', '}']).unwrap_or(rest.len());
            let (literal, after) = rest.split_at(end);
            (Ok(Piece::Literal(literal.to_owned())), after)
        };
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn placeholder(inside: &str, fields: &[Field<'_>]) -> Result<Part, String> {
    let (name, spec) = match (inside.strip_prefix("bucket("), inside.split_once(':')) {
        (Some(arguments), _) => parse_bucket(inside, arguments)?,
        (None, None) => (inside, Spec::Default),
        (None, Some((name, spec))) => (name, parse_spec(inside, spec)?),
    };
    if name.is_empty() {
        return Err(format!("the placeholder `{{{inside}}}` names no field; write `{{field}}`"));
    }
    match fields.iter().position(|field| field.name == name) {
        Some(field) => Ok(Part::Field { field, spec }),
        None => Err(format!(
            "the placeholder `{{{inside}}}` names an unknown field{}",
            names::suggestion(name, fields.iter().map(|field| field.name.as_str()))
        )),
    }
}

fn parse_spec(inside: &str, spec: &str) -> Result<Spec, String> {
    if spec == "desc" {
        return Ok(Spec::Desc);
    }
    if spec.contains('%') {
        return calendar_problem(spec).map_or_else(
            || Ok(Spec::Calendar(spec.to_owned())),
            |problem| Err(format!("in `{{{inside}}}`: {problem}")),
        );
    }
    if !spec.is_empty() && spec.bytes().all(|byte| byte.is_ascii_digit()) {
        return match spec.parse() {
            Ok(width @ 1..=MAX_WIDTH) if spec.starts_with('0') => Ok(Spec::Width(width)),
            Ok(width @ 1..=MAX_WIDTH) => Err(format!(
                "the width of `{{{inside}}}` must begin with 0, since keys are padded with zeros: `:0{width}`"
            )),
            _ => Err(format!("the width of `{{{inside}}}` must lie between 01 and {MAX_WIDTH}, as in `:06`")),
        };
    }
    Err(format!(
        "the placeholder `{{{inside}}}` is malformed: after the colon stands a width (`:06`), `:desc` or a calendar format (`:%Y%m%d`)"
    ))
}

/// The most buckets that a key can have.
const MAX_BUCKETS: u16 = 1000;

/// Reads what follows `bucket(`: the field, the number of buckets, and perhaps a width.
fn parse_bucket<'a>(inside: &str, arguments: &'a str) -> Result<(&'a str, Spec), String> {
    let malformed = || format!("the placeholder `{{{inside}}}` is malformed: write `{{bucket(field, 16):02}}`");
    let (arguments, width) = arguments.split_once(')').ok_or_else(malformed)?;
    let (name, count) = arguments.split_once(',').ok_or_else(malformed)?;
    let count: u16 = count.trim().parse().map_err(|_| malformed())?;
    if !(2..=MAX_BUCKETS).contains(&count) {
        return Err(format!("`{{{inside}}}` must have 2 to {MAX_BUCKETS} buckets"));
    }
    let digits = u8::try_from((count - 1).to_string().len()).unwrap_or(MAX_WIDTH);
    let width = match width.strip_prefix(':') {
        None if width.is_empty() => digits,
        Some(width) => match parse_spec(inside, width)? {
            Spec::Width(width) => width,
            _ => return Err(malformed()),
        },
        None => return Err(malformed()),
    };
    if width < digits {
        return Err(format!("the buckets of `{{{inside}}}` take {digits} digits; write `:0{digits}`"));
    }
    Ok((name.trim(), Spec::Bucket { count, width }))
}

/// Why a calendar format cannot be used, if it cannot.
fn calendar_problem(format: &str) -> Option<String> {
    /// The fields from most to least significant.
    const FIELDS: &str = "YmdHMS";
    let mut last: Option<usize> = None;
    let mut chars = format.chars();
    while let Some(each) = chars.next() {
        if each != '%' {
            if !each.is_ascii() || each == '~' || !is_key_char(each) {
                return Some(format!("a calendar format must not hold {each:?}"));
            }
            continue;
        }
        let Some(rank) = chars.next().and_then(|field| FIELDS.find(field)) else {
            return Some("a calendar format knows %Y, %m, %d, %H, %M and %S".to_owned());
        };
        if last.is_some_and(|last| rank != last + 1) {
            return Some(
                "a calendar format must run from most to least significant without a gap, as in %Y%m%d, or keys would not sort by time"
                    .to_owned(),
            );
        }
        last = Some(rank);
    }
    None
}

/// Whether a key may hold this character.
pub(crate) const fn is_key_char(each: char) -> bool {
    !matches!(each, '/' | '\\' | '#' | '?' | '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}')
}

/// Whether a literal that begins with this character can end a text: it must have an escape of its
/// own in the text, and begin none of the others.
pub(crate) const fn can_terminate(each: char) -> bool {
    matches!(each, '!'..='|')
        && is_key_char(each)
        && !matches!(each, '"' | '$' | '.' | '0' | '>' | '@' | '[' | ']' | '}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_characters_end_a_text_as_in_the_codec() {
        let allowed: String = (' '..='~').filter(|each| can_terminate(*each)).collect();
        assert_eq!(allowed, "!%&'()*+,-123456789:;<=ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz{|");
    }

    #[test]
    fn calendar_formats_run_downwards() {
        for good in ["%Y", "%Y%m%d", "%Y-%m-%dT%H", "%H%M%S"] {
            assert_eq!(calendar_problem(good), None, "{good}");
        }
        for bad in ["%m%Y", "%Y%d", "%y", "%", "%Y/%m", "%Y~"] {
            assert!(calendar_problem(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn braces_are_doubled() {
        let text: String = pieces("{{a}}")
            .into_iter()
            .map(|piece| match piece {
                Ok(Piece::Literal(text)) => text,
                _ => panic!("only literals"),
            })
            .collect();
        assert_eq!(text, "{a}");
        assert!(pieces("{a").iter().any(Result::is_err));
        assert!(pieces("a}").iter().any(Result::is_err));
    }
}
