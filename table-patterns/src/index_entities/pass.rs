//! One pass of maintenance, with the lists that it has read.
//!
//! Many entities share a list, and each asks whether it is there. So a pass reads a list once for all who come within
//! a few seconds, and keeps a bounded number of keys. What it tells of a list that was kept is only that a key is there;
//! a key that lacks is looked for anew before it is told as missing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use table_core::{DynamicEntity, Entity, EntityKey, Result, Table, Timestamp};
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::list::KeyList;
use super::place::{List, Spot};
use super::{IndexEntities, Shelf};
use crate::maintenance::{Checked, Finding, Maintained, Tables};

/// Keys that a pass keeps. The list that was read last stays whatever its length, since it is in memory already.
const MOST_KEYS: usize = 100_000;
/// How long a list that was read is taken for what it was.
const FRESH: Duration = Duration::from_secs(10);

/// Lists, and what one pass over their entities knows of them.
#[derive(Debug)]
pub(super) struct Pass<'a, E> {
    lists: &'a IndexEntities<E>,
    reads: Reads,
}

/// The lists that were read.
#[derive(Debug, Default)]
pub(super) struct Reads(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    lists: HashMap<Spot, Arc<Read>>,
    /// The keys of all of them, and one more for each.
    weight: usize,
}

/// A list that is being read, or was. Whoever comes while it is read waits for it.
#[derive(Debug)]
struct Read {
    at: Instant,
    keys: OnceCell<KeyList>,
}

impl<'a, E> Pass<'a, E> {
    pub(super) fn new(lists: &'a IndexEntities<E>) -> Self {
        Self { lists, reads: Reads::default() }
    }
}

impl<E: Entity> Maintained for Pass<'_, E> {
    fn tables(&self) -> Result<Tables> {
        self.lists.tables()
    }

    async fn check(&self, table: &Table, row: DynamicEntity, now: Timestamp) -> Result<Checked> {
        self.lists.check_in(&self.reads, table, row, now).await
    }

    async fn fill(&self, table: &Table, row: DynamicEntity) -> Result<Checked> {
        self.lists.fill_in(&self.reads, table, row).await
    }

    async fn mend(&self, finding: &Finding, now: Timestamp) -> Result<bool> {
        self.lists.mend(finding, now).await
    }
}

impl Reads {
    /// Whether a list has a key, or had it a moment ago.
    pub(super) async fn contains<E>(
        &self,
        from: Shelf<'_>,
        list: &List<E>,
        spot: &Spot,
        key: &EntityKey,
    ) -> Result<bool> {
        let read = self.read_of(spot);
        let keys = read.keys.get_or_try_init(async || {
            let keys = from.read(list, spot).await?.keys;
            self.keep(spot, &read, keys.len());
            Ok(keys)
        });
        keys.await.map(|keys| keys.contains(key))
    }

    fn read_of(&self, spot: &Spot) -> Arc<Read> {
        let mut kept = self.kept();
        match kept.lists.get(spot) {
            Some(read) if read.at.elapsed() < FRESH => Arc::clone(read),
            _ => {
                let read = Arc::new(Read { at: Instant::now(), keys: OnceCell::new() });
                let old = kept.lists.insert(spot.clone(), Arc::clone(&read));
                kept.weight = kept.weight.saturating_sub(old.map_or(0, |old| old.weight()));
                read
            }
        }
    }

    /// Counts a list that was read, and forgets all others where they are too many.
    fn keep(&self, spot: &Spot, read: &Arc<Read>, keys: usize) {
        let mut kept = self.kept();
        if kept.weight + keys >= MOST_KEYS {
            *kept = Kept { lists: HashMap::from([(spot.clone(), Arc::clone(read))]), weight: 0 };
        }
        kept.weight += keys + 1;
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Read {
    fn weight(&self) -> usize {
        self.keys.get().map_or(0, |keys| keys.len() + 1)
    }
}

#[cfg(test)]
mod tests {
    use table_core::TableName;

    use super::*;

    fn spot(value: &str) -> Spot {
        let key = EntityKey::parse(value, "").unwrap();
        Spot { list: "city".into(), table: TableName::new("Lists").unwrap(), key }
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_is_kept_for_a_while_and_no_longer() {
        let reads = Reads::default();
        let read = reads.read_of(&spot("a"));
        assert!(Arc::ptr_eq(&read, &reads.read_of(&spot("a"))));
        assert!(!Arc::ptr_eq(&read, &reads.read_of(&spot("b"))));
        tokio::time::advance(FRESH).await;
        assert!(!Arc::ptr_eq(&read, &reads.read_of(&spot("a"))));
    }

    #[tokio::test]
    async fn more_keys_than_are_kept_drive_out_all_lists_but_the_last() {
        let reads = Reads::default();
        let read = |value, keys| reads.keep(&spot(value), &reads.read_of(&spot(value)), keys);
        read("a", MOST_KEYS / 2);
        read("b", MOST_KEYS / 4);
        assert_eq!(reads.kept().lists.len(), 2);
        read("c", MOST_KEYS * 2);
        assert_eq!(reads.kept().lists.keys().collect::<Vec<_>>(), [&spot("c")]);
        read("d", 1);
        assert_eq!(reads.kept().lists.keys().collect::<Vec<_>>(), [&spot("d")]);
    }
}
