//! Pages and their continuations.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use proptest::prelude::*;
use table_core::keys::KeyRange;
use table_core::query::{Continuation, Filter, Plan, Predicate};
use table_core::store::TableStore;
use table_core::{Action, DynamicEntity, EntityKey, ErrorKind, Operation, Query, Table, Versioned};

use crate::planning::{small_filters, small_rows};
use crate::support::{Recorder, Visit, floors, visits};

fn in_region(region: &str) -> Predicate<Visit> {
    Visit::REGION.eq(region) & Visit::TEAM.eq(1)
}

fn in_both() -> Query<Visit> {
    Query::all().filter(in_region("N") | in_region("S"))
}

/// All pages, each asked for with what the text of the last continuation says.
async fn pages(table: &Table, query: &Query<Visit>) -> Vec<Vec<i8>> {
    let mut pages = Vec::new();
    let mut next: Option<String> = None;
    loop {
        let after = next.map(|token| token.parse::<Continuation>().unwrap());
        let page = table.page(query.clone(), after.as_ref()).await.unwrap();
        pages.push(floors(&page.items));
        let Some(continuation) = page.next else { return pages };
        next = Some(continuation.to_token());
    }
}

#[tokio::test]
async fn pages_are_full_until_the_last() {
    let hindered = Recorder { rows_of_a_page: 2, stutters: true, ..Recorder::default() };
    let (table, _) = visits(hindered, &["S"], 0..8).await;
    let query = Query::all().filter(in_region("S")).page_size(3);
    assert_eq!(pages(&table, &query).await, [vec![0, 1, 2], vec![3, 4, 5], vec![6, 7]]);
    assert_eq!(pages(&table, &query.clone().page_size(1000)).await, [(0..8).collect::<Vec<_>>()]);
    assert_eq!(pages(&table, &query.top(5)).await, [vec![0, 1, 2], vec![3, 4]]);
}

#[tokio::test]
async fn pages_over_several_ranges_lose_and_repeat_nothing() {
    let (table, _) = visits(Recorder::default(), &["N", "S"], 0..5).await;
    for size in 1..12 {
        let pages = pages(&table, &in_both().page_size(size)).await;
        assert!(pages.iter().all(|page| page.len() <= size));
        assert_eq!(pages.concat(), [0, 1, 2, 3, 4, 0, 1, 2, 3, 4], "pages of {size}");
    }
    assert_eq!(pages(&table, &in_both().page_size(4).top(7)).await.concat(), [0, 1, 2, 3, 4, 0, 1]);
}

#[tokio::test]
async fn pages_read_ahead_only_where_ranges_are_short() {
    let (table, store) = visits(Recorder::default(), &["N", "S"], 0..20).await;
    let page = table.page(in_both().page_size(4), None).await.unwrap();
    assert_eq!((page.items.len(), store.calls().len()), (4, 1), "the first range fills the page");

    store.calls.lock().unwrap().clear();
    let any = (0..20).step_by(2).map(|floor| Visit::FLOOR.eq(floor)).reduce(Predicate::or).unwrap();
    let short = Query::all().filter(in_region("S") & Visit::CUSTOMER.eq("c") & any);
    assert_eq!(table.page(short, None).await.unwrap().items.len(), 10);
    assert_eq!(store.calls().len(), 10, "no range is read twice");
    assert_eq!(store.most_running.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn a_continuation_goes_through_serde_and_text() {
    let (table, store) = visits(Recorder::default(), &["N", "S"], 0..5).await;
    let first = table.page(in_both().page_size(3).top(8), None).await.unwrap();
    let kept = serde_json::to_string(&first.next).unwrap();
    let token = first.next.unwrap().to_token();
    assert_eq!(kept, format!("\"{token}\""));
    assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')));

    // Another handle, as after a restart.
    let table = Table::new(store as Arc<dyn TableStore>, "VISITS").unwrap();
    let next: Continuation = serde_json::from_str(&kept).unwrap();
    assert_eq!(next, token.parse().unwrap());
    let rest = table.page(in_both(), Some(&next)).await.unwrap();
    assert_eq!(floors(&rest.items), [3, 4, 0, 1, 2], "what is left of the top is in the continuation");
    assert_eq!(rest.next, None);
}

#[tokio::test]
async fn another_query_refuses_a_continuation() {
    let (table, _) = visits(Recorder::default(), &["N", "S"], 0..5).await;
    let next = table.page(in_both().page_size(3), None).await.unwrap().next.unwrap();
    let other_table = Table::new(Arc::clone(table.store()), "Others").unwrap();
    other_table.create().await.unwrap();
    let refused = [
        table.page(Query::all().filter(in_region("N")), Some(&next)).await.unwrap_err(),
        table.page(in_both().filter(Visit::AGE.ge(0)), Some(&next)).await.unwrap_err(),
        table.page(in_both().select(Visit::AGE), Some(&next)).await.unwrap_err(),
        other_table.page(in_both(), Some(&next)).await.unwrap_err(),
        table.page(raw(&in_both()), Some(&next)).await.unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.kind(), ErrorKind::InvalidQuery);
        assert!(error.message().contains("belongs to another query"));
    }
    assert_eq!(table.page(in_both().page_size(1), Some(&next)).await.unwrap().items.len(), 1);
}

/// The same ranges, read as another type.
fn raw(query: &Query<Visit>) -> Query<DynamicEntity> {
    let filters = query.explain().unwrap().filters().collect::<Vec<_>>();
    Query::all().filter_raw(Filter::any_of(filters))
}

#[tokio::test]
async fn a_damaged_token_is_refused() {
    let (table, _) = visits(Recorder::default(), &["N", "S"], 0..5).await;
    let token = table.page(in_both().page_size(3), None).await.unwrap().next.unwrap().to_token();
    for at in 0..token.len() {
        let mut damaged = token.clone().into_bytes();
        damaged[at] = if damaged[at] == b'A' { b'B' } else { b'A' };
        let damaged = String::from_utf8(damaged).unwrap();
        assert_eq!(damaged.parse::<Continuation>().unwrap_err().kind(), ErrorKind::InvalidQuery, "{damaged}");
    }
    for junk in ["", "A", "!", "é", &token[1..], &token[..token.len() - 1], &"A".repeat(100_000)] {
        assert_eq!(junk.parse::<Continuation>().unwrap_err().kind(), ErrorKind::InvalidQuery);
    }
    assert!(serde_json::from_str::<Continuation>("\"AAAA\"").is_err());
    assert!(serde_json::from_str::<Continuation>("7").is_err());
}

/// Tokens outlive a release, so this one must stay readable and keep its fingerprint.
#[tokio::test]
async fn a_continuation_of_an_older_release_still_works() {
    const KEPT: &str = "eyJxIjoxMTM1NzY0NzIwMDgzNDYzMjIyNiwicCI6eyJzIjowLCJ0Ijoia2V5LTFcbk5fMDAxXG52X2NfcDAwM2ZhbHNlXyJ9LCJuIjo1fdXRlzE";
    let (table, _) = visits(Recorder::default(), &["N", "S"], 0..5).await;
    let query = in_both().page_size(3).top(8);
    assert_eq!(table.page(query.clone(), None).await.unwrap().next.unwrap().to_token(), KEPT);
    let rest = table.page(query.page_size(2), Some(&KEPT.parse().unwrap())).await.unwrap();
    assert_eq!(floors(&rest.items), [3, 4]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_filter_in_any_pages_gives_what_it_says(
        filter in small_filters(),
        rows in prop::collection::vec(small_rows(), 0..30),
        size in 1..6_usize,
        rows_of_a_page in 0..3_usize,
        stutters: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (read, counted) = runtime.block_on(async {
            let (table, _) = visits(Recorder { rows_of_a_page, stutters, ..Recorder::default() }, &[], 0..0).await;
            for row in &rows {
                let write = Operation::new(Action::InsertOrReplace(row.clone())).unwrap();
                table.store().write(table.name(), write).await.unwrap();
            }
            let query = Query::<DynamicEntity>::all().filter_raw(filter.clone()).page_size(size).allow_scan();
            let mut read: Vec<Versioned<DynamicEntity>> = Vec::new();
            let mut next = None;
            loop {
                let page = table.page(query.clone(), next.as_ref()).await.unwrap();
                read.extend(page.items);
                match page.next {
                    Some(continuation) => next = Some(continuation),
                    None => break (read, table.count(query).await.unwrap()),
                }
            }
        });
        let mut wanted: Vec<EntityKey> = Vec::new();
        for (position, row) in rows.iter().enumerate() {
            // The last row of a key is the one that is stored.
            let replaced = rows.iter().skip(position + 1).any(|later| later.key == row.key);
            if !replaced && filter.matches(row) {
                wanted.push(row.key.clone());
            }
        }
        wanted.sort();
        let keys: Vec<_> = read.iter().map(|row| row.key().clone()).collect();
        prop_assert_eq!(keys, wanted, "{} as {:?}", filter, Plan::new(&filter, &KeyRange::ALL));
        prop_assert_eq!(counted, read.len());
    }
}
