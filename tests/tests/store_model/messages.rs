//! A store's queues beside their model, step by step.

use proptest::prelude::*;
use table_core::store::{MessageReceipt, ReceiveOptions, SendOptions, TimeToLive};
use table_core::{ErrorKind, QueueName};

use crate::queue_model::{Model, Step, body, seconds, steps};
use crate::{Subject, answer, config};

struct Pair {
    subject: Subject,
    queue: QueueName,
    model: Model,
    /// Every receipt that was ever given.
    receipts: Vec<MessageReceipt>,
}

impl Pair {
    fn new(subject: Subject) -> Self {
        let queue = QueueName::new("work").unwrap();
        answer(subject.queues.create_queue(&queue)).unwrap();
        Self { subject, queue, model: Model::default(), receipts: Vec::new() }
    }

    /// Runs all steps, and compares all that is left.
    fn run(subject: Subject, steps: Vec<Step>) -> Result<(), TestCaseError> {
        let mut pair = Self::new(subject);
        // Everything is visible in the end, save what has expired.
        let end = [Step::Length, Step::Advance(5), Step::Peek { count: 32 }, Step::Length];
        for step in steps.into_iter().chain(end) {
            pair.step(&step)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match *step {
            Step::Send { body: byte, delay, life } => self.send(byte, delay, life)?,
            Step::Receive { count, visibility } => self.receive(count, visibility)?,
            Step::Update { receipt, visibility, body } if !self.receipts.is_empty() => {
                let receipt = receipt.get(&self.receipts).clone();
                self.update(&receipt, visibility, body)?;
            }
            Step::Delete { receipt } if !self.receipts.is_empty() => {
                let receipt = receipt.get(&self.receipts).clone();
                self.delete(&receipt)?;
            }
            Step::UpdateLatest { message, visibility, body } if !self.model.kept.is_empty() => {
                let receipt = message.get(&self.model.kept).receipt.clone();
                self.update(&receipt, visibility, body)?;
            }
            Step::DeleteLatest { message } if !self.model.kept.is_empty() => {
                let receipt = message.get(&self.model.kept).receipt.clone();
                self.delete(&receipt)?;
            }
            // There is nothing yet that the call could be about.
            Step::Update { .. } | Step::Delete { .. } | Step::UpdateLatest { .. } | Step::DeleteLatest { .. } => {}
            Step::Peek { count } => self.peek(count)?,
            Step::Length => {
                prop_assert_eq!(
                    answer(self.subject.queues.queue_length(&self.queue)).unwrap(),
                    self.model.kept.len() as u64
                );
            }
            Step::Advance(by) => {
                self.subject.clock.advance(seconds(by));
                self.model.advance(by);
            }
        }
        Ok(())
    }

    fn remember(&mut self, receipt: &MessageReceipt) -> Result<(), TestCaseError> {
        prop_assert!(!self.receipts.contains(receipt), "a receipt repeats: {receipt:?}");
        self.receipts.push(receipt.clone());
        Ok(())
    }

    fn send(&mut self, byte: u8, delay: u64, life: Option<u64>) -> Result<(), TestCaseError> {
        let time_to_live = life.map_or(TimeToLive::Never, |life| TimeToLive::For(seconds(life)));
        let options = SendOptions { delay: seconds(delay), time_to_live };
        let sent = answer(self.subject.queues.send(&self.queue, body(byte), options));
        if life.is_some_and(|life| life <= delay) {
            prop_assert_eq!(sent.unwrap_err().kind(), ErrorKind::LimitExceeded);
            return Ok(());
        }
        let receipt = sent.unwrap();
        self.remember(&receipt)?;
        self.model.send(receipt, body(byte), delay, life);
        Ok(())
    }

    fn receive(&mut self, count: usize, visibility: u64) -> Result<(), TestCaseError> {
        let options = ReceiveOptions { count, visibility: seconds(visibility) };
        let received = answer(self.subject.queues.receive(&self.queue, options)).unwrap();
        let expected: Vec<_> = self.model.visible(count).into_iter().cloned().collect();
        prop_assert_eq!(received.len(), expected.len());
        for (message, expected) in received.into_iter().zip(expected) {
            prop_assert_eq!(&message.receipt.id, &expected.receipt.id);
            prop_assert_eq!(&message.body, &expected.body);
            prop_assert_eq!(message.dequeue_count, expected.count + 1);
            self.remember(&message.receipt)?;
            self.model.hide(message.receipt, visibility).count += 1;
        }
        Ok(())
    }

    fn update(&mut self, receipt: &MessageReceipt, visibility: u64, byte: Option<u8>) -> Result<(), TestCaseError> {
        let latest = self.model.is_latest(receipt);
        let updated =
            answer(self.subject.queues.update_message(&self.queue, receipt, seconds(visibility), byte.map(body)));
        if !latest {
            prop_assert_eq!(updated.unwrap_err().kind(), ErrorKind::PreconditionFailed);
            return Ok(());
        }
        let updated = updated.unwrap();
        prop_assert_eq!(&updated.id, &receipt.id);
        self.remember(&updated)?;
        let message = self.model.hide(updated, visibility);
        if let Some(byte) = byte {
            message.body = body(byte);
        }
        Ok(())
    }

    fn delete(&mut self, receipt: &MessageReceipt) -> Result<(), TestCaseError> {
        let deleted = answer(self.subject.queues.delete_message(&self.queue, receipt)).map_err(|error| error.kind());
        let expected = if self.model.is_latest(receipt) { Ok(()) } else { Err(ErrorKind::PreconditionFailed) };
        prop_assert_eq!(deleted, expected);
        self.model.remove(receipt);
        Ok(())
    }

    fn peek(&self, count: usize) -> Result<(), TestCaseError> {
        let peeked = answer(self.subject.queues.peek(&self.queue, count)).unwrap();
        let peeked: Vec<_> = peeked.into_iter().map(|each| (each.id, each.body, each.dequeue_count)).collect();
        let visible = self.model.visible(count).into_iter();
        let expected: Vec<_> = visible.map(|each| (each.receipt.id.clone(), each.body.clone(), each.count)).collect();
        prop_assert_eq!(peeked, expected);
        Ok(())
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn random_calls_on_a_queue_in_memory_equal_the_model(steps in steps()) {
        Pair::run(Subject::memory(), steps)?;
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn random_calls_on_an_embedded_queue_equal_the_model(steps in steps()) {
        Pair::run(Subject::embedded(), steps)?;
    }
}
