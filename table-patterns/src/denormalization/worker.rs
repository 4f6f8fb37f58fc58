//! What a worker does with the intent of a source, and with that of a target.

use std::time::Duration;

use table_core::Table;

use super::KeepsCopies;
use super::across::Across;
use super::message::{About, Behind, Pointed, scope};
use crate::eventually_consistent_transactions::MoverBuilder;
use crate::intent::IntentOptions;

/// The pages of targets that one delivery sees to, before the message says how far it came.
const WORKER_PAGES: usize = 10;

impl MoverBuilder {
    /// Keeps the copies that targets of this type have of sources in other partitions or tables.
    ///
    /// Whoever writes them opens the pair with [`Denormalized::kept_by`](crate::Denormalized::kept_by).
    #[must_use]
    pub fn keep_copies<T: KeepsCopies>(self, sources: &Table, targets: &Table) -> Self {
        let [of_sources, of_targets] =
            [About::Sources, About::Targets].map(|about| scope::<T>(about, sources, targets));
        let (pair, other) = ((sources.clone(), targets.clone()), (sources.clone(), targets.clone()));
        self.keep_intents_in_parts::<Behind, _, _>(sources, &of_sources, move |intent, delivery| {
            let (sources, targets) = pair.clone();
            async move {
                let across = Across::<T>::new(&sources, &targets, delivery.mover(), intents(intent.grace))?;
                across.settle(&intent.source, intent.named, WORKER_PAGES).await
            }
        })
        .keep_intents_in_parts::<Pointed, _, _>(targets, &of_targets, move |intent, delivery| {
            let (sources, targets) = other.clone();
            async move {
                let across = Across::<T>::new(&sources, &targets, delivery.mover(), intents(intent.grace))?;
                across.settle_target(intent).await
            }
        })
    }
}

/// The times of whoever sent an intent, for the indexes of what is written for it.
fn intents(grace: Duration) -> IntentOptions {
    let options = IntentOptions::default();
    let hidden = options.hidden.min(grace / 4);
    options.with_grace(grace).with_hidden(hidden)
}
