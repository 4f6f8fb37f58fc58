use super::*;
use crate::IfMatch;
use crate::layer::testing::{delete, insert, marked, replace, row, row_with};

#[tokio::test(start_paused = true)]
async fn one_token_decides_for_all_operations() {
    let setup = setup(first(FaultMoment::After)).await;
    let (first, second) = (setup.put(row("1")).await, setup.put(row("2")).await);
    let all = [
        replace(row_with("1", 1), &first),
        delete("2", IfMatch::Version(second)),
        insert(marked(row_with("3", 3), "ours")),
    ];
    let written = setup.transact(all).await.unwrap();
    let etags: Vec<_> = written.into_iter().map(|written| written.etag).collect();
    assert_eq!(etags, [setup.stored("1").await.unwrap().etag, None, setup.stored("3").await.unwrap().etag]);
    assert_ne!(etags[0], Some(first));
}

#[tokio::test(start_paused = true)]
async fn without_a_token_a_transaction_that_meets_itself_is_undecided() {
    let setup = setup(first(FaultMoment::After)).await;
    let error = setup.transact([insert(row("1")), insert(row("2"))]).await.unwrap_err();
    assert_undecided(&error);
    assert_eq!(error.operation_index(), Some(0));
}

#[tokio::test(start_paused = true)]
async fn a_row_that_was_changed_since_leaves_the_transaction_undecided() {
    let setup = setup(first(FaultMoment::After)).await;
    let all = [insert(marked(row("1"), "ours")), insert(row_with("2", 1))];
    let theirs = setup.put(row_with("2", 2));
    let ours = setup.transact(all);
    let (result, _) = tokio::join!(biased; ours, theirs);
    assert_undecided(&result.unwrap_err());
}

#[tokio::test(start_paused = true)]
async fn an_unchanged_version_proves_that_nothing_happened() {
    let setup = setup(first(FaultMoment::RequestLost)).await;
    let before = setup.put(row_with("1", 0)).await;
    let all = [replace(marked(row_with("1", 1), "ours"), &before), insert(row("fence"))];
    let ours = setup.transact(all);
    let (result, _) = tokio::join!(biased; ours, setup.put(row("fence")));

    let error = result.unwrap_err();
    assert_eq!((error.kind(), error.operation_index()), (ErrorKind::AlreadyExists, Some(1)));
    assert!(!error.outcome_unknown());
    assert_eq!(setup.stored("1").await.unwrap().etag, Some(before));
}

#[tokio::test(start_paused = true)]
async fn a_transaction_that_did_not_happen_is_repeated_until_it_does() {
    let setup = setup(first(FaultMoment::RequestLost)).await;
    let before = setup.put(row_with("1", 0)).await;
    setup.put(row("fence")).await;
    let all = [replace(row_with("1", 1), &before), insert(row("fence"))];
    let free_later = async {
        // By then the second attempt has met the fence, and been settled as not having happened.
        while setup.plan.calls() < 3 {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        setup.somebody(Action::Delete(key("fence"), IfMatch::Any)).await;
    };
    let (result, ()) = tokio::join!(biased; setup.transact(all), free_later);
    assert_eq!(result.unwrap().len(), 2);
}
