//! The steps of a writer: message, change with intent, targets, and what is left over.

use std::time::Duration;

use table_core::store::MessageReceipt;
use table_core::{DynamicEntity, EntityKey, Error, ErrorKind, Result, Table, Written};
use uuid::Uuid;

use super::message::{Collect, Garbage, Intent, Named};
use super::options::{Age, IntentOptions};
use super::{delete, rows};
use crate::attempts::Attempts;
use crate::eventually_consistent_transactions::{Mover, Outgoing};
use crate::intra_partition_secondary_index::{IndexedTransaction, Refused};

/// Who carries out what a writer leaves, and how.
#[derive(Debug, Clone)]
pub(crate) struct Keeper {
    pub(crate) mover: Mover,
    pub(crate) options: IntentOptions,
}

/// An intent that was sent.
#[derive(Debug)]
pub(crate) struct Sent<N> {
    pub(crate) intent: Intent<N>,
    /// Since when what was read is known.
    pub(crate) age: Age,
    receipt: MessageReceipt,
}

/// How an attempt ended that did not succeed.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The change was refused.
    Refused(Refused),
    /// The intent was given up, or a worker took it for abandoned, and another may succeed.
    Again(Error),
}

/// The intent of another change, which is committed within that of an index.
#[derive(Debug, Clone)]
pub(crate) struct Outer {
    pub(crate) intent: DynamicEntity,
    pub(crate) age: Age,
}

/// How far settling has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settled<N> {
    /// To its end; these rows are to go some time.
    All(Vec<Garbage>),
    /// Not yet: what is left is named here, and due after a while.
    Later(N, Duration),
}

impl<N> From<Vec<Garbage>> for Settled<N> {
    fn from(garbage: Vec<Garbage>) -> Self {
        Self::All(garbage)
    }
}

impl Ended {
    /// Waits before the next attempt where one may succeed, else gives the failure back.
    pub(crate) async fn wait(self, attempts: &mut Attempts<'_>) -> Result<()> {
        match self {
            Self::Again(error) => attempts.after(error, true).await,
            Self::Refused(refused) => {
                let conflict = refused.is_conflict();
                attempts.after(refused.into_error(), conflict).await
            }
        }
    }
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Refused(error.into())
    }
}

impl From<Refused> for Ended {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// The failure of a step before the entity is written: the change has certainly not happened.
pub(crate) fn before_the_change(error: Error) -> Ended {
    Ended::Refused(error.with_outcome_unknown(false).into())
}

impl Keeper {
    pub(crate) fn new(mover: &Mover) -> Self {
        Self { mover: mover.clone(), options: IntentOptions::default() }
    }

    pub(crate) const fn options(&self) -> &IntentOptions {
        &self.options
    }

    /// A new name for an intent.
    pub(crate) fn new_id() -> String {
        Uuid::new_v4().simple().to_string()
    }

    /// Sends the message, which comes before everything that it is to mend. `age` is that of the targets where they
    /// were read before.
    pub(crate) async fn send<N: Named>(
        &self,
        scope: String,
        id: String,
        source: EntityKey,
        named: N,
        age: Age,
    ) -> Result<Sent<N>, Ended> {
        let intent = Intent { scope, id, source, named, grace: self.options.grace };
        let item = intent.outgoing().map_err(before_the_change)?;
        let receipt = self.mover.send_later(&item, self.options.hidden).await.map_err(before_the_change)?;
        Ok(Sent { intent, age, receipt })
    }

    /// Has the message of an intent name other targets.
    pub(crate) async fn tell<N: Named>(&self, sent: &mut Sent<N>, named: N) -> Result<(), Ended> {
        let intent = Intent { named, ..sent.intent.clone() };
        let item = intent.outgoing().map_err(before_the_change)?;
        let told = self.mover.exchange(&sent.receipt, item, self.options.hidden).await;
        sent.receipt = told.map_err(before_the_change)?;
        sent.intent = intent;
        Ok(())
    }

    /// Does work that may take long while the message stays hidden; `None` where a worker has it, or there is no
    /// more time for the work.
    pub(crate) async fn while_hidden<N, T>(&self, sent: &mut Sent<N>, work: impl Future<Output = T>) -> Option<T> {
        let longest = self.options.grace / 4;
        self.mover.while_hidden(&mut sent.receipt, self.options.hidden, longest, work).await
    }

    /// Whether there is still time for the change. The fence of an old intent may be gone soon, and then nobody
    /// would stop a write that nobody knows of.
    pub(crate) fn refuse_old<N>(&self, sent: &Sent<N>) -> Result<(), Ended> {
        if sent.age.is_too_old(self.options.grace) {
            return Err(Ended::Again(Error::precondition_failed("the intent is too old to be carried out")));
        }
        Ok(())
    }

    /// Commits the change together with the intent row, and answers what was written of the change. Where a worker
    /// has put a fence, another intent may succeed: the worker does what is to be done for this one.
    pub(crate) async fn commit<N>(
        &self,
        table: &Table,
        sent: &Sent<N>,
        change: IndexedTransaction<'_>,
    ) -> Result<Vec<Written>, Ended> {
        self.refuse_old(sent)?;
        let key = sent.intent.key().map_err(Refused::from)?;
        let intent = rows::intent(key, &rows::owner(table, &sent.intent.source), &sent.intent.scope);
        change.intent(intent).try_commit().await.map_err(|refused| {
            if refused.is_fenced() { Ended::Again(refused.into_error()) } else { Ended::Refused(refused) }
        })
    }

    /// After the change: settles, deletes the intent and closes the message, or leaves what is left to a worker. The
    /// change is made, so a failure here is nobody's but the worker's that comes after.
    pub(crate) async fn finish<N: Named, S: Into<Settled<N>>>(
        &self,
        table: &Table,
        sent: &Sent<N>,
        settle: impl Future<Output = Result<S>>,
    ) {
        let work = async {
            match settle.await?.into() {
                Settled::All(garbage) => {
                    delete(table, sent.intent.key()?).await?;
                    self.close(sent, garbage).await
                }
                Settled::Later(named, due) => {
                    let rest = Intent { named, ..sent.intent.clone() };
                    self.exchange(sent, Outgoing::of(&rest)?, due).await
                }
            }
        };
        left_to_a_worker(sent, work.await);
    }

    /// After a refusal: takes back what was done for the intent, of which no row was written, and closes the message.
    pub(crate) async fn give_up<N>(&self, sent: &Sent<N>, undo: impl Future<Output = Result<Vec<Garbage>>>) {
        let work = async {
            let garbage = undo.await?;
            self.close(sent, garbage).await
        };
        left_to_a_worker(sent, work.await);
    }

    /// The message goes, or waits until what is left can go.
    async fn close<N>(&self, sent: &Sent<N>, garbage: Vec<Garbage>) -> Result<()> {
        if garbage.is_empty() {
            return self.mover.withdraw(&sent.receipt).await;
        }
        let Intent { scope, grace, .. } = &sent.intent;
        let collect = Collect { scope: scope.clone(), rows: garbage, grace: *grace };
        if let Some(last) = send_surplus(&self.mover, collect).await? {
            self.exchange(sent, last, *grace).await?;
        }
        Ok(())
    }

    /// Has the message become another, due after the grace period.
    pub(crate) async fn become_later<N>(&self, sent: &Sent<N>, item: Result<Outgoing>) {
        let work = async { self.exchange(sent, item?, self.options.grace).await };
        left_to_a_worker(sent, work.await);
    }

    async fn exchange<N>(&self, sent: &Sent<N>, item: Outgoing, due: Duration) -> Result<()> {
        self.mover.exchange(&sent.receipt, item, due).await.map(|_| ())
    }

    /// Has rows collected that were left outside of any intent. Where that cannot be told they stay until somebody
    /// writes there, or repairs.
    pub(crate) async fn collect_later(&self, scope: String, rows: Vec<Garbage>) {
        let grace = self.options.grace;
        let sent = async {
            for item in (Collect { scope, rows, grace }).outgoing()? {
                self.mover.send_later(&item, grace).await?;
            }
            Ok::<_, Error>(())
        };
        if let Err(error) = sent.await {
            tracing::debug!(%error, "a tombstone is left to the next repair");
        }
    }
}

/// Sends what is to be collected but for one message, which is to take the place of the one that is held. Whoever dies
/// in between leaves some of them twice, which does no harm.
pub(super) async fn send_surplus(mover: &Mover, collect: Collect) -> Result<Option<Outgoing>> {
    let grace = collect.grace;
    let mut items = collect.outgoing()?;
    let last = items.pop();
    for item in items {
        mover.send_later(&item, grace).await?;
    }
    Ok(last)
}

/// What the writer could not do itself, a worker does; one that has the message already does the same.
fn left_to_a_worker<N>(sent: &Sent<N>, result: Result<()>) {
    match result {
        Err(error) if error.kind() != ErrorKind::PreconditionFailed => {
            tracing::debug!(source = %sent.intent.source, %error, "the intent is left to a worker");
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use table_core::MemoryStore;

    use super::*;

    #[tokio::test]
    async fn what_one_message_has_no_room_for_is_sent_beside_it() {
        let mover = Mover::builder(Arc::new(MemoryStore::new()), "moves").unwrap().build().await.unwrap();
        let table = Table::new(Arc::new(MemoryStore::new()), "Table").unwrap();
        let garbage =
            |number: u32| Garbage::fence(&table, EntityKey::parse(&"€".repeat(500), &format!("{number}")).unwrap());
        for (rows, beside) in [(1, 0), (40, 1), (100, 3)] {
            let rows = (0..rows).map(garbage).collect();
            let before = mover.progress().await.unwrap().queued;
            let collect = Collect { scope: String::new(), rows, grace: Duration::from_secs(60) };
            assert!(send_surplus(&mover, collect).await.unwrap().is_some());
            assert_eq!(mover.progress().await.unwrap().queued - before, beside);
        }
    }
}
