//! A process that writes to an embedded store is killed with SIGKILL at random moments; what it had
//! acknowledged must be there afterwards, and nothing else may be half there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use table_core::keys::KeyRange;
use table_core::store::{ReceiveOptions, StoreQuery};
use table_core::{ManualClock, QueueStore, TableStore, Timestamp, Value};
use table_embedded::{EmbeddedOptions, EmbeddedStore};

use super::{ROWS, content, queue, table};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// What a run of kills found.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct KillReport {
    /// How often the process was killed.
    pub kills: u32,
    /// Transactions that were acknowledged.
    pub transactions: usize,
    /// Messages whose sending was acknowledged.
    pub sent: usize,
    /// Messages whose deletion was acknowledged.
    pub deleted: usize,
    /// Acknowledged writes that were gone.
    pub lost: usize,
    /// Transactions of which only some rows were there, or whose rows held something else.
    pub torn: usize,
    /// Messages that came back after their deletion was acknowledged.
    pub resurrected: usize,
    /// Messages that were there twice.
    pub doubled: usize,
}

impl KillReport {
    /// Whether every promise was kept.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.lost == 0 && self.torn == 0 && self.resurrected == 0 && self.doubled == 0
    }
}

impl fmt::Display for KillReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "embedded, kill -9: {} kills, {} transactions and {} messages acknowledged, {} deleted: {} lost, {} torn, {} resurrected, {} doubled",
            self.kills,
            self.transactions,
            self.sent,
            self.deleted,
            self.lost,
            self.torn,
            self.resurrected,
            self.doubled
        )
    }
}

/// Kills a child again and again on one file, and looks after each kill.
///
/// # Errors
/// Where the child cannot be run, or the file not be read.
pub async fn kill_repeatedly(child: &Path, kills: u32, seed: u64) -> Result<KillReport, AnyError> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("store.redb");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut promised = Promised::default();
    let mut report = KillReport::default();
    for round in 0..kills {
        promised.run_and_kill(child, &file, round, Duration::from_millis(random.u64(5..120)))?;
        report.kills += 1;
        if file.exists() {
            promised.check(&file, &mut report).await?;
        }
    }
    report.transactions = promised.transactions.len();
    report.sent = promised.sent.len();
    report.deleted = promised.deleted.len();
    Ok(report)
}

/// Runs a program for a while, kills it with SIGKILL, and gives the lines that it had printed.
///
/// # Errors
/// Where it cannot be run, or ended by itself.
pub fn run_and_kill(command: &mut Command, life: Duration) -> Result<Vec<String>, AnyError> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().ok_or("the child has no output")?;
    let reader = std::thread::spawn(move || BufReader::new(output).lines().collect::<Result<Vec<_>, _>>());
    // How long the process lives is what is varied here, not something that is waited for.
    std::thread::sleep(life);
    let ended = child.try_wait()?;
    child.kill()?;
    child.wait()?;
    if let Some(status) = ended {
        return Err(format!("the child ended by itself: {status}").into());
    }
    Ok(reader.join().map_err(|_| "the reader panicked")??)
}

/// What the killed processes have reported.
#[derive(Default)]
struct Promised {
    transactions: BTreeSet<(u32, u32, u32)>,
    sent: BTreeSet<String>,
    deleting: BTreeSet<String>,
    deleted: BTreeSet<String>,
}

impl Promised {
    /// Runs the child for a while, kills it, and notes what it had reported.
    fn run_and_kill(&mut self, child: &Path, file: &Path, round: u32, life: Duration) -> Result<(), AnyError> {
        for line in run_and_kill(Command::new(child).arg(file).arg(round.to_string()), life)? {
            self.note(&line)?;
        }
        Ok(())
    }

    fn note(&mut self, line: &str) -> Result<(), AnyError> {
        let words: Vec<&str> = line.split(' ').collect();
        let new = match words.as_slice() {
            ["row", round, writer, number] => {
                self.transactions.insert((round.parse()?, writer.parse()?, number.parse()?))
            }
            ["sent", id] => self.sent.insert((*id).to_owned()),
            ["deleting", id] => {
                self.deleting.insert((*id).to_owned());
                true
            }
            ["deleted", id] => self.deleted.insert((*id).to_owned()),
            _ => false,
        };
        if new { Ok(()) } else { Err(format!("the child reported {line:?}, which is unknown or a repetition").into()) }
    }

    async fn check(&self, file: &Path, report: &mut KillReport) -> Result<(), AnyError> {
        // A copy, since looking at messages hides them; and a clock that is past all visibility.
        let copy = file.with_extension("copy");
        std::fs::copy(file, &copy)?;
        let ahead = ManualClock::new(Timestamp::now().saturating_add(Duration::from_secs(86_400)));
        let store = EmbeddedOptions::new().with_clock(Arc::new(ahead)).open(&copy)?;
        if store.queue_length(&queue()?).await.is_err() {
            // The first kills may come before table and queue are there.
            report.lost += self.transactions.len() + self.sent.len();
            return Ok(());
        }
        let stored = stored_transactions(&store).await?;
        report.torn += stored.values().filter(|rows| **rows != ROWS).count();
        report.lost += self.transactions.iter().filter(|each| !stored.contains_key(each)).count();
        let messages = stored_messages(&store, report).await?;
        report.lost += self.sent.difference(&self.deleting).filter(|id| !messages.contains(*id)).count();
        report.resurrected += self.deleted.intersection(&messages).count();
        Ok(())
    }
}

/// Every transaction there is, with the number of its rows that hold what their keys tell.
async fn stored_transactions(store: &EmbeddedStore) -> Result<BTreeMap<(u32, u32, u32), u32>, AnyError> {
    let mut stored = BTreeMap::new();
    let mut query = StoreQuery::new(KeyRange::ALL);
    loop {
        let page = store.query(&table()?, &query).await?;
        for entity in page.entities {
            let (round, writer) = entity.key.partition.as_str().split_once('-').ok_or("a foreign key")?;
            let (number, row) = entity.key.row.as_str().split_once('-').ok_or("a foreign key")?;
            let (number, row) = (number.parse()?, row.parse()?);
            let whole = entity.get("Content") == Some(&Value::String(content(number, row)));
            *stored.entry((round.parse()?, writer.parse()?, number)).or_default() += u32::from(whole);
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => return Ok(stored),
        }
    }
}

/// Every message there is, hidden ones too.
async fn stored_messages(store: &EmbeddedStore, report: &mut KillReport) -> Result<BTreeSet<String>, AnyError> {
    let options = ReceiveOptions::default().with_count(32).with_visibility(Duration::from_secs(3600));
    let mut stored = BTreeSet::new();
    loop {
        let messages = store.receive(&queue()?, options).await?;
        if messages.is_empty() {
            return Ok(stored);
        }
        for message in messages {
            report.doubled += usize::from(!stored.insert(String::from_utf8(message.body.to_vec())?));
        }
    }
}
