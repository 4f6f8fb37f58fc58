//! Writers and workers of every protocol across partitions at once, whose processes are killed.
//!
//! What a writer begins and what it is told goes to whoever watches, as a line each. In the end the queue is
//! emptied; then each entity must be what was acknowledged last, or what was begun after that, and the
//! copies, blobs and marks must be exactly those that the entities call for.
//!
//! [`soak`] does this on the embedded store, where writers and workers are one process that dies again and again;
//! [`soak_azurite`] with several worker processes on one queue, one of which dies.

mod copies;
mod judge;
mod kills;
mod processes;
mod promises;
mod world;
mod writers;

pub use kills::{FastClock, SoakReport, soak};
pub use processes::soak_azurite;
pub use world::{Times, World};
pub use writers::{Watcher, Writers};

use judge::judge;
use promises::Promises;
