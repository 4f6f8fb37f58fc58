//! Queue stores that break one guarantee each.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use table_core::store::{Message, MessageReceipt, PeekedMessage, ReceiveOptions, SendOptions, TimeToLive};
use table_core::{ErrorKind, MemoryStore, QueueName, QueueStore, Result};

use crate::expect_queues_caught;
use crate::wrapper::QueueBreak;

/// Makes a break of one method, and the test that it is caught.
macro_rules! break_queue {
    ($name:ident, $guarantee:literal, $test:ident, { $($method:tt)* }) => {
        #[derive(Debug)]
        struct $name;

        #[async_trait]
        impl QueueBreak for $name {
            $($method)*
        }

        #[tokio::test]
        async fn $test() {
            expect_queues_caught($name, $guarantee).await;
        }
    };
}

break_queue!(CreateClears, "M1", a_create_that_clears, {
    async fn create(&self, s: &MemoryStore, q: &QueueName) -> Result<()> {
        s.delete_queue(q).await.ok();
        s.create_queue(q).await
    }
});
break_queue!(TextOnly, "M5", bodies_of_text_only, {
    async fn send(&self, s: &MemoryStore, q: &QueueName, body: Bytes, o: SendOptions) -> Result<MessageReceipt> {
        s.send(q, String::from_utf8_lossy(&body).into_owned().into(), o).await
    }
});
break_queue!(CountCut, "M7", a_count_cut_in_silence, {
    async fn receive(&self, s: &MemoryStore, q: &QueueName, o: ReceiveOptions) -> Result<Vec<Message>> {
        s.receive(q, o.with_count(o.count.clamp(1, 32))).await
    }
});
break_queue!(NotHidden, "M8", received_messages_not_hidden, {
    async fn receive(&self, s: &MemoryStore, q: &QueueName, o: ReceiveOptions) -> Result<Vec<Message>> {
        let mut received = s.receive(q, o).await?;
        for message in &mut received {
            message.receipt = s.update_message(q, &message.receipt, Duration::ZERO, None).await?;
        }
        Ok(received)
    }
});
break_queue!(NotCounted, "M9", receives_not_counted, {
    async fn receive(&self, s: &MemoryStore, q: &QueueName, o: ReceiveOptions) -> Result<Vec<Message>> {
        let mut received = s.receive(q, o).await?;
        received.iter_mut().for_each(|message| message.dequeue_count = 1);
        Ok(received)
    }
});
break_queue!(NoDelay, "M10", a_delay_ignored, {
    async fn send(&self, s: &MemoryStore, q: &QueueName, body: Bytes, o: SendOptions) -> Result<MessageReceipt> {
        s.send(q, body, o.with_delay(Duration::ZERO)).await
    }
});
break_queue!(NoExpiry, "M11", messages_that_never_expire, {
    async fn send(&self, s: &MemoryStore, q: &QueueName, body: Bytes, o: SendOptions) -> Result<MessageReceipt> {
        s.send(q, body, o.with_time_to_live(TimeToLive::Never)).await
    }
});
break_queue!(BodyKept, "M15", an_update_that_keeps_the_body, {
    async fn update(
        &self,
        s: &MemoryStore,
        q: &QueueName,
        r: &MessageReceipt,
        visibility: Duration,
        _: Option<Bytes>,
    ) -> Result<MessageReceipt> {
        s.update_message(q, r, visibility, None).await
    }
});
break_queue!(PeekTakes, "M16", a_peek_that_takes, {
    async fn peek(&self, s: &MemoryStore, q: &QueueName, count: usize) -> Result<Vec<PeekedMessage>> {
        let peeked = s.peek(q, count).await?;
        s.receive(q, ReceiveOptions::default().with_count(count)).await?;
        Ok(peeked)
    }
});
break_queue!(VisibleLength, "M17", a_length_of_visible_messages, {
    async fn length(&self, s: &MemoryStore, q: &QueueName) -> Result<u64> {
        s.queue_length(q).await?;
        Ok(s.peek(q, 32).await?.len() as u64)
    }
});
break_queue!(DeletedForgiven, "M13", a_stale_delete_that_succeeds, {
    async fn delete(&self, s: &MemoryStore, q: &QueueName, r: &MessageReceipt) -> Result<()> {
        match s.delete_message(q, r).await {
            Err(error) if error.kind() == ErrorKind::PreconditionFailed => Ok(()),
            result => result,
        }
    }
});

/// Any receipt of a message is as good as its latest.
#[derive(Debug, Default)]
struct StaleAccepted(Mutex<HashMap<String, MessageReceipt>>);

impl StaleAccepted {
    fn remember(&self, receipt: &MessageReceipt) {
        self.0.lock().unwrap().insert(receipt.id.clone(), receipt.clone());
    }

    fn latest(&self, receipt: &MessageReceipt) -> MessageReceipt {
        self.0.lock().unwrap().get(&receipt.id).unwrap_or(receipt).clone()
    }
}

#[async_trait]
impl QueueBreak for StaleAccepted {
    async fn receive(&self, s: &MemoryStore, q: &QueueName, o: ReceiveOptions) -> Result<Vec<Message>> {
        let received = s.receive(q, o).await?;
        received.iter().for_each(|message| self.remember(&message.receipt));
        Ok(received)
    }

    async fn update(
        &self,
        s: &MemoryStore,
        q: &QueueName,
        r: &MessageReceipt,
        visibility: Duration,
        body: Option<Bytes>,
    ) -> Result<MessageReceipt> {
        let updated = s.update_message(q, &self.latest(r), visibility, body).await?;
        self.remember(&updated);
        Ok(updated)
    }

    async fn delete(&self, s: &MemoryStore, q: &QueueName, r: &MessageReceipt) -> Result<()> {
        s.delete_message(q, &self.latest(r)).await
    }
}

#[tokio::test]
async fn a_stale_receipt_accepted() {
    expect_queues_caught(StaleAccepted::default(), "M13").await;
}

/// A receipt ends with the visibility of its receive.
#[derive(Debug, Default)]
struct EndsWithVisibility;

#[async_trait]
impl QueueBreak for EndsWithVisibility {
    async fn update(
        &self,
        s: &MemoryStore,
        q: &QueueName,
        r: &MessageReceipt,
        visibility: Duration,
        body: Option<Bytes>,
    ) -> Result<MessageReceipt> {
        // A message that was received and is visible has outlived its visibility.
        let visible = s.peek(q, 32).await?.iter().any(|peeked| peeked.id == r.id && peeked.dequeue_count > 0);
        if visible {
            return Err(table_core::Error::precondition_failed("the time is over"));
        }
        s.update_message(q, r, visibility, body).await
    }
}

#[tokio::test]
async fn a_receipt_that_ends_with_its_visibility() {
    expect_queues_caught(EndsWithVisibility, "M14").await;
}
