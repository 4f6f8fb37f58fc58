use tokio::time::Instant;

use super::*;
use crate::layer::testing::{insert, row};

#[tokio::test(start_paused = true)]
async fn a_throttled_call_is_repeated_until_it_succeeds() {
    let faults = first(FaultMoment::Before).with_failure(2, FaultMoment::Before);
    let setup = setup(faults).await;
    setup.write(insert(row("1"))).await.unwrap();
    assert_eq!(setup.plan.calls(), 3);
    assert!(setup.stored("1").await.is_some());
}

#[tokio::test(start_paused = true)]
async fn attempts_are_bounded() {
    let retries = slow().with_attempts(4);
    let setup = setup_with(FaultOptions::default().with_throttling_every(1), retries).await;
    let error = setup.store.list_tables(None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Throttled);
    assert_eq!(setup.plan.calls(), 4);
}

#[tokio::test(start_paused = true)]
async fn waits_stay_below_their_ceilings() {
    let retries = RetryOptions::default().with_attempts(4);
    let setup = setup_with(FaultOptions::default().with_throttling_every(1), retries).await;
    for _ in 0..50 {
        let start = Instant::now();
        setup.store.list_tables(None).await.unwrap_err();
        // The ceilings are 200, 400 and 800 ms, and a timer is up to a millisecond late.
        assert!(start.elapsed() <= Duration::from_millis(1400 + 3), "{:?}", start.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn the_total_time_is_bounded() {
    let retries = slow().with_attempts(u32::MAX).with_total(Duration::from_secs(10 * 3600));
    let setup = setup_with(FaultOptions::default().with_throttling_every(1), retries).await;
    let start = Instant::now();
    setup.store.list_tables(None).await.unwrap_err();
    assert!(setup.plan.calls() > 2);
    assert!(start.elapsed() <= Duration::from_secs(10 * 3600), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_the_service_asks_for_is_kept() {
    let asked = Duration::from_secs(30);
    let faults = FaultOptions::default().with_throttling_every(2).with_retry_after(asked);
    let setup = setup_with(faults, RetryOptions::default()).await;
    setup.store.list_tables(None).await.unwrap();
    let start = Instant::now();
    setup.store.list_tables(None).await.unwrap();
    assert!(start.elapsed() >= asked, "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_total_time_is_not_begun() {
    let faults = FaultOptions::default().with_throttling_every(1).with_retry_after(Duration::from_secs(61));
    let setup = setup_with(faults, RetryOptions::default()).await;
    let start = Instant::now();
    setup.store.list_tables(None).await.unwrap_err();
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(setup.plan.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_not_repeated() {
    let setup = setup(FaultOptions::default()).await;
    let error = setup.store.create_table(&employees()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(setup.plan.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_total_time_without_end_is_taken() {
    let setup = setup_with(first(FaultMoment::Before), slow().with_total(Duration::MAX)).await;
    setup.store.list_tables(None).await.unwrap();
    assert_eq!(setup.plan.calls(), 2);
}
