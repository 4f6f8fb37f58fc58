//! Dates by calendar format, such as `%Y%m%d`: readable, ordered, and without what is finer.

use smol_str::SmolStrBuilder;

use super::number;
use super::utf16::is_key_char;
use crate::error::Result;
use crate::timestamp::Timestamp;

/// A calendar format whose fields run from most to least significant without a gap.
///
/// `%Y` `%m` `%d` `%H` `%M` `%S` stand for the fields; anything else stands for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calendar {
    format: &'static str,
}

/// The fields in order of significance.
const FIELDS: [u8; 6] = *b"YmdHMS";

#[expect(clippy::indexing_slicing, reason = "the position is checked")]
const fn rank(field: u8) -> Option<usize> {
    let mut at = 0;
    while at < FIELDS.len() {
        if FIELDS[at] == field {
            return Some(at);
        }
        at += 1;
    }
    None
}

impl Calendar {
    /// Checks a format.
    ///
    /// # Panics
    /// At compile time, where a format is unknown, leaves a gap, or does not run from most to
    /// least significant.
    #[must_use]
    #[expect(clippy::panic, clippy::indexing_slicing, reason = "evaluated at compile time, where a panic is the error")]
    pub const fn new(format: &'static str) -> Self {
        let bytes = format.as_bytes();
        let mut last: Option<usize> = None;
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at] == b'%' {
                at += 1;
                assert!(at < bytes.len(), "a calendar format must not end with `%`");
                let Some(rank) = rank(bytes[at]) else {
                    panic!("a calendar format knows %Y, %m, %d, %H, %M and %S");
                };
                if let Some(last) = last {
                    assert!(
                        rank == last + 1,
                        "a calendar format must run from most to least significant without a gap, as in %Y%m%d"
                    );
                }
                last = Some(rank);
            } else {
                assert!(
                    bytes[at].is_ascii() && is_key_char(bytes[at] as char) && bytes[at] != b'~',
                    "a calendar format must hold only ASCII that a key may hold"
                );
            }
            at += 1;
        }
        assert!(last.is_some(), "a calendar format must hold a field such as %Y");
        Self { format }
    }

    /// The format as written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.format
    }

    pub(super) fn push(self, out: &mut SmolStrBuilder, at: Timestamp) -> Result<()> {
        let at = at.to_offset_date_time();
        let mut bytes = self.format.bytes();
        while let Some(byte) = bytes.next() {
            if byte != b'%' {
                out.push(char::from(byte));
                continue;
            }
            let (value, width) = match bytes.next() {
                Some(b'Y') => (u64::try_from(at.year()).unwrap_or(0), 4),
                Some(b'm') => (u64::from(u8::from(at.month())), 2),
                Some(b'd') => (u64::from(at.day()), 2),
                Some(b'H') => (u64::from(at.hour()), 2),
                Some(b'M') => (u64::from(at.minute()), 2),
                _ => (u64::from(at.second()), 2),
            };
            number::push_padded(out, value, width)?;
        }
        Ok(())
    }

    /// Takes a date of this format off the front; what it says is lost.
    pub(super) fn take(self, text: &str) -> Option<&str> {
        let mut rest = text;
        let mut bytes = self.format.bytes();
        while let Some(byte) = bytes.next() {
            rest = if byte == b'%' {
                let width = if bytes.next() == Some(b'Y') { 4 } else { 2 };
                number::take_padded(rest, width)?.1
            } else {
                rest.strip_prefix(char::from(byte))?
            };
        }
        Some(rest)
    }
}
