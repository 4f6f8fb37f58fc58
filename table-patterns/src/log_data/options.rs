//! How a log is written.

use std::time::Duration;

/// When an entry is safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogDurability {
    /// Some time after it was taken, with others in one blob: cheap, and a crash loses the latest.
    #[default]
    Batched,
    /// When `append` answers: dear, and nothing that was acknowledged is lost.
    EveryEntry,
}

/// How a [`LogWriter`](super::LogWriter) writes. Everything has a bound.
///
/// ```
/// use std::time::Duration;
/// use table_patterns::log_data::{LogDurability, LogOptions};
///
/// let options = LogOptions::default()
///     .with_durability(LogDurability::EveryEntry)
///     .with_longest_wait(Duration::from_secs(10));
/// assert_eq!(options.segment_bytes, 4 * 1024 * 1024);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogOptions {
    /// When an entry is safe.
    pub durability: LogDurability,
    /// A segment is written when it has so many bytes.
    pub segment_bytes: usize,
    /// A segment is written when its first entry has waited this long.
    pub longest_wait: Duration,
    /// Bytes that wait to be written at most, while the blob store cannot be reached; then `append` answers
    /// with its error, and the entry is not taken.
    pub most_buffered_bytes: usize,
}

impl Default for LogOptions {
    /// Batches of 4 MiB or five seconds, and at most 64 MiB that wait.
    fn default() -> Self {
        Self {
            durability: LogDurability::Batched,
            segment_bytes: 4 * 1024 * 1024,
            longest_wait: Duration::from_secs(5),
            most_buffered_bytes: 64 * 1024 * 1024,
        }
    }
}

impl LogOptions {
    /// Sets when an entry is safe.
    #[must_use]
    pub const fn with_durability(mut self, durability: LogDurability) -> Self {
        self.durability = durability;
        self
    }

    /// Writes a segment when it has so many bytes.
    #[must_use]
    pub const fn with_segment_bytes(mut self, bytes: usize) -> Self {
        self.segment_bytes = bytes;
        self
    }

    /// Writes a segment when its first entry has waited this long.
    #[must_use]
    pub const fn with_longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// Lets at most so many bytes wait.
    #[must_use]
    pub const fn with_most_buffered_bytes(mut self, bytes: usize) -> Self {
        self.most_buffered_bytes = bytes;
        self
    }
}
