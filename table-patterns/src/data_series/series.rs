//! The values of one series, and their form as properties of a row.

use std::fmt;

use table_core::{DynamicEntity, FromRow, Property, PropertyName, Result, Unindexed, Versioned};

/// What the property of a slot begins with; its number follows.
const SLOT: &str = "Slot";

/// A number that a slot can hold.
pub trait SlotValue: Property + Copy + fmt::Debug + PartialEq + Send + Sync + 'static {
    /// What nothing and an increment add up to.
    const ZERO: Self;

    /// The sum; `None` where the type cannot hold it.
    fn checked_sum(self, other: Self) -> Option<Self>;
}

impl SlotValue for i32 {
    const ZERO: Self = 0;

    fn checked_sum(self, other: Self) -> Option<Self> {
        self.checked_add(other)
    }
}

impl SlotValue for i64 {
    const ZERO: Self = 0;

    fn checked_sum(self, other: Self) -> Option<Self> {
        self.checked_add(other)
    }
}

impl SlotValue for f64 {
    const ZERO: Self = 0.0;

    fn checked_sum(self, other: Self) -> Option<Self> {
        Some(self + other)
    }
}

/// An entity and the values of its slots.
#[derive(Debug, Clone, PartialEq)]
pub struct Series<E, T> {
    /// The entity whose row holds the values.
    pub entity: E,
    values: Vec<Option<T>>,
}

impl<E, T: Copy> Series<E, T> {
    /// The values by slot, with gaps where nothing was set.
    #[must_use]
    pub fn values(&self) -> &[Option<T>] {
        &self.values
    }

    /// The values by slot, with `gap` where nothing was set, as a chart takes them.
    #[must_use]
    pub fn filled(&self, gap: T) -> Vec<T> {
        self.values.iter().map(|value| value.unwrap_or(gap)).collect()
    }

    /// Gives the series so many slots.
    pub(super) fn resize(&mut self, slots: usize) {
        self.values.resize(slots, None);
    }
}

/// As many slots as the row has; [`DataSeries`](super::DataSeries) adds the gaps at the end.
impl<E: Unindexed, T: SlotValue> FromRow for Series<E, T> {
    fn row_prefix() -> &'static str {
        E::row_prefix()
    }

    fn label() -> &'static str {
        E::label()
    }

    fn recognizes(row: &DynamicEntity) -> bool {
        E::recognizes(row)
    }

    fn from_row(mut row: DynamicEntity) -> Result<Versioned<Self>> {
        let mut values = Vec::new();
        let found: Vec<PropertyName> = row
            .properties
            .iter()
            .map(|(name, _)| name)
            .filter(|name| slot_of(name.as_str()).is_some())
            .cloned()
            .collect();
        for name in found {
            let (Some(slot), Some(value)) = (slot_of(name.as_str()), row.properties.remove(name.as_str())) else {
                continue;
            };
            let value = T::from_value(value);
            let value = value.map_err(|error| error.with_property(name.as_str()).with_key(row.key.clone()))?;
            if values.len() <= slot {
                values.resize(slot + 1, None);
            }
            if let Some(place) = values.get_mut(slot) {
                *place = Some(value);
            }
        }
        E::from_row(row).map(|read| read.map(|entity| Self { entity, values }))
    }
}

/// The name of the property that holds a slot.
pub(super) fn property_of(slot: usize) -> String {
    format!("{SLOT}{slot:03}")
}

/// The number of the slot that a property holds.
pub(super) fn slot_of(name: &str) -> Option<usize> {
    // No series has more slots than five digits count, whatever a foreign property is called.
    let is_written_so =
        |digits: &&str| digits.len() == 3 || (matches!(digits.len(), 4 | 5) && !digits.starts_with('0'));
    name.strip_prefix(SLOT).filter(is_written_so)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_one_name_and_foreign_properties_have_none() {
        for slot in [0, 7, 999, 1000, 24_746] {
            assert_eq!(slot_of(&property_of(slot)), Some(slot));
        }
        for name in ["Slot", "Slot1", "Slot0007", "Slot4000000000", "SlotABC", "slot001"] {
            assert_eq!(slot_of(name), None, "{name}");
        }
    }
}
