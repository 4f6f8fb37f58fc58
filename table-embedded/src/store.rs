//! The embedded store as a table store and a queue store.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use redb::Database;
use table_core::store::kit::{table_of_token, token_of_table};
use table_core::store::{
    Capabilities, Message, MessageReceipt, Page, PageToken, PeekedMessage, ReceiveOptions, Selection, SendOptions,
    StoreQuery, TablePage, check_body, check_count, check_visibility,
};
use table_core::{
    DynamicEntity, EntityKey, Error, Operation, QueueName, QueueStore, Result, TableName, TableStore, Transaction,
    Written, limits,
};
use tokio::sync::OwnedRwLockReadGuard;

use crate::backend::{FileStorage, Storage};
use crate::engine::{Engine, closed};
use crate::options::EmbeddedOptions;
use crate::read::{self, PageRead, Share};
use crate::writer::{Failure, Group, Writer};

/// Entities up to which a page is read on the caller's thread, however large they are.
const SHORT_PAGE: usize = 100;

/// Tables and queues in one durable file.
///
/// Clones share the file; it is closed when the last one is dropped, after all accepted writes.
///
/// ```
/// use std::sync::Arc;
/// use table_core::{DynamicEntity, EntityKey, Table};
/// use table_embedded::EmbeddedStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("embedded-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("employees.redb");
/// let store = EmbeddedStore::open(&path)?;
/// let employees = Table::new(Arc::new(store), "Employees")?;
/// employees.create_if_missing().await?;
/// # drop(employees);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct EmbeddedStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    // Dropped first: it finishes its writes on the engine.
    writer: Writer,
    engine: Arc<Engine>,
}

impl EmbeddedStore {
    /// Opens a file with the default options, or creates it.
    ///
    /// # Errors
    /// [`Busy`](table_core::ErrorKind::Busy) where the file is open already,
    /// [`Unsupported`](table_core::ErrorKind::Unsupported) for a file of another program or a newer
    /// format, [`Corrupted`](table_core::ErrorKind::Corrupted) for one that is damaged or no
    /// database at all. Nothing is overwritten.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        EmbeddedOptions::new().open(path)
    }

    pub(crate) fn open_with(path: &Path, options: EmbeddedOptions) -> Result<Self> {
        Self::open_storage(Box::new(FileStorage::new(path)), options)
    }

    pub(crate) fn open_storage(storage: Box<dyn Storage>, options: EmbeddedOptions) -> Result<Self> {
        let engine = Arc::new(Engine::open(storage, options)?);
        let writer = Writer::start(Arc::clone(&engine))?;
        Ok(Self { inner: Arc::new(Inner { writer, engine }) })
    }

    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.inner.engine
    }

    /// Opens the file anew after a sync failed. What was acknowledged before may be gone.
    ///
    /// It needs the file for itself: it waits for readers for as long as the options say.
    ///
    /// # Errors
    /// [`Busy`](table_core::ErrorKind::Busy) where readers take longer, and as
    /// [`EmbeddedStore::open`].
    pub async fn reopen(&self) -> Result<()> {
        let reopened = self.with_file_alone(Engine::reopen_in);
        reopened.await.map_err(|error| error.with_operation("reopen"))
    }

    /// Does something with the file alone, on a thread that may block, after a bounded wait.
    pub(crate) async fn with_file_alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Engine, &mut Option<Database>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let engine = Arc::clone(self.engine());
        // Dropped with this future: a caller that went away no longer wants the file.
        let caller = Arc::new(());
        let waiting = Arc::downgrade(&caller);
        let done = on_blocking_thread(move || {
            let mut slot = engine.alone(|| waiting.strong_count() > 0)?;
            work(&engine, &mut slot)
        });
        let done = done.await;
        drop(caller);
        done
    }

    /// The open file. One that an I/O error has closed is opened first.
    async fn open_slot(&self) -> Result<OwnedRwLockReadGuard<Option<Database>>> {
        let engine = self.engine();
        engine.check_sync()?;
        // Nearly always it is open, and nobody waits for it alone.
        let slot = match Arc::clone(&engine.database).try_read_owned() {
            Ok(slot) => slot,
            Err(_) => Arc::clone(&engine.database).read_owned().await,
        };
        if slot.is_some() {
            return Ok(slot);
        }
        drop(slot);
        let shared = Arc::clone(engine);
        let mut slot = Arc::clone(&engine.database).write_owned().await;
        on_blocking_thread(move || shared.ensure_open(&mut slot)).await?;
        Ok(Arc::clone(&engine.database).read_owned().await)
    }

    /// Does a short read on this thread.
    async fn read<T>(&self, look: impl FnOnce(&Engine, &Database) -> Result<T>) -> Result<T> {
        let slot = self.open_slot().await?;
        look(self.engine(), slot.as_ref().ok_or_else(closed)?)
    }

    /// Does a long read on a thread that may block.
    pub(crate) async fn read_long<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Engine, &Database) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (engine, slot) = (Arc::clone(self.engine()), self.open_slot().await?);
        on_blocking_thread(move || look(&engine, slot.as_ref().ok_or_else(closed)?)).await
    }

    /// Reads a page: what the cache holds on this thread, giving way to others now and then; and once the file itself
    /// has to be read, the rest on a thread that may block.
    async fn page(&self, table: &TableName, query: &StoreQuery) -> Result<Page> {
        let slot = self.open_slot().await?;
        let mut reading = PageRead::begin(self.engine(), slot.as_ref().ok_or_else(closed)?, table, query)?;
        let short = query.limit.is_some_and(|limit| limit <= SHORT_PAGE) && query.filter.is_none();
        let share = if short { Share::WHOLE } else { Share::SHORT };
        loop {
            let file_reads = self.engine().file_reads();
            if reading.advance(query, share)? {
                return Ok(reading.into_page());
            }
            if self.engine().file_reads() > file_reads {
                break;
            }
            tokio::task::yield_now().await;
        }
        let query = query.clone();
        on_blocking_thread(move || {
            let read = reading.advance(&query, Share::WHOLE);
            let page = reading.into_page();
            // Whoever waits for the file alone must find no reader.
            drop(slot);
            read.map(|_| page)
        })
        .await
    }

    /// Does a write that brings next to no bytes along.
    async fn submit<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Group<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T> {
        self.submit_bytes(0, work).await
    }

    /// Does a write that brings so many bytes along.
    async fn submit_bytes<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce(&mut Group<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T> {
        self.inner.writer.submit(bytes, work).await
    }
}

/// Runs on tokio's blocking threads, or here where there is no tokio.
pub(crate) async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::runtime::Handle::try_current() {
        Err(_) => work(),
        Ok(runtime) => match runtime.spawn_blocking(work).await {
            Ok(result) => result,
            Err(stopped) => {
                Err(Error::new(table_core::ErrorKind::Unavailable, "the runtime is shutting down").with_source(stopped))
            }
        },
    }
}

#[async_trait]
impl TableStore for EmbeddedStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::table_service()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        let table = table.clone();
        self.submit(move |group| group.create_table(table)).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        let table = table.clone();
        self.submit(move |group| group.delete_table(table)).await
    }

    async fn list_tables(&self, after: Option<&PageToken>) -> Result<TablePage> {
        let start = after.map(table_of_token).transpose().map_err(|error| error.with_operation("list_tables"))?;
        self.engine().check_sync()?;
        let mut names: Vec<TableName> = self.engine().read_catalog(|catalog| {
            catalog.tables.keys().filter(|name| start.as_ref().is_none_or(|start| *name >= start)).cloned().collect()
        });
        names.sort_unstable();
        let next = names.get(limits::PAGE_ENTITIES).map(token_of_table);
        names.truncate(limits::PAGE_ENTITIES);
        Ok(TablePage { tables: names, next })
    }

    async fn get(&self, table: &TableName, key: &EntityKey, selection: &Selection) -> Result<Option<DynamicEntity>> {
        let found = self.read(|engine, database| read::get(engine, database, table, key, selection));
        found.await.map_err(|error| error.with_operation("get").with_table(table.as_str()).with_key(key.clone()))
    }

    async fn query(&self, table: &TableName, query: &StoreQuery) -> Result<Page> {
        let page = self.page(table, query).await;
        page.map_err(|error| error.with_operation("query").with_table(table.as_str()))
    }

    async fn write(&self, table: &TableName, operation: Operation) -> Result<Written> {
        let name = operation.name();
        let key = operation.key().clone();
        let to = table.clone();
        let written = self.submit_bytes(operation.counted_bytes(), move |group| {
            group.write_rows(&to, vec![operation], name).map_err(|(_, failure)| failure)
        });
        let located = |error: Error| error.with_operation(name).with_table(table.as_str()).with_key(key);
        let mut written = written.await.map_err(located)?;
        written.pop().ok_or_else(|| Error::corrupted("a write gave no answer"))
    }

    async fn transact(&self, table: &TableName, transaction: Transaction) -> Result<Vec<Written>> {
        let to = table.clone();
        let bytes = transaction.operations().iter().map(Operation::counted_bytes).sum();
        let written = self.submit_bytes(bytes, move |group| {
            let written = group.write_rows(&to, transaction.into_operations(), "transact");
            written.map_err(|(index, failure)| match failure {
                Failure::Refused(error) if error.key().is_some() => error.with_operation_index(index).into(),
                failure => failure,
            })
        });
        written.await.map_err(|error| error.with_operation("transact").with_table(table.as_str()))
    }
}

#[async_trait]
impl QueueStore for EmbeddedStore {
    async fn create_queue(&self, queue: &QueueName) -> Result<()> {
        let queue = queue.clone();
        self.submit(move |group| group.create_queue(queue)).await
    }

    async fn delete_queue(&self, queue: &QueueName) -> Result<()> {
        let queue = queue.clone();
        self.submit(move |group| group.delete_queue(queue)).await
    }

    async fn send(&self, queue: &QueueName, body: Bytes, options: SendOptions) -> Result<MessageReceipt> {
        options.check(&body).map_err(locate("send", queue))?;
        let to = queue.clone();
        let sent = self.submit_bytes(body.len(), move |group| group.send(&to, body, options));
        sent.await.map_err(locate("send", queue))
    }

    async fn receive(&self, queue: &QueueName, options: ReceiveOptions) -> Result<Vec<Message>> {
        options.check().map_err(locate("receive", queue))?;
        loop {
            let from = queue.clone();
            let received = self.submit(move |group| group.receive(&from, options)).await;
            // Only expired messages were met. Each turn removes some, and others write in between.
            if let Some(messages) = received.map_err(locate("receive", queue))? {
                return Ok(messages);
            }
        }
    }

    async fn update_message(
        &self,
        queue: &QueueName,
        receipt: &MessageReceipt,
        visibility: Duration,
        body: Option<Bytes>,
    ) -> Result<MessageReceipt> {
        let located = locate("update_message", queue);
        check_visibility(visibility).and_then(|()| body.as_ref().map_or(Ok(()), check_body)).map_err(&located)?;
        let (from, receipt) = (queue.clone(), receipt.clone());
        let bytes = body.as_ref().map_or(0, Bytes::len);
        let updated = self.submit_bytes(bytes, move |group| group.update_message(&from, &receipt, visibility, body));
        updated.await.map_err(located)
    }

    async fn delete_message(&self, queue: &QueueName, receipt: &MessageReceipt) -> Result<()> {
        let (from, receipt) = (queue.clone(), receipt.clone());
        let deleted = self.submit(move |group| group.delete_message(&from, &receipt));
        deleted.await.map_err(locate("delete_message", queue))
    }

    async fn peek(&self, queue: &QueueName, count: usize) -> Result<Vec<PeekedMessage>> {
        check_count(count).map_err(locate("peek", queue))?;
        let peeked = self.read(|engine, database| {
            let entry = engine.queue(queue, "peek")?;
            read::peek(database, &entry, queue, count, engine.stamps().now())
        });
        peeked.await.map_err(locate("peek", queue))
    }

    async fn queue_length(&self, queue: &QueueName) -> Result<u64> {
        let length = self.read(|engine, database| {
            let entry = engine.queue(queue, "queue_length")?;
            read::queue_length(database, &entry, queue, engine.stamps().now())
        });
        length.await.map_err(locate("queue_length", queue))
    }
}

fn locate<'a>(operation: &'static str, queue: &'a QueueName) -> impl Fn(Error) -> Error + 'a {
    move |error| error.with_operation(operation).with_table(queue.as_str())
}
