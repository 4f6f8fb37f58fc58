use bytes::Bytes;

use super::*;
use crate::TableName;
use crate::layer::testing::intents;
use crate::store::{Message, QueueStore, ReceiveOptions, SendOptions};

#[tokio::test(start_paused = true)]
async fn creating_a_table_that_is_there_is_success_only_after_a_lost_answer() {
    let reviews = TableName::new("Reviews").unwrap();
    let lost = setup(first(FaultMoment::After)).await;
    lost.store.create_table(&reviews).await.unwrap();

    let sure = setup(first(FaultMoment::Before)).await;
    let error = sure.store.create_table(&employees()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
}

#[tokio::test(start_paused = true)]
async fn deleting_a_table_that_is_gone_is_success_only_after_a_lost_answer() {
    let lost = setup(first(FaultMoment::After)).await;
    lost.store.delete_table(&employees()).await.unwrap();
    assert!(lost.memory.list_tables(None).await.unwrap().tables.is_empty());

    let sure = setup(first(FaultMoment::Before)).await;
    let error = sure.store.delete_table(&TableName::new("Reviews").unwrap()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TableNotFound);
}

#[tokio::test(start_paused = true)]
async fn deleting_a_queue_that_is_gone_is_success_only_after_a_lost_answer() {
    let lost = setup(first(FaultMoment::After)).await;
    lost.memory.create_queue(&intents()).await.unwrap();
    lost.store.delete_queue(&intents()).await.unwrap();

    let sure = setup(first(FaultMoment::Before)).await;
    let error = sure.store.delete_queue(&intents()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::QueueNotFound);
}

#[tokio::test(start_paused = true)]
async fn a_sent_message_may_come_twice_and_never_not_at_all() {
    for (moment, messages) in [(FaultMoment::Before, 1), (FaultMoment::RequestLost, 1), (FaultMoment::After, 2)] {
        let setup = setup(first(moment)).await;
        setup.memory.create_queue(&intents()).await.unwrap();
        let receipt = setup.store.send(&intents(), Bytes::from_static(b"go"), SendOptions::default()).await.unwrap();
        assert_eq!(setup.memory.queue_length(&intents()).await.unwrap(), messages, "{moment:?}");
        setup.memory.delete_message(&intents(), &receipt).await.unwrap();
    }
}

/// A message that was received before the faults begin.
async fn received(setup: &Setup) -> Message {
    setup.memory.create_queue(&intents()).await.unwrap();
    setup.memory.send(&intents(), Bytes::from_static(b"go"), SendOptions::default()).await.unwrap();
    setup.memory.receive(&intents(), ReceiveOptions::default()).await.unwrap().remove(0)
}

#[tokio::test(start_paused = true)]
async fn a_stale_receipt_after_a_lost_answer_is_undecided() {
    let deleting = setup(first(FaultMoment::After)).await;
    let message = received(&deleting).await;
    assert_undecided(&deleting.store.delete_message(&intents(), &message.receipt).await.unwrap_err());

    let updating = setup(first(FaultMoment::After)).await;
    let message = received(&updating).await;
    let hour = Duration::from_secs(3600);
    assert_undecided(&updating.store.update_message(&intents(), &message.receipt, hour, None).await.unwrap_err());
}

#[tokio::test(start_paused = true)]
async fn a_stale_receipt_without_a_lost_answer_is_refused() {
    let setup = setup(first(FaultMoment::Before)).await;
    let message = received(&setup).await;
    setup.memory.delete_message(&intents(), &message.receipt).await.unwrap();
    let error = setup.store.delete_message(&intents(), &message.receipt).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    assert!(!error.outcome_unknown());
}
