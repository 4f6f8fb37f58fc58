//! Wide entities without a type: reading, writing and patching their rows.

use std::future::ready;
use std::ops::Bound;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use table_core::keys::{KeyRange, Span};
use table_core::{
    Action, DynamicEntity, ETag, EntityKey, Error, ErrorKind, FromRow, IfMatch, Operation, Properties, Query, Result,
    Table, Transaction,
};

use super::layout::{Head, HeadOf, Mark, part_key, part_row, split};
use crate::attempts::UpdateOptions;
use crate::rows::{marked, version};

/// How many entities are read at once.
const READS: usize = 8;

/// Wide entities as property bags.
///
/// [`Wide`](super::Wide) is the same for entities with a type. The ETag of what is read is that of the
/// head, and so of the whole.
///
/// ```
/// use std::sync::Arc;
/// use table_core::{DynamicEntity, EntityKey, MemoryStore, Table, Value};
/// use table_patterns::wide_entities::WideRows;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let table = Table::new(Arc::new(MemoryStore::new()), "Counts")?;
/// table.create().await?;
/// let wide = WideRows::new(table);
///
/// let key = EntityKey::parse("000123", "2014")?;
/// let mut days = DynamicEntity::new(key.clone());
/// for day in 1..=365 {
///     days.set(&format!("Day{day:03}"), day)?;
/// }
/// wide.insert(days).await?;
/// assert_eq!(wide.get(&key).await?.expect("it was inserted").properties.len(), 365);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct WideRows {
    table: Table,
    options: UpdateOptions,
}

impl WideRows {
    /// The wide entities of a table.
    #[must_use]
    pub fn new(table: Table) -> Self {
        Self { table, options: UpdateOptions::default() }
    }

    /// Sets how often a torn read, or a patch of whatever version there is, is tried again.
    #[must_use]
    pub const fn with_options(mut self, options: UpdateOptions) -> Self {
        self.options = options;
        self
    }

    pub(super) const fn options(&self) -> &UpdateOptions {
        &self.options
    }

    /// Adds an entity that must not exist, and returns its version. One storage transaction.
    ///
    /// # Errors
    /// [`AlreadyExists`](ErrorKind::AlreadyExists); [`LimitExceeded`](ErrorKind::LimitExceeded) above
    /// 100 rows or 4 MiB, with the count.
    pub async fn insert(&self, entity: DynamicEntity) -> Result<ETag> {
        let key = entity.key.clone();
        let (head, parts) = split(entity)?;
        let parts = parts.into_iter().map(Action::Insert);
        self.commit(Action::Insert(marked(head.to_row(key))), parts).await
    }

    /// Reads an entity; `None` where there is none. One storage transaction for each page, which is
    /// usually one. An ordinary row is read as it is, and becomes wide with its next write.
    ///
    /// # Errors
    /// [`Contention`](ErrorKind::Contention) where it was written during every attempt to read it,
    /// [`Corrupted`](ErrorKind::Corrupted) where a part is missing.
    pub async fn get(&self, key: &EntityKey) -> Result<Option<DynamicEntity>> {
        let mut attempts = self.options.begin();
        let mut before: Option<ETag> = None;
        loop {
            let mut rows = self.read_all(key).await?;
            let Some(first) = rows.first().filter(|row| row.key == *key).cloned() else { return Ok(None) };
            let head = Head::from_row(&first)?;
            rows.remove(0);
            if let Some(properties) = head.join(key, rows)? {
                return Ok(Some(DynamicEntity { properties, ..first }));
            }
            // Whoever writes a part writes the head. Where the head stayed, nobody did.
            if before.is_some() && before == first.etag {
                return Err(
                    Error::corrupted("a part of the wide entity is missing or not the head's").with_key(first.key)
                );
            }
            before = first.etag;
            attempts.after(Error::precondition_failed("written while it was read").with_key(key.clone()), true).await?;
        }
    }

    /// Reads the entities of type `E` whose keys a query names, in their order.
    pub(crate) async fn all<E: FromRow>(&self, query: Query<E>) -> Result<Vec<DynamicEntity>> {
        if query.explain()?.steps().iter().any(|step| step.filter.is_some()) {
            return Err(Error::invalid_query(
                "the properties of wide entities stand in several rows; ask for keys alone, and filter what was read",
            ));
        }
        let heads = self.table.all(query.rows_as::<HeadOf<E>>()).await?;
        let reads = heads.iter().map(|head| self.get(head.key()));
        // One that was deleted meanwhile is left out.
        stream::iter(reads).buffered(READS).try_filter_map(|row| ready(Ok(row))).try_collect().await
    }

    /// Gives an entity exactly these properties, where it still is of the version that was read, and
    /// removes the parts that are left over. Two storage transactions: the head is read first.
    ///
    /// # Errors
    /// [`PreconditionFailed`](ErrorKind::PreconditionFailed), [`NotFound`](ErrorKind::NotFound), and
    /// the limits of [`WideRows::insert`].
    pub async fn replace(&self, entity: DynamicEntity, read: &ETag) -> Result<ETag> {
        let old = self.head(&entity.key, Some(read)).await?.0.parts();
        self.write_anew(entity, old, read).await
    }

    /// Writes all rows of an entity that had so many parts, and removes those that are left over.
    async fn write_anew(&self, entity: DynamicEntity, old: usize, read: &ETag) -> Result<ETag> {
        let key = entity.key.clone();
        let (head, parts) = split(entity)?;
        let new = parts.len();
        let mut actions = Vec::with_capacity(old.max(new));
        for (number, part) in parts.into_iter().enumerate() {
            actions.push(if number < old { Action::Replace(part, IfMatch::Any) } else { Action::Insert(part) });
        }
        for number in new..old {
            actions.push(Action::Delete(part_key(&key, number)?, IfMatch::Any));
        }
        let head = Action::Replace(marked(head.to_row(key)), IfMatch::Version(read.clone()));
        self.commit(head, actions).await
    }

    /// Sets some properties and leaves the others: the parts that hold them and the head are written.
    /// Two storage transactions, and more where a part has no room left, so that all are written anew.
    ///
    /// A patch of whatever version there is tries again where somebody was faster; one of the version
    /// that was read does not.
    ///
    /// # Errors
    /// [`PreconditionFailed`](ErrorKind::PreconditionFailed), [`NotFound`](ErrorKind::NotFound),
    /// [`Contention`](ErrorKind::Contention), and the limits of [`WideRows::insert`].
    pub async fn patch(&self, key: &EntityKey, properties: &Properties, if_match: &IfMatch) -> Result<ETag> {
        let mut attempts = self.options.begin();
        loop {
            let error = match self.patch_once(key, properties, if_match).await {
                Ok(etag) => return Ok(etag),
                Err(error) => error,
            };
            let conflict = *if_match == IfMatch::Any && error.kind() == ErrorKind::PreconditionFailed;
            attempts.after(error, conflict).await?;
        }
    }

    async fn patch_once(&self, key: &EntityKey, properties: &Properties, if_match: &IfMatch) -> Result<ETag> {
        let read = match if_match {
            IfMatch::Version(etag) => Some(etag),
            IfMatch::Any => None,
        };
        let (mut head, etag) = self.head(key, read).await?;
        let old = head.parts();
        if old == 0 {
            let mut whole = DynamicEntity::new(key.clone());
            whole.properties = head.join(key, Vec::new())?.unwrap_or_default();
            whole.properties.merge(properties.clone());
            return self.write_anew(whole, old, &etag).await;
        }
        let mark = Mark::fresh();
        let mut parts: Vec<(usize, DynamicEntity)> = Vec::new();
        let mut set = head.take_beside();
        set.merge(properties.clone());
        for (name, value) in set.iter() {
            let number = head.part_of(name.as_str());
            // Names come in order, and so do the parts that hold them.
            if parts.last().is_none_or(|(last, _)| *last != number) {
                head.touch(number, mark);
                parts.push((number, part_row(part_key(key, number)?, mark)));
            }
            if let Some((_, part)) = parts.last_mut() {
                part.properties.insert(name.clone(), value.clone());
            }
        }
        let parts = parts.into_iter().map(|(_, part)| Action::Merge(part, IfMatch::Any));
        // Not merged, so that nothing stands in the head that is in a part now.
        let replaced = Action::Replace(marked(head.to_row(key.clone())), IfMatch::Version(etag.clone()));
        match self.commit(replaced, parts).await {
            Err(error) if error.kind() == ErrorKind::LimitExceeded => self.rewrite(key, properties, old, &etag).await,
            result => result,
        }
    }

    /// Writes all parts anew, where one has no room for a patch.
    async fn rewrite(&self, key: &EntityKey, properties: &Properties, old: usize, read: &ETag) -> Result<ETag> {
        let Some(mut whole) = self.get(key).await? else { return Err(gone(key)) };
        if whole.etag.as_ref() != Some(read) {
            return Err(changed(key));
        }
        whole.properties.merge(properties.clone());
        self.write_anew(whole, old, read).await
    }

    /// Deletes an entity, where it still is of the version that was read. Two storage transactions: the
    /// head is read first.
    ///
    /// # Errors
    /// [`PreconditionFailed`](ErrorKind::PreconditionFailed), [`NotFound`](ErrorKind::NotFound).
    pub async fn delete(&self, key: &EntityKey, read: &ETag) -> Result<()> {
        let (head, _) = self.head(key, Some(read)).await?;
        let parts = (0..head.parts()).map(|number| Ok(Action::Delete(part_key(key, number)?, IfMatch::Any)));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let head = Action::Delete(key.clone(), IfMatch::Version(read.clone()));
        self.write(head, parts).await.map(|_| ())
    }

    /// The head and its version, which must be the one that was read.
    async fn head(&self, key: &EntityKey, read: Option<&ETag>) -> Result<(Head, ETag)> {
        let Some(row) = self.table.get::<DynamicEntity>(key.clone()).await? else { return Err(gone(key)) };
        if read.is_some_and(|read| read != row.etag()) {
            return Err(changed(key));
        }
        Ok((Head::from_row(&row)?, row.etag().clone()))
    }

    /// The head, where it is there, and all parts.
    async fn read_all(&self, key: &EntityKey) -> Result<Vec<DynamicEntity>> {
        let last = Span::prefix(&format!("{}!", key.row));
        let row = Span::new(Bound::Included(key.row.as_str().into()), last.upper().map(Into::into));
        let range = KeyRange { partition: Span::exact(key.partition.as_str()), row };
        let mut rows: Vec<DynamicEntity> = self
            .table
            .all(Query::in_range(Ok(range)))
            .await?
            .into_iter()
            .map(table_core::Versioned::into_value)
            .collect();
        // A store without order gives them as they come.
        rows.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(rows)
    }

    async fn commit(&self, head: Action, parts: impl IntoIterator<Item = Action>) -> Result<ETag> {
        version(self.write(head, parts).await?.into_iter().next())
    }

    async fn write(&self, head: Action, parts: impl IntoIterator<Item = Action>) -> Result<Vec<table_core::Written>> {
        let key = head.key().clone();
        let operations = std::iter::once(head).chain(parts).map(Operation::new).collect::<Result<Vec<_>>>()?;
        let most = self.table.store().capabilities().transaction_bytes;
        let bytes: usize = operations.iter().map(Operation::counted_bytes).sum();
        if bytes > most {
            return Err(Error::limit_exceeded(format!(
                "a wide entity takes at most {most} bytes, since one transaction writes it, and this one takes {bytes}; move large values to blobs"
            ))
            .with_key(key));
        }
        self.table.store().transact(self.table.name(), Transaction::new(operations)?).await
    }
}

fn gone(key: &EntityKey) -> Error {
    Error::not_found("there is no such wide entity").with_key(key.clone())
}

fn changed(key: &EntityKey) -> Error {
    Error::precondition_failed("the wide entity was changed since it was read").with_key(key.clone())
}
