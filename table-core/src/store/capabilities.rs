//! What a store does beyond the least.

use crate::error::{Error, Result};
use crate::limits;

/// What a store does, so that what it does not do is a declared fact.
///
/// A pattern that needs order asks here and refuses at construction, with a clear error.
///
/// ```
/// use table_core::store::Capabilities;
///
/// let unsorted = Capabilities { ordered: false, ..Capabilities::table_service() };
/// assert!(unsorted.require_order("the log tail").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// Queries answer in key order.
    pub ordered: bool,
    /// A range of row keys within a partition is read without scanning the partition.
    pub row_ranges: bool,
    /// Bytes of one transaction.
    pub transaction_bytes: usize,
    /// UTF-16 units of a row key.
    pub row_key_utf16_units: usize,
    /// Property names, beside the service's own, that this store keeps for itself.
    pub reserved_properties: &'static [&'static str],
}

impl Capabilities {
    /// Those of the table service, which the stores of this workspace share.
    #[must_use]
    pub const fn table_service() -> Self {
        Self {
            ordered: true,
            row_ranges: true,
            transaction_bytes: limits::TRANSACTION_BYTES,
            row_key_utf16_units: limits::KEY_UTF16_UNITS,
            reserved_properties: &[],
        }
    }

    /// Refuses a store that does not answer in key order.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported), naming who needs the order.
    pub fn require_order(&self, who: &str) -> Result<()> {
        if self.ordered {
            Ok(())
        } else {
            Err(Error::unsupported(format!(
                "{who} needs results in key order, which this store does not promise; use a store that does"
            )))
        }
    }
}
