//! Sixteen tasks on one memory store, on real threads.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use table_core::keys::KeyRange;
use table_core::store::{ReceiveOptions, Selection, SendOptions, StoreQuery};
use table_core::{
    Action, DynamicEntity, EntityKey, ErrorKind, IfMatch, MemoryStore, Operation, PartitionKey, QueueName, QueueStore,
    TableName, TableStore, Transaction, Value,
};

const TASKS: i32 = 16;
const ROUNDS: i32 = 200;

async fn store() -> (MemoryStore, TableName) {
    let (store, table) = (MemoryStore::new(), TableName::new("Counters").unwrap());
    store.create_table(&table).await.unwrap();
    (store, table)
}

fn row(row: &str, n: i32) -> DynamicEntity {
    DynamicEntity::new(EntityKey::parse("p", row).unwrap()).with("N", n).unwrap()
}

fn number(row: &DynamicEntity) -> i32 {
    match row.get("N") {
        Some(Value::Int32(number)) => *number,
        other => panic!("not a number: {other:?}"),
    }
}

fn transaction(actions: impl IntoIterator<Item = Action>) -> Transaction {
    Transaction::new(actions.into_iter().map(|action| Operation::new(action).unwrap()).collect()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_etag_loop_loses_no_update() {
    let (store, table) = store().await;
    store.write(&table, Operation::new(Action::Insert(row("1", 0))).unwrap()).await.unwrap();
    let tasks = (0..TASKS).map(|_| {
        let (store, table) = (store.clone(), table.clone());
        tokio::spawn(async move {
            let mut etags = Vec::new();
            while etags.len() < usize::try_from(ROUNDS).unwrap() {
                let read = store.get(&table, &row("1", 0).key, &Selection::All).await.unwrap().unwrap();
                let next = row("1", number(&read) + 1);
                let action = Action::Replace(next, IfMatch::Version(read.etag.unwrap()));
                match store.write(&table, Operation::new(action).unwrap()).await {
                    Ok(written) => etags.push(written.etag.unwrap()),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::PreconditionFailed),
                }
                tokio::task::yield_now().await;
            }
            etags
        })
    });
    let mut etags = HashSet::new();
    for task in tasks.collect::<Vec<_>>() {
        for etag in task.await.unwrap() {
            assert!(etags.insert(etag), "two writes were given one ETag");
        }
    }
    let read = store.get(&table, &row("1", 0).key, &Selection::All).await.unwrap().unwrap();
    assert_eq!(number(&read), TASKS * ROUNDS);
}

/// Half of the tasks move an amount between rows of a partition, the others add the rows up.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reader_sees_whole_transactions_only() {
    const ROWS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
    let (store, table) = store().await;
    store.transact(&table, transaction(ROWS.map(|name| Action::Insert(row(name, 100))))).await.unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let partition = KeyRange::partition(&PartitionKey::new("p").unwrap());

    let readers: Vec<_> = (0..TASKS / 2)
        .map(|_| {
            let (store, table, done, range) = (store.clone(), table.clone(), done.clone(), partition.clone());
            tokio::spawn(async move {
                let mut pages = 0;
                while !done.load(Ordering::Relaxed) || pages == 0 {
                    let page = store.query(&table, &StoreQuery::new(range.clone())).await.unwrap();
                    assert_eq!(page.entities.len(), ROWS.len());
                    assert_eq!(page.entities.iter().map(number).sum::<i32>(), 600, "a page shows half a transaction");
                    pages += 1;
                    tokio::task::yield_now().await;
                }
                pages
            })
        })
        .collect();
    let writers: Vec<_> = (0..TASKS / 2)
        .map(|writer| {
            let (store, table, range) = (store.clone(), table.clone(), partition.clone());
            tokio::spawn(async move {
                let from = usize::try_from(writer).unwrap() % ROWS.len();
                let to = (from + 1) % ROWS.len();
                let mut moved = 0;
                while moved < ROUNDS {
                    let page = store.query(&table, &StoreQuery::new(range.clone())).await.unwrap();
                    let change = |at: usize, by: i32| {
                        let read = &page.entities[at];
                        let next = row(ROWS[at], number(read) + by);
                        Action::Replace(next, IfMatch::Version(read.etag.clone().unwrap()))
                    };
                    match store.transact(&table, transaction([change(from, -1), change(to, 1)])).await {
                        Ok(_) => moved += 1,
                        Err(error) => assert_eq!(error.kind(), ErrorKind::PreconditionFailed),
                    }
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    for reader in readers {
        assert!(reader.await.unwrap() > 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_message_is_held_by_one_worker_and_done_once() {
    let store = MemoryStore::new();
    let queue = QueueName::new("work").unwrap();
    store.create_queue(&queue).await.unwrap();
    for number in 0..TASKS * 20 {
        store.send(&queue, number.to_string().into(), SendOptions::default()).await.unwrap();
    }
    let tasks = (0..TASKS).map(|_| {
        let (store, queue) = (store.clone(), queue.clone());
        tokio::spawn(async move {
            let mut done = Vec::new();
            loop {
                let messages = store.receive(&queue, ReceiveOptions::default().with_count(3)).await.unwrap();
                if messages.is_empty() {
                    return done;
                }
                for message in messages {
                    store.delete_message(&queue, &message.receipt).await.unwrap();
                    done.push(message.body);
                }
                tokio::task::yield_now().await;
            }
        })
    });
    let mut bodies = HashSet::new();
    for task in tasks.collect::<Vec<_>>() {
        for body in task.await.unwrap() {
            assert!(bodies.insert(body), "a message was done twice");
        }
    }
    assert_eq!(bodies.len(), usize::try_from(TASKS * 20).unwrap());
    assert_eq!(store.queue_length(&queue).await.unwrap(), 0);
}
