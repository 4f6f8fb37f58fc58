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
//! A series of more slots than a row has room for, such as the days of a year, is a
//! [wide entity](crate::wide_entities): the same properties over several rows.
//!
//! # More slots than before
//! The number of slots is the program's, and may grow, also beyond what a row has room for. A series that stands in one row is
//! read as it is, and its first write puts it into several, in one transaction. Processes that still have fewer slots may run
//! beside: they read what has become several rows, with one storage transaction more for each such series, and what they write
//! counts. Only a query with a condition on properties does not find those series in them. Fewer slots are read as fewer, and
//! the values of the others stay.
//!
//! # Guarantees
//! - [`set`](DataSeries::set) merges one property and leaves all others: writers of different slots
//!   never lose each other's values, and repeating one changes nothing.
//! - [`increment`](DataSeries::increment) is conditional on the version that it read, so that no
//!   increment is lost, and carries a token, so that none is counted twice.
//! - A read gives as many values as there are slots, with gaps where nothing was set.
//!
//! # After a crash
//! Each write is one merge, insert or transaction: it happened or it did not.
//!
//! # When not to use it
//! - For more slots than one transaction writes, about 24,700, which [`DataSeries::new`] refuses.
//! - For counters that very many writers increment at once: all of them meet in one row.

mod rows;
mod series;

use std::fmt;
use std::marker::PhantomData;

use table_core::{DynamicEntity, ETag, Error, Key, Query, Result, Table, Unindexed, Value, Versioned};

use rows::SeriesRows;
pub use series::{Series, SlotValue};
use series::{property_of, slot_of};

use crate::attempts::{UpdateOptions, is_conflict};

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
    rows: SeriesRows,
    slots: usize,
    options: UpdateOptions,
    types: PhantomData<fn() -> (E, T)>,
}

impl<E: Unindexed, T: SlotValue> DataSeries<E, T> {
    /// Series of so many slots, in one row each, or in several where one has no room for them.
    ///
    /// # Errors
    /// [`LimitExceeded`](table_core::ErrorKind::LimitExceeded) for no slots, or more than one transaction writes;
    /// [`InvalidName`](table_core::ErrorKind::InvalidName) where a field of the entity is stored under the name
    /// of a slot.
    pub fn new(table: Table, slots: usize) -> Result<Self> {
        if slots == 0 {
            return Err(Error::limit_exceeded("a series needs at least one slot"));
        }
        if let Some(name) = E::SCHEMA.properties.iter().find(|name| slot_of(name).is_some()) {
            let message = format!("the property {name} of {} is that of a slot; rename the field", E::SCHEMA.name);
            return Err(Error::invalid_name(message));
        }
        let rows = SeriesRows::new::<E>(table, slots)?;
        Ok(Self { rows, slots, options: UpdateOptions::default(), types: PhantomData })
    }

    /// Sets how often a write tries again under contention.
    #[must_use]
    pub fn with_options(mut self, options: UpdateOptions) -> Self {
        self.rows = self.rows.with_options(&options);
        self.options = options;
        self
    }

    /// Sets one value, whatever the slot holds. One storage transaction; two in several rows.
    ///
    /// # Errors
    /// [`InvalidValue`](table_core::ErrorKind::InvalidValue) for a slot that the series does not have.
    pub async fn set(&self, entity: &E, slot: usize, value: T) -> Result<ETag> {
        self.set_all(entity, [(slot, value)]).await
    }

    /// Sets several values, whatever their slots hold. One storage transaction; two in several rows.
    ///
    /// # Errors
    /// As [`DataSeries::set`].
    pub async fn set_all(&self, entity: &E, values: impl IntoIterator<Item = (usize, T)>) -> Result<ETag> {
        let mut row = entity.to_row()?;
        for (slot, value) in values {
            self.put(&mut row, slot, value)?;
        }
        self.rows.merge(row, &self.options).await
    }

    /// Adds to one value, from zero where nothing was set, and returns the sum. Two storage
    /// transactions when nobody else was faster; three in several rows.
    ///
    /// # Errors
    /// [`Contention`](table_core::ErrorKind::Contention), [`InvalidValue`](table_core::ErrorKind::InvalidValue) for a sum that
    /// the type cannot hold, and as [`DataSeries::set`].
    pub async fn increment(&self, entity: &E, slot: usize, by: T) -> Result<T> {
        let key = entity.entity_key()?;
        let mut attempts = self.options.begin();
        loop {
            let read = self.rows.get::<E, T>(key.clone()).await?;
            let before = read.as_ref().and_then(|series| series.values().get(slot).copied().flatten());
            let sum = before.unwrap_or(T::ZERO).checked_sum(by).ok_or_else(|| overflow(slot))?;
            let mut row = if read.is_some() { DynamicEntity::new(key.clone()) } else { entity.to_row()? };
            self.put(&mut row, slot, sum)?;
            match self.rows.merge_unchanged(row, read.as_ref().map(Versioned::etag)).await {
                Ok(_) => return Ok(sum),
                Err(error) => {
                    let conflict = is_conflict(&error);
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }

    /// Reads the series of one entity. One storage transaction; two where it stands in several rows, and this program
    /// has no more slots than one row has room for.
    ///
    /// # Errors
    /// Those of reading.
    pub async fn get(&self, key: Key<E>) -> Result<Option<Versioned<Series<E, T>>>> {
        let read = self.rows.get(key.resolve()?).await?;
        Ok(read.map(|series| self.with_gaps(series)))
    }

    /// Reads the series of all entities that a query finds, such as the days of a month. One storage
    /// transaction for each page of up to 1,000 rows; one more for each series in several rows.
    ///
    /// # Errors
    /// Those of the query and of reading; [`InvalidQuery`](table_core::ErrorKind::InvalidQuery) for a condition on
    /// properties that stand in several rows.
    pub async fn all(&self, query: impl Into<Query<E>>) -> Result<Vec<Versioned<Series<E, T>>>> {
        let all = self.rows.all(query.into()).await?;
        Ok(all.into_iter().map(|series| self.with_gaps(series)).collect())
    }

    fn with_gaps(&self, mut series: Versioned<Series<E, T>>) -> Versioned<Series<E, T>> {
        series.resize(self.slots);
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
        value.map_or(Ok(()), |value| row.set(&property_of(slot), value))
    }
}

fn overflow(slot: usize) -> Error {
    Error::invalid_value("the sum does not fit the type of the series; use a wider one")
        .with_property(property_of(slot))
}

impl<E, T> Clone for DataSeries<E, T> {
    fn clone(&self) -> Self {
        Self { rows: self.rows.clone(), slots: self.slots, options: self.options.clone(), types: PhantomData }
    }
}

impl<E, T> fmt::Debug for DataSeries<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataSeries").field("rows", &self.rows).field("slots", &self.slots).finish_non_exhaustive()
    }
}
