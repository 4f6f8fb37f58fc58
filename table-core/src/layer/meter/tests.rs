use bytes::Bytes;

use super::*;
use crate::keys::KeyRange;
use crate::layer::testing::{delete, employees, insert, intents, key, row, row_with};
use crate::operation::{IfMatch, Transaction};
use crate::store::{QueueStore, ReceiveOptions, Selection, SendOptions, StoreQuery, TableStore};
use crate::{DynamicEntity, EntityKey, MemoryStore};

async fn store() -> Meter<MemoryStore> {
    let store = Meter::new(MemoryStore::new());
    store.create_table(&employees()).await.unwrap();
    store.create_queue(&intents()).await.unwrap();
    store.reset();
    store
}

#[tokio::test]
async fn writes_and_reads_are_counted_by_operation() {
    let store = store().await;
    let bytes = row_with("1", 1).counted_bytes() as u64;
    store.write(&employees(), insert(row_with("1", 1))).await.unwrap();
    store.get(&employees(), &key("1"), &Selection::All).await.unwrap();
    store.get(&employees(), &key("missing"), &Selection::All).await.unwrap();

    let report = store.report();
    let inserts = Tally { transactions: 1, entities_written: 1, bytes_written: bytes, ..Tally::default() };
    let gets = Tally { transactions: 2, entities_read: 1, bytes_read: bytes, ..Tally::default() };
    assert_eq!(report.operations().collect::<Vec<_>>(), [("get", gets), ("insert", inserts)]);
    assert_eq!(report.total().transactions, 3);
}

#[tokio::test]
async fn a_transaction_is_one_storage_transaction_with_many_entities() {
    let store = store().await;
    let operations = (0..100).map(|number| insert(row(&number.to_string()))).collect();
    store.transact(&employees(), Transaction::new(operations).unwrap()).await.unwrap();
    let page = store.query(&employees(), &StoreQuery::new(KeyRange::ALL)).await.unwrap();
    assert_eq!(page.entities.len(), 100);

    let report = store.report();
    assert_eq!((report.operation("transact").transactions, report.operation("transact").entities_written), (1, 100));
    assert_eq!((report.operation("query").transactions, report.operation("query").entities_read), (1, 100));
}

#[tokio::test]
async fn a_failure_counts_as_a_request_and_writes_nothing() {
    let store = store().await;
    store.write(&employees(), delete("missing", IfMatch::Any)).await.unwrap_err();
    assert_eq!(store.report().total(), Tally { transactions: 1, failures: 1, ..Tally::default() });
}

#[tokio::test]
async fn a_call_that_is_given_up_counts_as_a_request() {
    let store = store().await;
    let never = store.around(Call::read_store("list_tables"), std::future::pending::<Result<()>>());
    tokio::select! {
        biased;
        _ = never => panic!("it never ends"),
        () = async {} => {}
    }
    assert_eq!(store.report().total(), Tally { transactions: 1, ..Tally::default() });
}

#[tokio::test]
async fn queue_calls_count_messages_and_their_bytes() {
    let store = store().await;
    store.send(&intents(), Bytes::from_static(b"12345"), SendOptions::default()).await.unwrap();
    let message = store.receive(&intents(), ReceiveOptions::default()).await.unwrap().remove(0);
    store.delete_message(&intents(), &message.receipt).await.unwrap();

    let report = store.report();
    assert_eq!((report.operation("send").entities_written, report.operation("send").bytes_written), (1, 5));
    assert_eq!((report.operation("receive").entities_read, report.operation("receive").bytes_read), (1, 5));
    assert_eq!(report.operation("delete_message").transactions, 1);
    assert_eq!(report.elsewhere().transactions, 3);
}

#[tokio::test]
async fn partitions_beyond_the_bound_are_counted_together() {
    let store = Meter::new(MemoryStore::new()).with_most_partitions(2);
    store.create_table(&employees()).await.unwrap();
    for partition in ["A", "B", "C", "A", "D"] {
        let key = EntityKey::parse(partition, &store.report().total().transactions.to_string()).unwrap();
        store.write(&employees(), insert(DynamicEntity::new(key))).await.unwrap();
    }
    let report = store.report();
    let partitions: Vec<_> =
        report.partitions().map(|(at, tally)| (at.partition.as_str(), tally.entities_written)).collect();
    assert_eq!(partitions, [("A", 2), ("B", 1)]);
    assert_eq!(report.elsewhere().entities_written, 2);
}

#[tokio::test]
async fn a_query_of_one_partition_counts_for_it_and_a_scan_elsewhere() {
    let store = store().await;
    store.query(&employees(), &StoreQuery::new(KeyRange::partition(&key("1").partition))).await.unwrap();
    store.query(&employees(), &StoreQuery::new(KeyRange::ALL)).await.unwrap();
    let report = store.report();
    assert_eq!(report.partitions().map(|(_, tally)| tally.transactions).collect::<Vec<_>>(), [1]);
    assert_eq!(report.elsewhere().transactions, 1);
}

#[tokio::test]
async fn clones_share_their_counters() {
    let store = store().await;
    store.clone().list_tables(None).await.unwrap();
    assert_eq!(store.report().total().transactions, 1);
    store.clone().reset();
    assert_eq!(store.report(), MeterReport::default());
}

#[tokio::test]
async fn a_difference_holds_only_what_changed() {
    let store = store().await;
    store.write(&employees(), insert(row("1"))).await.unwrap();
    let before = store.report();
    store.list_tables(None).await.unwrap();
    let between = store.report() - before;
    assert_eq!(between.operations().map(|(name, _)| name).collect::<Vec<_>>(), ["list_tables"]);
    assert_eq!(between.partitions().len(), 0);
}

#[tokio::test]
async fn a_report_prints_as_a_table() {
    let store = store().await;
    store.write(&employees(), insert(row("1"))).await.unwrap();
    let printed = store.report().to_string();
    let lines: Vec<Vec<&str>> = printed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..3], ["operation", "calls", "failed"]);
    assert_eq!(lines[1], ["insert", "1", "0", "0", "1", "0", "16"]);
    assert_eq!(lines[2], ["total", "1", "0", "0", "1", "0", "16"]);
    assert_eq!(lines[4], ["Employees", "Sales", "1", "0", "0", "1", "0", "16"]);
    assert_eq!(lines[5], ["elsewhere", "0", "0", "0", "0", "0", "0"]);
    assert!(!printed.ends_with('\n'));
}
