//! What a meter has counted, as plain data.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{AddAssign, Sub};

use crate::keys::PartitionKey;
use crate::names::TableName;

/// One partition of one table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MeteredPartition {
    /// The table.
    pub table: TableName,
    /// The partition in it.
    pub partition: PartitionKey,
}

/// What was counted under one heading.
///
/// Queue calls count messages as entities, and the bytes of their bodies. Entities and bytes are
/// those of calls that succeeded; text is counted as UTF-16, as the service does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Requests to the store.
    pub transactions: u64,
    /// Requests that the store answered with an error.
    pub failures: u64,
    /// Entities that came from the store.
    pub entities_read: u64,
    /// Entities that went to the store, to be written or deleted.
    pub entities_written: u64,
    /// Bytes of the entities read.
    pub bytes_read: u64,
    /// Bytes of the entities written; a delete counts its key.
    pub bytes_written: u64,
}

impl Tally {
    /// The numbers in the order of the printed table.
    const fn numbers(&self) -> [u64; 6] {
        [
            self.transactions,
            self.failures,
            self.entities_read,
            self.entities_written,
            self.bytes_read,
            self.bytes_written,
        ]
    }

    const fn from_numbers(numbers: [u64; 6]) -> Self {
        let [transactions, failures, entities_read, entities_written, bytes_read, bytes_written] = numbers;
        Self { transactions, failures, entities_read, entities_written, bytes_read, bytes_written }
    }

    fn zip(&self, other: &Self, join: impl Fn(u64, u64) -> u64) -> Self {
        let mut numbers = self.numbers();
        for (number, other) in numbers.iter_mut().zip(other.numbers()) {
            *number = join(*number, other);
        }
        Self::from_numbers(numbers)
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        *self = self.zip(&other, u64::saturating_add);
    }
}

/// Less the other, and never below zero.
impl Sub for Tally {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.zip(&other, u64::saturating_sub)
    }
}

/// What a [`Meter`](super::Meter) had counted at one moment.
///
/// It prints as a small table; the difference of two reports is what happened between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MeterReport {
    operations: BTreeMap<&'static str, Tally>,
    partitions: BTreeMap<MeteredPartition, Tally>,
    elsewhere: Tally,
}

impl MeterReport {
    pub(super) fn add(
        &mut self,
        operation: &'static str,
        partition: Option<MeteredPartition>,
        tally: &Tally,
        most_partitions: usize,
    ) {
        *self.operations.entry(operation).or_default() += *tally;
        let room = self.partitions.len() < most_partitions;
        match partition {
            Some(partition) if room => *self.partitions.entry(partition).or_default() += *tally,
            Some(partition) => *self.partitions.get_mut(&partition).unwrap_or(&mut self.elsewhere) += *tally,
            None => self.elsewhere += *tally,
        }
    }

    /// All calls together.
    #[must_use]
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        for tally in self.operations.values() {
            total += *tally;
        }
        total
    }

    /// The calls of one operation, by the name of its method or action, such as `get` or `insert`.
    #[must_use]
    pub fn operation(&self, name: &str) -> Tally {
        self.operations.get(name).copied().unwrap_or_default()
    }

    /// All operations that were called, by name.
    #[must_use]
    pub fn operations(&self) -> impl ExactSizeIterator<Item = (&'static str, Tally)> {
        self.operations.iter().map(|(name, tally)| (*name, *tally))
    }

    /// The calls that touched one partition alone, by table and partition.
    #[must_use]
    pub fn partitions(&self) -> impl ExactSizeIterator<Item = (&MeteredPartition, Tally)> {
        self.partitions.iter().map(|(partition, tally)| (partition, *tally))
    }

    /// The calls that touched several partitions or none, and those to partitions beyond the bound.
    #[must_use]
    pub const fn elsewhere(&self) -> Tally {
        self.elsewhere
    }
}

/// What happened between two reports of one meter; what did not change is left out.
impl Sub for MeterReport {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            operations: difference(self.operations, &earlier.operations),
            partitions: difference(self.partitions, &earlier.partitions),
            elsewhere: self.elsewhere - earlier.elsewhere,
        }
    }
}

fn difference<K: Ord>(later: BTreeMap<K, Tally>, earlier: &BTreeMap<K, Tally>) -> BTreeMap<K, Tally> {
    later
        .into_iter()
        .map(|(key, tally)| {
            let before = earlier.get(&key).copied().unwrap_or_default();
            (key, tally - before)
        })
        .filter(|(_, tally)| *tally != Tally::default())
        .collect()
}

impl fmt::Display for MeterReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Lines { f, begun: false };
        table.head("operation")?;
        for (name, tally) in &self.operations {
            table.line(name, tally)?;
        }
        table.line("total", &self.total())?;
        table.head("partition")?;
        for (MeteredPartition { table: name, partition }, tally) in &self.partitions {
            table.line(&format!("{name} {partition}"), tally)?;
        }
        table.line("elsewhere", &self.elsewhere)
    }
}

/// Writes aligned lines of a report.
struct Lines<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    begun: bool,
}

impl Lines<'_, '_> {
    fn head(&mut self, what: &str) -> fmt::Result {
        let heads = ["calls", "failed", "read", "written", "bytes read", "bytes written"];
        self.cells(what, heads.map(str::to_owned))
    }

    fn line(&mut self, name: &str, tally: &Tally) -> fmt::Result {
        self.cells(name, tally.numbers().map(|number| number.to_string()))
    }

    fn cells(&mut self, name: &str, cells: [String; 6]) -> fmt::Result {
        if std::mem::replace(&mut self.begun, true) {
            self.f.write_str("\n")?;
        }
        write!(self.f, "{name:<24}")?;
        for cell in cells {
            write!(self.f, " {cell:>13}")?;
        }
        Ok(())
    }
}
