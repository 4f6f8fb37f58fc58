//! Opening lists that a mover keeps.

use table_core::{DynamicEntity, Entity, Error, Result, Table};

use super::IndexEntities;
use super::blobs::{CollectBlobs, collect};
use super::settle::Lists;
use crate::blobs::{BlobReport, verify};
use crate::eventually_consistent_transactions::{Mover, MoverBuilder};
use crate::intent::{Intent, IntentOptions, Keeper};

impl<E: Entity> IndexEntities<E> {
    /// Has a mover keep the lists that stand elsewhere or in blobs: it was built with
    /// [`keep_lists`](MoverBuilder::keep_lists), and somebody starts its workers. It comes last: what is declared after it
    /// the mover was not asked for, and the first write says so.
    ///
    /// # Errors
    /// [`Unsupported`](table_core::ErrorKind::Unsupported) where the mover has no worker for them, or one for other lists
    /// (by name, by place, or since only one of both has blobs), or for a list that is always in a blob where no blobs
    /// were declared; [`InvalidName`](table_core::ErrorKind::InvalidName) for the table of a list, and for two lists of
    /// one name.
    pub fn kept_by(self, mover: &Mover) -> Result<Self> {
        self.refuse_doubles()?;
        let (entity, table) = (E::SCHEMA.name, self.table.name());
        if !mover.handles::<Intent<Lists>>(&self.scope) {
            return Err(Error::unsupported(format!(
                "the mover keeps no lists of {entity} in the table {table}; build it with `keep_lists(&lists)`, or open them with `kept_elsewhere` where another process does"
            )));
        }
        let (ours, kept) = (self.declaration(), mover.declared(&self.scope));
        if ours != kept {
            return Err(Error::unsupported(format!(
                "the mover keeps other lists of {entity} in the table {table}: there {}, here {}; declare them once, and give them to `keep_lists` and open them with `kept_by`",
                kept.join(", "),
                ours.join(", ")
            )));
        }
        self.kept_elsewhere(mover)
    }

    /// As [`kept_by`](IndexEntities::kept_by), where the worker is in another process: this mover only sends to its
    /// queue. While no such process runs, the lists of writers that die stay as they were, and so do replaced blobs.
    ///
    /// # Errors
    /// As [`kept_by`](IndexEntities::kept_by).
    pub fn kept_elsewhere(mut self, mover: &Mover) -> Result<Self> {
        self.list_tables()?;
        if let Some(list) = self.lists.iter().find(|list| list.place.always_in_blob)
            && self.blobs.is_none()
        {
            return Err(Error::unsupported(format!(
                "the list {} is always in a blob; declare where its blobs are, with `with_blobs`",
                list.name
            )));
        }
        self.keeper = Some(Keeper { options: self.intents.clone(), ..Keeper::new(mover) });
        Ok(self)
    }

    /// Sets how long intents are hidden, and how long tombstones, fences and replaced blobs stay; before or after a mover
    /// is given.
    ///
    /// # Errors
    /// [`LimitExceeded`](table_core::ErrorKind::LimitExceeded) for a grace period over seven days, or for intents
    /// that are hidden for more than a quarter of it.
    pub fn with_intents(mut self, options: IntentOptions) -> Result<Self> {
        options.check()?;
        if let Some(keeper) = &mut self.keeper {
            keeper.options = options.clone();
        }
        self.intents = options;
        Ok(self)
    }

    /// Creates the table and those of its lists, unless they exist.
    ///
    /// # Errors
    /// Those of reaching the store.
    pub async fn create_if_missing(&self) -> Result<()> {
        self.table.create_if_missing().await?;
        for table in self.list_tables()? {
            table.create_if_missing().await?;
        }
        Ok(())
    }

    /// Compares the blobs of the lists with what their rows refer to: a scan of the tables, and a listing. A blob
    /// that was replaced, or that is about to be referred to, is told as orphaned until the queue is empty.
    ///
    /// # Errors
    /// [`Unsupported`](table_core::ErrorKind::Unsupported) where no blobs were declared, and those of reaching the
    /// stores.
    pub async fn verify_blobs(&self) -> Result<BlobReport> {
        let blobs = self.blobs.as_ref();
        let blobs =
            blobs.ok_or_else(|| Error::unsupported("the lists have no blobs; declare some with `with_blobs`"))?;
        let mut tables = vec![self.table.clone()];
        tables.extend(self.list_tables()?);
        let is_ours = |table: &Table, row: &DynamicEntity| self.list_of(table.name(), row).is_some();
        verify(&tables, is_ours, &blobs.store, &blobs.prefix(&self.table, E::SCHEMA.name)).await
    }

    /// The other tables in which lists stand.
    pub(crate) fn list_tables(&self) -> Result<Vec<Table>> {
        self.refuse_doubles()?;
        let mut tables: Vec<Table> = Vec::new();
        for name in self.lists.iter().filter_map(|list| list.place.other_table()) {
            let table = self.table.sibling(name)?;
            if table.name() != self.table.name() && tables.iter().all(|other| other.name() != table.name()) {
                tables.push(table);
            }
        }
        Ok(tables)
    }

    /// What a mover and whoever writes must agree on.
    fn declaration(&self) -> Vec<String> {
        let mut lists: Vec<String> = self.lists.iter().map(|list| format!("{} {}", list.name, list.place)).collect();
        lists.sort_unstable();
        lists.push(if self.blobs.is_some() { "with blobs" } else { "without blobs" }.to_owned());
        lists
    }

    /// Refuses to write what only a mover can keep.
    pub(super) fn require_keeper(&self) -> Result<()> {
        self.refuse_doubles()?;
        let elsewhere = self.lists.iter().any(|list| list.is_elsewhere() || list.place.always_in_blob);
        if self.keeper.is_none() && (elsewhere || self.blobs.is_some()) {
            return Err(Error::unsupported(format!(
                "lists of {} stand in other partitions or in blobs, which takes a queue and a worker; declare all of them, then open them with `kept_by(&mover)`, or `kept_elsewhere` where another process has the worker",
                E::SCHEMA.name
            )));
        }
        Ok(())
    }
}

impl MoverBuilder {
    /// Keeps the lists of a table's entities that stand in other partitions, tables or blobs.
    ///
    /// Whoever writes the entities opens the same lists with [`IndexEntities::kept_by`].
    #[must_use]
    pub fn keep_lists<E: Entity>(self, lists: &IndexEntities<E>) -> Self {
        // What the worker writes may be in blobs, of which it tells before it puts them.
        let keeper = Keeper { options: lists.intents.clone(), ..Keeper::new(&self.sender()) };
        let kept = IndexEntities { keeper: Some(keeper), ..lists.clone() };
        let (settled, collected) = (kept.clone(), kept);
        let declared = self.declare(&lists.scope, lists.declaration());
        let builder = declared.keep_intents(&lists.table, &lists.scope, move |intent: Intent<Lists>| {
            let mut lists = settled.clone();
            if let Some(keeper) = &mut lists.keeper {
                keeper.options.grace = intent.grace;
            }
            async move { lists.settle(&intent.source, &intent.named.lists).await }
        });
        builder.on_scope::<CollectBlobs, _, _>(&lists.scope, move |garbage, delivery| {
            let lists = collected.clone();
            async move {
                match &lists.blobs {
                    Some(blobs) => collect(&lists.table, &blobs.store, garbage, &delivery).await,
                    None => Err(Error::unsupported("no blobs were declared for these lists; use `with_blobs`")),
                }
            }
        })
    }
}
