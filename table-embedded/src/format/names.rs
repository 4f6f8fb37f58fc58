//! The file's property names: each is stored once, and rows name it by number.

use foldhash::HashMap;
use table_core::PropertyName;

use crate::error::StorageFailure;

/// Most names that get a number. Further ones stand in their rows.
pub(crate) const MOST_NAMES: usize = 60_000;

/// All names that have a number, kept in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    by_number: Vec<PropertyName>,
    by_name: HashMap<PropertyName, u16>,
}

/// Names that can get new numbers.
pub(crate) trait NamesMut {
    /// The number of a name, a new one if need be; none once there are too many.
    fn number(&mut self, name: &PropertyName) -> Result<Option<u16>, StorageFailure>;
}

impl Names {
    pub(crate) fn name(&self, number: u16) -> Option<&PropertyName> {
        self.by_number.get(usize::from(number))
    }

    pub(crate) fn number(&self, name: &PropertyName) -> Option<u16> {
        self.by_name.get(name).copied()
    }

    /// Gives a name the next number, unless there are too many.
    pub(crate) fn add(&mut self, name: &PropertyName) -> Option<u16> {
        let number = u16::try_from(self.by_number.len()).ok()?;
        if self.by_number.len() >= MOST_NAMES {
            return None;
        }
        self.by_number.push(name.clone());
        self.by_name.insert(name.clone(), number);
        Some(number)
    }
}
