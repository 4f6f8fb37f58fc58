//! Logs in blobs: nothing acknowledged is lost, nothing is stored twice, and reads open few blobs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{Attribute, GetOptions, ObjectStore, ObjectStoreExt};
use table_core::layer::{FaultMoment, FaultOptions, FaultPlan};
use table_core::{ErrorKind, Timestamp};
use table_patterns::log_data::{LogData, LogDurability, LogEntry, LogOptions};
use table_tests::blobs::{FaultyBlobs, blob_names, blob_stores};

fn at(text: &str) -> Timestamp {
    format!("2014-07-{text}Z").parse().unwrap()
}

fn memory() -> Arc<dyn ObjectStore> {
    Arc::new(InMemory::new())
}

fn log(blobs: &Arc<dyn ObjectStore>) -> LogData {
    LogData::new(Arc::clone(blobs), "queue").unwrap()
}

fn safe() -> LogOptions {
    LogOptions::default().with_durability(LogDurability::EveryEntry)
}

fn texts(entries: &[LogEntry]) -> Vec<&str> {
    entries.iter().map(|entry| std::str::from_utf8(&entry.data).unwrap()).collect()
}

async fn everything(log: &LogData) -> Vec<LogEntry> {
    log.read(Timestamp::MIN..Timestamp::MAX).await.unwrap()
}

#[tokio::test]
async fn entries_come_back_in_the_order_of_their_times_from_any_store() {
    for blobs in &blob_stores() {
        let log = log(&blobs.store);
        let writer = log.writer(LogOptions::default());
        writer.append_at(at("31T18:59:59"), "two").await.unwrap();
        writer.append_at(at("31T19:00:00"), "three\nin two lines").await.unwrap();
        writer.append_at(at("31T18:00:00"), "one").await.unwrap();
        writer.close().await.unwrap();
        let expected = ["queue/2014/07/31/1800/000001.log", "queue/2014/07/31/1900/000001.log"];
        assert_eq!(blob_names(&blobs.store).await, expected, "{}", blobs.name);
        assert_eq!(texts(&everything(&log).await), ["one", "two", "three\nin two lines"], "{}", blobs.name);
        assert_eq!(texts(&log.read(at("31T18:00:00")..at("31T18:59:59")).await.unwrap()), ["one"]);
    }
}

#[tokio::test]
async fn first_and_last_time_are_metadata_where_the_store_keeps_it() {
    let blobs = memory();
    let writer = log(&blobs).writer(LogOptions::default());
    writer.append_at(at("31T18:00:00"), "one").await.unwrap();
    writer.append_at(at("31T18:05:00"), "two").await.unwrap();
    writer.close().await.unwrap();
    let path = Path::from("queue/2014/07/31/1800/000001.log");
    let found = blobs.get_opts(&path, GetOptions { head: true, ..GetOptions::default() }).await.unwrap().attributes;
    assert_eq!(found.get(&Attribute::Metadata("first".into())).unwrap().as_ref(), at("31T18:00:00").to_string());
    assert_eq!(found.get(&Attribute::Metadata("last".into())).unwrap().as_ref(), at("31T18:05:00").to_string());
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_stored_when_its_time_is_over() {
    let blobs = memory();
    let writer = log(&blobs).writer(LogOptions::default().with_longest_wait(Duration::from_secs(5)));
    writer.append_at(at("31T18:00:00"), "one").await.unwrap();
    tokio::time::sleep(Duration::from_secs(4)).await;
    writer.append_at(at("31T18:00:00"), "two").await.unwrap();
    assert!(blob_names(&blobs).await.is_empty());
    tokio::time::sleep(Duration::from_millis(1001)).await;
    assert_eq!(texts(&everything(&log(&blobs)).await), ["one", "two"]);
    assert_eq!(blob_names(&blobs).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_stored_when_it_is_large() {
    let blobs = memory();
    let writer = log(&blobs).writer(LogOptions::default().with_segment_bytes(1000));
    writer.append_at(at("31T18:00:00"), vec![b'x'; 900]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(blob_names(&blobs).await.is_empty());
    writer.append_at(at("31T18:00:00"), vec![b'x'; 900]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(blob_names(&blobs).await.len(), 1);
}

#[tokio::test]
async fn every_entry_is_in_a_blob_when_its_append_answers() {
    let blobs = memory();
    let writer = log(&blobs).writer(safe());
    for number in 1..=3 {
        writer.append_at(at("31T18:00:00"), "entry").await.unwrap();
        assert_eq!(everything(&log(&blobs)).await.len(), number);
    }
}

#[tokio::test]
async fn entries_that_arrive_while_a_segment_is_under_way_share_the_next() {
    let blobs = memory();
    let slow =
        FaultPlan::new(FaultOptions::default().with_latency(Duration::from_millis(5)..=Duration::from_millis(5)));
    let faulty: Arc<dyn ObjectStore> = Arc::new(FaultyBlobs::new(Arc::clone(&blobs), slow));
    let writer = Arc::new(log(&faulty).writer(safe()));
    let tasks: Vec<_> = (0..50_u32)
        .map(|_| {
            let writer = Arc::clone(&writer);
            tokio::spawn(async move { writer.append_at(at("31T18:00:00"), "entry").await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!(everything(&log(&blobs)).await.len(), 50);
    assert!(blob_names(&blobs).await.len() < 10);
}

#[tokio::test]
async fn writers_never_overwrite_each_others_segments() {
    for blobs in &blob_stores() {
        let tasks: Vec<_> = (0..8)
            .map(|task| {
                let writer = log(&blobs.store).writer(safe());
                tokio::spawn(async move {
                    for number in 0..5 {
                        writer.append_at(at("31T18:00:00"), format!("{task}-{number}")).await.unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let entries = everything(&log(&blobs.store)).await;
        assert_eq!(entries.len(), 40, "{}", blobs.name);
        assert_eq!(texts(&entries).into_iter().collect::<BTreeSet<_>>().len(), 40, "{}", blobs.name);
    }
}

/// Fails every call once, in every way; the next flush mends it, and nothing is stored twice.
#[tokio::test]
async fn a_fault_at_any_call_loses_and_doubles_nothing() {
    let mut faults = 0;
    for moment in [FaultMoment::Before, FaultMoment::RequestLost, FaultMoment::After] {
        for call in 1..20 {
            let blobs = memory();
            // Another's segment is in the way.
            let other = log(&blobs).writer(safe());
            other.append_at(at("31T18:00:00"), "other").await.unwrap();
            let plan = FaultPlan::new(FaultOptions::default().with_failure(call, moment));
            let breaking: Arc<dyn ObjectStore> = Arc::new(FaultyBlobs::new(Arc::clone(&blobs), plan.clone()));
            let writer = log(&breaking).writer(safe());
            for text in ["one", "two"] {
                if let Err(error) = writer.append_at(at("31T18:01:00"), text).await {
                    assert!(error.outcome_unknown() && error.is_retryable(), "{error}");
                    writer.flush().await.unwrap();
                    faults += 1;
                }
            }
            writer.close().await.unwrap();
            assert_eq!(texts(&everything(&log(&blobs)).await), ["other", "one", "two"], "call {call} {moment:?}");
        }
    }
    assert!(faults >= 9, "only {faults} calls were failed");
}

#[tokio::test]
async fn a_full_buffer_refuses_entries_and_keeps_those_that_it_took() {
    let blobs = memory();
    let plan = FaultPlan::new(FaultOptions::default().with_death(1, FaultMoment::Before));
    let breaking: Arc<dyn ObjectStore> = Arc::new(FaultyBlobs::new(Arc::clone(&blobs), plan.clone()));
    let options = LogOptions::default().with_most_buffered_bytes(1000).with_longest_wait(Duration::from_secs(60));
    let writer = log(&breaking).writer(options);
    let mut taken = 0;
    let refused = loop {
        match writer.append_at(at("31T18:00:00"), vec![b'x'; 100]).await {
            Ok(()) => taken += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(refused.kind(), ErrorKind::Unavailable);
    assert!((4..10).contains(&taken), "{taken}");
    plan.heal();
    writer.close().await.unwrap();
    assert_eq!(everything(&log(&blobs)).await.len(), taken);
    let closed = writer.append("late").await.unwrap_err();
    assert_eq!(closed.kind(), ErrorKind::Unsupported);
    let writer = log(&blobs).writer(LogOptions::default().with_most_buffered_bytes(10));
    assert_eq!(writer.append("too large").await.unwrap_err().kind(), ErrorKind::LimitExceeded);
}

/// Ten segments of 20 KB in each of three hours. A read of 18:30 to 20:30 opens all of 19:00, of the other hours
/// the first line of each, and then only the segments that it needs.
#[tokio::test]
async fn a_range_is_read_with_few_blobs_opened() {
    let blobs = memory();
    let writer = log(&blobs).writer(safe());
    for hour in 18..=20 {
        for segment in 0..10 {
            let at = at(&format!("31T{hour}:{:02}:00", segment * 6));
            writer.append_at(at, vec![b'x'; 20_000]).await.unwrap();
        }
    }
    let plan = FaultPlan::quiet();
    let counted: Arc<dyn ObjectStore> = Arc::new(FaultyBlobs::new(Arc::clone(&blobs), plan.clone()));
    let found = log(&counted).read(at("31T18:30:00")..at("31T20:30:00")).await.unwrap();
    assert_eq!(found.len(), 5 + 10 + 5);
    let opened = plan.records().iter().filter(|record| record.operation == "get blob").count();
    assert_eq!(opened, (10 + 5) + 10 + (10 + 5));
    let listed = plan.records().iter().filter(|record| record.operation == "list blobs").count();
    assert_eq!(listed, 3);
}

#[tokio::test]
async fn blobs_of_others_are_passed_over_and_torn_segments_reported() {
    let blobs = memory();
    let log = log(&blobs);
    let writer = log.writer(safe());
    writer.append_at(at("31T18:00:00"), "one").await.unwrap();
    for name in ["queue/readme.txt", "queue/2014/07/31/1800/notes.log", "queuelike/2014/07/31/1800/000001.log"] {
        blobs.put(&Path::from(name), Bytes::from_static(b"other").into()).await.unwrap();
    }
    assert_eq!(texts(&everything(&log).await), ["one"]);
    let torn = Path::from("queue/2014/07/31/1800/000009.log");
    blobs.put(&torn, Bytes::from_static(b"#log 1 x").into()).await.unwrap();
    let error = log.read(at("31T18:00:00")..at("31T19:00:00")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupted);
    assert!(error.message().contains(torn.as_ref()));
}

#[tokio::test]
async fn a_reader_holds_no_more_than_it_may() {
    let blobs = memory();
    let log = log(&blobs).with_most_hour_bytes(1000);
    let writer = log.writer(safe());
    writer.append_at(at("31T18:00:00"), vec![b'x'; 1000]).await.unwrap();
    let error = log.read(at("31T18:00:00")..at("31T19:00:00")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert_eq!(log.segments(at("31T18:00:00")..at("31T19:00:00")).await.unwrap().len(), 1);
    assert_eq!(LogData::new(blobs, "").unwrap_err().kind(), ErrorKind::InvalidName);
}
