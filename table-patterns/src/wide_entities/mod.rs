//! Wide entities: one logical entity over several rows.
//!
//! # Problem
//! A row has at most 252 properties and 1 MiB. A count for each day of a year, or a document of some
//! megabytes, does not fit.
//!
//! # Rows
//! A head under the entity's own key, and parts right behind it, each with a range of property names:
//!
//! | partition | row | properties |
//! | --- | --- | --- |
//! | `000123` | `2014` | `RowKind` = `wide:head`, `EntityType`, the marks and first names of all parts, `RowToken` |
//! | `000123` | `2014!00` | `RowKind` = `wide:part`, its mark, `Day001` to `Day250` |
//! | `000123` | `2014!01` | `RowKind` = `wide:part`, its mark, `Day251` to `Day365` |
//!
//! # Guarantees
//! - All parts are written in one transaction: up to 100 rows and 4 MiB; more is refused with the
//!   count, before anything is written.
//! - All parts are read by one range query. Each write leaves a random mark in the head and in the
//!   parts that it touches, so a read whose pages fell on both sides of a write is noticed and repeated.
//! - The head's version is the entity's. A patch writes its part and the head in one transaction, on
//!   the condition that the head is as it was read: two patches never lose each other.
//! - An entity that shrinks leaves no part behind.
//! - An ordinary row under the key is the entity too, and becomes wide with its next write. What is merged into the head as if it
//!   were such a row is not lost: it is read as the entity's, and the next write puts it into its part.
//!
//! # After a crash
//! Every write is one transaction, so it happened or it did not. A lost answer is settled by the token
//! in the head; a deletion leaves none, so its outcome can stay unknown.
//!
//! # When not to use it
//! - For one value over 64 KiB: that takes a blob.
//! - For an entity that fits one row.
//! - With queries on properties: a filter sees one part at a time. [`Wide::all`] takes conditions on keys alone.

mod layout;
mod rows;

use std::fmt;
use std::marker::PhantomData;

use table_core::{Action, DynamicEntity, ETag, Error, Key, Patch, Query, Result, Table, Unindexed, Versioned};

use crate::attempts::{UpdateOptions, is_outpaced};
pub(crate) use layout::{MOST_PROPERTIES, is_head, is_head_or_row_of};
pub use rows::WideRows;

/// Entities of type `E`, each over as many rows as it takes.
///
/// The type may have more properties than a row holds, and values of more than 1 MiB together.
///
/// ```
/// use std::sync::Arc;
/// use table_core::{Entity, MemoryStore, Table};
/// use table_patterns::Wide;
///
/// #[derive(Entity, Clone)]
/// #[entity(partition = "{site}", row = "{id:06}")]
/// struct Survey {
///     site: String,
///     id: u32,
///     north: Vec<u8>,
///     south: Vec<u8>,
///     remark: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let table = Table::new(Arc::new(MemoryStore::new()), "Surveys")?;
/// table.create().await?;
/// let surveys = Wide::<Survey>::new(table);
///
/// let image = || vec![0; 64 * 1024];
/// let survey = Survey { site: "A".into(), id: 1, north: image(), south: image(), remark: String::new() };
/// surveys.insert(&survey).await?;
/// surveys.patch(Survey::patch(Survey::key("A", 1)).remark(&"clear".to_owned())).await?;
///
/// let read = surveys.get(Survey::key("A", 1)).await?.expect("it was inserted");
/// assert_eq!((read.remark.as_str(), read.north.len()), ("clear", 64 * 1024));
/// # Ok(())
/// # }
/// ```
pub struct Wide<E> {
    rows: WideRows,
    entity: PhantomData<fn() -> E>,
}

impl<E: Unindexed> Wide<E> {
    /// The wide entities of a table.
    #[must_use]
    pub fn new(table: Table) -> Self {
        Self { rows: WideRows::new(table), entity: PhantomData }
    }

    /// Sets how often an update, an unconditional patch or a torn read is tried again.
    #[must_use]
    pub fn with_options(mut self, options: UpdateOptions) -> Self {
        self.rows = self.rows.with_options(options);
        self
    }

    /// Adds an entity that must not exist, and returns its version. One storage transaction.
    ///
    /// # Errors
    /// As [`WideRows::insert`].
    pub async fn insert(&self, entity: &E) -> Result<ETag> {
        self.rows.insert(entity.to_row()?).await
    }

    /// Reads an entity; `None` where there is none. One storage transaction for each page, which is
    /// usually one.
    ///
    /// # Errors
    /// As [`WideRows::get`]; [`Corrupted`](table_core::ErrorKind::Corrupted) for an entity of another type.
    pub async fn get(&self, key: Key<E>) -> Result<Option<Versioned<E>>> {
        let Some(row) = self.rows.get(&key.resolve()?).await? else { return Ok(None) };
        read::<E>(row).map(Some)
    }

    /// Reads the entities whose keys a query names, such as `Survey::range("A").id_range(1..9)`, in the order of
    /// their keys, up to eight at once. One storage transaction for each page of heads, and one for each entity.
    ///
    /// # Errors
    /// [`InvalidQuery`](table_core::ErrorKind::InvalidQuery) for a condition on properties, and as [`Wide::get`].
    pub async fn all(&self, query: impl Into<Query<E>>) -> Result<Vec<Versioned<E>>> {
        self.rows.all(query.into()).await?.into_iter().map(read::<E>).collect()
    }

    /// Writes an entity over the version that was read, which must still be the current one. Two storage
    /// transactions: the head is read first.
    ///
    /// # Errors
    /// As [`WideRows::replace`].
    pub async fn replace(&self, read: &mut Versioned<E>) -> Result<()> {
        let etag = self.rows.replace(read.to_row()?, read.etag()).await?;
        read.written(etag)
    }

    /// Reads an entity, changes it and writes it, again where somebody else was faster. Three storage
    /// transactions when nobody was.
    ///
    /// # Errors
    /// [`NotFound`](table_core::ErrorKind::NotFound), [`Contention`](table_core::ErrorKind::Contention), and as
    /// [`WideRows::replace`].
    pub async fn update(&self, key: Key<E>, mut change: impl FnMut(&mut E) + Send) -> Result<Versioned<E>> {
        let mut attempts = self.rows.options().begin();
        loop {
            let Some(mut read) = self.get(key.clone()).await? else {
                return Err(Error::not_found("there is no such wide entity").with_key(key.resolve()?));
            };
            change(&mut read);
            match self.replace(&mut read).await {
                Ok(()) => return Ok(read),
                Err(error) => {
                    let conflict = is_outpaced(&error);
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }

    /// Sets the fields that a patch names, in the parts that hold them. Two storage transactions.
    ///
    /// # Errors
    /// As [`WideRows::patch`].
    pub async fn patch(&self, patch: impl Into<Patch<E>>) -> Result<ETag> {
        match patch.into().into_operation()?.into_action() {
            Action::Merge(row, if_match) => self.rows.patch(&row.key, &row.properties, &if_match).await,
            other => Err(Error::unsupported(format!("a patch is a merge, and not {}", other.name()))),
        }
    }

    /// Deletes the version that was read, which must still be the current one. Two storage transactions:
    /// the head is read first.
    ///
    /// # Errors
    /// As [`WideRows::delete`].
    pub async fn delete(&self, read: &Versioned<E>) -> Result<()> {
        self.rows.delete(read.key(), read.etag()).await
    }
}

fn read<E: Unindexed>(row: DynamicEntity) -> Result<Versioned<E>> {
    if E::recognizes(&row) {
        return E::from_row(row);
    }
    Err(Error::corrupted("the wide entity is of another type than its key says").with_key(row.key))
}

impl<E> Clone for Wide<E> {
    fn clone(&self) -> Self {
        Self { rows: self.rows.clone(), entity: PhantomData }
    }
}

impl<E> fmt::Debug for Wide<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wide").field("rows", &self.rows).finish()
    }
}
