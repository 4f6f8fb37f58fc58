//! Many queries in one call.

use std::sync::atomic::Ordering;

use futures_util::TryStreamExt;
use table_core::{ErrorKind, Query};

use crate::support::{Recorder, Visit, floors, visits};

fn of_region(region: &str) -> Query<Visit> {
    Query::all().filter(Visit::REGION.eq(region) & Visit::TEAM.eq(1))
}

#[tokio::test]
async fn results_stand_in_the_order_of_the_queries() {
    let (table, store) =
        visits(Recorder { rows_of_a_page: 2, ..Recorder::default() }, &["A", "B", "C", "D"], 0..5).await;
    let regions = ["D", "A", "nowhere", "C", "B"];
    let found = table.all_many(regions.map(of_region), 3).await.unwrap();
    let names: Vec<Vec<_>> =
        found.iter().map(|each| each.iter().map(|visit| visit.region.as_str()).collect()).collect();
    assert_eq!(names, [vec!["D"; 5], vec!["A"; 5], vec![], vec!["C"; 5], vec!["B"; 5]]);
    assert_eq!(store.most_running.load(Ordering::SeqCst), 3);

    store.most_running.store(0, Ordering::SeqCst);
    let streamed: Vec<_> = table.stream_many(regions.map(of_region), 2).try_collect().await.unwrap();
    assert_eq!(floors(&streamed), [0, 1, 2, 3, 4].repeat(4));
    assert_eq!(streamed.iter().step_by(5).map(|visit| visit.region.as_str()).collect::<String>(), "DACB");
    assert_eq!(store.most_running.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn all_queries_are_checked_before_the_first_runs() {
    let (table, store) = visits(Recorder::default(), &["A"], 0..2).await;
    let queries = || [of_region("A"), Query::all()];
    assert_eq!(table.all_many(queries(), 1).await.unwrap_err().kind(), ErrorKind::ScanRefused);
    let error = table.stream_many(queries(), 1).try_next().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ScanRefused);
    assert!(store.calls().is_empty());
}
