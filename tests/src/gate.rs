//! A layer that asks for its turn before every call: by it a test decides who goes when.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use table_core::store::{
    Capabilities, Message, MessageReceipt, Page, PageToken, PeekedMessage, ReceiveOptions, Selection, SendOptions,
    StoreQuery, TablePage,
};
use table_core::{
    DynamicEntity, EntityKey, Operation, QueueName, QueueStore, Result, TableName, TableStore, Transaction, Written,
};

/// Who decides when a call may go on.
#[async_trait]
pub trait Turn: fmt::Debug + Send + Sync + 'static {
    /// Waits until the call may go on; an error is its answer instead.
    ///
    /// # Errors
    /// Whatever the call is to fail with.
    async fn turn(&self, call: &'static str) -> Result<()>;
}

/// A store each of whose calls waits for its turn.
#[derive(Debug, Clone)]
pub struct Gate<S> {
    store: S,
    turn: Arc<dyn Turn>,
}

impl<S> Gate<S> {
    /// Wraps a store.
    pub fn new(store: S, turn: Arc<dyn Turn>) -> Self {
        Self { store, turn }
    }
}

#[async_trait]
impl<S: TableStore> TableStore for Gate<S> {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.turn.turn("create_table").await?;
        self.store.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.turn.turn("delete_table").await?;
        self.store.delete_table(table).await
    }

    async fn list_tables(&self, after: Option<&PageToken>) -> Result<TablePage> {
        self.turn.turn("list_tables").await?;
        self.store.list_tables(after).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, selection: &Selection) -> Result<Option<DynamicEntity>> {
        self.turn.turn("get").await?;
        self.store.get(table, key, selection).await
    }

    async fn query(&self, table: &TableName, query: &StoreQuery) -> Result<Page> {
        self.turn.turn("query").await?;
        self.store.query(table, query).await
    }

    async fn write(&self, table: &TableName, operation: Operation) -> Result<Written> {
        self.turn.turn(operation.name()).await?;
        self.store.write(table, operation).await
    }

    async fn transact(&self, table: &TableName, transaction: Transaction) -> Result<Vec<Written>> {
        self.turn.turn("transact").await?;
        self.store.transact(table, transaction).await
    }
}

#[async_trait]
impl<S: QueueStore> QueueStore for Gate<S> {
    async fn create_queue(&self, queue: &QueueName) -> Result<()> {
        self.turn.turn("create_queue").await?;
        self.store.create_queue(queue).await
    }

    async fn delete_queue(&self, queue: &QueueName) -> Result<()> {
        self.turn.turn("delete_queue").await?;
        self.store.delete_queue(queue).await
    }

    async fn send(&self, queue: &QueueName, body: Bytes, options: SendOptions) -> Result<MessageReceipt> {
        self.turn.turn("send").await?;
        self.store.send(queue, body, options).await
    }

    async fn receive(&self, queue: &QueueName, options: ReceiveOptions) -> Result<Vec<Message>> {
        self.turn.turn("receive").await?;
        self.store.receive(queue, options).await
    }

    async fn update_message(
        &self,
        queue: &QueueName,
        receipt: &MessageReceipt,
        visibility: Duration,
        body: Option<Bytes>,
    ) -> Result<MessageReceipt> {
        self.turn.turn("update_message").await?;
        self.store.update_message(queue, receipt, visibility, body).await
    }

    async fn delete_message(&self, queue: &QueueName, receipt: &MessageReceipt) -> Result<()> {
        self.turn.turn("delete_message").await?;
        self.store.delete_message(queue, receipt).await
    }

    async fn peek(&self, queue: &QueueName, count: usize) -> Result<Vec<PeekedMessage>> {
        self.turn.turn("peek").await?;
        self.store.peek(queue, count).await
    }

    async fn queue_length(&self, queue: &QueueName) -> Result<u64> {
        self.turn.turn("queue_length").await?;
        self.store.queue_length(queue).await
    }
}
