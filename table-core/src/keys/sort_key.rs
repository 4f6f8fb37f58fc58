//! Keys as bytes that compare as the service's keys do.

use crate::error::{Error, Result};
use crate::keys::{EntityKey, PartitionKey, RowKey};

/// Ends the partition key; no key holds U+0000, so a shorter key sorts first.
const TERMINATOR: u8 = 0;

/// The full key of an entity as bytes: partition key, a zero byte, row key, both in CESU-8.
///
/// CESU-8 writes a character above U+FFFF as its two surrogates, so comparing bytes is comparing
/// UTF-16 code units. ASCII stays as it is.
///
/// ```
/// use table_core::{EntityKey, SortKey};
///
/// let key = EntityKey::parse("Sales", "empid_000223")?;
/// let bytes = SortKey::of(&key);
/// assert_eq!(bytes.as_bytes(), b"Sales\0empid_000223");
/// assert_eq!(bytes.decode()?, key);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortKey(Vec<u8>);

impl SortKey {
    /// The bytes of a full key.
    #[must_use]
    pub fn of(key: &EntityKey) -> Self {
        Self::from_text(key.partition.as_str(), key.row.as_str())
    }

    /// The bytes of two texts, which need not be valid keys: they may be the bounds of a range.
    #[must_use]
    pub fn from_text(partition: &str, row: &str) -> Self {
        let mut bytes = Vec::with_capacity(partition.len() + row.len() + 1);
        push_cesu8(&mut bytes, partition);
        bytes.push(TERMINATOR);
        push_cesu8(&mut bytes, row);
        Self(bytes)
    }

    /// The smallest bytes above every key of this partition.
    #[must_use]
    pub fn after_partition(partition: &str) -> Self {
        let mut bytes = Vec::with_capacity(partition.len() + 1);
        push_cesu8(&mut bytes, partition);
        bytes.push(TERMINATOR + 1);
        Self(bytes)
    }

    /// Bytes that a store has kept.
    #[must_use]
    pub const fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, to keep.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The key that these bytes stand for.
    ///
    /// # Errors
    /// [`Corrupted`](crate::ErrorKind::Corrupted) where the bytes are not a key's.
    pub fn decode(&self) -> Result<EntityKey> {
        Self::decode_bytes(&self.0)
    }

    /// The key that these bytes stand for.
    ///
    /// # Errors
    /// [`Corrupted`](crate::ErrorKind::Corrupted) where the bytes are not a key's.
    pub fn decode_bytes(bytes: &[u8]) -> Result<EntityKey> {
        Self::decode_after(None, bytes)
    }

    /// The key that these bytes stand for, where the one before it in a scan is at hand: neighbours mostly share
    /// their partition, which then is not read again.
    ///
    /// # Errors
    /// As [`SortKey::decode_bytes`].
    pub fn decode_after(before: Option<&EntityKey>, bytes: &[u8]) -> Result<EntityKey> {
        let end = bytes.iter().position(|byte| *byte == TERMINATOR).ok_or_else(damaged)?;
        let (partition, row) = bytes.split_at_checked(end).ok_or_else(damaged)?;
        let row = from_cesu8(row.get(1..).ok_or_else(damaged)?).ok_or_else(damaged)?;
        let row = RowKey::new(&*row).map_err(|error| damaged().with_source(error))?;
        // A text with characters above U+FFFF has other bytes here.
        let is_same = |before: &&EntityKey| before.partition.as_str().as_bytes() == partition && is_ours(partition);
        if let Some(before) = before.filter(is_same) {
            return Ok(EntityKey::new(before.partition.clone(), row));
        }
        let partition = from_cesu8(partition).ok_or_else(damaged)?;
        let partition = PartitionKey::new(&*partition).map_err(|error| damaged().with_source(error))?;
        Ok(EntityKey::new(partition, row))
    }
}

#[cold]
fn damaged() -> Error {
    Error::corrupted("the bytes of a stored key are damaged")
}

fn push_cesu8(bytes: &mut Vec<u8>, text: &str) {
    if is_ours(text.as_bytes()) {
        bytes.extend_from_slice(text.as_bytes());
        return;
    }
    let mut units = [0; 2];
    for each in text.chars() {
        if u32::from(each) <= 0xffff {
            bytes.extend_from_slice(each.encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            for unit in each.encode_utf16(&mut units) {
                bytes.extend_from_slice(&surrogate_bytes(*unit));
            }
        }
    }
}

/// A surrogate in the three-byte form of UTF-8.
const fn surrogate_bytes(unit: u16) -> [u8; 3] {
    [0xe0 | (unit >> 12) as u8, 0x80 | ((unit >> 6) & 0x3f) as u8, 0x80 | (unit & 0x3f) as u8]
}

/// Whether no character is written in four bytes: one above U+FFFF would sort wrongly so.
fn is_ours(bytes: &[u8]) -> bool {
    bytes.is_ascii() || bytes.iter().all(|byte| *byte < 0xf0)
}

fn from_cesu8(bytes: &[u8]) -> Option<std::borrow::Cow<'_, str>> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return is_ours(bytes).then_some(text.into());
    }
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(start) = rest.windows(2).position(|pair| matches!(pair, [0xed, 0xa0..=0xff])) {
        let (plain, tail) = rest.split_at_checked(start)?;
        text.push_str(std::str::from_utf8(plain).ok()?);
        let (pair, tail) = tail.split_at_checked(6)?;
        let [h0, h1, h2, l0, l1, l2] = pair.try_into().ok()?;
        let units = [surrogate_unit([h0, h1, h2])?, surrogate_unit([l0, l1, l2])?];
        text.push(char::decode_utf16(units).next()?.ok()?);
        rest = tail;
    }
    text.push_str(std::str::from_utf8(rest).ok()?);
    Some(text.into())
}

fn surrogate_unit(bytes: [u8; 3]) -> Option<u16> {
    let [first, second, third] = bytes;
    let valid = first == 0xed && (0xa0..=0xbf).contains(&second) && (0x80..=0xbf).contains(&third);
    valid.then(|| 0xd000 | (u16::from(second & 0x3f) << 6) | u16::from(third & 0x3f))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_compare_as_the_keys_do_and_lead_back(a in "[\\x20-\\x22a-c\u{e000}\u{ffff}\u{10000}\u{10ffff}é]{0,5}", b in "[\\x20-\\x22a-c\u{e000}\u{ffff}\u{10000}\u{10ffff}é]{0,5}", c in "\\PC{0,4}") {
            let c: String = c.chars().filter(|each| super::super::utf16::is_key_char(*each)).collect();
            let keep = |text: &str| text.replace('#', "");
            let (x, y) = (EntityKey::parse(&keep(&a), &c).unwrap(), EntityKey::parse(&keep(&b), &keep(&a)).unwrap());
            prop_assert_eq!(SortKey::of(&x).cmp(&SortKey::of(&y)), x.cmp(&y));
            prop_assert_eq!(SortKey::of(&x).decode().unwrap(), x.clone());
            for before in [&x, &y] {
                prop_assert_eq!(SortKey::decode_after(Some(before), SortKey::of(&x).as_bytes()).unwrap(), x.clone());
            }
            prop_assert!(SortKey::after_partition(x.partition.as_str()) > SortKey::of(&x));
            if y.partition > x.partition {
                prop_assert!(SortKey::after_partition(x.partition.as_str()) < SortKey::of(&y));
            }
        }

        #[test]
        fn a_neighbour_changes_nothing(partition in "[a\u{10000}]{0,2}", row in "[a-c]{0,2}") {
            let before = EntityKey::parse(&partition, "r").unwrap();
            // Right where there is no character above U+FFFF, and damaged where there is.
            let bytes = [partition.as_bytes(), b"\0", row.as_bytes()].concat();
            prop_assert_eq!(SortKey::decode_after(Some(&before), &bytes).ok(), SortKey::decode_bytes(&bytes).ok());
        }

        #[test]
        fn any_bytes_decode_or_are_refused(bytes: Vec<u8>) {
            if let Ok(key) = SortKey::decode_bytes(&bytes) {
                let again = SortKey::of(&key);
                prop_assert_eq!(again.as_bytes(), &bytes[..]);
            }
        }
    }
}
