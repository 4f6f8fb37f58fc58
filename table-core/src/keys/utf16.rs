//! The order of keys: by UTF-16 code unit, as the service sorts.

use std::cmp::Ordering;

/// Whether a key may hold this character.
#[must_use]
pub(crate) const fn is_key_char(each: char) -> bool {
    !matches!(each, '/' | '\\' | '#' | '?' | '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}')
}

/// Whether a text is ASCII that a key may hold, as most keys are: a glance at each byte settles that.
#[must_use]
#[expect(clippy::indexing_slicing, reason = "the table has a place for every byte")]
pub(crate) fn is_ascii_key(text: &str) -> bool {
    const ALLOWED: [bool; 256] = {
        let mut allowed = [false; 256];
        let mut byte = 0_u8;
        while byte < 0x80 {
            allowed[byte as usize] = is_key_char(byte as char);
            byte += 1;
        }
        allowed
    };
    text.bytes().all(|byte| ALLOWED[usize::from(byte)])
}

/// Compares two texts by UTF-16 code unit.
///
/// UTF-8 bytes compare in the same way, save that characters above U+FFFF (lead byte F0 and up)
/// come before U+E000 to U+FFFF (lead bytes EE and EF).
#[must_use]
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    let differing = a.bytes().zip(b.bytes()).find(|(x, y)| x != y);
    match differing {
        None => a.len().cmp(&b.len()),
        Some((x, y)) if x >= 0xee && y >= 0xee && (x >= 0xf0) != (y >= 0xf0) => y.cmp(&x),
        Some((x, y)) => x.cmp(&y),
    }
}

/// The smallest text above every valid key that begins with `prefix`, or `None` where no text is.
///
/// The bound holds only characters that a key may hold, so every service takes it in a filter.
#[must_use]
pub(crate) fn prefix_end(prefix: &str) -> Option<String> {
    end_by(prefix, next_key_char)
}

/// The smallest text of all above every text that begins with `prefix`, or `None` where no text is.
#[must_use]
pub(crate) fn text_end(prefix: &str) -> Option<String> {
    end_by(prefix, next_char)
}

/// `prefix` up to its last character that has a successor, and that successor.
fn end_by(prefix: &str, next: impl Fn(char) -> Option<char>) -> Option<String> {
    let mut rest = prefix;
    while let Some(last) = rest.chars().next_back() {
        rest = rest.get(..rest.len() - last.len_utf8())?;
        if let Some(next) = next(last) {
            let mut end = String::with_capacity(rest.len() + next.len_utf8());
            end.push_str(rest);
            end.push(next);
            return Some(end);
        }
    }
    None
}

/// The next character that a key may hold, in UTF-16 order.
fn next_key_char(each: char) -> Option<char> {
    let mut next = next_char(each)?;
    while !is_key_char(next) {
        next = next_char(next)?;
    }
    Some(next)
}

/// The next character in UTF-16 order: ... U+D7FF, U+10000 ... U+10FFFF, U+E000 ... U+FFFF.
fn next_char(each: char) -> Option<char> {
    match each {
        '\u{d7ff}' => Some('\u{10000}'),
        '\u{10ffff}' => Some('\u{e000}'),
        '\u{ffff}' => None,
        _ => char::from_u32(u32::from(each) + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_units(a: &str, b: &str) -> Ordering {
        a.encode_utf16().cmp(b.encode_utf16())
    }

    #[test]
    fn the_end_of_a_prefix_is_a_valid_key() {
        assert_eq!(prefix_end("ab").as_deref(), Some("ac"));
        assert_eq!(prefix_end("v1.").as_deref(), Some("v10"));
        assert_eq!(prefix_end("a~").as_deref(), Some("a\u{a0}"));
        assert_eq!(prefix_end("a\u{d7ff}").as_deref(), Some("a\u{10000}"));
        assert_eq!(prefix_end("a\u{10ffff}").as_deref(), Some("a\u{e000}"));
        assert_eq!(prefix_end("a\u{ffff}").as_deref(), Some("b"));
        assert_eq!(prefix_end("\u{ffff}"), None);
        assert_eq!(prefix_end(""), None);
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_utf16_units(a in "[a-c\u{e000}-\u{e002}\u{fffd}-\u{ffff}\u{10000}-\u{10002}\u{d7fe}\u{d7ff}]{0,4}", b in "[a-c\u{e000}-\u{e002}\u{fffd}-\u{ffff}\u{10000}-\u{10002}\u{d7fe}\u{d7ff}]{0,4}") {
            prop_assert_eq!(compare(&a, &b), by_units(&a, &b));
        }

        #[test]
        fn any_two_texts_compare_by_utf16_units(a: String, b: String) {
            prop_assert_eq!(compare(&a, &b), by_units(&a, &b));
        }

        #[test]
        fn a_prefix_ends_where_it_should(prefix in "\\PC{1,4}", tail in "\\PC{0,3}", other in "\\PC{0,4}") {
            let keep = |text: &str| text.chars().filter(|each| is_key_char(*each)).collect::<String>();
            let (prefix, tail, other) = (keep(&prefix), keep(&tail), keep(&other));
            if let Some(end) = prefix_end(&prefix) {
                prop_assert_eq!(compare(&format!("{prefix}{tail}"), &end), Ordering::Less);
                if compare(&other, &prefix).is_ge() && compare(&other, &end).is_lt() {
                    prop_assert!(other.starts_with(&prefix));
                }
            }
        }
    }
}
