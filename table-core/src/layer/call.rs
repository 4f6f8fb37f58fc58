//! One call to a store, as a layer sees it.

use crate::dynamic::DynamicEntity;
use crate::keys::{EntityKey, PartitionKey, RowKey};
use crate::names::{QueueName, TableName};
use crate::operation::{Operation, Transaction, Written};
use crate::store::{Message, MessageReceipt, Page, PeekedMessage, StoreQuery, TablePage};

/// What a call is and where it goes, known before it is made. Names and keys are cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) operation: &'static str,
    pub(super) place: Place,
    /// The one partition that the call touches, where it touches one.
    pub(super) partition: Option<PartitionKey>,
    /// The one row that the call touches, where it touches one.
    pub(super) row: Option<RowKey>,
    /// What the call carries to the store.
    pub(super) sent: Traffic,
    /// Whether the store is another after the call, so that a lost answer leaves a doubt.
    pub(super) has_effect: bool,
}

/// The table or queue that a call goes to.
#[derive(Debug, Clone)]
pub(super) enum Place {
    Store,
    Table(TableName),
    Queue(QueueName),
}

/// Entities or messages, and the bytes that the service counts for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Traffic {
    pub(super) entities: u64,
    pub(super) bytes: u64,
}

impl Traffic {
    const NONE: Self = Self { entities: 0, bytes: 0 };

    fn new(entities: usize, bytes: usize) -> Self {
        Self { entities: entities as u64, bytes: bytes as u64 }
    }

    fn sum(entities: impl ExactSizeIterator<Item = usize>) -> Self {
        Self::new(entities.len(), entities.sum())
    }
}

impl Call {
    const fn new(operation: &'static str, place: Place) -> Self {
        Self { operation, place, partition: None, row: None, sent: Traffic::NONE, has_effect: false }
    }

    const fn with_effect(mut self) -> Self {
        self.has_effect = true;
        self
    }

    fn with_key(mut self, key: &EntityKey) -> Self {
        self.partition = Some(key.partition.clone());
        self.row = Some(key.row.clone());
        self
    }

    const fn carrying(mut self, sent: Traffic) -> Self {
        self.sent = sent;
        self
    }

    /// A read that concerns the store as a whole.
    pub(super) const fn read_store(operation: &'static str) -> Self {
        Self::new(operation, Place::Store)
    }

    /// A change of a table as a whole.
    pub(super) fn change_table(operation: &'static str, table: &TableName) -> Self {
        Self::new(operation, Place::Table(table.clone())).with_effect()
    }

    pub(super) fn get(table: &TableName, key: &EntityKey) -> Self {
        Self::new("get", Place::Table(table.clone())).with_key(key)
    }

    pub(super) fn query(table: &TableName, query: &StoreQuery) -> Self {
        let mut call = Self::new("query", Place::Table(table.clone()));
        call.partition = query.range.partition.as_exact().and_then(|exact| PartitionKey::new(exact).ok());
        call
    }

    pub(super) fn write(table: &TableName, operation: &Operation) -> Self {
        Self::new(operation.name(), Place::Table(table.clone()))
            .with_effect()
            .with_key(operation.key())
            .carrying(Traffic::new(1, operation.counted_bytes()))
    }

    pub(super) fn transact(table: &TableName, transaction: &Transaction) -> Self {
        let sent = Traffic::sum(transaction.operations().iter().map(Operation::counted_bytes));
        let mut call = Self::new("transact", Place::Table(table.clone())).with_effect().carrying(sent);
        call.partition = Some(transaction.partition().clone());
        call
    }

    pub(super) fn read_queue(operation: &'static str, queue: &QueueName) -> Self {
        Self::new(operation, Place::Queue(queue.clone()))
    }

    pub(super) fn change_queue(operation: &'static str, queue: &QueueName) -> Self {
        Self::read_queue(operation, queue).with_effect()
    }

    /// A change of a queue that carries a message's body, or leaves the body as it is.
    pub(super) fn change_message(operation: &'static str, queue: &QueueName, body: Option<&bytes::Bytes>) -> Self {
        Self::change_queue(operation, queue).carrying(Traffic::new(1, body.map_or(0, bytes::Bytes::len)))
    }
}

/// What a call answered, as far as layers count it.
pub(super) trait Answer: Send {
    /// What came from the store.
    fn received(&self) -> Traffic {
        Traffic::NONE
    }
}

impl Answer for () {}
impl Answer for u64 {}
impl Answer for TablePage {}
impl Answer for Written {}
impl Answer for Vec<Written> {}
impl Answer for MessageReceipt {}

impl Answer for Option<DynamicEntity> {
    fn received(&self) -> Traffic {
        self.as_ref().map_or(Traffic::NONE, |entity| Traffic::new(1, entity.counted_bytes()))
    }
}

impl Answer for Page {
    fn received(&self) -> Traffic {
        Traffic::sum(self.entities.iter().map(DynamicEntity::counted_bytes))
    }
}

impl Answer for Vec<Message> {
    fn received(&self) -> Traffic {
        Traffic::sum(self.iter().map(|message| message.body.len()))
    }
}

impl Answer for Vec<PeekedMessage> {
    fn received(&self) -> Traffic {
        Traffic::sum(self.iter().map(|message| message.body.len()))
    }
}
