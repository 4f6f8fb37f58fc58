//! Bulk load: a stream of entities and their copies, written in the fewest transactions.
//!
//! An entity and its copies stay in one transaction, as in any other write; a transaction holds as
//! many entities as fit. New entities take no read: they are inserted, and only where a row is
//! there already are the entities of that transaction written one by one. So are those that have
//! indexes elsewhere, which take more than one transaction each.

use futures_util::stream::{self, Stream, StreamExt, TryStreamExt};
use table_core::{
    Entity, Error, ErrorKind, Key, LoadMode, LoadOptions, LoadProgress, LoadUnit, PartitionKey, Result, RowKey,
};

use super::{Indexed, IndexedTransaction};

/// Entities of one chunk that are written at once, where they cannot share a transaction.
const AT_ONCE: usize = 8;

impl<E: Entity + Clone> Indexed<E> {
    /// Writes a stream of entities with their copies, in transactions of up to 100 rows and 4 MiB a
    /// partition: with two indexes that is 33 entities at a time.
    ///
    /// Entities of one partition need not stand together in the stream, but a load is fastest when
    /// they do. A load that stopped half-way can be repeated in the default mode. Entities are
    /// stored in no particular order, but of two with one key the later wins; so a value of a unique
    /// index that one entity gives up and another takes in the same load may be refused. Entities
    /// with indexes elsewhere are written one by one, several at once.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use futures_util::stream;
    /// use table_core::{Entity, LoadOptions, MemoryStore, Table};
    /// use table_patterns::Indexed;
    ///
    /// #[derive(Entity, Clone)]
    /// #[entity(partition = "{department}", row = "empid_{id:06}")]
    /// #[index(email, row = "email_{email}", include())]
    /// struct Employee {
    ///     department: String,
    ///     id: u32,
    ///     email: String,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> table_core::Result<()> {
    /// let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
    /// table.create().await?;
    /// let employees = Indexed::<Employee>::new(table)?;
    /// let new = (0..1_000).map(|id| Employee {
    ///     department: "Sales".into(),
    ///     id,
    ///     email: format!("e{id}@contoso.com"),
    /// });
    /// let done = employees.load(stream::iter(new), LoadOptions::default()).await?;
    /// assert_eq!((done.entities, done.transactions), (1_000, 20));
    /// assert!(employees.get(Employee::by_email("Sales", "e999@contoso.com")).await?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The first error of an entity or a transaction, as [`IndexedTransaction::commit`] gives it;
    /// what was stored before stays, each entity with its copies.
    pub async fn load(&self, entities: impl Stream<Item = E> + Send, options: LoadOptions) -> Result<LoadProgress> {
        let mode = options.mode();
        let units = entities.map(|entity| Unit::new(self, entity));
        self.table.load_units(units, options, |units| self.load_chunk(units, mode)).await
    }

    async fn load_chunk(&self, units: Vec<Unit<'_, E>>, mode: LoadMode) -> Result<()> {
        let mut transaction = IndexedTransaction::new(&self.table);
        let mut entities = Vec::with_capacity(units.len());
        for unit in units {
            transaction = transaction.join(unit.transaction);
            entities.push(unit.entity);
        }
        if self.keeper.is_some() {
            return self.load_each(entities, mode).await;
        }
        match transaction.commit().await {
            Err(error) if mode != LoadMode::Insert && is_there_already(&error) => self.load_each(entities, mode).await,
            result => result.map(|_| ()),
        }
    }

    /// Writes entities one by one, several at once: no two of them have a row in common.
    async fn load_each(&self, entities: Vec<E>, mode: LoadMode) -> Result<()> {
        let writes = entities.into_iter().map(|entity| async move {
            match mode {
                LoadMode::InsertOrReplace => self.upsert(&entity).await.map(|_| ()),
                LoadMode::Insert => self.insert(&entity).await.map(|_| ()),
                LoadMode::InsertMissing => self.insert_missing(&entity).await,
            }
        });
        stream::iter(writes).buffer_unordered(AT_ONCE).try_for_each(|()| async { Ok(()) }).await
    }

    async fn insert_missing(&self, entity: &E) -> Result<()> {
        match self.table.get::<E>(Key::new(entity.entity_key())).await? {
            None => self.insert(entity).await.map(|_| ()),
            Some(read) if read.to_row()? == entity.to_row()? => Ok(()),
            Some(read) => Err(Error::already_exists(
                "the table holds this entity with other properties; decide which of the two stays, \
                 or allow writing over it",
            )
            .with_operation("load")
            .with_table(self.table.name().as_str())
            .with_key(read.key().clone())),
        }
    }
}

fn is_there_already(error: &Error) -> bool {
    error.kind() == ErrorKind::AlreadyExists && !error.outcome_unknown()
}

/// An entity and its copies.
struct Unit<'t, E> {
    partition: PartitionKey,
    entity: E,
    transaction: IndexedTransaction<'t>,
}

impl<'t, E: Entity> Unit<'t, E> {
    fn new(indexed: &'t Indexed<E>, entity: E) -> Result<Self> {
        // Copies elsewhere are not of this transaction.
        let transaction = IndexedTransaction::local_part(&indexed.table).insert(&entity).checked()?;
        let primary = transaction.rows().next().map(|(key, _)| key.partition.clone());
        let partition = primary.map_or_else(|| entity.entity_key().map(|key| key.partition), Ok)?;
        Ok(Self { partition, entity, transaction })
    }
}

impl<E: Send> LoadUnit for Unit<'_, E> {
    fn partition(&self) -> &PartitionKey {
        &self.partition
    }

    fn rows(&self) -> impl Iterator<Item = &RowKey> {
        self.transaction.rows().map(|(key, _)| &key.row)
    }

    fn counted_bytes(&self) -> usize {
        self.transaction.rows().map(|(_, bytes)| bytes).sum()
    }
}
