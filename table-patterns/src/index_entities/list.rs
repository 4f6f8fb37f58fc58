//! A list of keys, and its form in a row or a blob.
//!
//! The invariant: keys are sorted and each stands once. They are lines of text, in a row spread over as many
//! properties as it takes; a key holds no control character, so a line break ends it. Beside its entities a line is
//! a row key; elsewhere it is partition and row key, with a `/` between them that neither can hold.

use std::collections::BTreeSet;

use table_core::{DynamicEntity, EntityKey, Error, PropertyName, Result, RowKey, Value, limits, reserved};

/// What the property of a piece begins with; its number follows. Without a number it is the list in a blob.
pub(super) const PIECE: &str = "Keys";
/// What the mark of a list begins with; the list's name follows.
pub(super) const KIND_PREFIX: &str = "list:";

/// Whether a row is one of a list.
pub(crate) fn is_list(row: &DynamicEntity) -> bool {
    list_name(row).is_some()
}

/// The list that a row is one of.
pub(super) fn list_name(row: &DynamicEntity) -> Option<&str> {
    row.get(reserved::ROW_KIND.as_str()).and_then(Value::as_str)?.strip_prefix(KIND_PREFIX)
}

/// Whose keys a list holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// Those of one partition: lines are row keys.
    Rows,
    /// Those of all partitions.
    Keys,
}

/// Keys in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct KeyList(BTreeSet<EntityKey>);

impl KeyList {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn contains(&self, key: &EntityKey) -> bool {
        self.0.contains(key)
    }

    pub(super) fn into_keys(self) -> impl Iterator<Item = EntityKey> {
        self.0.into_iter()
    }

    /// The list with a key, or without it.
    pub(super) fn with(mut self, key: &EntityKey, is_in: bool) -> Self {
        if is_in {
            self.0.insert(key.clone());
        } else {
            self.0.remove(key);
        }
        self
    }

    /// Reads the list that a row holds in its own properties.
    pub(super) fn from_row(row: &DynamicEntity, lines: Lines) -> Result<Self> {
        if !is_list(row) {
            return Err(Error::corrupted("the row where a list should stand is none; give the list another name")
                .with_key(row.key.clone()));
        }
        let mut keys = Self::default();
        for (name, value) in row.properties.iter() {
            if piece_of(name).is_none() {
                continue;
            }
            let Value::String(text) = value else { return Err(foreign(&row.key, name.as_str())) };
            keys.read(text, lines, &row.key, name.as_str())?;
        }
        Ok(keys)
    }

    /// Reads the list that a blob holds for a row.
    pub(super) fn from_text(text: &str, lines: Lines, key: &EntityKey) -> Result<Self> {
        let mut keys = Self::default();
        keys.read(text, lines, key, PIECE)?;
        Ok(keys)
    }

    fn read(&mut self, text: &str, lines: Lines, key: &EntityKey, property: &str) -> Result<()> {
        for line in text.split('\n') {
            let read = match lines {
                Lines::Rows => RowKey::new(line).ok().map(|row| EntityKey::new(key.partition.clone(), row)),
                Lines::Keys => line.split_once('/').and_then(|(partition, row)| EntityKey::parse(partition, row).ok()),
            };
            self.0.insert(read.ok_or_else(|| foreign(key, property))?);
        }
        Ok(())
    }

    /// The row that holds the list in its own properties, however large.
    pub(super) fn to_row(&self, name: &str, key: EntityKey, lines: Lines) -> Result<DynamicEntity> {
        let mut row = marked_as(name, key);
        for (number, piece) in self.pieces(lines).into_iter().enumerate() {
            row.set(&format!("{PIECE}{number:02}"), piece)?;
        }
        Ok(row)
    }

    /// The row that is to hold the list in a blob.
    pub(super) fn to_blob_row(&self, name: &str, key: EntityKey, lines: Lines) -> Result<DynamicEntity> {
        let mut row = marked_as(name, key);
        let all: Vec<String> = self.0.iter().map(|key| line(key, lines)).collect();
        row.set(PIECE, all.join("\n"))?;
        Ok(row)
    }

    /// The error for a list that is larger than it may be.
    pub(super) fn too_large(&self, name: &str, key: &EntityKey, bytes: u64, most: u64, advice: &str) -> Error {
        Error::limit_exceeded(format!(
            "the list {name} would take {bytes} bytes with its {} keys, and at most {most} are allowed; {advice}",
            self.0.len(),
        ))
        .with_key(key.clone())
    }

    /// The lines, in texts that a property can hold.
    fn pieces(&self, lines: Lines) -> Vec<String> {
        let mut pieces: Vec<String> = Vec::new();
        let mut units = 0;
        for key in &self.0 {
            let line = line(key, lines);
            let more = line.encode_utf16().count();
            match pieces.last_mut() {
                Some(piece) if units + 1 + more <= limits::STRING_UTF16_UNITS => {
                    piece.push('\n');
                    piece.push_str(&line);
                    units += 1 + more;
                }
                _ => {
                    pieces.push(line);
                    units = more;
                }
            }
        }
        pieces
    }
}

fn line(key: &EntityKey, lines: Lines) -> String {
    match lines {
        Lines::Rows => key.row.as_str().to_owned(),
        Lines::Keys => format!("{}/{}", key.partition.as_str(), key.row.as_str()),
    }
}

fn marked_as(name: &str, key: EntityKey) -> DynamicEntity {
    let mut row = DynamicEntity::new(key);
    row.properties.insert(reserved::ROW_KIND, Value::String(format!("{KIND_PREFIX}{name}")));
    row
}

fn foreign(key: &EntityKey, property: &str) -> Error {
    Error::corrupted("the row of a list does not hold keys; delete it and build the list anew")
        .with_key(key.clone())
        .with_property(property)
}

/// The number of the piece that a property holds.
fn piece_of(name: &PropertyName) -> Option<u32> {
    name.as_str().strip_prefix(PIECE)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(keys: impl IntoIterator<Item = String>) -> KeyList {
        KeyList(keys.into_iter().map(|key| EntityKey::parse("p", &key).unwrap()).collect())
    }

    fn key() -> EntityKey {
        EntityKey::parse("p", "list_n:v").unwrap()
    }

    #[test]
    fn a_list_comes_back_from_its_row_and_from_its_blob() {
        let long = (0..3000).map(|number| format!("empid_{number:06}_é😀_{}", "x".repeat(20)));
        for keys in [list(["b".into(), "a".into()]), list([String::new()]), list(long)] {
            for lines in [Lines::Rows, Lines::Keys] {
                let row = keys.to_row("n", key(), lines).unwrap();
                row.check_limits().unwrap();
                assert_eq!(KeyList::from_row(&row, lines).unwrap(), keys);
                let row = keys.to_blob_row("n", key(), lines).unwrap();
                let text = row.get(PIECE).and_then(Value::as_str).unwrap();
                assert_eq!(KeyList::from_text(text, lines, &key()).unwrap(), keys);
            }
        }
        assert_eq!(
            KeyList::from_row(&list([]).to_row("n", key(), Lines::Keys).unwrap(), Lines::Keys).unwrap(),
            list([])
        );
    }

    #[test]
    fn keys_of_all_partitions_keep_theirs() {
        let keys = KeyList::default();
        let keys = [("Sales", "a"), ("Sales", ""), ("", "a"), ("", "")]
            .iter()
            .fold(keys, |keys, (partition, row)| keys.with(&EntityKey::parse(partition, row).unwrap(), true));
        let row = keys.to_row("n", key(), Lines::Keys).unwrap();
        assert_eq!(row.get("Keys00").and_then(Value::as_str), Some("/\n/a\nSales/\nSales/a"));
        assert_eq!(KeyList::from_row(&row, Lines::Keys).unwrap(), keys);
    }

    #[test]
    fn a_long_list_spreads_over_properties() {
        let keys = |count| list((0..count).map(|number| format!("{number:031}")));
        assert_eq!(keys(1024).to_row("n", key(), Lines::Rows).unwrap().properties.len(), 2);
        assert_eq!(keys(1025).to_row("n", key(), Lines::Rows).unwrap().properties.len(), 3);
    }
}
