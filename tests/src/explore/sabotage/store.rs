//! A store whose calls are altered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use table_core::keys::KeyRange;
use table_core::store::{
    Capabilities, Message, MessageReceipt, Page, PageToken, PeekedMessage, ReceiveOptions, Selection, SendOptions,
    StoreQuery, TablePage,
};
use table_core::{
    Action, DynamicEntity, ETag, EntityKey, Error, IfMatch, Operation, QueueName, QueueStore, Result, TableName,
    TableStore, Transaction, Value, Written, reserved,
};

use super::super::stage::AnyStore;
use super::Sabotage;
use super::alter::{Altered, INDEX_TABLE, SOURCE_TABLE, TARGET_TABLE, holds_copies, is_named, kind, no_version};
use super::blobs::HeldBlobs;

/// A store whose calls are altered, as one actor sees it.
#[derive(Debug)]
pub(super) struct Sabotaged<S> {
    store: S,
    blobs: Arc<HeldBlobs>,
    sabotage: Sabotage,
    notes: Mutex<Notes>,
}

/// What some sabotages have to remember.
#[derive(Debug, Default)]
struct Notes {
    /// The index rows and targets that were read last.
    read: BTreeMap<EntityKey, Option<DynamicEntity>>,
    /// The source that was read last.
    last_source: Option<(EntityKey, Option<DynamicEntity>)>,
    /// The sources as they are to be seen from now on.
    sources: BTreeMap<EntityKey, Option<DynamicEntity>>,
    /// Versions of index rows as they were read before a message was sent, and as they were right after it.
    after_message: BTreeMap<EntityKey, (Option<ETag>, Option<ETag>)>,
    /// Intents whose claims were written.
    claims: BTreeSet<String>,
    /// A message that is held back.
    held: Option<(QueueName, Bytes, SendOptions)>,
    /// The receipt of the message that was held back.
    receipt: Option<MessageReceipt>,
}

impl<S: AnyStore> Sabotaged<S> {
    pub(super) fn new(store: S, blobs: Arc<HeldBlobs>, sabotage: Sabotage) -> Self {
        Self { store, blobs, sabotage, notes: Mutex::default() }
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What becomes of a write, where that depends on what was read.
    async fn alter(&self, table: &TableName, action: Action) -> Result<Altered> {
        match self.sabotage {
            Sabotage::NoFence | Sabotage::NoIntentOnClaims if self.leaves_out(&action) => {
                // An intent that is there is still met.
                match self.store.get(table, action.key(), &Selection::All).await? {
                    Some(_) => Err(Error::already_exists("an intent is there").with_key(action.key().clone())),
                    None => Ok(Altered::Skip(no_version())),
                }
            }
            Sabotage::SkipsWritesThatLookDone if holds_copies(table) => Ok(self.skip(action)),
            Sabotage::IndexReadAfterMessage if table.as_str() == INDEX_TABLE => {
                Ok(Altered::Write(self.condition_after_message(action)))
            }
            sabotage => Ok(sabotage.alter(table, action)),
        }
    }

    /// Whether a write is a fence that is to be left out: any, or that of an intent whose claim is to be removed.
    fn leaves_out(&self, action: &Action) -> bool {
        let Some(row) = action.entity() else { return false };
        let mut notes = self.notes();
        // The claim is written anew right before.
        notes.claims.extend(kind(row).strip_prefix(reserved::CLAIM_KIND_PREFIX).map(str::to_owned));
        let of_claim = || notes.claims.iter().any(|intent| row.key.row.as_str().ends_with(intent.as_str()));
        is_fence(row) && (self.sabotage == Sabotage::NoFence || of_claim())
    }

    /// Leaves a write out that would change nothing of what was read.
    fn skip(&self, action: Action) -> Altered {
        let notes = self.notes();
        let read = notes.read.get(action.key()).and_then(Option::as_ref);
        match (read, action.entity()) {
            (Some(read), Some(row)) if looks_like(read, row) => {
                Altered::Skip(read.etag.clone().unwrap_or_else(no_version))
            }
            _ => Altered::Write(action),
        }
    }

    /// Makes a write conditional on the version that was there right after the message was sent.
    fn condition_after_message(&self, action: Action) -> Action {
        let notes = self.notes();
        let Some((before, after)) = notes.after_message.get(action.key()).cloned() else { return action };
        let (row, read) = match action {
            Action::Insert(row) => (row, None),
            Action::Replace(row, IfMatch::Version(etag)) => (row, Some(etag)),
            other => return other,
        };
        match if read == before { after } else { read } {
            Some(etag) => Action::Replace(row, IfMatch::Version(etag)),
            None => Action::Insert(row),
        }
    }

    /// Reads the index rows again that were read before a message was sent.
    async fn read_after_message(&self) -> Result<()> {
        let read = std::mem::take(&mut self.notes().read);
        for (key, before) in read {
            let after = self.store.get(&TableName::new(INDEX_TABLE)?, &key, &Selection::All).await?;
            // What was found to be free is checked again, as code with this order would.
            let taken =
                |row: &Option<DynamicEntity>| row.as_ref().is_some_and(|row| kind(row) != reserved::TOMBSTONE_KIND);
            if taken(&after) && owner(after.as_ref()) != owner(before.as_ref()) {
                continue;
            }
            let versions = (before.and_then(|row| row.etag), after.and_then(|row| row.etag));
            self.notes().after_message.insert(key, versions);
        }
        Ok(())
    }

    /// Reads all sources, as code does that has them before it looks for their targets.
    async fn read_sources(&self) -> Result<()> {
        let page = self.store.query(&TableName::new(SOURCE_TABLE)?, &StoreQuery::new(KeyRange::ALL)).await?;
        let sources = page.entities.into_iter().filter(|row| !is_named(&row.key, "~"));
        self.notes().sources = sources.map(|row| (row.key.clone(), Some(row))).collect();
        Ok(())
    }

    /// Sends the message that was held back.
    async fn send_held(&self) -> Result<()> {
        let held = self.notes().held.take();
        if let Some((queue, body, options)) = held {
            let receipt = self.store.send(&queue, body, options).await?;
            self.notes().receipt = Some(receipt);
        }
        Ok(())
    }

    /// The receipt of the message that the code takes for sent.
    fn receipt(&self, receipt: &MessageReceipt) -> MessageReceipt {
        self.notes().receipt.clone().filter(|_| receipt.id.is_empty()).unwrap_or_else(|| receipt.clone())
    }
}

fn is_fence(row: &DynamicEntity) -> bool {
    kind(row) == reserved::FENCE_KIND && is_named(&row.key, "~intent_")
}

/// Whether a row says that the index rows of a target are not yet what they should be.
fn is_intent_of_index(row: &DynamicEntity) -> bool {
    kind(row) == reserved::INTENT_KIND && !is_named(&row.key, "~intent_copy_")
}

fn owner(row: Option<&DynamicEntity>) -> Option<&Value> {
    row.and_then(|row| row.get(reserved::ROW_OWNER.as_str()))
}

/// Whether a message is one that deletes blobs.
fn collects_blobs(body: &[u8]) -> bool {
    body.windows(13).any(|part| part == b"collect-blobs")
}

/// Whether two rows say the same, whoever wrote them and when.
fn looks_like(read: &DynamicEntity, row: &DynamicEntity) -> bool {
    let said = |row: &DynamicEntity| {
        let mut properties = row.properties.clone();
        properties.remove(reserved::ROW_TOKEN.as_str());
        properties
    };
    said(read) == said(row)
}

#[async_trait]
impl<S: AnyStore> TableStore for Sabotaged<S> {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.store.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.store.delete_table(table).await
    }

    async fn list_tables(&self, after: Option<&PageToken>) -> Result<TablePage> {
        self.store.list_tables(after).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, selection: &Selection) -> Result<Option<DynamicEntity>> {
        if table.as_str() == TARGET_TABLE && self.sabotage == Sabotage::SourceReadBeforeTargets {
            self.read_sources().await?;
        }
        if table.as_str() == SOURCE_TABLE
            && let Some(row) = self.notes().sources.get(key)
        {
            return Ok(row.clone());
        }
        let row = self.store.get(table, key, selection).await?;
        if table.as_str() == SOURCE_TABLE {
            self.notes().last_source = Some((key.clone(), row.clone()));
        }
        if holds_copies(table) {
            self.notes().read.insert(key.clone(), row.clone());
        }
        Ok(row.map(|row| self.sabotage.hide(table, row)))
    }

    async fn query(&self, table: &TableName, query: &StoreQuery) -> Result<Page> {
        if table.as_str() == TARGET_TABLE && self.sabotage == Sabotage::SourceReadBeforeTargets {
            self.read_sources().await?;
        }
        let mut page = self.store.query(table, query).await?;
        if self.sabotage == Sabotage::SecondLookBeforeTheIndex && table.as_str() == TARGET_TABLE {
            page.entities.retain(|row| !is_intent_of_index(row));
        }
        if table.as_str() == TARGET_TABLE {
            let read = page.entities.iter().map(|row| (row.key.clone(), Some(row.clone())));
            self.notes().read.extend(read);
        }
        Ok(page)
    }

    async fn write(&self, table: &TableName, operation: Operation) -> Result<Written> {
        match self.alter(table, operation.into_action()).await? {
            Altered::Skip(etag) => Ok(Written { etag: Some(etag) }),
            Altered::Write(action) => {
                let deletes = matches!(action, Action::Delete(..));
                let written = self.store.write(table, Operation::new(action)?).await?;
                // What the code takes for a tombstone has a version.
                Ok(if deletes { Written { etag: Some(no_version()) } } else { written })
            }
        }
    }

    async fn transact(&self, table: &TableName, transaction: Transaction) -> Result<Vec<Written>> {
        let mut operations = Vec::new();
        for operation in transaction.into_operations() {
            if let Altered::Write(action) = self.alter(table, operation.into_action()).await? {
                operations.push(Operation::new(action)?);
            }
        }
        let written = self.store.transact(table, Transaction::new(operations)?).await?;
        if self.sabotage == Sabotage::NoSecondLookAtTheSource && table.as_str() == TARGET_TABLE {
            let mut notes = self.notes();
            let last = notes.last_source.take();
            notes.sources.extend(last);
        }
        self.send_held().await?;
        self.blobs.put_held().await?;
        Ok(written)
    }
}

#[async_trait]
impl<S: AnyStore> QueueStore for Sabotaged<S> {
    async fn create_queue(&self, queue: &QueueName) -> Result<()> {
        self.store.create_queue(queue).await
    }

    async fn delete_queue(&self, queue: &QueueName) -> Result<()> {
        self.store.delete_queue(queue).await
    }

    async fn send(&self, queue: &QueueName, body: Bytes, options: SendOptions) -> Result<MessageReceipt> {
        let is_for_blobs = || String::from_utf8_lossy(&body).contains("collect-list-blobs");
        if self.sabotage == Sabotage::NoMessageForBlobs && is_for_blobs() {
            return Ok(MessageReceipt { id: String::new(), receipt: String::new() });
        }
        if self.sabotage == Sabotage::MessageAfterWrite {
            self.notes().held = Some((queue.clone(), body, options));
            self.notes().receipt = None;
            return Ok(MessageReceipt { id: String::new(), receipt: String::new() });
        }
        let receipt = self.store.send(queue, body, options).await?;
        if self.sabotage == Sabotage::IndexReadAfterMessage {
            self.read_after_message().await?;
        }
        Ok(receipt)
    }

    async fn receive(&self, queue: &QueueName, options: ReceiveOptions) -> Result<Vec<Message>> {
        self.store.receive(queue, options).await
    }

    async fn update_message(
        &self,
        queue: &QueueName,
        receipt: &MessageReceipt,
        visibility: Duration,
        body: Option<Bytes>,
    ) -> Result<MessageReceipt> {
        let visibility = match &body {
            Some(body) if self.sabotage == Sabotage::BlobsDeletedAtOnce && collects_blobs(body) => Duration::ZERO,
            _ => visibility,
        };
        self.store.update_message(queue, &self.receipt(receipt), visibility, body).await
    }

    async fn delete_message(&self, queue: &QueueName, receipt: &MessageReceipt) -> Result<()> {
        self.store.delete_message(queue, &self.receipt(receipt)).await
    }

    async fn peek(&self, queue: &QueueName, count: usize) -> Result<Vec<PeekedMessage>> {
        self.store.peek(queue, count).await
    }

    async fn queue_length(&self, queue: &QueueName) -> Result<u64> {
        self.store.queue_length(queue).await
    }
}
