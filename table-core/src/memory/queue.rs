//! The messages of one queue.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;

use super::stamps::Stamps;
use crate::error::{Error, Result};
use crate::store::{Message, MessageReceipt, PeekedMessage, ReceiveOptions, SendOptions, TimeToLive};
use crate::timestamp::Timestamp;

/// Ids rise as messages are sent, and are unique in the store, as receipts are: a receipt of a
/// queue that was deleted fits no message of its successor.
type Id = Timestamp;

/// The messages of one queue, by id, by when they become visible, and by when they expire.
///
/// Each id is in `visible` exactly once, and in `expiring` unless the message lives for ever.
/// Hidden messages stand at the end of `visible`, so a receive never meets one.
#[derive(Debug, Default)]
pub(super) struct Queue {
    messages: BTreeMap<Id, Stored>,
    visible: BTreeSet<(Timestamp, Id)>,
    expiring: BTreeSet<(Timestamp, Id)>,
}

#[derive(Debug)]
struct Stored {
    body: Bytes,
    receipt: Timestamp,
    dequeue_count: u32,
    sent: Timestamp,
    next_visible: Timestamp,
    expires: Option<Timestamp>,
}

impl Stored {
    fn is_alive(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|expires| expires > now)
    }
}

fn receipt_of(id: Id, receipt: Timestamp) -> MessageReceipt {
    MessageReceipt { id: text_of(id), receipt: receipt.ticks().to_string() }
}

fn text_of(id: Id) -> String {
    id.ticks().to_string()
}

fn id_of(text: &str) -> Option<Id> {
    let id = Timestamp::from_ticks(text.parse().ok()?).ok()?;
    // Only the text that we gave is the id: `+7` and `07` are not `7`.
    (text_of(id) == text).then_some(id)
}

impl Queue {
    pub(super) fn send(&mut self, body: Bytes, options: SendOptions, stamps: &Stamps) -> MessageReceipt {
        let now = stamps.now();
        self.expire(now);
        let id = stamps.next();
        let next_visible = now.saturating_add(options.delay);
        let expires = match options.time_to_live {
            TimeToLive::For(life) => Some(now.saturating_add(life)),
            TimeToLive::Never => None,
        };
        self.visible.insert((next_visible, id));
        self.expiring.extend(expires.map(|expires| (expires, id)));
        self.messages.insert(id, Stored { body, receipt: id, dequeue_count: 0, sent: now, next_visible, expires });
        receipt_of(id, id)
    }

    pub(super) fn receive(&mut self, options: ReceiveOptions, stamps: &Stamps) -> Vec<Message> {
        let now = stamps.now();
        self.expire(now);
        let ids: Vec<Id> =
            self.visible.iter().take_while(|(at, _)| *at <= now).take(options.count).map(|(_, id)| *id).collect();
        ids.into_iter().filter_map(|id| self.take(id, now.saturating_add(options.visibility), stamps)).collect()
    }

    /// Hands one message out and hides it.
    fn take(&mut self, id: Id, until: Timestamp, stamps: &Stamps) -> Option<Message> {
        let message = self.messages.get_mut(&id)?;
        message.dequeue_count = message.dequeue_count.saturating_add(1);
        message.receipt = stamps.next();
        self.visible.remove(&(message.next_visible, id));
        message.next_visible = until;
        self.visible.insert((until, id));
        Some(Message {
            receipt: receipt_of(id, message.receipt),
            body: message.body.clone(),
            dequeue_count: message.dequeue_count,
            sent: message.sent,
            next_visible: until,
        })
    }

    pub(super) fn update(
        &mut self,
        receipt: &MessageReceipt,
        visibility: Duration,
        body: Option<Bytes>,
        stamps: &Stamps,
    ) -> Result<MessageReceipt> {
        let now = stamps.now();
        self.expire(now);
        let id = self.check(receipt)?;
        let message = self.messages.get_mut(&id).ok_or_else(stale)?;
        message.receipt = stamps.next();
        self.visible.remove(&(message.next_visible, id));
        message.next_visible = now.saturating_add(visibility);
        self.visible.insert((message.next_visible, id));
        if let Some(body) = body {
            message.body = body;
        }
        Ok(receipt_of(id, message.receipt))
    }

    pub(super) fn delete(&mut self, receipt: &MessageReceipt, stamps: &Stamps) -> Result<()> {
        self.expire(stamps.now());
        let id = self.check(receipt)?;
        self.remove(id);
        Ok(())
    }

    /// Shares the lock with other readers, so it steps over expired messages instead of removing them.
    pub(super) fn peek(&self, count: usize, now: Timestamp) -> Vec<PeekedMessage> {
        let visible = self.visible.iter().take_while(|(at, _)| *at <= now);
        let alive =
            visible.filter_map(|(_, id)| self.messages.get_key_value(id)).filter(|(_, each)| each.is_alive(now));
        alive
            .take(count)
            .map(|(id, message)| PeekedMessage {
                id: text_of(*id),
                body: message.body.clone(),
                dequeue_count: message.dequeue_count,
                sent: message.sent,
            })
            .collect()
    }

    pub(super) fn len(&self, now: Timestamp) -> usize {
        let expired = self.expiring.iter().take_while(|(at, _)| *at <= now).count();
        self.messages.len() - expired
    }

    /// The message that this receipt is the latest of.
    fn check(&self, receipt: &MessageReceipt) -> Result<Id> {
        let id = id_of(&receipt.id).ok_or_else(stale)?;
        let message = self.messages.get(&id).ok_or_else(stale)?;
        if receipt_of(id, message.receipt) == *receipt { Ok(id) } else { Err(stale()) }
    }

    fn expire(&mut self, now: Timestamp) {
        while let Some((_, id)) = self.expiring.first().copied().filter(|(at, _)| *at <= now) {
            self.remove(id);
        }
    }

    fn remove(&mut self, id: Id) {
        if let Some(message) = self.messages.remove(&id) {
            self.visible.remove(&(message.next_visible, id));
            if let Some(expires) = message.expires {
                self.expiring.remove(&(expires, id));
            }
        }
    }
}

fn stale() -> Error {
    Error::precondition_failed("the message was received again, updated, deleted or has expired since; let it go")
}
