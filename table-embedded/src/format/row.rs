//! One entity as bytes: a header, a table of offsets, and the values.
//!
//! ```text
//! version       1 byte    1, or 2 where offsets take four bytes
//! timestamp     8 bytes   .NET ticks, little endian
//! count         2 bytes   properties, little endian
//! count times   5 or 7 bytes
//!   name        2 bytes   number in the file's names, or 0xffff for a name that stands in the payload
//!   type        1 byte    see `tag`
//!   end         2 or 4    where the value ends in the payload
//! payload                 the values, in the order of the table, which is that of the names
//! ```
//! A property is found and read without decoding the others.

use bytes::Bytes;
use table_core::query::ValueRef;
use table_core::{Error, Properties, PropertyName, Result, Timestamp, Value};
use uuid::Uuid;

use super::names::{Names, NamesMut};
use crate::error::StorageFailure;

/// Offsets of two bytes.
const NARROW: u8 = 1;
/// Offsets of four bytes.
const WIDE: u8 = 2;
const HEADER: usize = 11;
/// Bytes of a line in the table of offsets.
const NARROW_ENTRY: usize = 5;
const WIDE_ENTRY: usize = 7;
/// Marks a name that the file's names have no number for: it stands before its value.
const INLINE: u16 = u16::MAX;

/// The type byte of a value.
mod tag {
    pub(super) const BINARY: u8 = 0;
    pub(super) const FALSE: u8 = 1;
    pub(super) const TRUE: u8 = 2;
    pub(super) const DATE_TIME: u8 = 3;
    pub(super) const DOUBLE: u8 = 4;
    pub(super) const GUID: u8 = 5;
    pub(super) const INT32: u8 = 6;
    pub(super) const INT64: u8 = 7;
    pub(super) const STRING: u8 = 8;
}

/// Writes an entity. Names that are new to the file get a number.
pub(crate) fn encode(
    timestamp: Timestamp,
    properties: &Properties,
    names: &mut dyn NamesMut,
) -> Result<Vec<u8>, StorageFailure> {
    // The lengths come first, so that all goes to its place at once.
    let mut entries = Vec::with_capacity(properties.len());
    let mut payload_len = 0;
    for (name, value) in properties.iter() {
        let number = names.number(name)?;
        payload_len += value_len(value) + if number.is_none() { 2 + name.as_str().len() } else { 0 };
        entries.push((number, payload_len));
    }
    let wide = payload_len > usize::from(u16::MAX);
    let entry_len = if wide { WIDE_ENTRY } else { NARROW_ENTRY };
    let mut bytes = Vec::with_capacity(HEADER + entries.len() * entry_len + payload_len);
    bytes.push(if wide { WIDE } else { NARROW });
    bytes.extend_from_slice(&timestamp.ticks().to_le_bytes());
    bytes.extend_from_slice(&u16::try_from(entries.len()).unwrap_or(u16::MAX).to_le_bytes());
    for ((_, value), (number, end)) in properties.iter().zip(&entries) {
        bytes.extend_from_slice(&number.unwrap_or(INLINE).to_le_bytes());
        bytes.push(tag_of(value));
        let end = u32::try_from(*end).unwrap_or(u32::MAX).to_le_bytes();
        bytes.extend_from_slice(if wide { &end } else { end.first_chunk::<2>().map_or(&[][..], |low| low) });
    }
    for ((name, value), (number, _)) in properties.iter().zip(&entries) {
        if number.is_none() {
            let length = u16::try_from(name.as_str().len()).unwrap_or(u16::MAX);
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(name.as_str().as_bytes());
        }
        push_value(&mut bytes, value);
    }
    Ok(bytes)
}

fn value_len(value: &Value) -> usize {
    match value {
        Value::Binary(bytes) => bytes.len(),
        Value::Boolean(_) => 0,
        Value::DateTime(_) | Value::Double(_) | Value::Int64(_) => 8,
        Value::Guid(_) => 16,
        Value::Int32(_) => 4,
        Value::String(text) => text.len(),
    }
}

const fn tag_of(value: &Value) -> u8 {
    match value {
        Value::Binary(_) => tag::BINARY,
        Value::Boolean(false) => tag::FALSE,
        Value::Boolean(true) => tag::TRUE,
        Value::DateTime(_) => tag::DATE_TIME,
        Value::Double(_) => tag::DOUBLE,
        Value::Guid(_) => tag::GUID,
        Value::Int32(_) => tag::INT32,
        Value::Int64(_) => tag::INT64,
        Value::String(_) => tag::STRING,
    }
}

fn push_value(payload: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Binary(bytes) => payload.extend_from_slice(bytes),
        Value::Boolean(_) => {}
        Value::DateTime(at) => payload.extend_from_slice(&at.ticks().to_le_bytes()),
        Value::Double(number) => payload.extend_from_slice(&number.to_bits().to_le_bytes()),
        Value::Guid(uuid) => payload.extend_from_slice(uuid.as_bytes()),
        Value::Int32(number) => payload.extend_from_slice(&number.to_le_bytes()),
        Value::Int64(number) => payload.extend_from_slice(&number.to_le_bytes()),
        Value::String(text) => payload.extend_from_slice(text.as_bytes()),
    }
}

#[cold]
fn damaged() -> Error {
    Error::corrupted("a stored row is damaged; run a check of the file and restore a backup")
}

/// An entity as it lies in the file.
#[derive(Clone, Copy)]
pub(crate) struct RowRef<'a> {
    timestamp: Timestamp,
    wide: bool,
    entries: &'a [u8],
    payload: &'a [u8],
}

/// One line of the table of offsets, with its part of the payload.
struct Entry<'a> {
    name: EntryName<'a>,
    tag: u8,
    value: &'a [u8],
}

#[derive(Clone, Copy)]
enum EntryName<'a> {
    Number(u16),
    Inline(&'a str),
}

impl<'a> RowRef<'a> {
    /// Reads the header.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self> {
        let (header, rest) = bytes.split_first_chunk::<HEADER>().ok_or_else(damaged)?;
        let [version, t0, t1, t2, t3, t4, t5, t6, t7, c0, c1] = *header;
        let wide = match version {
            NARROW => false,
            WIDE => true,
            _ => {
                return Err(Error::unsupported(format!(
                    "a stored row has the format {version}, which this program does not know; use a newer one"
                )));
            }
        };
        let ticks = i64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7]);
        let timestamp = Timestamp::from_ticks(ticks).map_err(|_| damaged())?;
        let count = usize::from(u16::from_le_bytes([c0, c1]));
        let entries_len = count * if wide { WIDE_ENTRY } else { NARROW_ENTRY };
        let (entries, payload) = rest.split_at_checked(entries_len).ok_or_else(damaged)?;
        Ok(Self { timestamp, wide, entries, payload })
    }

    /// When the row was written.
    pub(crate) const fn timestamp(&self) -> Timestamp {
        self.timestamp
    }

    fn entries(&self) -> Entries<'a> {
        Entries { rest: self.entries, payload: self.payload, start: 0, wide: self.wide }
    }

    /// One property, where it lies.
    pub(crate) fn get(&self, name: &PropertyName, names: &Names) -> Result<Option<ValueRef<'a>>> {
        for entry in self.entries() {
            let entry = entry?;
            let found = match entry.name {
                EntryName::Number(number) => names.name(number) == Some(name),
                EntryName::Inline(inline) => inline == name.as_str(),
            };
            if found {
                return value_ref(entry.tag, entry.value).map(Some);
            }
        }
        Ok(None)
    }

    /// All properties that `select` includes.
    pub(crate) fn properties(&self, names: &Names, select: impl Fn(&PropertyName) -> bool) -> Result<Properties> {
        let mut properties = Vec::with_capacity(self.entries.len() / NARROW_ENTRY);
        for entry in self.entries() {
            let Entry { name, tag, value } = entry?;
            match name {
                EntryName::Number(number) => {
                    let name = names.name(number).ok_or_else(damaged)?;
                    if select(name) {
                        properties.push((name.clone(), owned_value(tag, value)?));
                    }
                }
                EntryName::Inline(name) => {
                    let name = PropertyName::new(name).map_err(|_| damaged())?;
                    if select(&name) {
                        properties.push((name, owned_value(tag, value)?));
                    }
                }
            }
        }
        Ok(Properties::from_ordered(properties))
    }
}

/// Walks the table of offsets.
struct Entries<'a> {
    rest: &'a [u8],
    payload: &'a [u8],
    start: usize,
    wide: bool,
}

impl<'a> Entries<'a> {
    #[inline]
    fn read(&mut self) -> Option<Entry<'a>> {
        let (number, tag, end) = if self.wide {
            let ([n0, n1, tag, e0, e1, e2, e3], rest) = self.rest.split_first_chunk::<WIDE_ENTRY>()?;
            self.rest = rest;
            (u16::from_le_bytes([*n0, *n1]), *tag, u32::from_le_bytes([*e0, *e1, *e2, *e3]))
        } else {
            let ([n0, n1, tag, e0, e1], rest) = self.rest.split_first_chunk::<NARROW_ENTRY>()?;
            self.rest = rest;
            (u16::from_le_bytes([*n0, *n1]), *tag, u32::from(u16::from_le_bytes([*e0, *e1])))
        };
        let end = usize::try_from(end).ok()?;
        let mut value = self.payload.get(self.start..end)?;
        self.start = end;
        let name = if number == INLINE {
            let (length, rest) = value.split_first_chunk::<2>()?;
            let (name, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
            value = rest;
            EntryName::Inline(std::str::from_utf8(name).ok()?)
        } else {
            EntryName::Number(number)
        };
        Some(Entry { name, tag, value })
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let entry = self.read();
        if entry.is_none() {
            // What cannot be read ends the walk.
            self.rest = &[];
        }
        Some(entry.ok_or_else(damaged))
    }
}

fn value_ref(tag: u8, value: &[u8]) -> Result<ValueRef<'_>> {
    fn fixed<const N: usize>(value: &[u8]) -> Result<[u8; N]> {
        value.try_into().map_err(|_| damaged())
    }
    Ok(match tag {
        tag::BINARY => ValueRef::Binary(value),
        tag::FALSE => ValueRef::Boolean(false),
        tag::TRUE => ValueRef::Boolean(true),
        tag::DATE_TIME => {
            let ticks = i64::from_le_bytes(fixed(value)?);
            ValueRef::DateTime(Timestamp::from_ticks(ticks).map_err(|_| damaged())?)
        }
        tag::DOUBLE => ValueRef::Double(f64::from_bits(u64::from_le_bytes(fixed(value)?))),
        tag::GUID => ValueRef::Guid(Uuid::from_bytes(fixed(value)?)),
        tag::INT32 => ValueRef::Int32(i32::from_le_bytes(fixed(value)?)),
        tag::INT64 => ValueRef::Int64(i64::from_le_bytes(fixed(value)?)),
        tag::STRING => ValueRef::String(std::str::from_utf8(value).map_err(|_| damaged())?),
        _ => return Err(damaged()),
    })
}

fn owned_value(tag: u8, value: &[u8]) -> Result<Value> {
    // What most properties are, at once.
    if tag == tag::STRING {
        return std::str::from_utf8(value).map(|text| Value::String(text.to_owned())).map_err(|_| damaged());
    }
    Ok(match value_ref(tag, value)? {
        ValueRef::Binary(bytes) => Value::Binary(Bytes::copy_from_slice(bytes)),
        ValueRef::Boolean(truth) => Value::Boolean(truth),
        ValueRef::DateTime(at) => Value::DateTime(at),
        ValueRef::Double(number) => Value::Double(number),
        ValueRef::Guid(uuid) => Value::Guid(uuid),
        ValueRef::Int32(number) => Value::Int32(number),
        ValueRef::Int64(number) => Value::Int64(number),
        ValueRef::String(text) => Value::String(text.to_owned()),
    })
}
