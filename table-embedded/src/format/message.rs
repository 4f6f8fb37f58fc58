//! A queue message as bytes.
//!
//! ```text
//! version       1 byte    1
//! sent          8 bytes   .NET ticks, little endian
//! visible       8 bytes   when it can be received, .NET ticks
//! expires       8 bytes   when it ends, .NET ticks; the largest number for never
//! dequeued      4 bytes   how often it was received, little endian
//! receipt       8 bytes   the number of the last delivery or update
//! body                    the rest
//! ```

use bytes::Bytes;
use table_core::{Error, Result, Timestamp};

const VERSION: u8 = 1;
const HEADER: usize = 37;

/// The end of a message that lives for ever.
pub(crate) const NEVER: i64 = i64::MAX;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredMessage {
    pub(crate) sent: Timestamp,
    pub(crate) visible: Timestamp,
    /// Ticks, or [`NEVER`].
    pub(crate) expires: i64,
    pub(crate) dequeued: u32,
    pub(crate) receipt: u64,
    pub(crate) body: Bytes,
}

impl StoredMessage {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + self.body.len());
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.sent.ticks().to_le_bytes());
        bytes.extend_from_slice(&self.visible.ticks().to_le_bytes());
        bytes.extend_from_slice(&self.expires.to_le_bytes());
        bytes.extend_from_slice(&self.dequeued.to_le_bytes());
        bytes.extend_from_slice(&self.receipt.to_le_bytes());
        bytes.extend_from_slice(&self.body);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut rest = bytes;
        let version = take::<1>(&mut rest)?;
        if version != [VERSION] {
            return Err(Error::unsupported(format!(
                "a stored message has the format {}, which this program does not know; use a newer one",
                version[0]
            )));
        }
        let time = |rest: &mut &[u8]| Timestamp::from_ticks(i64::from_le_bytes(take(rest)?)).map_err(|_| damaged());
        Ok(Self {
            sent: time(&mut rest)?,
            visible: time(&mut rest)?,
            expires: i64::from_le_bytes(take(&mut rest)?),
            dequeued: u32::from_le_bytes(take(&mut rest)?),
            receipt: u64::from_le_bytes(take(&mut rest)?),
            body: Bytes::copy_from_slice(rest),
        })
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>().ok_or_else(damaged)?;
    *rest = tail;
    Ok(*head)
}

fn damaged() -> Error {
    Error::corrupted("a stored message is damaged; run a check of the file and restore a backup")
}
