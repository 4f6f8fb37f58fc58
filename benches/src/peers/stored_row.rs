//! Employees in the bytes of an embedded file, taken apart by fixed places.
//!
//! `docs/file-format.md` specifies the bytes. A reader of one struct only knows where each property
//! stands, and looks no name up.

/// Bytes before the table of offsets.
const HEADER: usize = 11;
/// Bytes of a line in the table: name, type and end.
const ENTRY: usize = 5;
/// Properties of an employee: `Age`, `Email`, `EntityType`, `FirstName`, `LastName`, `Photo`, `Skills`.
const PROPERTIES: usize = 7;
const AGE: usize = 0;
const FIRST_NAME: usize = 3;
const LAST_NAME: usize = 4;

/// Where a property ends in the payload.
fn end(row: &[u8], place: usize) -> Option<usize> {
    let at = HEADER + place * ENTRY + 3;
    let (end, _) = row.get(at..)?.split_first_chunk::<2>()?;
    Some(usize::from(u16::from_le_bytes(*end)))
}

fn property(row: &[u8], place: usize) -> Option<&[u8]> {
    let start = if place == 0 { 0 } else { end(row, place - 1)? };
    row.get(HEADER + PROPERTIES * ENTRY..)?.get(start..end(row, place)?)
}

fn text(row: &[u8], place: usize) -> Option<String> {
    String::from_utf8(property(row, place)?.to_vec()).ok()
}

/// The key and the name of an employee who is at least so old.
pub(crate) fn name_of_old(key: &[u8], row: &[u8], age: i32) -> Option<(Vec<u8>, String, String)> {
    let found = i32::from_le_bytes(property(row, AGE)?.try_into().ok()?);
    if found < age {
        return None;
    }
    Some((key.to_vec(), text(row, FIRST_NAME)?, text(row, LAST_NAME)?))
}
