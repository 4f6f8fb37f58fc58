//! A layer that asks for its turn before every call: by it a test decides who goes when, and the
//! explorer who goes next, who dies and which answers are lost.

use std::fmt;
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

/// A call that is about to be made.
#[derive(Debug, Clone, Copy)]
pub struct Call<'c> {
    /// Its name, such as `insert`.
    pub name: &'static str,
    /// The table or queue that it goes to.
    pub place: &'c str,
    /// The row that it concerns, or the first of several.
    pub key: Option<&'c EntityKey>,
}

impl<'c> Call<'c> {
    /// A call that concerns no single row.
    #[must_use]
    pub const fn new(name: &'static str, place: &'c str) -> Self {
        Self { name, place, key: None }
    }

    const fn on(self, key: &'c EntityKey) -> Self {
        Self { key: Some(key), ..self }
    }
}

/// Who decides when a call may go on.
pub trait Turn: fmt::Debug + Send + Sync + 'static {
    /// Waits until the call may go on; an error is its answer instead.
    ///
    /// # Errors
    /// Whatever the call is to fail with.
    fn before(&self, call: Call<'_>) -> impl Future<Output = Result<()>> + Send;

    /// Comes after the effect of a call; an error is its answer instead.
    ///
    /// # Errors
    /// Whatever the caller is to be told.
    fn after(&self, call: Call<'_>) -> Result<()> {
        let _ = call;
        Ok(())
    }
}

/// Whoever asks it may go on at once.
#[derive(Debug, Clone, Copy)]
pub struct AnyTurn;

impl Turn for AnyTurn {
    async fn before(&self, _: Call<'_>) -> Result<()> {
        Ok(())
    }
}

/// A store each of whose calls waits for its turn.
#[derive(Debug, Clone)]
pub struct Gate<S, T> {
    store: S,
    turn: T,
}

impl<S, T: Turn> Gate<S, T> {
    /// Wraps a store.
    pub const fn new(store: S, turn: T) -> Self {
        Self { store, turn }
    }

    async fn pass<A>(&self, call: Call<'_>, work: impl Future<Output = Result<A>> + Send) -> Result<A> {
        self.turn.before(call).await?;
        let answer = work.await;
        self.turn.after(call)?;
        answer
    }
}

impl<T: Turn> Turn for std::sync::Arc<T> {
    fn before(&self, call: Call<'_>) -> impl Future<Output = Result<()>> + Send {
        (**self).before(call)
    }

    fn after(&self, call: Call<'_>) -> Result<()> {
        (**self).after(call)
    }
}

#[async_trait]
impl<S: TableStore, T: Turn> TableStore for Gate<S, T> {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.pass(Call::new("create_table", table.as_str()), self.store.create_table(table)).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.pass(Call::new("delete_table", table.as_str()), self.store.delete_table(table)).await
    }

    async fn list_tables(&self, after: Option<&PageToken>) -> Result<TablePage> {
        self.pass(Call::new("list_tables", ""), self.store.list_tables(after)).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, selection: &Selection) -> Result<Option<DynamicEntity>> {
        self.pass(Call::new("get", table.as_str()).on(key), self.store.get(table, key, selection)).await
    }

    async fn query(&self, table: &TableName, query: &StoreQuery) -> Result<Page> {
        self.pass(Call::new("query", table.as_str()), self.store.query(table, query)).await
    }

    async fn write(&self, table: &TableName, operation: Operation) -> Result<Written> {
        let key = operation.key().clone();
        let call = Call::new(operation.name(), table.as_str()).on(&key);
        self.pass(call, self.store.write(table, operation)).await
    }

    async fn transact(&self, table: &TableName, transaction: Transaction) -> Result<Vec<Written>> {
        let key = transaction.operations().first().map(|first| first.key().clone());
        let call = Call { key: key.as_ref(), ..Call::new("transact", table.as_str()) };
        self.pass(call, self.store.transact(table, transaction)).await
    }
}

#[async_trait]
impl<S: QueueStore, T: Turn> QueueStore for Gate<S, T> {
    async fn create_queue(&self, queue: &QueueName) -> Result<()> {
        self.pass(Call::new("create_queue", queue.as_str()), self.store.create_queue(queue)).await
    }

    async fn delete_queue(&self, queue: &QueueName) -> Result<()> {
        self.pass(Call::new("delete_queue", queue.as_str()), self.store.delete_queue(queue)).await
    }

    async fn send(&self, queue: &QueueName, body: Bytes, options: SendOptions) -> Result<MessageReceipt> {
        self.pass(Call::new("send", queue.as_str()), self.store.send(queue, body, options)).await
    }

    async fn receive(&self, queue: &QueueName, options: ReceiveOptions) -> Result<Vec<Message>> {
        self.pass(Call::new("receive", queue.as_str()), self.store.receive(queue, options)).await
    }

    async fn update_message(
        &self,
        queue: &QueueName,
        receipt: &MessageReceipt,
        visibility: Duration,
        body: Option<Bytes>,
    ) -> Result<MessageReceipt> {
        self.pass(
            Call::new("update_message", queue.as_str()),
            self.store.update_message(queue, receipt, visibility, body),
        )
        .await
    }

    async fn delete_message(&self, queue: &QueueName, receipt: &MessageReceipt) -> Result<()> {
        self.pass(Call::new("delete_message", queue.as_str()), self.store.delete_message(queue, receipt)).await
    }

    async fn peek(&self, queue: &QueueName, count: usize) -> Result<Vec<PeekedMessage>> {
        self.pass(Call::new("peek", queue.as_str()), self.store.peek(queue, count)).await
    }

    async fn queue_length(&self, queue: &QueueName) -> Result<u64> {
        self.pass(Call::new("queue_length", queue.as_str()), self.store.queue_length(queue)).await
    }
}
