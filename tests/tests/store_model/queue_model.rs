//! A queue as a vector of messages, and random calls on it.

use std::time::Duration;

use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;
use table_core::store::MessageReceipt;

/// One call. Times are in seconds.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Send {
        body: u8,
        delay: u64,
        life: Option<u64>,
    },
    Receive {
        count: usize,
        visibility: u64,
    },
    /// By one of all receipts that were ever given.
    Update {
        receipt: Index,
        visibility: u64,
        body: Option<u8>,
    },
    Delete {
        receipt: Index,
    },
    /// By the latest receipt of one of the messages.
    UpdateLatest {
        message: Index,
        visibility: u64,
        body: Option<u8>,
    },
    DeleteLatest {
        message: Index,
    },
    Peek {
        count: usize,
    },
    Length,
    Advance(u64),
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let index = any::<Index>;
    let step = prop_oneof![
        6 => (any::<u8>(), 0..4_u64, option::of(1..20_u64)).prop_map(|(body, delay, life)| Step::Send { body, delay, life }),
        6 => (1..4_usize, 1..6_u64).prop_map(|(count, visibility)| Step::Receive { count, visibility }),
        2 => (index(), 0..6_u64, option::of(any::<u8>()))
            .prop_map(|(receipt, visibility, body)| Step::Update { receipt, visibility, body }),
        1 => index().prop_map(|receipt| Step::Delete { receipt }),
        2 => (index(), 0..6_u64, option::of(any::<u8>()))
            .prop_map(|(message, visibility, body)| Step::UpdateLatest { message, visibility, body }),
        2 => index().prop_map(|message| Step::DeleteLatest { message }),
        2 => (1..8_usize).prop_map(|count| Step::Peek { count }),
        1 => Just(Step::Length),
        4 => (0..5_u64).prop_map(Step::Advance),
    ];
    vec(step, 1..100)
}

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kept {
    pub(crate) receipt: MessageReceipt,
    pub(crate) body: Bytes,
    pub(crate) count: u32,
    sent_as: usize,
    visible_at: u64,
    expires_at: Option<u64>,
}

/// All messages, and the time in seconds since the start.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) now: u64,
    pub(crate) kept: Vec<Kept>,
    sent: usize,
}

impl Model {
    pub(crate) fn advance(&mut self, seconds: u64) {
        self.now += seconds;
        let now = self.now;
        self.kept.retain(|message| message.expires_at.is_none_or(|end| end > now));
    }

    pub(crate) fn send(&mut self, receipt: MessageReceipt, body: Bytes, delay: u64, life: Option<u64>) {
        self.sent += 1;
        self.kept.push(Kept {
            receipt,
            body,
            count: 0,
            sent_as: self.sent,
            visible_at: self.now + delay,
            expires_at: life.map(|life| self.now + life),
        });
    }

    /// The visible messages, those first that became visible first.
    pub(crate) fn visible(&self, count: usize) -> Vec<&Kept> {
        let mut visible: Vec<_> = self.kept.iter().filter(|message| message.visible_at <= self.now).collect();
        visible.sort_by_key(|message| (message.visible_at, message.sent_as));
        visible.truncate(count);
        visible
    }

    /// Hides a message under its new receipt.
    pub(crate) fn hide(&mut self, receipt: MessageReceipt, visibility: u64) -> &mut Kept {
        let until = self.now + visibility;
        let message = self.kept.iter_mut().find(|message| message.receipt.id == receipt.id);
        let message = message.expect("a receipt is given only for a message that is there");
        message.visible_at = until;
        message.receipt = receipt;
        message
    }

    /// Whether a receipt is the latest of a message that is there.
    pub(crate) fn is_latest(&self, receipt: &MessageReceipt) -> bool {
        self.kept.iter().any(|message| message.receipt == *receipt)
    }

    pub(crate) fn remove(&mut self, receipt: &MessageReceipt) {
        self.kept.retain(|message| message.receipt != *receipt);
    }
}

pub(crate) fn body(byte: u8) -> Bytes {
    Bytes::from(vec![byte])
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
