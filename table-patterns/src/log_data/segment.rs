//! Segments: their lines, and what their first line says.

use bytes::{BufMut, Bytes, BytesMut};
use object_store::path::Path;
use table_core::{Error, Result, Timestamp};
use uuid::Uuid;

use super::LogEntry;

/// What every segment begins with: a mark, and the format's version.
const MAGIC: &str = "#log 1";
/// The first line is shorter than this.
pub(super) const HEADER_BYTES: u64 = 160;

/// What is known of a segment from its name and its first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentInfo {
    /// The blob.
    pub path: Path,
    /// The blob's size.
    pub bytes: u64,
    /// The time of the first entry.
    pub first: Timestamp,
    /// The time of the last entry.
    pub last: Timestamp,
    /// How many entries it has.
    pub entries: u64,
}

/// What the first line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) id: Uuid,
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    pub(super) entries: u64,
}

impl Header {
    /// Reads the first line of a segment, whole or cut after it.
    pub(super) fn decode(path: &Path, bytes: &[u8]) -> Result<Self> {
        let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        Self::parse(std::str::from_utf8(line).unwrap_or_default())
            .ok_or_else(|| Error::corrupted(format!("the blob {path} does not begin as a log segment of this version")))
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix(MAGIC)?.strip_prefix(' ')?.split(' ');
        let header = Self {
            id: words.next()?.parse().ok()?,
            first: words.next()?.parse().ok()?,
            last: words.next()?.parse().ok()?,
            entries: words.next()?.parse().ok()?,
        };
        words.next().is_none().then_some(header)
    }
}

/// A segment ready to be stored, which no longer changes.
#[derive(Debug, Clone)]
pub(super) struct Sealed {
    pub(super) header: Header,
    pub(super) bytes: Bytes,
}

impl Sealed {
    /// Writes entries as lines, in the order of their times. There must be one at least.
    pub(super) fn of(mut entries: Vec<LogEntry>) -> Option<Self> {
        entries.sort_by_key(|entry| entry.at);
        let header = Header {
            id: Uuid::new_v4(),
            first: entries.first()?.at,
            last: entries.last()?.at,
            entries: entries.len() as u64,
        };
        let size: usize = entries.iter().map(counted_bytes).sum();
        let mut bytes = BytesMut::with_capacity(size + 256);
        let Header { id, first, last, entries: count } = header;
        bytes.put_slice(format!("{MAGIC} {id} {first} {last} {count}\n").as_bytes());
        for entry in &entries {
            bytes.put_slice(entry.at.to_string().as_bytes());
            bytes.put_u8(b'\t');
            escape(&entry.data, &mut bytes);
            bytes.put_u8(b'\n');
        }
        Some(Self { header, bytes: bytes.freeze() })
    }
}

/// The bytes that an entry takes in a segment, as long as nothing is escaped.
pub(super) fn counted_bytes(entry: &LogEntry) -> usize {
    entry.data.len() + 30
}

/// Reads all entries of a segment.
pub(super) fn decode(path: &Path, bytes: &Bytes) -> Result<Vec<LogEntry>> {
    let header = Header::decode(path, bytes)?;
    let torn = || Error::corrupted(format!("the log segment {path} is cut off or altered"));
    let lines = bytes.strip_suffix(b"\n").ok_or_else(torn)?.split(|byte| *byte == b'\n').skip(1);
    let entries: Option<Vec<LogEntry>> = lines.map(|line| entry(bytes, line)).collect();
    entries.filter(|entries| entries.len() as u64 == header.entries).ok_or_else(torn)
}

fn entry(segment: &Bytes, line: &[u8]) -> Option<LogEntry> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let (at, data) = (line.get(..tab)?, line.get(tab + 1..)?);
    Some(LogEntry { at: std::str::from_utf8(at).ok()?.parse().ok()?, data: unescape(segment, data)? })
}

fn escape(data: &[u8], out: &mut BytesMut) {
    for byte in data {
        match byte {
            b'\\' => out.put_slice(b"\\\\"),
            b'\n' => out.put_slice(b"\\n"),
            b'\r' => out.put_slice(b"\\r"),
            other => out.put_u8(*other),
        }
    }
}

/// An entry without escapes is a part of its segment's memory, and is not copied.
fn unescape(segment: &Bytes, data: &[u8]) -> Option<Bytes> {
    if !data.contains(&b'\\') {
        return Some(segment.slice_ref(data));
    }
    let mut out = BytesMut::with_capacity(data.len());
    let mut bytes = data.iter();
    while let Some(byte) = bytes.next() {
        out.put_u8(match byte {
            b'\\' => match bytes.next()? {
                b'\\' => b'\\',
                b'n' => b'\n',
                b'r' => b'\r',
                _ => return None,
            },
            other => *other,
        });
    }
    Some(out.freeze())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(seconds: u64, data: &'static [u8]) -> LogEntry {
        let at = Timestamp::UNIX_EPOCH.saturating_add(std::time::Duration::from_secs(seconds));
        LogEntry { at, data: Bytes::from_static(data) }
    }

    #[test]
    fn any_bytes_come_back_in_the_order_of_their_times() {
        let all: &'static [u8] = (0..=255_u8).collect::<Vec<_>>().leak();
        let sealed = Sealed::of(vec![entry(2, all), entry(1, b"\\n\n\r\\"), entry(1, b"")]).unwrap();
        let path = Path::from("q");
        assert_eq!(decode(&path, &sealed.bytes).unwrap(), [entry(1, b"\\n\n\r\\"), entry(1, b""), entry(2, all)]);
        let header = Header::decode(&path, &sealed.bytes).unwrap();
        assert_eq!(header, sealed.header);
        assert_eq!((header.first, header.last, header.entries), (entry(1, b"").at, entry(2, b"").at, 3));
    }

    #[test]
    fn a_first_line_fits_what_is_read_of_it() {
        let sealed = Sealed::of(vec![entry(1, b"x")]).unwrap();
        let line = sealed.bytes.iter().position(|byte| *byte == b'\n').unwrap();
        let longest = line + u64::MAX.to_string().len() - 1;
        assert!((longest as u64) < HEADER_BYTES);
    }

    #[test]
    fn a_segment_that_was_cut_off_anywhere_is_corrupted() {
        let sealed = Sealed::of(vec![entry(1, b"one"), entry(2, b"two")]).unwrap();
        for end in 0..sealed.bytes.len() {
            let error = decode(&Path::from("q/000001.log"), &sealed.bytes.slice(..end)).unwrap_err();
            assert_eq!(error.kind(), table_core::ErrorKind::Corrupted);
            assert!(error.message().contains("q/000001.log"));
        }
    }
}
