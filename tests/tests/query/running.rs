//! Running queries on a store: which calls are made, and what comes back.

use std::sync::atomic::Ordering;

use futures_util::{StreamExt, TryStreamExt};
use table_core::query::Predicate;
use table_core::store::{Selection, TableStore};
use table_core::{Action, DynamicEntity, Entity, EntityKey, ErrorKind, Operation, PartitionKey, Query, Table};

use crate::support::{Call, Recorder, Visit, floors, table_on, visits};

fn in_region(region: &str) -> Predicate<Visit> {
    Visit::REGION.eq(region) & Visit::TEAM.eq(1)
}

async fn put(table: &Table, row: DynamicEntity) {
    table.store().write(table.name(), Operation::new(Action::Insert(row)).unwrap()).await.unwrap();
}

#[tokio::test]
async fn a_range_gives_its_entities_in_key_order() {
    let (table, _) = visits(Recorder::default(), &["N", "S"], -3..4).await;
    let query = Query::all().filter(in_region("S") & Visit::CUSTOMER.eq("c") & Visit::FLOOR.ge(-1));
    let found = table.all(query).await.unwrap();
    assert_eq!(floors(&found), [-1, 0, 1, 2, 3]);
    assert!(found.iter().all(|visit| visit.region == "S"));
}

#[tokio::test]
async fn a_point_is_a_get() {
    let (table, store) = visits(Recorder::default(), &["S"], 0..3).await;
    let whole = Visit::CUSTOMER.eq("c") & Visit::FLOOR.eq(2) & Visit::VIP.eq(false) & Visit::NOTE.eq("");
    let query = Query::all().filter(in_region("S") & whole);
    assert_eq!(floors(&table.all(query.clone()).await.unwrap()), [2]);
    let key = EntityKey::parse("S_001", "v_c_p002false_").unwrap();
    assert_eq!(store.calls(), [Call::Get(key, Selection::All)]);
    let nobody = table.all(query.filter(Visit::AGE.gt(2))).await.unwrap();
    assert!(nobody.is_empty());
    assert!(matches!(store.calls()[..], [_, Call::Query(_)]), "a get cannot check a condition");
}

#[tokio::test]
async fn nothing_is_asked_of_the_store_where_nothing_can_match() {
    let (table, store) = visits(Recorder::default(), &["S"], 0..3).await;
    let query = Query::all().filter(in_region("S") & Visit::TEAM.eq(2));
    assert!(table.all(query.clone()).await.unwrap().is_empty());
    assert_eq!(table.page(query, None).await.unwrap().next, None);
    // No row can have a slash in its key.
    let query = Query::<DynamicEntity>::all().filter_odata("PartitionKey eq 'S_001' and RowKey eq 'a/b'");
    assert!(table.all(query).await.unwrap().is_empty());
    assert!(store.calls().is_empty());
}

#[tokio::test]
async fn a_scan_is_refused_before_it_reads() {
    let (table, store) = visits(Recorder::default(), &["S"], 0..3).await;
    let scan = Query::all().filter(Visit::AGE.ge(1));
    let error = table.all(scan.clone()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ScanRefused);
    assert_eq!(
        error.to_string(),
        "scan refused: the query is a TableScan: it does not fix the partition key; fix it, or every partition is read; \
         if that is meant, add allow_scan() (query, table Visits)"
    );
    let partition = Query::<DynamicEntity>::partition(&PartitionKey::new("S_001").unwrap());
    let error = table.stream(partition.clone()).try_next().await.unwrap_err();
    assert!(error.message().contains("PartitionScan: it reads whole partitions; narrow it by a range of row keys"));
    assert!(store.calls().is_empty());
    assert_eq!(floors(&table.all(scan.allow_scan()).await.unwrap()), [1, 2]);
    assert_eq!(table.count(partition.allow_scan()).await.unwrap(), 3);
}

#[tokio::test]
async fn empty_and_short_pages_stop_nothing() {
    let hindered = Recorder { rows_of_a_page: 2, stutters: true, ..Recorder::default() };
    let (table, store) = visits(hindered, &["N", "S"], 0..7).await;
    let both = Query::all().filter((in_region("N") | in_region("S")) & Visit::CUSTOMER.eq("c"));
    let expected = [0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6];
    assert_eq!(floors(&table.all(both.clone()).await.unwrap()), expected);
    assert_eq!(table.count(both.clone()).await.unwrap(), 14);
    let streamed: Vec<_> = table.stream(both.clone()).try_collect().await.unwrap();
    assert_eq!(floors(&streamed), expected);
    assert_eq!(table.first(both.clone()).await.unwrap().unwrap().region, "N");
    assert_eq!(floors(&table.all(both.top(9)).await.unwrap()), expected[..9]);
    assert!(store.calls().len() > 40);
}

#[tokio::test]
async fn rows_of_other_kinds_are_skipped_and_do_not_count() {
    let (table, store) = table_on(Recorder::default()).await;
    for floor in 0..20 {
        let mut copy = Visit::numbered("S", floor).to_row().unwrap();
        copy.set("RowKind", "index:age").unwrap();
        put(&table, copy).await;
    }
    for floor in 20..25 {
        table.insert(&Visit::numbered("S", floor)).await.unwrap();
    }
    let mut foreign = Visit::numbered("S", 30).to_row().unwrap();
    foreign.set("EntityType", "Invoice").unwrap();
    put(&table, foreign).await;
    put(&table, DynamicEntity::new(EntityKey::parse("S_001", "v_not of the template").unwrap())).await;

    let query = Query::all().filter(in_region("S"));
    assert_eq!(floors(&table.all(query.clone()).await.unwrap()), [20, 21, 22, 23, 24]);
    assert_eq!(table.count(query.clone()).await.unwrap(), 5);
    store.calls.lock().unwrap().clear();
    assert_eq!(floors(&table.all(query.clone().top(2)).await.unwrap()), [20, 21]);
    assert!(store.calls().len() <= 5, "the pages grow while rows are skipped");
    assert_eq!(table.first(query.clone().top(0)).await.unwrap(), None);
    assert!(table.all(query.top(0)).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_count_reads_no_properties() {
    let (table, store) = visits(Recorder::default(), &["S"], 0..3).await;
    assert_eq!(table.count(Query::all().filter(in_region("S") & Visit::AGE.ge(1))).await.unwrap(), 2);
    let [Call::Query(query)] = &store.calls()[..] else { panic!("one call") };
    assert!(!query.selection.includes("Age") && query.selection.includes("RowKind"));
}

#[tokio::test]
async fn a_stream_reads_only_what_is_wanted() {
    let (table, store) = visits(Recorder { rows_of_a_page: 2, ..Recorder::default() }, &["S"], 0..9).await;
    let mut stream = table.stream(Query::all().filter(in_region("S")));
    assert!(store.calls().is_empty());
    for floor in [0, 1, 2] {
        assert_eq!(stream.next().await.unwrap().unwrap().floor, floor);
    }
    drop(stream);
    assert_eq!(store.calls().len(), 2);
}

#[tokio::test]
async fn ranges_are_read_together_but_not_all_at_once() {
    let (table, store) = visits(Recorder::default(), &["S"], 0..40).await;
    let any = (0..40).step_by(2).map(|floor| Visit::FLOOR.eq(floor)).reduce(Predicate::or).unwrap();
    let query = Query::all().filter(in_region("S") & Visit::CUSTOMER.eq("c") & any).concurrency(5);
    let found = table.all(query).await.unwrap();
    assert_eq!(floors(&found), (0..40).step_by(2).collect::<Vec<_>>());
    assert_eq!(store.most_running.load(Ordering::SeqCst), 5);
    assert_eq!(store.calls().len(), 20, "no range is read twice");
}

#[tokio::test]
async fn mistakes_come_back_when_the_query_is_used() {
    let (table, store) = visits(Recorder::default(), &["S"], 0..1).await;
    let query = Query::<Visit>::all().filter_odata("Age = 1").filter_odata("Age eq 1");
    let error = table.first(query).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidQuery);
    let missing = Table::new(store as std::sync::Arc<dyn TableStore>, "Missing").unwrap();
    let error = missing.all(Query::all().filter(in_region("S"))).await.unwrap_err();
    assert_eq!((error.kind(), error.table()), (ErrorKind::TableNotFound, Some("Missing")));
}

#[tokio::test]
async fn a_query_may_name_its_own_table() {
    let (table, store) = visits(Recorder::default(), &["S"], 0..2).await;
    let other = Table::new(store as std::sync::Arc<dyn TableStore>, "Other").unwrap();
    let query = Query::all().filter(in_region("S")).in_table(Some("Visits"));
    assert_eq!(other.all(query).await.unwrap().len(), 2);
    assert_eq!(table.count(Query::all().filter(in_region("S"))).await.unwrap(), 2);
}
