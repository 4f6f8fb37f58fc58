//! The steps of a writer: message, blobs, row, and what is left over.

use futures_util::stream::{self, StreamExt, TryStreamExt};
use object_store::ObjectStoreExt;
use object_store::path::Path;
use table_core::store::MessageReceipt;
use table_core::{EntityKey, Error, ErrorKind, Result};
use uuid::Uuid;

use super::message::{Collect, Intent, names, scope};
use super::reference::Payload;
use super::worker::remove;
use super::{BlobTable, blob_error};
use crate::eventually_consistent_transactions::{Mover, Outgoing};
use crate::inter_partition_secondary_index::{Age, IntentOptions, delete, rows};
use crate::intra_partition_secondary_index::Refused;

/// Blobs of one entity that are put at once.
const UPLOADS: usize = 4;

/// Who writes rows with blobs, and how.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    pub(super) place: BlobTable,
    pub(super) mover: Mover,
    pub(super) options: IntentOptions,
}

/// An intent that was sent.
#[derive(Debug)]
pub(super) struct Sent {
    id: String,
    source: EntityKey,
    receipt: MessageReceipt,
    age: Age,
}

/// How an attempt ended that did not succeed.
#[derive(Debug)]
pub(super) enum Ended {
    /// The change was refused.
    Refused(Refused),
    /// A worker took the intent for abandoned, and another may succeed.
    Again(Error),
}

impl From<Refused> for Ended {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// The failure of a step before the row is written: the change has certainly not happened.
fn before_the_change(error: Error) -> Ended {
    Ended::Refused(error.with_outcome_unknown(false).into())
}

/// A new name for an intent, which is a part of the names of its blobs too.
pub(super) fn new_id() -> String {
    Uuid::new_v4().simple().to_string()
}

impl Sent {
    /// The entity.
    pub(super) const fn source(&self) -> &EntityKey {
        &self.source
    }

    /// Where the intent row stands, or its fence.
    pub(super) fn intent_key(&self) -> Result<EntityKey> {
        rows::intent_key(&self.source, &self.id)
    }
}

impl Writer {
    /// Step 1. The message comes before everything that it is to mend.
    pub(super) async fn send(&self, id: String, source: EntityKey, blobs: &[Path]) -> Result<Sent, Ended> {
        let age = Age::begin();
        let item = self.intent(&id, &source, blobs).map_err(before_the_change)?;
        let receipt = self.mover.send_later(&item, self.options.hidden).await.map_err(before_the_change)?;
        Ok(Sent { id, source, receipt, age })
    }

    /// Adds blobs to those that the message of an intent names.
    pub(super) async fn tell(&self, sent: &mut Sent, blobs: &[Path]) -> Result<(), Ended> {
        let item = self.intent(&sent.id, &sent.source, blobs).map_err(before_the_change)?;
        let told = self.mover.exchange(&sent.receipt, item, self.options.hidden).await;
        sent.receipt = told.map_err(before_the_change)?;
        Ok(())
    }

    fn intent(&self, id: &str, source: &EntityKey, blobs: &[Path]) -> Result<Outgoing> {
        Outgoing::of(&Intent {
            scope: scope(&self.place.table),
            id: id.to_owned(),
            source: source.clone(),
            blobs: names(blobs),
            grace: self.options.grace,
        })
    }

    /// Step 2. Puts something while the message stays hidden. A failure gives the intent up.
    pub(super) async fn put<T>(
        &self,
        sent: &mut Sent,
        blobs: &[Path],
        work: impl Future<Output = Result<T>>,
    ) -> Result<T, Ended> {
        let longest = self.options.grace / 4;
        match self.mover.while_hidden(&mut sent.receipt, self.options.hidden, longest, work).await {
            Some(Ok(done)) => Ok(done),
            Some(Err(error)) => {
                // A request that was sent may still arrive, so its blob is looked for when it cannot any more.
                let left = self.leave(sent, blobs);
                log(sent, left.await);
                Err(before_the_change(error))
            }
            None => Err(Ended::Again(Error::precondition_failed(
                "a worker took the upload for abandoned; hide intents for longer, or look after the queue's clock",
            ))),
        }
    }

    pub(super) async fn put_all(&self, uploads: Vec<(Path, Payload)>) -> Result<()> {
        let puts = uploads.into_iter().map(|(path, payload)| async move {
            let put = self.place.blobs.put(&path, payload.bytes.into()).await;
            put.map(|_| ()).map_err(|error| blob_error("put blob", &path, error))
        });
        stream::iter(puts).buffer_unordered(UPLOADS).try_collect().await
    }

    /// Before step 3: whether there is still time for it. Its fence may be gone soon, and then nobody would stop
    /// the write that nobody knows of.
    pub(super) fn check_age(&self, sent: &Sent) -> Result<(), Ended> {
        if sent.age.is_too_old(self.options.grace) {
            return Err(Ended::Again(Error::precondition_failed("the intent is too old to be carried out")));
        }
        Ok(())
    }

    /// Steps 4 and 5, after the row was written. A failure here is nobody's but the worker's that comes after.
    pub(super) async fn finish(&self, sent: &Sent, drops: &[Path]) {
        let work = async {
            let intent = sent.intent_key()?;
            if drops.is_empty() {
                delete(&self.place.table, intent).await?;
                return self.mover.withdraw(&sent.receipt).await;
            }
            self.collect_later(sent, drops, Some(intent)).await
        };
        log(sent, work.await);
    }

    /// After a refusal: the blobs that were put are nobody's. Says nothing of an intent row, since none was written.
    pub(super) async fn give_up(&self, sent: &Sent, uploaded: &[Path]) {
        let work = async {
            for path in uploaded {
                remove(&self.place, path).await?;
            }
            self.mover.withdraw(&sent.receipt).await
        };
        log(sent, work.await);
    }

    /// How a refusal of step 3 ends the attempt.
    pub(super) async fn refused(&self, refused: Refused, sent: &Sent, uploaded: &[Path]) -> Ended {
        if refused.is_fenced() {
            return Ended::Again(refused.into_error());
        }
        if !refused.error().outcome_unknown() {
            self.give_up(sent, uploaded).await;
        }
        Ended::Refused(refused)
    }

    /// Leaves blobs that may or may not be there to be looked for after the grace period.
    async fn leave(&self, sent: &Sent, blobs: &[Path]) -> Result<()> {
        self.collect_later(sent, blobs, None).await
    }

    async fn collect_later(&self, sent: &Sent, blobs: &[Path], intent: Option<EntityKey>) -> Result<()> {
        let (scope, source) = (scope(&self.place.table), sent.source.clone());
        let item = Outgoing::of(&Collect { scope, source, blobs: names(blobs), intent })?;
        self.mover.exchange(&sent.receipt, item, self.options.grace).await.map(|_| ())
    }
}

/// What the writer could not do itself, a worker does.
fn log(sent: &Sent, result: Result<()>) {
    match result {
        Err(error) if error.kind() != ErrorKind::PreconditionFailed => {
            tracing::debug!(source = %sent.source, %error, "the blobs are left to a worker");
        }
        _ => {}
    }
}
