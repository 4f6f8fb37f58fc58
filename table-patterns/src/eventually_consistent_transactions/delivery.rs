//! What a handler is given, and what it answers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use table_core::Result;

use super::item::Outgoing;
use super::mover::Mover;

/// What happens to an item whose handler has run without an error.
///
/// [`Delivery`] shows a handler that answers with it.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// It is done, and its message is deleted.
    Done,
    /// It is not done: it comes again after a while. That is no failure.
    Later(Duration),
    /// It is done, and its message becomes another item, due after a while.
    Become(Outgoing, Duration),
}

/// One delivery of an item to its handler.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use serde::{Deserialize, Serialize};
/// use table_core::MemoryStore;
/// use table_patterns::eventually_consistent_transactions::{Delivery, Mover, Next, WorkItem};
///
/// #[derive(Serialize, Deserialize)]
/// struct Greet(String);
///
/// impl WorkItem for Greet {
///     const KIND: &'static str = "greet";
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let mover = Mover::builder(Arc::new(MemoryStore::new()), "greetings")?
///     .on(|greet: Greet, delivery: Delivery| async move {
///         // Nobody is up yet at the first try.
///         if delivery.count() == 1 {
///             return Ok(Next::Later(Duration::ZERO));
///         }
///         delivery.step("greet", async { assert_eq!(greet.0, "Jo"); Ok(()) }).await?;
///         Ok(Next::Done)
///     })
///     .build()
///     .await?;
/// mover.send(&Greet("Jo".into())).await?;
/// assert_eq!(mover.run_due().await?, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Delivery {
    id: Arc<str>,
    count: u32,
    step: Arc<Mutex<&'static str>>,
    mover: Mover,
}

impl Delivery {
    pub(super) fn new(id: &str, count: u32, mover: Mover) -> Self {
        Self { id: id.into(), count, step: Arc::new(Mutex::new("begin")), mover }
    }

    /// The mover that delivers it, for handlers that send further items.
    pub(crate) const fn mover(&self) -> &Mover {
        &self.mover
    }

    /// The message's id: the same for every delivery of the item, and for no other item.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How often the item has been delivered, this time included.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Runs a step, so that a failure says which one it was. Steps must be idempotent: after a crash
    /// the next delivery begins with the first.
    ///
    /// # Errors
    /// Those of the step.
    pub async fn step<T>(&self, name: &'static str, work: impl Future<Output = Result<T>>) -> Result<T> {
        *self.step.lock().unwrap_or_else(PoisonError::into_inner) = name;
        tracing::debug!(step = name, message = %self.id, "step");
        work.await
    }

    pub(super) fn current_step(&self) -> &'static str {
        *self.step.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
