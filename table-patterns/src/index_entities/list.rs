//! A list of row keys, and its form in a row.
//!
//! The invariant: keys are sorted and each stands once. In a row they are lines of text, spread over
//! as many properties as it takes; a key holds no control character, so a line break ends it.

use std::collections::BTreeSet;

use table_core::{DynamicEntity, EntityKey, Error, PropertyName, Result, RowKey, Value, limits, reserved};

/// What the property of a piece begins with; its number follows.
const PIECE: &str = "Keys";
/// What the mark of a list begins with; the list's name follows.
const KIND_PREFIX: &str = "list:";

/// Row keys in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct KeyList(BTreeSet<RowKey>);

impl KeyList {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&mut self, key: RowKey) {
        self.0.insert(key);
    }

    pub(super) fn remove(&mut self, key: &RowKey) {
        self.0.remove(key);
    }

    pub(super) fn into_keys(self) -> Vec<RowKey> {
        self.0.into_iter().collect()
    }

    /// Reads the list that a row holds.
    pub(super) fn from_row(row: &DynamicEntity) -> Result<Self> {
        let kind = row.get(reserved::ROW_KIND.as_str()).and_then(Value::as_str);
        if !kind.is_some_and(|kind| kind.starts_with(KIND_PREFIX)) {
            return Err(Error::corrupted("the row where a list should stand is none; give the list another name")
                .with_key(row.key.clone()));
        }
        let mut keys = BTreeSet::new();
        for (name, value) in row.properties.iter() {
            if piece_of(name).is_none() {
                continue;
            }
            let foreign = || {
                Error::corrupted("the row of a list does not hold row keys; rebuild the list")
                    .with_key(row.key.clone())
                    .with_property(name.as_str())
            };
            let Value::String(lines) = value else { return Err(foreign()) };
            for line in lines.split('\n') {
                keys.insert(RowKey::new(line).map_err(|_| foreign())?);
            }
        }
        Ok(Self(keys))
    }

    /// The row that holds the list.
    ///
    /// # Errors
    /// [`LimitExceeded`](table_core::ErrorKind::LimitExceeded) for a list that one row cannot hold.
    pub(super) fn to_row(&self, name: &str, key: EntityKey) -> Result<DynamicEntity> {
        let mut row = DynamicEntity::new(key);
        row.properties.insert(reserved::ROW_KIND, Value::String(format!("{KIND_PREFIX}{name}")));
        for (number, piece) in self.pieces().into_iter().enumerate() {
            row.set(&format!("{PIECE}{number:02}"), piece)?;
        }
        let bytes = row.counted_bytes();
        if bytes > limits::ENTITY_BYTES {
            return Err(Error::limit_exceeded(format!(
                "the list {name} would take {bytes} bytes with its {} keys, and one row holds at most {}; list by a value that fewer entities share",
                self.0.len(),
                limits::ENTITY_BYTES
            ))
            .with_key(row.key));
        }
        Ok(row)
    }

    /// The lines, in texts that a property can hold.
    fn pieces(&self) -> Vec<String> {
        let mut pieces: Vec<String> = Vec::new();
        let mut units = 0;
        for key in &self.0 {
            let line = key.as_str().encode_utf16().count();
            match pieces.last_mut() {
                Some(piece) if units + 1 + line <= limits::STRING_UTF16_UNITS => {
                    piece.push('\n');
                    piece.push_str(key.as_str());
                    units += 1 + line;
                }
                _ => {
                    pieces.push(key.as_str().to_owned());
                    units = line;
                }
            }
        }
        pieces
    }
}

/// The number of the piece that a property holds.
fn piece_of(name: &PropertyName) -> Option<u32> {
    name.as_str().strip_prefix(PIECE)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(keys: impl IntoIterator<Item = String>) -> KeyList {
        KeyList(keys.into_iter().map(|key| RowKey::new(key).unwrap()).collect())
    }

    fn key() -> EntityKey {
        EntityKey::parse("p", "list_n:v").unwrap()
    }

    #[test]
    fn a_list_comes_back_from_its_row() {
        let long = (0..3000).map(|number| format!("empid_{number:06}_é😀_{}", "x".repeat(20)));
        for keys in [list([]), list(["b".into(), "a".into()]), list([String::new()]), list(long)] {
            let row = keys.to_row("n", key()).unwrap();
            row.check_limits().unwrap();
            assert_eq!(KeyList::from_row(&row).unwrap(), keys);
        }
    }

    #[test]
    fn a_long_list_spreads_over_properties_and_ends_at_one_mebibyte() {
        let keys = |count| list((0..count).map(|number| format!("{number:031}")));
        assert_eq!(keys(1024).to_row("n", key()).unwrap().properties.len(), 2);
        assert_eq!(keys(1025).to_row("n", key()).unwrap().properties.len(), 3);
        let error = keys(17_000).to_row("n", key()).unwrap_err();
        assert_eq!(error.kind(), table_core::ErrorKind::LimitExceeded);
        assert!(error.message().contains("17000 keys"), "{error}");
    }
}
