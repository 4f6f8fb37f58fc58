use super::*;
use crate::IfMatch;
use crate::layer::testing::{delete, insert, marked, replace, row, row_with};

#[tokio::test(start_paused = true)]
async fn an_insert_that_meets_itself_succeeds_with_the_stored_version() {
    let setup = setup(first(FaultMoment::After)).await;
    let written = setup.write(insert(marked(row_with("1", 1), "ours"))).await.unwrap();
    assert_eq!(written.etag, setup.stored("1").await.unwrap().etag);
    assert!(written.etag.is_some());
}

#[tokio::test(start_paused = true)]
async fn an_insert_whose_request_was_lost_is_repeated() {
    let setup = setup(first(FaultMoment::RequestLost)).await;
    setup.write(insert(row("1"))).await.unwrap();
    assert!(setup.stored("1").await.is_some());
}

#[tokio::test(start_paused = true)]
async fn equal_content_without_a_token_proves_nothing() {
    let setup = setup(first(FaultMoment::After)).await;
    let error = setup.write(insert(row_with("1", 1))).await.unwrap_err();
    assert_undecided(&error);
    assert_eq!(error.key(), Some(&key("1")));
}

#[tokio::test(start_paused = true)]
async fn an_insert_that_meets_another_writers_row_is_undecided_only_after_a_lost_answer() {
    for (moment, lost) in [(FaultMoment::RequestLost, true), (FaultMoment::Before, false)] {
        let setup = setup(first(moment)).await;
        let ours = setup.write(insert(marked(row("1"), "ours")));
        let (result, _) = tokio::join!(biased; ours, setup.put(marked(row("1"), "theirs")));
        let error = result.unwrap_err();
        if lost {
            assert_undecided(&error);
        } else {
            assert_eq!(error.kind(), ErrorKind::AlreadyExists);
            assert!(!error.outcome_unknown());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_conditional_replace_that_meets_itself_succeeds() {
    let setup = setup(first(FaultMoment::After)).await;
    let before = setup.put(row_with("1", 0)).await;
    let ours = marked(row_with("1", 1), "ours");
    let written = setup.write(replace(ours, &before)).await.unwrap();
    assert_eq!(written.etag, setup.stored("1").await.unwrap().etag);
    assert_ne!(written.etag, Some(before));
}

#[tokio::test(start_paused = true)]
async fn a_conditional_replace_that_somebody_overwrote_is_undecided() {
    let setup = setup(first(FaultMoment::After)).await;
    let before = setup.put(row_with("1", 0)).await;
    let ours = setup.write(replace(marked(row_with("1", 1), "ours"), &before));
    let (result, _) = tokio::join!(biased; ours, setup.put(marked(row_with("1", 2), "theirs")));
    assert_undecided(&result.unwrap_err());
}

#[tokio::test(start_paused = true)]
async fn a_write_that_somebody_merged_into_is_undecided_though_its_token_is_there() {
    let setup = setup(first(FaultMoment::After)).await;
    let before = setup.put(row_with("1", 0)).await;
    let ours = setup.write(replace(marked(row_with("1", 1), "ours"), &before));
    let theirs = setup.somebody(Action::InsertOrMerge(row_with("1", 2)));
    let (result, _) = tokio::join!(biased; ours, theirs);
    assert_undecided(&result.unwrap_err());
}

#[tokio::test(start_paused = true)]
async fn a_merge_that_meets_itself_succeeds_with_the_other_properties_left() {
    let setup = setup(first(FaultMoment::After)).await;
    let before = setup.put(row_with("1", 0).with("Other", "kept").unwrap()).await;
    let patch = marked(row_with("1", 1), "ours");
    let merge = Operation::new(Action::Merge(patch, IfMatch::Version(before))).unwrap();
    let written = setup.write(merge).await.unwrap();
    let stored = setup.stored("1").await.unwrap();
    assert_eq!(written.etag, stored.etag);
    assert!(stored.get("Other").is_some());
}

#[tokio::test(start_paused = true)]
async fn an_unconditional_delete_that_meets_itself_succeeds() {
    let setup = setup(first(FaultMoment::After)).await;
    setup.put(row("1")).await;
    let written = setup.write(delete("1", IfMatch::Any)).await.unwrap();
    assert_eq!(written.etag, None);
}

#[tokio::test(start_paused = true)]
async fn an_unconditional_delete_of_nothing_is_not_found_without_a_lost_answer() {
    let setup = setup(first(FaultMoment::Before)).await;
    let error = setup.write(delete("1", IfMatch::Any)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[tokio::test(start_paused = true)]
async fn a_conditional_delete_that_finds_nothing_is_undecided() {
    let setup = setup(first(FaultMoment::After)).await;
    let etag = setup.put(row("1")).await;
    let error = setup.write(delete("1", IfMatch::Version(etag))).await.unwrap_err();
    assert_undecided(&error);
}

#[tokio::test(start_paused = true)]
async fn a_replace_that_finds_nothing_is_undecided() {
    let setup = setup(first(FaultMoment::After)).await;
    setup.put(row("1")).await;
    let any = Operation::new(Action::Replace(marked(row_with("1", 1), "ours"), IfMatch::Any)).unwrap();
    let removal = setup.somebody(Action::Delete(key("1"), IfMatch::Any));
    let (result, _) = tokio::join!(biased; setup.write(any), removal);
    assert_undecided(&result.unwrap_err());
}

#[tokio::test(start_paused = true)]
async fn running_out_of_attempts_after_a_lost_answer_leaves_the_outcome_unknown() {
    let faults = first(FaultMoment::After).with_throttling_every(1);
    let setup = setup_with(faults, slow().with_attempts(3)).await;
    let error = setup.write(insert(row("1"))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Throttled);
    assert!(error.outcome_unknown());
}

#[tokio::test(start_paused = true)]
async fn running_out_of_attempts_without_a_lost_answer_leaves_no_doubt() {
    let setup = setup(FaultOptions::default().with_throttling_every(1)).await;
    let error = setup.write(insert(row("1"))).await.unwrap_err();
    assert!(!error.outcome_unknown());
}

#[tokio::test(start_paused = true)]
async fn a_write_that_cannot_be_read_back_is_undecided() {
    let faults = (3..=9).fold(first(FaultMoment::After), |faults, call| faults.with_failure(call, FaultMoment::Before));
    let setup = setup(faults).await;
    let error = setup.write(insert(marked(row("1"), "ours"))).await.unwrap_err();
    assert_undecided(&error);
}
