//! Readers beside a writer, and callers beside any runtime.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use table_core::store::Selection;
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
