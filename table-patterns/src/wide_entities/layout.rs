//! How a wide entity lies in rows: the head, and parts that each hold a range of property names.
//!
//! The invariant: the head says which names each part holds and which write it was last written by,
//! so one property is found without reading the others, and a part of another write is noticed.
//!
//! What somebody merges into the head as if it were an ordinary row belongs to the entity, and comes before what
//! the parts say; the next write puts it where it belongs. An ordinary row is then a head that has no parts yet.

use std::marker::PhantomData;

use table_core::store::Selection;
use table_core::{
    DynamicEntity, EntityKey, Error, FromRow, Properties, PropertyName, Result, RowKey, Value, Versioned, limits,
    reserved,
};
use uuid::Uuid;

/// What the head is marked as.
const HEAD_KIND: &str = "wide:head";
/// What a part is marked as.
const PART_KIND: &str = "wide:part";
/// The mark of the write that a part was last written by.
const MARK: PropertyName = PropertyName::checked("WideMark");
/// The marks of all parts, eight bytes each, in the head.
const MARKS: PropertyName = PropertyName::checked("WideMarks");
/// The first property name of each part, a line each, in the head.
const FIRST_NAMES: PropertyName = PropertyName::checked("WideFirstNames");

/// Rows of the largest wide entity: its head and its parts.
const MOST_ROWS: usize = limits::TRANSACTION_OPERATIONS;
/// Properties of a part that are not the entity's: what it is, and its mark.
const OWN_PROPERTIES: usize = 2;
/// Properties of the largest wide entity, where its values are small.
pub(crate) const MOST_PROPERTIES: usize = (MOST_ROWS - 1) * (limits::ENTITY_PROPERTIES - OWN_PROPERTIES);

/// A fresh mark of one write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark(i64);

impl Mark {
    /// A mark is random and not a count, since a count would begin anew when the entity does.
    pub(super) fn fresh() -> Self {
        let (high, low) = Uuid::new_v4().as_u64_pair();
        Self((high ^ low.rotate_left(32)).cast_signed())
    }
}

/// What the head says of the parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    marks: Vec<Mark>,
    first_names: Vec<String>,
    /// The entity's type and version, which stand in the head so that a filter finds it.
    discriminator: Properties,
    /// Properties of the entity that stand in the head and in no part.
    beside: Properties,
}

impl Head {
    /// How many parts there are.
    pub(super) fn parts(&self) -> usize {
        self.marks.len()
    }

    /// The part that a property belongs to.
    pub(super) fn part_of(&self, name: &str) -> usize {
        self.first_names.partition_point(|first| first.as_str() <= name).saturating_sub(1)
    }

    /// The properties that the next write is to put into parts.
    pub(super) fn take_beside(&mut self) -> Properties {
        std::mem::take(&mut self.beside)
    }

    /// Takes note that a part was written.
    pub(super) fn touch(&mut self, part: usize, mark: Mark) {
        if let Some(place) = self.marks.get_mut(part) {
            *place = mark;
        }
    }

    pub(super) fn to_row(&self, key: EntityKey) -> DynamicEntity {
        let mut row = DynamicEntity::new(key);
        let marks: Vec<u8> = self.marks.iter().flat_map(|mark| mark.0.to_be_bytes()).collect();
        row.properties = self.discriminator.clone();
        row.properties.insert(reserved::ROW_KIND, Value::from(HEAD_KIND));
        row.properties.insert(FIRST_NAMES, Value::String(self.first_names.join("\n")));
        row.properties.insert(MARKS, Value::from(marks));
        row
    }

    /// Reads the head of a wide entity, or an ordinary row as one that has no parts.
    ///
    /// # Errors
    /// [`Corrupted`](table_core::ErrorKind::Corrupted) where the row is neither.
    pub(super) fn from_row(row: &DynamicEntity) -> Result<Self> {
        let foreign = || {
            Error::corrupted("the row is not the head of a wide entity; read it as what it is")
                .with_key(row.key.clone())
        };
        let mut discriminator = row.properties.clone();
        discriminator.retain(is_discriminator);
        let mut beside = row.properties.clone();
        beside.retain(|name| !is_of_head(name));
        if row.get(reserved::ROW_KIND.as_str()).is_none() {
            return Ok(Self { marks: Vec::new(), first_names: Vec::new(), discriminator, beside });
        }
        let (Some(Value::Binary(bytes)), Some(names)) =
            (row.get(MARKS.as_str()), row.get(FIRST_NAMES.as_str()).and_then(Value::as_str))
        else {
            return Err(foreign());
        };
        let (marks, rest) = bytes.as_chunks::<8>();
        let marks: Vec<Mark> = marks.iter().map(|bytes| Mark(i64::from_be_bytes(*bytes))).collect();
        // No parts have no first names, and not one that is empty.
        let first_names: Vec<String> = names.split('\n').take(marks.len()).map(str::to_owned).collect();
        if !rest.is_empty() || first_names.len() != marks.len() || !is_head(row) {
            return Err(foreign());
        }
        Ok(Self { marks, first_names, discriminator, beside })
    }

    /// The properties of all parts, the entity's type and what stands in the head; `None` where a part is missing or of
    /// another write than the head says.
    pub(super) fn join(&self, key: &EntityKey, rows: Vec<DynamicEntity>) -> Result<Option<Properties>> {
        let mut properties = self.discriminator.clone();
        let mut rows = rows.into_iter();
        for (number, mark) in self.marks.iter().enumerate() {
            let at = part_key(key, number)?;
            let Some(mut part) = rows.find(|row| row.key == at && is_kind(row, PART_KIND)) else { return Ok(None) };
            if part.properties.remove(MARK.as_str()) != Some(Value::Int64(mark.0)) {
                return Ok(None);
            }
            part.properties.remove(reserved::ROW_KIND.as_str());
            properties.merge(part.properties);
        }
        properties.merge(self.beside.clone());
        Ok(Some(properties))
    }
}

/// The head of a wide entity of type `E`, or an ordinary row of it, as a query finds it.
#[derive(Debug)]
pub(super) struct HeadOf<E>(PhantomData<fn() -> E>);

impl<E: FromRow> FromRow for HeadOf<E> {
    fn selection() -> Selection {
        Selection::Only(Vec::new())
    }

    fn row_prefix() -> &'static str {
        E::row_prefix()
    }

    fn label() -> &'static str {
        E::label()
    }

    fn recognizes(row: &DynamicEntity) -> bool {
        is_head_or_row_of::<E>(row)
    }

    fn from_row(row: DynamicEntity) -> Result<Versioned<Self>> {
        DynamicEntity::from_row(row).map(|read| read.map(|_| Self(PhantomData)))
    }
}

/// Whether a row is the head of an entity of a type, or all of it.
pub(crate) fn is_head_or_row_of<E: FromRow>(row: &DynamicEntity) -> bool {
    if !is_head(row) {
        return E::recognizes(row);
    }
    let mut whole = row.clone();
    whole.properties.remove(reserved::ROW_KIND.as_str());
    E::recognizes(&whole)
}

/// Whether a row is the head of a wide entity.
pub(crate) fn is_head(row: &DynamicEntity) -> bool {
    is_kind(row, HEAD_KIND)
}

/// The head and the parts of an entity.
///
/// # Errors
/// [`LimitExceeded`](table_core::ErrorKind::LimitExceeded), with the count, for more rows than one
/// transaction writes.
pub(super) fn split(entity: DynamicEntity) -> Result<(Head, Vec<DynamicEntity>)> {
    let DynamicEntity { key, properties, .. } = entity;
    let mark = Mark::fresh();
    let (discriminator, beside) = (Properties::new(), Properties::new());
    let mut head = Head { marks: Vec::new(), first_names: Vec::new(), discriminator, beside };
    let mut parts: Vec<DynamicEntity> = Vec::new();
    let mut bytes = 0;
    for (name, value) in properties {
        if is_discriminator(&name) {
            head.discriminator.insert(name, value);
            continue;
        }
        if name == MARK || name == reserved::ROW_KIND || name == reserved::ROW_TOKEN {
            return Err(Error::invalid_name("the rows of a wide entity use this property themselves; rename it")
                .with_property(name.as_str())
                .with_key(key));
        }
        let more = 8 + 2 * name.as_str().encode_utf16().count() + value.counted_bytes();
        let fits = |part: &DynamicEntity| {
            part.properties.len() < limits::ENTITY_PROPERTIES && bytes + more <= limits::ENTITY_BYTES
        };
        if !parts.last().is_some_and(fits) {
            let part = part_row(part_key(&key, parts.len())?, mark);
            bytes = part.counted_bytes();
            parts.push(part);
            head.marks.push(mark);
            head.first_names.push(name.as_str().to_owned());
        }
        if let Some(part) = parts.last_mut() {
            part.properties.insert(name, value);
            bytes += more;
        }
    }
    let rows = 1 + parts.len();
    if rows > MOST_ROWS {
        return Err(Error::limit_exceeded(format!(
            "a wide entity takes at most {MOST_ROWS} rows, since one transaction writes them, and this one takes {rows}; split it, or move values to blobs"
        ))
        .with_key(key));
    }
    Ok((head, parts))
}

/// A part without the entity's properties.
pub(super) fn part_row(key: EntityKey, Mark(mark): Mark) -> DynamicEntity {
    let mut row = DynamicEntity::new(key);
    row.properties = Properties::with_capacity(OWN_PROPERTIES);
    row.properties.insert(reserved::ROW_KIND, Value::from(PART_KIND));
    row.properties.insert(MARK, Value::Int64(mark));
    row
}

/// `{row}!07`: right after the head, and before every longer key that is no part.
pub(super) fn part_key(head: &EntityKey, number: usize) -> Result<EntityKey> {
    let row = RowKey::new(format!("{}!{number:02}", head.row)).map_err(|error| error.with_key(head.clone()))?;
    Ok(EntityKey::new(head.partition.clone(), row))
}

/// Whether a property of a head is no property of the entity.
fn is_of_head(name: &PropertyName) -> bool {
    let own = [reserved::ROW_KIND, reserved::ROW_TOKEN, MARKS, FIRST_NAMES];
    is_discriminator(name) || own.contains(name)
}

fn is_discriminator(name: &PropertyName) -> bool {
    *name == reserved::ENTITY_TYPE || *name == reserved::ENTITY_VERSION
}

fn is_kind(row: &DynamicEntity, kind: &str) -> bool {
    row.get(reserved::ROW_KIND.as_str()).and_then(Value::as_str) == Some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(properties: usize, bytes: usize) -> DynamicEntity {
        let mut row = DynamicEntity::new(EntityKey::parse("p", "r").unwrap()).with("EntityType", "Wide").unwrap();
        for number in 0..properties {
            row.set(&format!("P{number:05}"), vec![7_u8; bytes]).unwrap();
        }
        row
    }

    #[test]
    fn parts_keep_the_limits_and_join_to_what_was_split() {
        for (properties, bytes, parts) in [(0, 0, 0), (1, 0, 1), (250, 1, 1), (251, 1, 2), (20, 60_000, 2)] {
            let whole = entity(properties, bytes);
            let (head, rows) = split(whole.clone()).unwrap();
            assert_eq!((head.parts(), rows.len()), (parts, parts));
            for row in rows.iter().chain([&head.to_row(whole.key.clone())]) {
                row.check_limits().unwrap();
            }
            let read = Head::from_row(&head.to_row(whole.key.clone())).unwrap();
            assert_eq!(read, head);
            assert_eq!(read.join(&whole.key, rows).unwrap(), Some(whole.properties));
        }
    }

    #[test]
    fn a_property_is_found_in_its_part() {
        let (head, rows) = split(entity(600, 1)).unwrap();
        for (number, row) in rows.iter().enumerate() {
            for (name, _) in row.properties.iter().filter(|(name, _)| name.as_str().starts_with('P')) {
                assert_eq!(head.part_of(name.as_str()), number, "{name}");
            }
        }
        assert_eq!((head.part_of("A"), head.part_of("Z")), (0, 2));
    }

    #[test]
    fn what_stands_in_the_head_comes_before_what_the_parts_say() {
        let whole = entity(300, 1);
        let (head, rows) = split(whole.clone()).unwrap();
        let row = head.to_row(whole.key.clone()).with("P00007", "merged").unwrap().with("Q", "new").unwrap();
        let expected = whole.with("P00007", "merged").unwrap().with("Q", "new").unwrap();
        let mut head = Head::from_row(&row).unwrap();
        assert_eq!(head.join(&row.key, rows.clone()).unwrap(), Some(expected.properties));
        assert_eq!(head.take_beside().iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["P00007", "Q"]);
    }

    #[test]
    fn an_ordinary_row_is_a_head_without_parts_and_a_row_of_others_is_none() {
        let row = entity(3, 1).with("RowToken", "of a write").unwrap();
        let head = Head::from_row(&row).unwrap();
        assert_eq!((head.parts(), head.join(&row.key, Vec::new()).unwrap()), (0, Some(entity(3, 1).properties)));
        let copy = entity(3, 1).with("RowKind", "index:a").unwrap();
        assert_eq!(Head::from_row(&copy).unwrap_err().kind(), table_core::ErrorKind::Corrupted);
    }

    #[test]
    fn a_part_of_another_write_is_noticed() {
        let whole = entity(300, 1);
        let (mut head, rows) = split(whole.clone()).unwrap();
        let mut lacking = rows.clone();
        lacking.pop();
        assert_eq!(head.join(&whole.key, lacking).unwrap(), None);
        head.touch(1, Mark::fresh());
        assert_eq!(head.join(&whole.key, rows).unwrap(), None);
    }

    #[test]
    fn more_rows_than_a_transaction_writes_are_refused() {
        assert_eq!(split(entity(250 * 99, 0)).unwrap().1.len(), 99);
        let error = split(entity(250 * 99 + 1, 0)).unwrap_err();
        assert_eq!(error.kind(), table_core::ErrorKind::LimitExceeded);
        assert!(error.message().contains("this one takes 101"), "{error}");
    }
}
