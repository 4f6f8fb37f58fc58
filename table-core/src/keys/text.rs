//! Texts in keys, escaped so that order, readability and exactness all hold.
//!
//! `c~` stands for the character after `c`: `/` is `.~`, and a `_` inside a text that `_` ends is
//! `^~`. Ordinary text is untouched. No encoded text begins with `~`, so `c~` sorts after every
//! text that goes on after `c`, which is where the character after `c` belongs. Characters above
//! `~` would break that right after such a `c`, so there they are written `}~~` and themselves.

use std::borrow::Cow;

use smol_str::SmolStrBuilder;

use super::utf16;
use crate::error::{Error, Result};

/// The mark of an escape.
const MARK: char = '~';

/// The character whose escaped form is `lead` and [`MARK`], where `lead` begins an escape.
const fn escaped_by(lead: char, terminator: Option<char>) -> Option<char> {
    match lead {
        '.' => Some('/'),
        '"' => Some('#'),
        '>' => Some('?'),
        '[' => Some('\\'),
        '}' => Some('~'),
        _ => match terminator {
            Some(end) if lead as u32 + 1 == end as u32 => Some(end),
            _ => None,
        },
    }
}

/// The character that begins the escape of `each`, where it has one.
const fn lead_of(each: char, terminator: Option<char>) -> Option<char> {
    match each {
        '/' => Some('.'),
        '#' => Some('"'),
        '?' => Some('>'),
        '\\' => Some('['),
        '~' => Some('}'),
        _ => match terminator {
            Some(end) if each as u32 == end as u32 => char::from_u32(end as u32 - 1),
            _ => None,
        },
    }
}

/// Whether a literal that follows a text may begin with this character.
///
/// It must be ASCII that a key may hold, its own escape must be writable, and it must not begin
/// the escape of another character.
#[must_use]
pub(super) const fn can_terminate(each: char) -> bool {
    let code = each as u32;
    if code <= 0x20 || code >= MARK as u32 || !utf16::is_key_char(each) {
        return false;
    }
    let Some(before) = char::from_u32(code - 1) else { return false };
    utf16::is_key_char(before) && escaped_by(each, None).is_none()
}

/// Whether what comes after an encoded text needs a guard: see the module's last rule.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Guard(bool);

impl Guard {
    const START: Self = Self(false);

    const fn after(each: char, terminator: Option<char>) -> Self {
        Self(escaped_by(each, terminator).is_some())
    }

    /// The guard after a character that stands as it is, where the encoder would have left it so.
    fn take_raw(self, each: char, terminator: Option<char>) -> Option<Self> {
        let altered = each.is_control() || lead_of(each, terminator).is_some() || (self.0 && each > MARK);
        (!altered).then(|| Self::after(each, terminator))
    }
}

/// Writes a text, and says whether it ends where a guard is needed.
#[inline]
pub(super) fn push_text(out: &mut SmolStrBuilder, text: &str, terminator: Option<char>) -> Result<Guard> {
    if !is_plain(text, terminator) {
        return push_escaped(out, text, terminator);
    }
    out.push_str(text);
    Ok(text.chars().next_back().map_or(Guard::START, |last| Guard::after(last, terminator)))
}

fn push_escaped(out: &mut SmolStrBuilder, text: &str, terminator: Option<char>) -> Result<Guard> {
    let mut guard = Guard::START;
    for each in text.chars() {
        if each.is_control() {
            return Err(Error::invalid_key(format!(
                "a text in a key must not hold the control character {each:?}; remove it or encode it yourself"
            )));
        }
        if let Some(lead) = lead_of(each, terminator) {
            out.push(lead);
            out.push(MARK);
            guard = Guard(each == MARK);
        } else {
            if guard.0 && each > MARK {
                out.push_str("}~~");
            }
            out.push(each);
            guard = Guard::after(each, terminator);
        }
    }
    Ok(guard)
}

/// Whether a text is ASCII that needs no escape.
#[expect(clippy::inline_always, reason = "mostly the terminator is a constant, and looking for none is faster")]
#[inline(always)]
pub(super) fn is_plain(text: &str, terminator: Option<char>) -> bool {
    // Eight at a time: most texts are plain to their end, so there is no hurry to leave.
    let plain = |byte: &u8| is_plain_ascii(*byte) & (terminator != Some(char::from(*byte)));
    let (eights, rest) = text.as_bytes().as_chunks::<8>();
    eights.iter().all(|eight| eight.iter().fold(true, |all, byte| all & plain(byte))) && rest.iter().all(plain)
}

/// Whether a byte is an ASCII character that no text escapes, but as its terminator.
#[expect(clippy::indexing_slicing, reason = "the table has a place for every byte")]
const fn is_plain_ascii(byte: u8) -> bool {
    const PLAIN: [bool; 256] = {
        let mut plain = [false; 256];
        let mut byte = b' ';
        while (byte as u32) < MARK as u32 {
            plain[byte as usize] = !matches!(byte, b'/' | b'\\' | b'#' | b'?');
            byte += 1;
        }
        plain
    };
    PLAIN[byte as usize]
}

/// The smallest key text above every text that begins with what `encoded` was made of.
///
/// Right after the lead of an escape the bound is that escape: the prefix `a.` ends before `a.~`,
/// which is `a/`. The text `~` ends before the guard `}~~` in the same way.
pub(super) fn text_prefix_end(encoded: &str, guard: Guard) -> Option<String> {
    if guard.0 { Some(format!("{encoded}{MARK}")) } else { utf16::prefix_end(encoded) }
}

/// Takes a text off the front, up to its terminator or the end. Only what [`push_text`] writes is taken.
#[expect(clippy::inline_always, reason = "mostly the terminator is a constant, and taking all is faster")]
#[inline(always)]
pub(super) fn take_text(input: &str, terminator: Option<char>) -> Option<(Cow<'_, str>, &str)> {
    let (text, rest) = match terminator {
        None => (input, ""),
        Some(end) => input.split_at_checked(input.find(end)?)?,
    };
    if is_plain(text, None) {
        return Some((Cow::Borrowed(text), rest));
    }
    take_unusual(input, terminator)
}

#[inline(never)]
fn take_unusual(input: &str, terminator: Option<char>) -> Option<(Cow<'_, str>, &str)> {
    let end = input.find(|each| each == MARK || terminator == Some(each)).unwrap_or(input.len());
    let (plain, rest) = input.split_at_checked(end)?;
    if !rest.starts_with(MARK) {
        check_raw(plain, terminator)?;
        return (terminator.is_none() || !rest.is_empty()).then_some((Cow::Borrowed(plain), rest));
    }
    take_escaped(input, terminator)
}

/// Refuses what the encoder would not have written as it is.
fn check_raw(plain: &str, terminator: Option<char>) -> Option<()> {
    if is_plain(plain, terminator) {
        return Some(());
    }
    let mut guard = Guard::START;
    for each in plain.chars() {
        guard = guard.take_raw(each, terminator)?;
    }
    Some(())
}

fn take_escaped(input: &str, terminator: Option<char>) -> Option<(Cow<'_, str>, &str)> {
    let mut text = String::with_capacity(input.len());
    let mut guard = Guard::START;
    let mut chars = input.chars();
    loop {
        let rest = chars.as_str();
        let Some(each) = chars.next() else {
            return terminator.is_none().then_some((Cow::Owned(text), rest));
        };
        if terminator == Some(each) {
            return Some((Cow::Owned(text), rest));
        }
        if let Some(after) = chars.as_str().strip_prefix(MARK) {
            chars = after.chars();
            let guarded = after.strip_prefix(MARK).filter(|_| each == '}');
            if let Some(after) = guarded {
                chars = after.chars();
                let high = chars.next().filter(|high| guard.0 && *high > MARK)?;
                text.push(high);
                guard = Guard::after(high, terminator);
            } else {
                let original = escaped_by(each, terminator)?;
                text.push(original);
                guard = Guard(original == MARK);
            }
        } else {
            guard = guard.take_raw(each, terminator)?;
            text.push(each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(text: &str, terminator: Option<char>) -> String {
        let mut out = SmolStrBuilder::new();
        push_text(&mut out, text, terminator).unwrap();
        out.finish().to_string()
    }

    #[test]
    fn ordinary_text_is_untouched() {
        for text in ["jonesj@contoso.com", "Jones Smith", "é", "日本", "a.b", "", "^"] {
            assert_eq!(encode(text, None), text);
        }
    }

    #[test]
    fn vectors() {
        assert_eq!(encode("a/b", None), "a.~b");
        assert_eq!(encode("a#b", None), "a\"~b");
        assert_eq!(encode("a?b", None), "a>~b");
        assert_eq!(encode("a\\b", None), "a[~b");
        assert_eq!(encode("a~b", None), "a}~b");
        assert_eq!(encode("a_b", Some('_')), "a^~b");
        assert_eq!(encode("a_b", None), "a_b");
        assert_eq!(encode("a.é", None), "a.}~~é");
        assert_eq!(encode("~é", None), "}~}~~é");
        assert_eq!(encode("^é", Some('_')), "^}~~é");
    }

    #[test]
    fn which_characters_may_end_a_text() {
        let allowed: String = (' '..='~').filter(|each| can_terminate(*each)).collect();
        assert_eq!(allowed, "!%&'()*+,-123456789:;<=ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz{|");
    }

    #[test]
    fn what_the_encoder_never_writes_is_refused() {
        for text in ["~", "a~", "x~", ".é", "}~~a", "a}~~é", "}~é", ".~~", "a/b", "a\u{7f}"] {
            assert_eq!(take_text(text, None), None, "{text}");
        }
        assert_eq!(take_text("a^b", Some('_')), None);
    }
}
