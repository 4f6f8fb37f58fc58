//! A soak on the embedded store: one process with all writers and workers, killed and begun again.

use std::fmt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use object_store::local::LocalFileSystem;
use table_core::{Clock, ManualClock, Timestamp};
use table_embedded::EmbeddedOptions;

use super::{Promises, Times, World, judge};
use crate::crash::run_and_kill;
use crate::explore::{Counts, Judgement};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// How much faster the stores' clock goes than the machine's: leases and intents end within half a second.
const SPEED: u32 = 60;
/// Workers that empty the queue in the end.
const WORKERS: usize = 16;
/// Longer than any grace period.
const DAY: Duration = Duration::from_secs(25 * 60 * 60);

/// A clock that goes faster than the machine's, and goes on in the next process.
#[derive(Debug, Clone, Copy)]
pub struct FastClock {
    began: Timestamp,
    ahead: Duration,
}

impl FastClock {
    /// A clock that went as the machine's did until it began, and that is ahead by this.
    #[must_use]
    pub const fn new(began: Timestamp, ahead: Duration) -> Self {
        Self { began, ahead }
    }
}

impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        let passed = Timestamp::now().saturating_since(self.began);
        self.began.saturating_add(passed * SPEED).saturating_add(self.ahead)
    }
}

/// What a soak found.
#[derive(Debug, Clone)]
pub struct SoakReport {
    /// Where it was.
    pub place: &'static str,
    /// How often the process was killed.
    pub kills: u32,
    /// Changes that were acknowledged.
    pub done: u64,
    /// Changes that were refused.
    pub refused: u64,
    /// What was wrong in the end.
    pub judgement: Judgement,
}

impl fmt::Display for SoakReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, kills, done, refused, judgement } = self;
        let mut counts = Counts::default();
        counts.add(judgement);
        write!(f, "soak, {place}, kill -9: {kills} kills, {done} changes acknowledged, {refused} refused: {counts}")?;
        if judgement.is_clean() { Ok(()) } else { write!(f, "\n{judgement}") }
    }
}

/// Lets a process with all writers and workers live for a while and kills it, again and again for this long.
/// Then the queue is emptied, and everything looked at.
///
/// # Errors
/// Where the child cannot be run, or the stores not be read.
pub async fn soak(child: &Path, duration: Duration, seed: u64) -> Result<SoakReport, AnyError> {
    let folder = tempfile::tempdir()?;
    let (file, blobs) = (folder.path().join("store.redb"), folder.path().join("blobs"));
    std::fs::create_dir(&blobs)?;
    let mut random = fastrand::Rng::with_seed(seed);
    let (began, start) = (Timestamp::now(), Instant::now());
    let (mut promises, mut kills, mut ahead) = (Promises::default(), 0, Duration::ZERO);
    while start.elapsed() < duration {
        let mut command = Command::new(child);
        command.arg("embedded").args([&file, &blobs]).arg(kills.to_string());
        command.args([began.ticks().to_string(), ahead.as_secs().to_string()]);
        for line in run_and_kill(&mut command, Duration::from_millis(random.u64(200..2500)))? {
            promises.note(&line);
        }
        kills += 1;
        // Every lease of the dead is over; and now and then, whatever waits for a day is due.
        ahead += if random.u8(0..4) == 0 { DAY } else { Duration::from_secs(120) };
    }
    let clock = Arc::new(ManualClock::new(FastClock::new(began, ahead).now()));
    let store = EmbeddedOptions::new().with_clock(clock.clone()).open(&file)?;
    let world = World {
        name: "Soak".to_owned(),
        tables: Arc::new(store.clone()),
        queues: Arc::new(store),
        blobs: Arc::new(LocalFileSystem::new_with_prefix(&blobs)?),
        times: Times::default(),
    };
    world.create().await?;
    let mover = world.mover().await?;
    for round in 0..40 {
        clock.advance(if round < 8 { Duration::from_secs(600) } else { DAY });
        // Side by side, since the store commits what comes at once together.
        futures_util::future::try_join_all((0..WORKERS).map(|_| mover.run_due())).await?;
        if mover.progress().await?.queued == 0 {
            break;
        }
    }
    let judgement = judge(&world, &promises, clock).await?;
    let (done, refused) = (promises.done, promises.refused);
    Ok(SoakReport { place: "embedded", kills, done, refused, judgement })
}
