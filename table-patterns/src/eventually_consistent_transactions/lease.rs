//! The right to work on a message, renewed while the work goes on.

use std::time::Duration;

use bytes::Bytes;
use table_core::store::MessageReceipt;
use table_core::{ErrorKind, QueueName, QueueStore, Result};
use tokio::time::Instant;

use super::options::MoverOptions;

/// A message that this worker holds.
pub(super) struct Lease<'q> {
    queues: &'q dyn QueueStore,
    queue: &'q QueueName,
    receipt: MessageReceipt,
}

/// How work under a lease ended.
pub(super) enum Held<T> {
    /// The work is through.
    Through(T),
    /// Somebody else has the message now, or the work took too long: its result must not be used.
    Lost,
    /// The worker is to let go, and the work was dropped half-way.
    Released,
}

impl<'q> Lease<'q> {
    pub(super) const fn new(queues: &'q dyn QueueStore, queue: &'q QueueName, receipt: MessageReceipt) -> Self {
        Self { queues, queue, receipt }
    }

    /// Does the work, and renews the lease while it goes on. Work that has lost its lease, or that goes on
    /// when `release` comes, is dropped.
    pub(super) async fn keep<T>(
        &mut self,
        options: &MoverOptions,
        work: impl Future<Output = T>,
        release: impl Future<Output = ()>,
    ) -> Held<T> {
        let (mut work, mut release) = (std::pin::pin!(work), std::pin::pin!(release));
        let began = Instant::now();
        let mut over = began + options.lease;
        let mut renew = began + options.lease / 3;
        loop {
            tokio::select! {
                biased;
                result = &mut work => return Held::Through(result),
                () = &mut release => return Held::Released,
                () = tokio::time::sleep_until(renew) => {}
            }
            if began.elapsed() > options.longest_run {
                return Held::Lost;
            }
            let now = Instant::now();
            match self.hide(options.lease, None).await {
                Ok(()) => (over, renew) = (now + options.lease, now + options.lease / 3),
                Err(error) if error.kind() == ErrorKind::PreconditionFailed => return Held::Lost,
                // Until the lease is over the message is still ours, whatever a renewal says.
                Err(_) if now < over => renew = now + options.lease / 10,
                Err(_) => return Held::Lost,
            }
        }
    }

    /// Hides the message for a while from now on, with a new body or the one it has.
    pub(super) async fn hide(&mut self, duration: Duration, body: Option<Bytes>) -> Result<()> {
        self.receipt = self.queues.update_message(self.queue, &self.receipt, duration, body).await?;
        Ok(())
    }

    /// What proves that the message is held, as it is now.
    pub(super) fn into_receipt(self) -> MessageReceipt {
        self.receipt
    }

    /// Deletes the message.
    pub(super) async fn delete(&self) -> Result<()> {
        self.queues.delete_message(self.queue, &self.receipt).await
    }
}
