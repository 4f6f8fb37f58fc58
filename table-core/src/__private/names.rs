//! Lists of property names, made at compile time.
#![expect(clippy::indexing_slicing, reason = "evaluated at compile time, where a panic is the error")]

use crate::entity::Schema;
use crate::value::Value;

/// How many names the lists have together.
#[must_use]
pub const fn count(lists: &[&[&str]]) -> usize {
    let (mut total, mut at) = (0, 0);
    while at < lists.len() {
        total += lists[at].len();
        at += 1;
    }
    total
}

/// The lists as one.
///
/// # Panics
/// At compile time, where a name stands twice or is reserved.
#[must_use]
pub const fn join<const N: usize>(lists: &[&[&'static str]]) -> [&'static str; N] {
    let mut names = [""; N];
    let (mut filled, mut at) = (0, 0);
    while at < lists.len() {
        let mut each = 0;
        while each < lists[at].len() {
            let name = lists[at][each];
            assert!(
                !is_reserved(name),
                "a flattened field gives a property that has a reserved name; change its prefix"
            );
            let mut before = 0;
            while before < filled {
                assert!(
                    !same(names[before], name),
                    "a flattened field gives a property that exists already; give it a prefix"
                );
                before += 1;
            }
            names[filled] = name;
            filled += 1;
            each += 1;
        }
        at += 1;
    }
    names
}

const fn is_reserved(name: &str) -> bool {
    let mut at = 0;
    while at < RESERVED.len() {
        if same(RESERVED[at], name) {
            return true;
        }
        at += 1;
    }
    false
}

/// The service's own names and those of [`crate::reserved`], as constants can compare them.
const RESERVED: [&str; 9] = [
    "PartitionKey",
    "RowKey",
    "Timestamp",
    "EntityType",
    "EntityVersion",
    "RowKind",
    "RowToken",
    "RowOwner",
    "RowBlobs",
];

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// The bytes that the names take with the prefix before each.
#[must_use]
pub const fn prefixed_len(prefix: &str, names: &[&str]) -> usize {
    let (mut total, mut at) = (0, 0);
    while at < names.len() {
        total += prefix.len() + names[at].len();
        at += 1;
    }
    total
}

/// The names with the prefix before each, one after the other.
#[must_use]
pub const fn prefixed_bytes<const L: usize>(prefix: &str, names: &[&str]) -> [u8; L] {
    let mut bytes = [0; L];
    let (mut filled, mut at) = (0, 0);
    while at < names.len() {
        let mut each = 0;
        while each < prefix.len() {
            bytes[filled] = prefix.as_bytes()[each];
            filled += 1;
            each += 1;
        }
        each = 0;
        while each < names[at].len() {
            bytes[filled] = names[at].as_bytes()[each];
            filled += 1;
            each += 1;
        }
        at += 1;
    }
    bytes
}

/// The names that [`prefixed_bytes`] wrote.
///
/// # Panics
/// At compile time, for bytes of other names.
#[must_use]
#[expect(clippy::panic, reason = "evaluated at compile time, where a panic is the error")]
pub const fn prefixed_names<const N: usize>(bytes: &'static [u8], prefix: &str, names: &[&str]) -> [&'static str; N] {
    let mut list = [""; N];
    let (mut rest, mut at) = (bytes, 0);
    while at < names.len() {
        let (name, after) = rest.split_at(prefix.len() + names[at].len());
        list[at] = match std::str::from_utf8(name) {
            Ok(name) => name,
            Err(_) => panic!("the bytes were written from these names"),
        };
        rest = after;
        at += 1;
    }
    list
}

/// A stretch of a list, or nothing where it is too short.
#[must_use]
pub fn slice<T>(list: &[T], start: usize, count: usize) -> &[T] {
    list.get(start..start + count).unwrap_or_default()
}

/// The same stretch, to be changed.
pub fn slice_mut<T>(list: &mut [T], start: usize, count: usize) -> &mut [T] {
    list.get_mut(start..start + count).unwrap_or_default()
}

/// A name by its position.
#[must_use]
pub fn name(names: &[&'static str], at: usize) -> &'static str {
    names.get(at).copied().unwrap_or_default()
}

/// Takes a value out by its position.
pub fn take(values: &mut [Option<Value>], at: usize) -> Option<Value> {
    values.get_mut(at).and_then(Option::take)
}

/// Checks that no two members of a set have one name.
///
/// # Panics
/// At compile time, where two have.
pub const fn assert_distinct(members: &[&Schema]) {
    let mut at = 0;
    while at < members.len() {
        let mut before = 0;
        while before < at {
            assert!(
                !same(members[before].name, members[at].name),
                "two members of an entity set have the same name; give one another with `#[entity(name = \"...\")]`"
            );
            before += 1;
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reserved_name_is_refused() {
        let names = crate::reserved::NAMES;
        let all: Vec<&str> =
            crate::names::SYSTEM_PROPERTIES.into_iter().chain(names.iter().map(crate::PropertyName::as_str)).collect();
        assert_eq!(all, RESERVED);
    }

    #[test]
    fn prefixes_stand_before_every_name() {
        const NAMES: &[&str] = &["Street", "City"];
        const BYTES: [u8; prefixed_len("Home", NAMES)] = prefixed_bytes("Home", NAMES);
        const LIST: [&str; NAMES.len()] = prefixed_names(&BYTES, "Home", NAMES);
        assert_eq!(LIST, ["HomeStreet", "HomeCity"]);
        assert_eq!(join::<3>(&[&["Age"], &LIST]), ["Age", "HomeStreet", "HomeCity"]);
    }

    #[test]
    #[should_panic(expected = "exists already")]
    fn a_name_twice_is_refused() {
        let _ = join::<2>(&[&["Age"], &["Age"]]);
    }
}
