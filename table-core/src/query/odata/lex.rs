//! Filter text in words, literals and parentheses.

use uuid::Uuid;

use crate::error::{Error, Result};
use crate::value::Value;

/// One piece of a filter's text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'t> {
    /// Where it begins, in bytes.
    pub(super) at: usize,
    pub(super) kind: Kind<'t>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind<'t> {
    Open,
    Close,
    /// A property's name or an operator.
    Word(&'t str),
    Literal(Value),
    End,
}

/// Cuts a filter's text into tokens, one at a time.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// An error at a place in the text. It never repeats the text, which may hold values.
    pub(super) fn error(&self, at: usize, problem: &str) -> Error {
        let before = self.text.get(..at).unwrap_or(self.text);
        Error::invalid_query(format!("{problem} (at character {} of the filter)", before.chars().count() + 1))
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Takes everything up to the first character that does not fit.
    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|each| !fits(each)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    pub(super) fn next(&mut self) -> Result<Token<'t>> {
        self.take_while(|each| each.is_ascii_whitespace());
        let at = self.at;
        let kind = match self.rest().chars().next() {
            None => Kind::End,
            Some('(') => self.single(Kind::Open),
            Some(')') => self.single(Kind::Close),
            Some('\'') => Kind::Literal(Value::String(self.quoted(at)?)),
            Some('-' | '.' | '0'..='9') => Kind::Literal(self.number(at)?),
            Some(first) if first == '_' || first.is_alphabetic() => self.word(at)?,
            Some(_) => return Err(self.error(at, symbol_hint(self.rest()))),
        };
        Ok(Token { at, kind })
    }

    fn single(&mut self, kind: Kind<'t>) -> Kind<'t> {
        self.at += 1;
        kind
    }

    /// Takes a text in quotes, in which a quote stands twice.
    fn quoted(&mut self, at: usize) -> Result<String> {
        let mut text = String::new();
        while self.rest().starts_with('\'') {
            // A piece after the first follows two quotes, which stand for one.
            if self.at > at {
                text.push('\'');
            }
            self.at += 1;
            text.push_str(self.take_while(|each| each != '\''));
            if self.rest().is_empty() {
                return Err(self.error(at, "this literal has no closing quote; a quote within a text is written twice"));
            }
            self.at += 1;
        }
        Ok(text)
    }

    fn word(&mut self, at: usize) -> Result<Kind<'t>> {
        let word = self.take_while(|each| each == '_' || each.is_alphanumeric());
        if self.rest().starts_with('\'') {
            let quote = self.at;
            let content = self.quoted(quote)?;
            return self.typed_literal(at, word, &content).map(Kind::Literal);
        }
        Ok(match word {
            "true" => Kind::Literal(Value::Boolean(true)),
            "false" => Kind::Literal(Value::Boolean(false)),
            "NaN" => Kind::Literal(Value::Double(f64::NAN)),
            "INF" => Kind::Literal(Value::Double(f64::INFINITY)),
            _ => Kind::Word(word),
        })
    }

    /// A literal whose type stands before its quotes.
    fn typed_literal(&self, at: usize, prefix: &str, content: &str) -> Result<Value> {
        match prefix {
            "datetime" => content
                .parse()
                .map(Value::DateTime)
                .map_err(|_| self.error(at, "a time is written like datetime'2014-08-22T00:50:32.1234567Z', in UTC")),
            "guid" => Uuid::try_parse(content)
                .ok()
                .filter(|_| content.len() == uuid::fmt::Hyphenated::LENGTH)
                .map(Value::Guid)
                .ok_or_else(|| self.error(at, "a guid is written like guid'c9da6455-213d-42c9-9a79-3e9149a57833'")),
            "X" | "binary" => bytes_of_hex(content)
                .map(Value::from)
                .ok_or_else(|| self.error(at, "a binary is written as pairs of hexadecimal digits, like X'cafe'")),
            _ => Err(self.error(at, "only datetime, guid, X and binary may stand right before a quote")),
        }
    }

    fn number(&mut self, at: usize) -> Result<Value> {
        let rest = self.rest();
        if rest.starts_with("-INF") {
            self.at += "-INF".len();
            return Ok(Value::Double(f64::NEG_INFINITY));
        }
        let mut before = '-';
        let end = rest.find(|each: char| {
            let sign = matches!(each, '+' | '-') && matches!(before, '-' | 'e' | 'E');
            before = each;
            !(sign || each == '.' || each.is_alphanumeric())
        });
        let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.at += text.len();
        parse_number(text).map_err(|problem| self.error(at, problem))
    }
}

fn parse_number(text: &str) -> Result<Value, &'static str> {
    const FORMS: &str = "a number is written like 42, 42L for an Int64, or 1.5 for a Double";
    let digits = text.strip_prefix('-').unwrap_or(text);
    if let Some(wide) = digits.strip_suffix('L') {
        if !all_digits(wide) {
            return Err(FORMS);
        }
        let number = text.strip_suffix('L').and_then(|number| number.parse().ok());
        return number.map(Value::Int64).ok_or("the number does not fit an Int64");
    }
    if all_digits(digits) {
        return text.parse().map(Value::Int32).map_err(|_| {
            if text.parse::<i64>().is_ok() {
                "the number does not fit an Int32; write an L after it to compare with an Int64"
            } else {
                "the number does not fit an Int64; write it with a decimal point to compare with a Double"
            }
        });
    }
    if !is_double(digits) {
        return Err(FORMS);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Value::Double(number)),
        _ => Err("the number does not fit a Double; write INF or -INF for an infinity"),
    }
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Digits, a fraction, an exponent; the last two may be left out.
fn is_double(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(a, b)| (a, Some(b)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(a, b)| (a, Some(b)));
    all_digits(whole)
        && fraction.is_none_or(all_digits)
        && exponent.is_none_or(|digits| all_digits(digits.strip_prefix(['+', '-']).unwrap_or(digits)))
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|each| each.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let (pairs, odd) = digits.as_deref()?.as_chunks::<2>();
    odd.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

/// What was probably meant by a character that no filter has.
fn symbol_hint(rest: &str) -> &'static str {
    const HINTS: [(&str, &str); 12] = [
        ("==", "a filter has no `==`; write `eq`"),
        ("=", "a filter has no `=`; write `eq`"),
        ("!=", "a filter has no `!=`; write `ne`"),
        ("<>", "a filter has no `<>`; write `ne`"),
        ("<=", "a filter has no `<=`; write `le`"),
        (">=", "a filter has no `>=`; write `ge`"),
        ("<", "a filter has no `<`; write `lt`"),
        (">", "a filter has no `>`; write `gt`"),
        ("&", "a filter has no `&`; write `and`"),
        ("|", "a filter has no `|`; write `or`"),
        ("!", "a filter has no `!`; write `not`"),
        ("\"", "a text stands in single quotes, not in double ones"),
    ];
    let known = HINTS.iter().find(|(symbol, _)| rest.starts_with(symbol));
    known.map_or("this character has no meaning here; a text stands in single quotes", |(_, hint)| hint)
}
