//! Buckets: a field's value as one of a few numbers, which spreads rows over as many partitions.

use std::fmt::Write;

use smol_str::SmolStrBuilder;

use super::{KeyValue, number};
use crate::error::{Error, Result};

/// A number of buckets, and how many digits their numbers take.
///
/// The bucket of a value is specified in `docs/key-encoding.md` and never changes, since rows would no
/// longer be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buckets {
    count: u16,
    width: u8,
}

impl Buckets {
    /// So many buckets, whose numbers take so many digits.
    ///
    /// # Panics
    /// At compile time, where there are fewer than two buckets, or their numbers do not fit.
    #[must_use]
    pub const fn new(count: u16, width: u8) -> Self {
        assert!(count >= 2, "a key template needs at least two buckets");
        assert!(
            width >= 5 || (count as u32 - 1) < 10_u32.pow(width as u32),
            "the numbers of the buckets do not fit their width"
        );
        Self { count, width }
    }

    /// How many buckets there are.
    #[must_use]
    pub const fn count(self) -> u16 {
        self.count
    }

    /// Writes the bucket of a value, or the bucket itself.
    pub(super) fn push(self, out: &mut SmolStrBuilder, value: &KeyValue<'_>) -> Result<()> {
        let bucket = match value {
            KeyValue::Bucket(bucket) if *bucket < self.count => *bucket,
            KeyValue::Bucket(bucket) => {
                return Err(Error::invalid_key(format!("there are {} buckets, and none is {bucket}", self.count)));
            }
            value => self.bucket_of(value)?,
        };
        number::push_padded(out, u64::from(bucket), self.width)
    }

    /// Takes a bucket off the front; the value that gave it is lost.
    pub(super) fn take(self, text: &str) -> Option<&str> {
        let (bucket, rest) = number::take_padded(text, self.width)?;
        (bucket < u64::from(self.count)).then_some(rest)
    }

    fn bucket_of(self, value: &KeyValue<'_>) -> Result<u16> {
        let mut hash = Fnv1a::new();
        let written = match value {
            KeyValue::Unsigned(number) => write!(hash, "{number}"),
            KeyValue::Signed(number) => write!(hash, "{number}"),
            KeyValue::Bool(truth) => write!(hash, "{truth}"),
            KeyValue::Uuid(uuid) => write!(hash, "{}", uuid.hyphenated()),
            KeyValue::Time(at) => write!(hash, "{}", at.ticks()),
            KeyValue::Text(text) => hash.write_str(text),
            KeyValue::Lost | KeyValue::Float(_) | KeyValue::Bucket(_) => Err(std::fmt::Error),
        };
        written.map_err(|_| Error::invalid_key("a value of this type has no bucket; use another field"))?;
        // The low bits of the hash depend on the low bits of the text alone, the high ones on all.
        let folded = (hash.0 >> 32) ^ (hash.0 & 0xffff_ffff);
        Ok(u16::try_from(folded % u64::from(self.count)).unwrap_or(0))
    }
}

/// The 64-bit FNV-1a hash of what is written to it.
struct Fnv1a(u64);

impl Fnv1a {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Write for Fnv1a {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        for (text, hash) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            let mut fnv = Fnv1a::new();
            fnv.write_str(text).unwrap();
            assert_eq!(fnv.0, hash, "{text}");
        }
    }

    #[test]
    fn values_spread_evenly() {
        let buckets = Buckets::new(16, 2);
        let texts = |number: u64| KeyValue::Text(format!("user{number}@contoso.com").into());
        for value in [KeyValue::Unsigned, |number| KeyValue::Unsigned(number * 1000), texts] {
            let mut rows = [0_u32; 16];
            for number in 0..16_000 {
                rows[usize::from(buckets.bucket_of(&value(number)).unwrap())] += 1;
            }
            assert!(rows.iter().all(|rows| (800..1200).contains(rows)), "{rows:?}");
        }
    }
}
