//! Breaking a protocol on purpose: stores that alter what the code asks of them.
//!
//! The code under test has no switches for this. What is taken away from a protocol here must make
//! the explorer find an execution that goes wrong, else either the part is not needed or the explorer is blind.

mod alter;
mod blobs;
mod store;

use std::fmt;
use std::sync::Arc;

use object_store::ObjectStore;

use super::search::{Explorer, Search};
use super::stage::{AnyStore, Stores};
use super::{Scenario, scenarios};
use blobs::HeldBlobs;
use store::Sabotaged;

/// What is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// A worker leaves no fence for a writer that is late.
    NoFence,
    /// Nothing is left where an index row was, or might have come.
    NoTombstone,
    /// Index rows are written whatever stands there by now.
    UnconditionalIndexWrites,
    /// An index row or a target that is already right is not written again.
    SkipsWritesThatLookDone,
    /// Nobody looks whose an index row is.
    NoOwner,
    /// A unique value is not claimed before its entity is written.
    NoClaim,
    /// A claim of another change is removed without a fence for that change.
    NoIntentOnClaims,
    /// The index is read after the message was sent, and not before.
    IndexReadAfterMessage,
    /// The message is sent after the entity was written, and not before.
    MessageAfterWrite,
    /// Targets that copy a source are written whatever stands there by now.
    UnconditionalTargetWrites,
    /// A source is read before the targets that copy it, and not after.
    SourceReadBeforeTargets,
    /// The source is not read again after a target was pointed at it.
    NoSecondLookAtTheSource,
    /// The source is read again before the index rows lead to the target.
    SecondLookBeforeTheIndex,
    /// Nobody is told of the blob of a list before it is put.
    NoMessageForBlobs,
    /// The archive deletes the current row whatever it is by now.
    ArchiveDeletesWithoutCondition,
    /// The archive writes its copy whatever stands there by now.
    ArchiveCopiesWithoutCondition,
    /// The archive leaves nothing that says that a message is done.
    ArchiveLeavesNoFence,
    /// The archive leaves nothing that says that there was nothing to move.
    ArchiveLeavesNoTombstone,
    /// A row is written before the blob that it refers to.
    RowBeforeBlob,
    /// Blobs that nothing refers to go at once, and not after a grace period.
    BlobsDeletedAtOnce,
}

/// Each way of breaking a protocol, and the scenario that shows it.
pub const SABOTAGES: &[(Sabotage, &str)] = &[
    (Sabotage::NoFence, "index: change"),
    (Sabotage::NoTombstone, "index: shared value, late worker"),
    (Sabotage::UnconditionalIndexWrites, "index: two writers, one entity"),
    (Sabotage::SkipsWritesThatLookDone, "index: renamed, and back by another"),
    (Sabotage::NoOwner, "index: one leaves a value that another claims"),
    (Sabotage::NoClaim, "index: two change to one value"),
    (Sabotage::NoIntentOnClaims, "index: crowd, three claim one value for two"),
    (Sabotage::IndexReadAfterMessage, "index: change"),
    (Sabotage::MessageAfterWrite, "index: change"),
    (Sabotage::NoFence, "copies: source changed"),
    (Sabotage::NoFence, "copies: late writer of a target, and its source changed"),
    (Sabotage::MessageAfterWrite, "copies: two writers, one source"),
    (Sabotage::MessageAfterWrite, "copies: target inserted while its source changes"),
    (Sabotage::SkipsWritesThatLookDone, "copies: changed, and back by another"),
    (Sabotage::UnconditionalTargetWrites, "copies: two writers, one source"),
    (Sabotage::SourceReadBeforeTargets, "copies: two writers, one source"),
    (Sabotage::NoSecondLookAtTheSource, "copies: target pointed at a source that changes"),
    (Sabotage::NoSecondLookAtTheSource, "copies: target inserted while its source changes"),
    (Sabotage::NoSecondLookAtTheSource, "copies by index: target moved while its source changes"),
    (Sabotage::NoSecondLookAtTheSource, "copies by index: two writers, one source"),
    (Sabotage::SecondLookBeforeTheIndex, "copies by index: late worker on a target, and its source changed"),
    (Sabotage::NoTombstone, "lists: two writers, one entity"),
    (Sabotage::UnconditionalIndexWrites, "lists: two writers, one list"),
    (Sabotage::SkipsWritesThatLookDone, "lists: change, and back by another"),
    (Sabotage::NoMessageForBlobs, "lists: move to a blob"),
    (Sabotage::ArchiveDeletesWithoutCondition, "archive racing an update"),
    (Sabotage::ArchiveCopiesWithoutCondition, "archive by a late worker after an update"),
    (Sabotage::ArchiveLeavesNoFence, "archive racing a re-creation"),
    (Sabotage::ArchiveLeavesNoTombstone, "archive and delete in a crowd"),
    (Sabotage::RowBeforeBlob, "blob: replace"),
    (Sabotage::BlobsDeletedAtOnce, "blob: replace"),
];

impl Sabotage {
    /// Stores that alter the calls to others.
    pub(super) fn of(self, store: impl AnyStore, blobs: impl ObjectStore) -> Stores {
        let blobs = HeldBlobs::new(blobs, self == Self::RowBeforeBlob);
        Stores { store: Arc::new(Sabotaged::new(store, blobs.clone(), self)), blobs }
    }

    /// Searches a scenario until the sabotage shows: exhaustively with up to three preemptions for two actors, by
    /// chance for more.
    #[must_use]
    pub fn search(self, scenario: Scenario) -> Explorer {
        let is_crowd = scenarios::crowds().iter().any(|crowd| crowd.name == scenario.name);
        let search = if is_crowd {
            // The rarest of them shows soon after this seed.
            Search::Random { executions: 200_000, seed: 87_700 }
        } else {
            Search::Exhaustive { preemptions: 3 }
        };
        Explorer::new(scenario, search).sabotaged(self)
    }
}

/// What is missing, in words.
impl fmt::Display for Sabotage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoFence => "no fence",
            Self::NoTombstone => "no tombstone",
            Self::UnconditionalIndexWrites => "unconditional index writes",
            Self::SkipsWritesThatLookDone => "skipping a write that looks done",
            Self::NoOwner => "no owner",
            Self::NoClaim => "no claim",
            Self::NoIntentOnClaims => "claims removed without a fence",
            Self::IndexReadAfterMessage => "index read after the message",
            Self::MessageAfterWrite => "message after the write",
            Self::UnconditionalTargetWrites => "unconditional target writes",
            Self::SourceReadBeforeTargets => "source read before its targets",
            Self::NoSecondLookAtTheSource => "no second look at the source",
            Self::SecondLookBeforeTheIndex => "second look at the source before the index",
            Self::NoMessageForBlobs => "no message for blobs",
            Self::ArchiveDeletesWithoutCondition => "archive delete without condition",
            Self::ArchiveCopiesWithoutCondition => "archive copy without condition",
            Self::ArchiveLeavesNoFence => "archive without fence",
            Self::ArchiveLeavesNoTombstone => "archive without tombstone",
            Self::RowBeforeBlob => "row before its blob",
            Self::BlobsDeletedAtOnce => "blobs deleted at once",
        })
    }
}
