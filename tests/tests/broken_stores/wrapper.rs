//! A memory store of which one call is done otherwise.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use table_core::store::{
    Capabilities, Message, MessageReceipt, Page, PageToken, PeekedMessage, ReceiveOptions, Selection, SendOptions,
    StoreQuery, TablePage,
};
use table_core::{
    DynamicEntity, EntityKey, MemoryStore, Operation, QueueName, QueueStore, Result, TableName, TableStore,
    Transaction, Written,
};

/// A memory store that is broken in one way.
#[derive(Debug)]
pub(crate) struct Broken<B> {
    pub(crate) store: MemoryStore,
    pub(crate) by: B,
}

/// How a table store is broken; what is not said is done right.
#[async_trait]
pub(crate) trait TableBreak: Debug + Send + Sync + 'static {
    /// The name that the store uses for a table.
    fn name(&self, table: &TableName) -> TableName {
        table.clone()
    }

    async fn get(&self, s: &MemoryStore, t: &TableName, k: &EntityKey, e: &Selection) -> Result<Option<DynamicEntity>> {
        s.get(t, k, e).await
    }

    async fn query(&self, s: &MemoryStore, t: &TableName, q: &StoreQuery) -> Result<Page> {
        s.query(t, q).await
    }

    async fn write(&self, s: &MemoryStore, t: &TableName, o: Operation) -> Result<Written> {
        s.write(t, o).await
    }

    async fn transact(&self, s: &MemoryStore, t: &TableName, x: Transaction) -> Result<Vec<Written>> {
        s.transact(t, x).await
    }
}

#[async_trait]
impl<B: TableBreak> TableStore for Broken<B> {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.store.create_table(&self.by.name(table)).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.store.delete_table(&self.by.name(table)).await
    }

    async fn list_tables(&self, after: Option<&PageToken>) -> Result<TablePage> {
        self.store.list_tables(after).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, selection: &Selection) -> Result<Option<DynamicEntity>> {
        self.by.get(&self.store, &self.by.name(table), key, selection).await
    }

    async fn query(&self, table: &TableName, query: &StoreQuery) -> Result<Page> {
        self.by.query(&self.store, &self.by.name(table), query).await
    }

    async fn write(&self, table: &TableName, operation: Operation) -> Result<Written> {
        self.by.write(&self.store, &self.by.name(table), operation).await
    }

    async fn transact(&self, table: &TableName, transaction: Transaction) -> Result<Vec<Written>> {
        self.by.transact(&self.store, &self.by.name(table), transaction).await
    }
}

/// How a queue store is broken; what is not said is done right.
#[async_trait]
pub(crate) trait QueueBreak: Debug + Send + Sync + 'static {
    async fn create(&self, s: &MemoryStore, q: &QueueName) -> Result<()> {
        s.create_queue(q).await
    }

    async fn send(&self, s: &MemoryStore, q: &QueueName, body: Bytes, o: SendOptions) -> Result<MessageReceipt> {
        s.send(q, body, o).await
    }

    async fn receive(&self, s: &MemoryStore, q: &QueueName, o: ReceiveOptions) -> Result<Vec<Message>> {
        s.receive(q, o).await
    }

    async fn update(
        &self,
        s: &MemoryStore,
        q: &QueueName,
        r: &MessageReceipt,
        visibility: Duration,
        body: Option<Bytes>,
    ) -> Result<MessageReceipt> {
        s.update_message(q, r, visibility, body).await
    }

    async fn delete(&self, s: &MemoryStore, q: &QueueName, r: &MessageReceipt) -> Result<()> {
        s.delete_message(q, r).await
    }

    async fn peek(&self, s: &MemoryStore, q: &QueueName, count: usize) -> Result<Vec<PeekedMessage>> {
        s.peek(q, count).await
    }

    async fn length(&self, s: &MemoryStore, q: &QueueName) -> Result<u64> {
        s.queue_length(q).await
    }
}

#[async_trait]
impl<B: QueueBreak> QueueStore for Broken<B> {
    async fn create_queue(&self, queue: &QueueName) -> Result<()> {
        self.by.create(&self.store, queue).await
    }

    async fn delete_queue(&self, queue: &QueueName) -> Result<()> {
        self.store.delete_queue(queue).await
    }

    async fn send(&self, queue: &QueueName, body: Bytes, options: SendOptions) -> Result<MessageReceipt> {
        self.by.send(&self.store, queue, body, options).await
    }

    async fn receive(&self, queue: &QueueName, options: ReceiveOptions) -> Result<Vec<Message>> {
        self.by.receive(&self.store, queue, options).await
    }

    async fn update_message(
        &self,
        queue: &QueueName,
        receipt: &MessageReceipt,
        visibility: Duration,
        body: Option<Bytes>,
    ) -> Result<MessageReceipt> {
        self.by.update(&self.store, queue, receipt, visibility, body).await
    }

    async fn delete_message(&self, queue: &QueueName, receipt: &MessageReceipt) -> Result<()> {
        self.by.delete(&self.store, queue, receipt).await
    }

    async fn peek(&self, queue: &QueueName, count: usize) -> Result<Vec<PeekedMessage>> {
        self.by.peek(&self.store, queue, count).await
    }

    async fn queue_length(&self, queue: &QueueName) -> Result<u64> {
        self.by.length(&self.store, queue).await
    }
}
