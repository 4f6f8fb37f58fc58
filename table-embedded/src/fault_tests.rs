//! A disk that fails at the n-th call, for every n of a scenario.

use std::collections::BTreeMap;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use redb::StorageBackend;
use table_core::store::{ReceiveOptions, Selection, SendOptions};
use table_core::{
    Action, DynamicEntity, EntityKey, ErrorKind, Operation, QueueName, QueueStore, TableName, TableStore, Transaction,
};

use crate::backend::Storage;
use crate::options::EmbeddedOptions;
use crate::store::EmbeddedStore;

/// What the disk does at the call that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The write is refused, as when the disk is full.
    Write,
    /// The sync is refused, so what was written before it may be lost.
    Sync,
}

/// A disk in memory: what is written, what is synced, and when it fails; and what a sync waits for.
#[derive(Debug, Clone, Default)]
struct Disk(Arc<Mutex<DiskState>>, Arc<Mutex<()>>);

#[derive(Debug, Default)]
struct DiskState {
    written: Vec<u8>,
    synced: Vec<u8>,
    fault: Option<Fault>,
    /// Calls of the fault's kind until it strikes.
    until: u64,
    /// Once struck, calls of its kind fail until this is turned off.
    broken: bool,
    /// Syncs that were begun.
    syncs: u64,
}

impl From<Vec<u8>> for Disk {
    fn from(bytes: Vec<u8>) -> Self {
        let state = DiskState { written: bytes.clone(), synced: bytes, ..DiskState::default() };
        Self(Arc::new(Mutex::new(state)), Arc::default())
    }
}

impl DiskState {
    fn strike(&mut self, kind: Fault) -> io::Result<()> {
        if self.fault != Some(kind) {
            return Ok(());
        }
        if !self.broken && self.until > 0 {
            self.until -= 1;
            return Ok(());
        }
        self.broken = true;
        Err(io::Error::new(io::ErrorKind::StorageFull, "simulated"))
    }
}

impl Disk {
    fn set_fault(&self, fault: Fault, after: u64) {
        let mut state = self.0.lock().unwrap();
        (state.fault, state.until, state.broken) = (Some(fault), after, false);
    }

    /// The disk works again. Says whether it had failed.
    fn mend(&self) -> bool {
        let mut state = self.0.lock().unwrap();
        state.fault = None;
        std::mem::take(&mut state.broken)
    }

    /// A disk with what a loss of power leaves: only what was synced.
    fn after_power_loss(&self) -> Self {
        self.0.lock().unwrap().synced.clone().into()
    }

    /// A disk with what the end of the process leaves: all that was written.
    fn after_death(&self) -> Self {
        self.0.lock().unwrap().written.clone().into()
    }
}

impl Storage for Disk {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        Ok(Box::new(self.clone()))
    }

    fn size(&self) -> io::Result<u64> {
        self.len()
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().written.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).unwrap();
        let state = self.0.lock().unwrap();
        let bytes = state.written.get(offset..offset + out.len());
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.strike(Fault::Write)?;
        state.written.resize(usize::try_from(len).unwrap(), 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.lock().unwrap().syncs += 1;
        drop(self.1.lock().unwrap());
        let mut state = self.0.lock().unwrap();
        state.strike(Fault::Sync)?;
        state.synced = state.written.clone();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).unwrap();
        let mut state = self.0.lock().unwrap();
        state.strike(Fault::Write)?;
        state.written[offset..offset + data.len()].copy_from_slice(data);
        Ok(())
    }
}

fn table() -> TableName {
    TableName::new("Employees").unwrap()
}

fn queue() -> QueueName {
    QueueName::new("work").unwrap()
}

/// Small, so that one scenario has few calls and every one of them can be made to fail.
fn open(disk: &Disk) -> table_core::Result<EmbeddedStore> {
    EmbeddedStore::open_storage(Box::new(disk.clone()), EmbeddedOptions::new().with_cache_bytes(1 << 20))
}

/// What is known of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Done,
    NotDone,
    Unknown,
}

fn known<T>(result: &table_core::Result<T>) -> Known {
    match result {
        Ok(_) => Known::Done,
        Err(error) if error.outcome_unknown() => Known::Unknown,
        Err(_) => Known::NotDone,
    }
}

/// Three rows in one transaction, the same number in each.
fn transaction(number: i32) -> Transaction {
    let rows = ["a", "b", "c"].map(|row| {
        let entity = DynamicEntity::new(EntityKey::parse("p", &format!("{number:03}{row}")).unwrap());
        Operation::new(Action::Insert(entity.with("Number", number).unwrap())).unwrap()
    });
    Transaction::new(rows.into()).unwrap()
}

/// Writes until the disk has failed, was mended and everything works again.
async fn scenario(store: &EmbeddedStore, disk: &Disk) -> (BTreeMap<i32, Known>, Vec<Known>) {
    let mut transactions = BTreeMap::new();
    let mut messages = Vec::new();
    for number in 0..6 {
        transactions.insert(number, known(&store.transact(&table(), transaction(number)).await));
        messages.push(known(
            &store.send(&queue(), vec![u8::try_from(number).unwrap()].into(), SendOptions::default()).await,
        ));
        if number == 3 {
            disk.mend();
        }
    }
    (transactions, messages)
}

async fn check(store: &EmbeddedStore, transactions: &BTreeMap<i32, Known>, messages: &[Known], context: &str) {
    for (number, known) in transactions {
        let mut there = 0;
        for row in ["a", "b", "c"] {
            let key = EntityKey::parse("p", &format!("{number:03}{row}")).unwrap();
            there += usize::from(store.get(&table(), &key, &Selection::All).await.unwrap().is_some());
        }
        match known {
            Known::Done => assert_eq!(there, 3, "{context}: transaction {number} was acknowledged and lost"),
            Known::NotDone => assert_eq!(there, 0, "{context}: transaction {number} was refused and is there"),
            Known::Unknown => assert!(there == 0 || there == 3, "{context}: transaction {number} is torn"),
        }
    }
    let options = ReceiveOptions::default().with_count(32);
    let received: Vec<u8> =
        store.receive(&queue(), options).await.unwrap().iter().map(|message| message.body[0]).collect();
    for (number, known) in messages.iter().enumerate() {
        let there = received.contains(&u8::try_from(number).unwrap());
        match known {
            Known::Done => assert!(there, "{context}: message {number} was acknowledged and lost"),
            Known::NotDone => assert!(!there, "{context}: message {number} was refused and is there"),
            Known::Unknown => {}
        }
    }
}

async fn prepared() -> (Disk, EmbeddedStore) {
    let disk = Disk::default();
    let store = open(&disk).unwrap();
    store.create_table(&table()).await.unwrap();
    store.create_queue(&queue()).await.unwrap();
    (disk, store)
}

#[tokio::test]
async fn a_write_that_fails_at_any_call_loses_nothing_and_the_store_goes_on() {
    let mut struck = 0;
    for n in 0.. {
        let (disk, store) = prepared().await;
        disk.set_fault(Fault::Write, n);
        let (transactions, messages) = scenario(&store, &disk).await;
        let failed = transactions.values().chain(&messages).any(|known| *known != Known::Done);
        // The store has opened the file again by itself.
        assert_eq!(transactions[&5], Known::Done, "write {n}: {transactions:?}");
        check(&store, &transactions, &messages, &format!("write {n}, same store")).await;
        for (disk, what) in [(disk.after_death(), "death"), (disk.after_power_loss(), "power loss")] {
            check_messages_again(&disk, &transactions, &messages, &format!("write {n}, {what}")).await;
        }
        if !failed {
            break;
        }
        struck += 1;
    }
    assert!(struck > 20, "only {struck} calls failed");
}

/// Receiving hides messages, so a copy of the disk is looked at with a clock that is far ahead.
async fn check_messages_again(disk: &Disk, transactions: &BTreeMap<i32, Known>, messages: &[Known], context: &str) {
    let ahead = table_core::Timestamp::now().saturating_add(std::time::Duration::from_secs(3600));
    let options = EmbeddedOptions::new().with_clock(Arc::new(table_core::ManualClock::new(ahead)));
    let store = EmbeddedStore::open_storage(Box::new(disk.clone()), options).unwrap();
    check(&store, transactions, messages, context).await;
}

#[tokio::test]
async fn a_sync_that_fails_stops_the_store_until_it_is_opened_again() {
    let mut struck = 0;
    for n in 0.. {
        let (disk, store) = prepared().await;
        disk.set_fault(Fault::Sync, n);
        let (transactions, messages) = scenario(&store, &disk).await;
        let failed = transactions.values().chain(&messages).any(|known| *known != Known::Done);
        if failed {
            let error = store.transact(&table(), transaction(9)).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unavailable, "sync {n}");
            assert!(!error.is_retryable() && error.message().contains("reopen"), "sync {n}: {error}");
            let key = EntityKey::parse("p", "000a").unwrap();
            assert!(store.get(&table(), &key, &Selection::All).await.is_err(), "sync {n}: reads go on");
        }
        check_messages_again(&disk.after_power_loss(), &transactions, &messages, &format!("sync {n}, power loss"))
            .await;
        check_messages_again(&disk.after_death(), &transactions, &messages, &format!("sync {n}, death")).await;
        store.reopen().await.unwrap();
        store.transact(&table(), transaction(9)).await.unwrap();
        if !failed {
            break;
        }
        struck += 1;
    }
    assert!(struck > 5, "only {struck} syncs failed");
}

#[tokio::test]
async fn a_full_disk_refuses_writes_until_there_is_room() {
    let (disk, store) = prepared().await;
    store.transact(&table(), transaction(0)).await.unwrap();
    disk.set_fault(Fault::Write, 0);
    for number in 1..4 {
        let error = store.transact(&table(), transaction(number)).await.unwrap_err();
        assert!(error.is_retryable(), "{error:?}");
    }
    disk.mend();
    let key = EntityKey::parse("p", "000a").unwrap();
    assert!(store.get(&table(), &key, &Selection::All).await.unwrap().is_some());
    store.transact(&table(), transaction(4)).await.unwrap();
}

#[tokio::test]
async fn a_read_does_not_wait_for_a_write_that_waits_for_the_disk() {
    let (disk, store) = prepared().await;
    store.transact(&table(), transaction(0)).await.unwrap();
    let (written, new) = (EntityKey::parse("p", "000a").unwrap(), EntityKey::parse("p", "001a").unwrap());
    let table = table();
    let look = |key| store.get(&table, key, &Selection::All).now_or_never().expect("it need not wait").unwrap();
    let mut write = pin!(store.transact(&table, transaction(1)));
    let slow = disk.1.lock().unwrap();
    let before = disk.0.lock().unwrap().syncs;
    assert!((&mut write).now_or_never().is_none());
    while disk.0.lock().unwrap().syncs == before {
        std::thread::yield_now();
    }
    assert!(look(&written).is_some());
    assert!(look(&new).is_none(), "it is not committed yet");
    drop(slow);
    write.await.unwrap();
    assert!(look(&new).is_some());
}

#[tokio::test]
async fn maintenance_beside_a_reader_is_busy() {
    let disk = Disk::default();
    let options = EmbeddedOptions::new().with_maintenance_wait(std::time::Duration::from_millis(20));
    let store = EmbeddedStore::open_storage(Box::new(disk), options).unwrap();
    let reader = Arc::clone(&store.engine().database).read_owned().await;
    assert_eq!(store.compact().await.unwrap_err().kind(), ErrorKind::Busy);
    assert_eq!(store.check(|_| ()).await.unwrap_err().kind(), ErrorKind::Busy);
    assert_eq!(store.reopen().await.unwrap_err().kind(), ErrorKind::Busy);
    drop(reader);
    store.compact().await.unwrap();
    store.check(|_| ()).await.unwrap();
    store.reopen().await.unwrap();
}

#[tokio::test]
async fn a_file_whose_creation_was_cut_short_is_created_anew() {
    for fault in [Fault::Write, Fault::Sync] {
        for after in 0.. {
            let disk = Disk::default();
            disk.set_fault(fault, after);
            if open(&disk).is_ok() && !disk.mend() {
                assert!(after > 1, "creating a file makes several calls");
                break;
            }
            for (end, disk) in [("death", disk.after_death()), ("power loss", disk.after_power_loss())] {
                let store = open(&disk).unwrap_or_else(|error| panic!("{fault:?} {after}, {end}: {error:?}"));
                store.create_table(&table()).await.unwrap();
            }
        }
    }
}
