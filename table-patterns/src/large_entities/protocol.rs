//! The steps of a writer: message, blobs, row, and what is left over.

use object_store::path::Path;
use table_core::{EntityKey, Error, Result};

use super::BlobTable;
use super::message::{Blobs, Collect, names, scope};
use crate::blobs::remove;
use crate::eventually_consistent_transactions::Outgoing;
use crate::intent::{Age, Ended, Keeper, Sent, before_the_change};

/// Who writes rows with blobs, and how.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    pub(super) place: BlobTable,
    pub(super) keeper: Keeper,
}

impl Writer {
    /// Step 1. The message comes before everything that it is to mend.
    pub(super) async fn send(&self, id: String, source: EntityKey, blobs: &[Path]) -> Result<Sent<Blobs>, Ended> {
        self.keeper.send(scope(&self.place.table), id, source, Blobs::of(blobs), Age::begin()).await
    }

    /// Step 2. Puts something while the message stays hidden. A failure gives the intent up.
    pub(super) async fn put<T>(
        &self,
        sent: &mut Sent<Blobs>,
        blobs: &[Path],
        work: impl Future<Output = Result<T>>,
    ) -> Result<T, Ended> {
        match self.keeper.while_hidden(sent, work).await {
            Some(Ok(done)) => Ok(done),
            Some(Err(error)) => {
                // A request that was sent may still arrive, so its blob is looked for when it cannot any more.
                self.collect_later(sent, blobs, None).await;
                Err(before_the_change(error))
            }
            None => Err(Ended::Again(Error::precondition_failed(
                "a worker took the upload for abandoned; hide intents for longer, or look after the queue's clock",
            ))),
        }
    }

    /// Steps 4 and 5, after the row was written. A failure here is nobody's but the worker's that comes after.
    pub(super) async fn finish(&self, sent: &Sent<Blobs>, drops: &[Path]) {
        if drops.is_empty() {
            return self.keeper.finish(&self.place.table, sent, async { Ok(Vec::new()) }).await;
        }
        match sent.intent.key() {
            Ok(intent) => self.collect_later(sent, drops, Some(intent)).await,
            Err(error) => tracing::debug!(%error, "the blobs are left to a worker"),
        }
    }

    /// After a refusal: the blobs that were put are nobody's. Says nothing of an intent row, since none was written.
    pub(super) async fn give_up(&self, sent: &Sent<Blobs>, uploaded: &[Path]) {
        let undo = async {
            for path in uploaded {
                remove(&self.place.blobs, path).await?;
            }
            Ok(Vec::new())
        };
        self.keeper.give_up(sent, undo).await;
    }

    /// How a refusal of step 3 ends the attempt.
    pub(super) async fn refused(&self, ended: Ended, sent: &Sent<Blobs>, uploaded: &[Path]) -> Ended {
        if let Ended::Refused(refused) = &ended
            && !refused.error().outcome_unknown()
        {
            self.give_up(sent, uploaded).await;
        }
        ended
    }

    /// Has blobs that may or may not be there looked for after the grace period.
    async fn collect_later(&self, sent: &Sent<Blobs>, blobs: &[Path], intent: Option<EntityKey>) {
        let (scope, source) = (scope(&self.place.table), sent.intent.source.clone());
        let collect = Collect { scope, source, blobs: names(blobs), intent };
        self.keeper.become_later(sent, Outgoing::of(&collect)).await;
    }
}
