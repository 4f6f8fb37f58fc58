//! Readers beside a writer, and callers beside any runtime.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Poll, Waker};

use futures_util::FutureExt;
use futures_util::future::join_all;
use table_core::keys::{KeyRange, Span};
use table_core::store::{Selection, StoreQuery};
use table_core::{Action, DynamicEntity, EntityKey, Operation, TableName, TableStore};
use table_embedded::{Durability, EmbeddedOptions, EmbeddedStore};

/// Rows keep property names as numbers; a reader must know every number that it can meet.
#[test]
fn a_reader_knows_the_property_names_of_every_row_that_it_sees() {
    const READERS: usize = 8;
    const NEW_NAMES: usize = 3_000;
    let folder = tempfile::tempdir().unwrap();
    let options = EmbeddedOptions::new().with_durability(Durability::Relaxed);
    let store = options.open(folder.path().join("store.redb")).unwrap();
    let table = TableName::new("Series").unwrap();
    let key = EntityKey::parse("p", "r").unwrap();
    let runtime = || tokio::runtime::Builder::new_current_thread().build().unwrap();
    let write = |name: String| {
        let row = DynamicEntity::new(key.clone()).with(&name, 1).unwrap();
        let operation = Operation::new(Action::InsertOrReplace(row)).unwrap();
        runtime().block_on(store.write(&table, operation)).unwrap();
    };
    runtime().block_on(store.create_table(&table)).unwrap();
    write("First".to_owned());

    let done = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|_| {
                scope.spawn(|| {
                    let runtime = runtime();
                    while !done.load(Ordering::Relaxed) {
                        let row = runtime.block_on(store.get(&table, &key, &Selection::All))?;
                        assert_eq!(row.unwrap().properties.len(), 1);
                    }
                    Ok::<_, table_core::Error>(())
                })
            })
            .collect();
        (0..NEW_NAMES).for_each(|number| write(format!("Slot{number}")));
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap().unwrap();
        }
    });
}

/// A runtime need not have timers, and a future need not have a runtime.
#[test]
fn maintenance_needs_no_timer_and_no_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(folder.path().join("store.redb")).unwrap();
    let without_timers = tokio::runtime::Builder::new_current_thread().build().unwrap();
    without_timers.block_on(store.compact()).unwrap();
    let mut check = pin!(store.check(|_| ()));
    let mut context = Context::from_waker(Waker::noop());
    let Poll::Ready(report) = check.as_mut().poll(&mut context) else { panic!("nothing to wait for") };
    assert_eq!(report.unwrap().rows, 0);
}

fn insert(number: usize) -> Operation {
    let key = EntityKey::parse("p", &format!("{number:06}")).unwrap();
    Operation::new(Action::Insert(DynamicEntity::new(key))).unwrap()
}

async fn rows(store: &EmbeddedStore, table: &TableName) -> usize {
    store.query(table, &StoreQuery::new(KeyRange::ALL)).await.unwrap().entities.len()
}

/// Does something with a store of a thousand small rows in `p` and five large ones in `q`, whose runtime has one thread that
/// may block, and that one busy until the channel is told.
fn with_the_blocking_thread_busy(
    options: EmbeddedOptions,
    work: impl AsyncFnOnce(EmbeddedStore, TableName, Sender<()>),
) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let table = TableName::new("Staff").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let store = options.with_durability(Durability::Relaxed).open(path).unwrap();
        store.create_table(&table).await.unwrap();
        for result in join_all((0..1000).map(|number| store.write(&table, insert(number)))).await {
            result.unwrap();
        }
        for number in 0..5 {
            let row = DynamicEntity::new(EntityKey::parse("q", &format!("{number}")).unwrap());
            let row = row.with("Photo", vec![0_u8; 60_000]).unwrap();
            store.write(&table, Operation::new(Action::Insert(row)).unwrap()).await.unwrap();
        }
        let (release, released) = channel();
        let busy = tokio::task::spawn_blocking(move || released.recv());
        work(store, table, release).await;
        busy.await.unwrap().unwrap();
    });
}

/// A short read answers when it is first asked, and a long one gives way to others in between.
#[test]
fn a_long_scan_gives_way_and_a_short_read_does_not() {
    with_the_blocking_thread_busy(EmbeddedOptions::new(), async |store, table, release| {
        let key = EntityKey::parse("p", "000007").unwrap();
        assert!(store.get(&table, &key, &Selection::All).now_or_never().expect("at once").unwrap().is_some());
        let short = StoreQuery { limit: Some(10), ..StoreQuery::new(KeyRange::ALL) };
        assert_eq!(store.query(&table, &short).now_or_never().expect("at once").unwrap().entities.len(), 10);
        // Few rows without a limit, and few large ones with one.
        let few = KeyRange { partition: Span::exact("p"), row: Span::prefix("00000") };
        assert_eq!(
            store.query(&table, &StoreQuery::new(few)).now_or_never().expect("at once").unwrap().entities.len(),
            10
        );
        let large = KeyRange { partition: Span::exact("q"), row: Span::ALL };
        let large = StoreQuery { limit: Some(10), ..StoreQuery::new(large) };
        assert_eq!(store.query(&table, &large).now_or_never().expect("at once").unwrap().entities.len(), 5);

        let long = StoreQuery::new(KeyRange::ALL);
        let mut long = pin!(store.query(&table, &long));
        assert!((&mut long).now_or_never().is_none(), "a scan held the thread of its caller");
        let page = (0..100).find_map(|_| (&mut long).now_or_never()).expect("in a few turns");
        assert_eq!(page.unwrap().entities.len(), 1000, "the first page");
        release.send(()).unwrap();
    });
}

/// Without a cache each page comes from the file, which may be slow.
#[test]
fn a_long_scan_that_reads_the_file_leaves_the_callers_thread() {
    with_the_blocking_thread_busy(EmbeddedOptions::new().with_cache_bytes(0), async |store, table, release| {
        let long = StoreQuery::new(KeyRange::ALL);
        let mut long = pin!(store.query(&table, &long));
        for _ in 0..100 {
            assert!((&mut long).now_or_never().is_none(), "a scan read the file on the thread of its caller");
        }
        release.send(()).unwrap();
        assert_eq!(long.await.unwrap().entities.len(), 1000, "the first page");
    });
}

#[tokio::test]
async fn what_was_accepted_is_finished_when_the_store_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let table = TableName::new("Staff").unwrap();
    let store = EmbeddedStore::open(&path).unwrap();
    store.create_table(&table).await.unwrap();
    // Each is handed over, and nobody waits for its answer.
    for number in 0..100 {
        let handed_over = store.write(&table, insert(number)).now_or_never();
        assert!(handed_over.is_none_or(|written| written.is_ok()));
    }
    drop(store);
    let store = EmbeddedStore::open(&path).unwrap();
    assert_eq!(rows(&store, &table).await, 100);
}

#[tokio::test]
async fn more_writers_than_may_wait_are_all_served() {
    let folder = tempfile::tempdir().unwrap();
    let options = EmbeddedOptions::new().with_queued_writes(2).with_durability(Durability::Relaxed);
    let store = options.open(folder.path().join("store.redb")).unwrap();
    let table = TableName::new("Staff").unwrap();
    store.create_table(&table).await.unwrap();
    for result in join_all((0..200).map(|number| store.write(&table, insert(number)))).await {
        result.unwrap();
    }
    assert_eq!(rows(&store, &table).await, 200);
}
