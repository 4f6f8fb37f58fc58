//! A process is killed with SIGKILL at random moments; what it had acknowledged must be there.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use table_core::keys::KeyRange;
use table_core::store::{ReceiveOptions, StoreQuery};
use table_core::{ManualClock, QueueStore, TableStore, Timestamp, Value};
use table_embedded::{EmbeddedOptions, EmbeddedStore};
use table_tests::crash;

/// How often the process is killed.
const KILLS: u32 = 50;

/// What the killed processes have reported.
#[derive(Default)]
struct Acknowledged {
    rows: BTreeSet<(u32, u32, u32)>,
    sent: BTreeSet<String>,
    deleting: BTreeSet<String>,
    deleted: BTreeSet<String>,
}

impl Acknowledged {
    fn note(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["row", round, writer, number] => {
                self.rows.insert((round.parse().unwrap(), writer.parse().unwrap(), number.parse().unwrap()));
            }
            ["sent", id] => assert!(self.sent.insert((*id).to_owned()), "sent twice: {id}"),
            ["deleting", id] => drop(self.deleting.insert((*id).to_owned())),
            ["deleted", id] => assert!(self.deleted.insert((*id).to_owned()), "deleted twice: {id}"),
            _ => panic!("unknown report {line:?}"),
        }
    }
}

/// Runs the child for a while, kills it, and notes what it had reported.
fn run_and_kill(file: &Path, round: u32, life: Duration, acknowledged: &mut Acknowledged) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_crash_child"))
        .arg(file)
        .arg(round.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || BufReader::new(output).lines().collect::<Vec<_>>());
    // How long the process lives is what the test varies, not something it waits for.
    std::thread::sleep(life);
    let ended = child.try_wait().unwrap();
    assert!(ended.is_none(), "the child ended by itself: {ended:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    for line in reader.join().unwrap() {
        acknowledged.note(&line.unwrap());
    }
}

/// Every transaction there is, with the number of its rows. Every row must hold what its key tells.
async fn stored_transactions(store: &EmbeddedStore) -> BTreeMap<(u32, u32, u32), u32> {
    let mut stored = BTreeMap::new();
    let mut query = StoreQuery::new(KeyRange::ALL);
    loop {
        let page = store.query(&crash::table().unwrap(), &query).await.unwrap();
        for entity in page.entities {
            let (round, writer) = entity.key.partition.as_str().split_once('-').unwrap();
            let (number, row) = entity.key.row.as_str().split_once('-').unwrap();
            let (number, row) = (number.parse().unwrap(), row.parse().unwrap());
            assert_eq!(entity.get("Content"), Some(&Value::String(crash::content(number, row))));
            *stored.entry((round.parse().unwrap(), writer.parse().unwrap(), number)).or_default() += 1;
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => return stored,
        }
    }
}

/// Every message there is, hidden ones too.
async fn stored_messages(store: &EmbeddedStore) -> BTreeSet<String> {
    let options = ReceiveOptions::default().with_count(32).with_visibility(Duration::from_secs(3600));
    let mut stored = BTreeSet::new();
    loop {
        let messages = store.receive(&crash::queue().unwrap(), options).await.unwrap();
        if messages.is_empty() {
            return stored;
        }
        for message in messages {
            assert!(stored.insert(String::from_utf8(message.body.to_vec()).unwrap()), "a message is there twice");
        }
    }
}

async fn check(file: &Path, acknowledged: &Acknowledged) {
    // A copy, since looking at messages hides them; and a clock that is past all visibility.
    let copy = file.with_extension("copy");
    std::fs::copy(file, &copy).unwrap();
    let ahead = ManualClock::new(Timestamp::now().saturating_add(Duration::from_secs(86_400)));
    let store = EmbeddedOptions::new().with_clock(Arc::new(ahead)).open(&copy).unwrap();
    if store.queue_length(&crash::queue().unwrap()).await.is_err() {
        assert!(acknowledged.rows.is_empty() && acknowledged.sent.is_empty(), "table and queue were lost");
        return;
    }
    let transactions = stored_transactions(&store).await;
    for (transaction, count) in &transactions {
        assert_eq!(*count, crash::ROWS, "transaction {transaction:?} is torn");
    }
    for transaction in &acknowledged.rows {
        assert!(transactions.contains_key(transaction), "transaction {transaction:?} was acknowledged and lost");
    }
    let messages = stored_messages(&store).await;
    for id in acknowledged.sent.difference(&acknowledged.deleting) {
        assert!(messages.contains(id), "message {id} was acknowledged and lost");
    }
    for id in &acknowledged.deleted {
        assert!(!messages.contains(id), "message {id} was deleted and came back");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_fifty_kills() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.redb");
    let mut random = fastrand::Rng::with_seed(7);
    let mut acknowledged = Acknowledged::default();
    for round in 0..KILLS {
        let life = Duration::from_millis(random.u64(5..120));
        run_and_kill(&file, round, life, &mut acknowledged);
        if file.exists() {
            check(&file, &acknowledged).await;
        }
    }
    assert!(acknowledged.rows.len() > 200, "only {} transactions were acknowledged", acknowledged.rows.len());
    assert!(acknowledged.deleted.len() > 20, "only {} messages were deleted", acknowledged.deleted.len());
}
