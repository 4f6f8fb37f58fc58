//! The data series: many values of one kind as properties of one row.
//!
//! # Problem
//! A row for each hour makes 24 reads of one chart. One row for the day, with a property for each
//! hour, makes one.
//!
//! # Rows
//! The row of an entity, with a property for each slot that has a value:
//!
//! | partition | row | properties |
//! | --- | --- | --- |
//! | `000123` | `20140731` | the entity's own, `Slot000` = 7, `Slot017` = 12, ... |
//!
//! # Guarantees
//! - [`set`](DataSeries::set) merges one property and leaves all others: writers of different slots
//!   never lose each other's values, and repeating one changes nothing.
//! - [`increment`](DataSeries::increment) is conditional on the version that it read, so that no
//!   increment is lost, and carries a token, so that none is counted twice.
//! - A read gives as many values as there are slots, with gaps where nothing was set.
//!
//! # After a crash
//! Each write is one merge or insert: it happened or it did not.
//!
//! # When not to use it
//! - For more slots than a row has room for, which [`DataSeries::new`] refuses: use
//!   wide entities.
//! - For counters that very many writers increment at once: all of them meet in one row.

use std::fmt;
use std::marker::PhantomData;

use table_core::{
    Action, DynamicEntity, ETag, Error, ErrorKind, FromRow, Key, Operation, Property, PropertyName, Query, Result,
    Table, Unindexed, Value, Versioned, limits,
};

use crate::attempts::UpdateOptions;
use crate::rows::{marked, unchanged, version};

/// What the property of a slot begins with; its number follows.
const SLOT: &str = "Slot";
/// Properties beside the entity's own and the slots: type, version and token.
const OWN_PROPERTIES: usize = 3;

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

/// Series of values of type `T`, each in the row of an entity of type `E`.
///
/// ```
/// use std::sync::Arc;
/// use table_core::{Entity, MemoryStore, Table, Timestamp};
/// use table_patterns::DataSeries;
///
/// #[derive(Entity)]
/// #[entity(partition = "{employee:06}", row = "{day:08}")]
/// struct Messages {
///     employee: u32,
///     day: u32,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let table = Table::new(Arc::new(MemoryStore::new()), "Messages")?;
/// table.create().await?;
/// let hours = DataSeries::<Messages, i32>::new(table, 24)?;
///
/// let today = Messages { employee: 123, day: 2014_07_31 };
/// hours.set(&today, 7, 3).await?;
/// hours.increment(&today, 17, 1).await?;
/// hours.increment(&today, 17, 1).await?;
///
/// let series = hours.get(Messages::key(123, 2014_07_31)).await?.expect("messages were sent");
/// assert_eq!(series.values().len(), 24);
/// assert_eq!((series.values()[7], series.values()[8], series.values()[17]), (Some(3), None, Some(2)));
/// # Ok(())
/// # }
/// ```
pub struct DataSeries<E, T> {
    table: Table,
    slots: usize,
    options: UpdateOptions,
    types: PhantomData<fn() -> (E, T)>,
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
}

/// As many slots as the row has; [`DataSeries`] adds the gaps at the end.
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

impl<E: Unindexed, T: SlotValue> DataSeries<E, T> {
    /// Series of so many slots.
    ///
    /// # Errors
    /// [`LimitExceeded`](ErrorKind::LimitExceeded) for no slots, or more than a row has room for;
    /// [`InvalidName`](ErrorKind::InvalidName) where a field of the entity is stored under the name
    /// of a slot.
    pub fn new(table: Table, slots: usize) -> Result<Self> {
        if slots == 0 {
            return Err(Error::limit_exceeded("a series needs at least one slot"));
        }
        if let Some(name) = E::SCHEMA.properties.iter().find(|name| slot_of(name).is_some()) {
            let message = format!("the property {name} of {} is that of a slot; rename the field", E::SCHEMA.name);
            return Err(Error::invalid_name(message));
        }
        let room = limits::ENTITY_PROPERTIES.saturating_sub(E::SCHEMA.properties.len() + OWN_PROPERTIES);
        if slots > room {
            return Err(Error::limit_exceeded(format!(
                "the row of a {} has room for {room} slots, and not for {slots}; keep the series as a wide entity",
                E::SCHEMA.name
            )));
        }
        Ok(Self { table, slots, options: UpdateOptions::default(), types: PhantomData })
    }

    /// Sets how often [`increment`](DataSeries::increment) tries again under contention.
    #[must_use]
    pub const fn with_options(mut self, options: UpdateOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets one value, whatever the slot holds. One storage transaction.
    ///
    /// # Errors
    /// [`InvalidValue`](ErrorKind::InvalidValue) for a slot that the series does not have.
    pub async fn set(&self, entity: &E, slot: usize, value: T) -> Result<ETag> {
        self.set_all(entity, [(slot, value)]).await
    }

    /// Sets several values, whatever their slots hold. One storage transaction.
    ///
    /// # Errors
    /// As [`DataSeries::set`].
    pub async fn set_all(&self, entity: &E, values: impl IntoIterator<Item = (usize, T)>) -> Result<ETag> {
        let mut row = entity.to_row()?;
        for (slot, value) in values {
            self.put(&mut row, slot, value)?;
        }
        // Repeating it gives the same row, so it needs no token.
        self.write(Action::InsertOrMerge(row)).await
    }

    /// Adds to one value, from zero where nothing was set, and returns the sum. Two storage
    /// transactions when nobody else was faster.
    ///
    /// # Errors
    /// [`Contention`](ErrorKind::Contention), [`InvalidValue`](ErrorKind::InvalidValue) for a sum that
    /// the type cannot hold, and as [`DataSeries::set`].
    pub async fn increment(&self, entity: &E, slot: usize, by: T) -> Result<T> {
        let key = entity.entity_key()?;
        let mut attempts = self.options.begin();
        loop {
            let read = self.table.get::<Series<E, T>>(key.clone()).await?;
            let before = read.as_ref().and_then(|series| series.values.get(slot).copied().flatten());
            let sum = before.unwrap_or(T::ZERO).checked_sum(by).ok_or_else(|| overflow(slot))?;
            let action = if let Some(read) = &read {
                let mut row = DynamicEntity::new(key.clone());
                self.put(&mut row, slot, sum)?;
                Action::Merge(marked(row), unchanged(read))
            } else {
                let mut row = entity.to_row()?;
                self.put(&mut row, slot, sum)?;
                Action::Insert(marked(row))
            };
            match self.write(action).await {
                Ok(_) => return Ok(sum),
                Err(error) => {
                    let conflict = is_conflict(&error);
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }

    /// Reads the series of one entity. One storage transaction.
    ///
    /// # Errors
    /// Those of reading.
    pub async fn get(&self, key: Key<E>) -> Result<Option<Versioned<Series<E, T>>>> {
        let read = self.table.get::<Series<E, T>>(key.resolve()?).await?;
        Ok(read.map(|series| self.with_gaps(series)))
    }

    /// Reads the series of all entities that a query finds, such as the days of a month. One storage
    /// transaction for each page of up to 1,000 rows.
    ///
    /// # Errors
    /// Those of the query and of reading.
    pub async fn all(&self, query: impl Into<Query<E>>) -> Result<Vec<Versioned<Series<E, T>>>> {
        let all = self.table.all(query.into().project::<Series<E, T>>()).await?;
        Ok(all.into_iter().map(|series| self.with_gaps(series)).collect())
    }

    fn with_gaps(&self, mut series: Versioned<Series<E, T>>) -> Versioned<Series<E, T>> {
        series.values.resize(self.slots, None);
        series
    }

    fn put(&self, row: &mut DynamicEntity, slot: usize, value: T) -> Result<()> {
        if slot >= self.slots {
            return Err(Error::invalid_value(format!(
                "the series has {} slots, counted from 0, and none with the number {slot}",
                self.slots
            )));
        }
        let value: Option<Value> = value.to_value()?;
        value.map_or(Ok(()), |value| row.set(&format!("{SLOT}{slot:03}"), value))
    }

    async fn write(&self, action: Action) -> Result<ETag> {
        version(Some(self.table.store().write(self.table.name(), Operation::new(action)?).await?))
    }
}

/// The number of the slot that a property holds.
fn slot_of(name: &str) -> Option<usize> {
    name.strip_prefix(SLOT).filter(|digits| digits.len() == 3)?.parse().ok()
}

fn is_conflict(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::PreconditionFailed | ErrorKind::NotFound | ErrorKind::AlreadyExists)
}

fn overflow(slot: usize) -> Error {
    Error::invalid_value("the sum does not fit the type of the series; use a wider one")
        .with_property(format!("{SLOT}{slot:03}"))
}

impl<E, T> Clone for DataSeries<E, T> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), slots: self.slots, options: self.options.clone(), types: PhantomData }
    }
}

impl<E, T> fmt::Debug for DataSeries<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataSeries").field("table", &self.table).field("slots", &self.slots).finish_non_exhaustive()
    }
}
