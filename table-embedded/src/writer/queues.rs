//! Writes to the messages of a queue.
//!
//! A message stands in three redb tables: by id, by the time at which it can be received, and,
//! unless it lives for ever, by the time at which it ends. Hidden messages stand at the end of the
//! second, so a receive never meets one.

use std::time::Duration;

use bytes::Bytes;
use redb::{ReadableTable, Table};
use table_core::store::{Message, MessageReceipt, ReceiveOptions, SendOptions, TimeToLive};
use table_core::{Error, QueueName, Result, Timestamp};

use super::group::{Failure, Group};
use crate::error::StorageFailure;
use crate::format::catalog;
use crate::format::message::{NEVER, StoredMessage};

/// Expired messages that one write removes on its way, so that no write takes long.
const EXPIRE_AT_ONCE: usize = 500;

/// A queue in a transaction.
struct QueueRows<'t> {
    messages: Table<'t, u64, &'static [u8]>,
    visible: Table<'t, (i64, u64), ()>,
    expiring: Table<'t, (i64, u64), ()>,
}

impl QueueRows<'_> {
    fn read(&self, id: u64) -> Result<Option<StoredMessage>, Failure> {
        let Some(stored) = self.messages.get(id)? else {
            return Ok(None);
        };
        Ok(Some(StoredMessage::decode(stored.value())?))
    }

    /// Writes a message anew, and moves it to where it becomes visible.
    fn put(&mut self, id: u64, was_visible: Option<Timestamp>, message: &StoredMessage) -> Result<(), StorageFailure> {
        if let Some(at) = was_visible {
            self.visible.remove((at.ticks(), id))?;
        }
        self.visible.insert((message.visible.ticks(), id), ())?;
        self.messages.insert(id, &*message.encode())?;
        Ok(())
    }

    fn remove(&mut self, id: u64, message: &StoredMessage) -> Result<(), StorageFailure> {
        self.messages.remove(id)?;
        self.visible.remove((message.visible.ticks(), id))?;
        if message.expires != NEVER {
            self.expiring.remove((message.expires, id))?;
        }
        Ok(())
    }

    /// Removes messages whose time has come, and says whether there were any.
    fn expire(&mut self, now: Timestamp) -> Result<bool, Failure> {
        let mut ended = Vec::new();
        for entry in self.expiring.range(..=(now.ticks(), u64::MAX))?.take(EXPIRE_AT_ONCE) {
            ended.push(entry?.0.value());
        }
        for (at, id) in &ended {
            match self.read(*id)? {
                Some(message) => self.remove(*id, &message)?,
                None => drop(self.expiring.remove((*at, *id))?),
            }
        }
        Ok(!ended.is_empty())
    }

    /// The first messages that are visible and have not ended, among those that one write looks at.
    fn due(&self, now: Timestamp, count: usize) -> Result<Vec<(u64, StoredMessage)>, Failure> {
        let mut due = Vec::with_capacity(count);
        for entry in self.visible.range(..=(now.ticks(), u64::MAX))?.take(count + EXPIRE_AT_ONCE) {
            let (_, id) = entry?.0.value();
            due.extend(self.read(id)?.filter(|message| message.expires > now.ticks()).map(|message| (id, message)));
            if due.len() == count {
                break;
            }
        }
        Ok(due)
    }

    /// The message that this receipt is the latest of, unless it has ended.
    fn check(&self, receipt: &MessageReceipt, now: Timestamp) -> Result<(u64, StoredMessage), Failure> {
        let id = parse_number(&receipt.id).ok_or_else(stale)?;
        let delivery = parse_number(&receipt.receipt).ok_or_else(stale)?;
        let message = self.read(id)?.ok_or_else(stale)?;
        if message.receipt != delivery || message.expires <= now.ticks() {
            return Err(stale().into());
        }
        Ok((id, message))
    }
}

/// Only the text that we gave is the number: `+7` and `07` are not `7`.
fn parse_number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

fn stale() -> Error {
    Error::precondition_failed("the message was received again, updated, deleted or has expired since; let it go")
}

fn receipt_of(id: u64, delivery: u64) -> MessageReceipt {
    MessageReceipt { id: id.to_string(), receipt: delivery.to_string() }
}

impl<'t> Group<'t> {
    fn open_queue(&self, queue: &QueueName, operation: &'static str) -> Result<QueueRows<'t>, Failure> {
        let entry = self.queue(queue, operation)?;
        Ok(QueueRows {
            messages: self.transaction.open_table(catalog::messages_table(&entry.tables.messages))?,
            visible: self.transaction.open_table(catalog::times_table(&entry.tables.visible))?,
            expiring: self.transaction.open_table(catalog::times_table(&entry.tables.expiring))?,
        })
    }

    /// A number above all that were given before: ids and deliveries never repeat.
    fn next_delivery(&self) -> u64 {
        u64::try_from(self.stamps.next().ticks()).unwrap_or(0)
    }

    /// Adds a message.
    pub(crate) fn send(
        &mut self,
        queue: &QueueName,
        body: Bytes,
        options: SendOptions,
    ) -> Result<MessageReceipt, Failure> {
        let mut rows = self.open_queue(queue, "send")?;
        let now = self.stamps.now();
        let id = self.next_delivery();
        let expires = match options.time_to_live {
            TimeToLive::For(life) => now.saturating_add(life).ticks(),
            TimeToLive::Never => NEVER,
        };
        let visible = now.saturating_add(options.delay);
        self.changed = true;
        rows.put(id, None, &StoredMessage { sent: now, visible, expires, dequeued: 0, receipt: id, body })?;
        if expires != NEVER {
            rows.expiring.insert((expires, id), ())?;
        }
        rows.expire(now)?;
        Ok(receipt_of(id, id))
    }

    /// Takes messages and hides them. None where all that it met had expired, so that there may be
    /// others behind them.
    pub(crate) fn receive(
        &mut self,
        queue: &QueueName,
        options: ReceiveOptions,
    ) -> Result<Option<Vec<Message>>, Failure> {
        let mut rows = self.open_queue(queue, "receive")?;
        let now = self.stamps.now();
        let expired = rows.expire(now)?;
        self.changed |= expired;
        let due = rows.due(now, options.count)?;
        if due.is_empty() && expired {
            return Ok(None);
        }
        let mut messages = Vec::with_capacity(due.len());
        for (id, mut message) in due {
            let was_visible = message.visible;
            message.visible = now.saturating_add(options.visibility);
            message.dequeued = message.dequeued.saturating_add(1);
            message.receipt = self.next_delivery();
            self.changed = true;
            rows.put(id, Some(was_visible), &message)?;
            messages.push(Message {
                receipt: receipt_of(id, message.receipt),
                body: message.body,
                dequeue_count: message.dequeued,
                sent: message.sent,
                next_visible: message.visible,
            });
        }
        Ok(Some(messages))
    }

    /// Hides a message from now on, with a new body or the one it has.
    pub(crate) fn update_message(
        &mut self,
        queue: &QueueName,
        receipt: &MessageReceipt,
        visibility: Duration,
        body: Option<Bytes>,
    ) -> Result<MessageReceipt, Failure> {
        let mut rows = self.open_queue(queue, "update_message")?;
        let now = self.stamps.now();
        let (id, mut message) = rows.check(receipt, now)?;
        let was_visible = message.visible;
        message.visible = now.saturating_add(visibility);
        message.receipt = self.next_delivery();
        message.body = body.unwrap_or(message.body);
        self.changed = true;
        rows.put(id, Some(was_visible), &message)?;
        Ok(receipt_of(id, message.receipt))
    }

    /// Deletes a message.
    pub(crate) fn delete_message(&mut self, queue: &QueueName, receipt: &MessageReceipt) -> Result<(), Failure> {
        let mut rows = self.open_queue(queue, "delete_message")?;
        let (id, message) = rows.check(receipt, self.stamps.now())?;
        self.changed = true;
        rows.remove(id, &message)?;
        Ok(())
    }
}
