//! Partitions that take more than their share of the writes.

use std::collections::BTreeMap;

use table_core::TableName;
use table_core::layer::{MeterReport, MeteredPartition};

/// When a partition counts as hot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HotPartitionOptions {
    /// The share of a table's writes that a partition takes at most, from 0 to 1.
    pub share: f64,
    /// The least writes to a table from which its shares say something.
    pub writes: u64,
}

impl Default for HotPartitionOptions {
    /// More than half of at least 1,000 writes.
    fn default() -> Self {
        Self { share: 0.5, writes: 1000 }
    }
}

impl HotPartitionOptions {
    /// Sets the share of a table's writes that a partition takes at most.
    #[must_use]
    pub const fn with_share(mut self, share: f64) -> Self {
        self.share = share;
        self
    }

    /// Sets the least writes to a table from which its shares say something.
    #[must_use]
    pub const fn with_writes(mut self, writes: u64) -> Self {
        self.writes = writes;
        self
    }
}

/// A partition that takes more than its share of a table's writes.
#[derive(Debug, Clone, PartialEq)]
pub struct HotPartition {
    /// Which one.
    pub partition: MeteredPartition,
    /// Entities that were written to it.
    pub writes: u64,
    /// Its share of all entities that were written to the table, from 0 to 1.
    pub share: f64,
}

/// Finds the partitions that take more than their share of a table's writes, and warns of each.
///
/// Take the difference of two reports to look at the last minutes only.
///
/// ```
/// use std::sync::Arc;
/// use table_core::layer::Meter;
/// use table_core::{Entity, MemoryStore, Table};
/// use table_patterns::prepend_append::{HotPartitionOptions, hot_partitions};
///
/// #[derive(Entity)]
/// #[entity(partition = "{hour}", row = "{id}")]
/// struct Event {
///     hour: u32,
///     id: u32,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let store = Meter::new(MemoryStore::new());
/// let table = Table::new(Arc::new(store.clone()), "Events")?;
/// table.create().await?;
/// for id in 0..10 {
///     table.insert(&Event { hour: 18, id }).await?;
/// }
/// let hot = hot_partitions(&store.report(), HotPartitionOptions::default().with_writes(10));
/// assert_eq!(hot[0].writes, 10);
/// # Ok(())
/// # }
/// ```
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a share of more writes than an f64 counts is near enough")]
pub fn hot_partitions(report: &MeterReport, options: HotPartitionOptions) -> Vec<HotPartition> {
    let mut of_table: BTreeMap<&TableName, u64> = BTreeMap::new();
    for (partition, tally) in report.partitions() {
        *of_table.entry(&partition.table).or_default() += tally.entities_written;
    }
    let mut hot = Vec::new();
    for (partition, tally) in report.partitions() {
        let writes = tally.entities_written;
        let all = of_table.get(&partition.table).copied().unwrap_or(writes);
        let share = writes as f64 / all.max(1) as f64;
        if all < options.writes || share <= options.share {
            continue;
        }
        tracing::warn!(
            table = partition.table.as_str(),
            partition = partition.partition.as_str(),
            writes,
            share,
            "one partition takes most of the writes of its table; spread them over buckets"
        );
        hot.push(HotPartition { partition: partition.clone(), writes, share });
    }
    hot
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use table_core::layer::Meter;
    use table_core::{Action, DynamicEntity, EntityKey, MemoryStore, Operation, TableStore};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    use super::*;

    /// Counts warnings.
    #[derive(Clone, Default)]
    struct Warnings(Arc<AtomicU32>);

    impl Subscriber for Warnings {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() == Level::WARN
        }

        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[tokio::test]
    async fn a_partition_with_more_than_half_of_a_thousand_writes_is_warned_of() {
        let warnings = Warnings::default();
        let _guard = tracing::subscriber::set_default(warnings.clone());
        let meter = Meter::new(MemoryStore::new());
        let table = TableName::new("Events").unwrap();
        meter.create_table(&table).await.unwrap();
        for number in 0..1001 {
            let key = EntityKey::parse(if number % 2 == 0 { "hot" } else { "cold" }, &number.to_string()).unwrap();
            let insert = Operation::new(Action::Insert(DynamicEntity::new(key))).unwrap();
            meter.write(&table, insert).await.unwrap();
            // From 999 writes nothing is said yet, and of 1,000 each has half.
            let expected = u32::from(number == 1000);
            let hot = hot_partitions(&meter.report(), HotPartitionOptions::default());
            assert_eq!((hot.len(), warnings.0.load(Ordering::SeqCst)), (expected as usize, expected), "{number}");
        }
    }
}
