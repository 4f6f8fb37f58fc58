//! What maintenance finds.

use std::fmt;

use serde::{Deserialize, Serialize};
use table_core::{EntityKey, TableName};

use super::Checked;

/// What is wrong with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Wrong {
    /// A copy whose source is gone, or a claim that nobody comes for any more.
    Orphaned,
    /// A copy that is not what its source says: its fields are old, or its source has moved on to another key.
    Stale,
    /// A source has no such copy.
    Missing,
    /// A tombstone, a fence or an intent that should have been collected long ago. It does no harm.
    Leftover,
    /// Two sources have a value that is to be unique. The copy is that of the other; one of them must change.
    Doubled,
    /// A row is not what its type says, so nothing can be said of its copies.
    Unreadable,
}

impl Wrong {
    /// All of them, in the order in which they are mended: what stands in the way first.
    pub const ALL: [Self; 6] =
        [Self::Orphaned, Self::Stale, Self::Missing, Self::Leftover, Self::Doubled, Self::Unreadable];

    /// In plain words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Orphaned => "orphaned",
            Self::Stale => "stale",
            Self::Missing => "missing",
            Self::Leftover => "left over",
            Self::Doubled => "doubled",
            Self::Unreadable => "unreadable",
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One row that is wrong, or that should be there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What is wrong.
    pub wrong: Wrong,
    /// Which copy it is: the name of the index or list, or `~claim`, `~tombstone`, `~intent` or `~fence`.
    pub copy: String,
    /// Where the row stands, or should stand.
    pub table: TableName,
    /// Its key.
    pub key: EntityKey,
    /// The source that it belongs to, where the row tells.
    pub source: Option<EntityKey>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} in {} {}", self.wrong, self.copy, self.table, self.key)?;
        match &self.source {
            Some(source) => write!(f, " of {source}"),
            None => Ok(()),
        }
    }
}

/// What a pass over all rows found.
///
/// It prints as one line; [`findings`](Report::findings) has each.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Report {
    /// Rows that were looked at.
    pub rows: u64,
    /// Sources among them.
    pub sources: u64,
    /// Copies among them.
    pub copies: u64,
    /// Copies that were written.
    pub written: u64,
    /// Copies that did not match while a change was on its way to them.
    pub in_flight: u64,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// Findings beyond the most that a report keeps.
    pub omitted: u64,
}

impl Report {
    /// Whether nothing is wrong. Changes may be on their way.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.omitted == 0
    }

    /// How many findings there are of one sort.
    #[must_use]
    pub fn count(&self, wrong: Wrong) -> usize {
        self.findings.iter().filter(|finding| finding.wrong == wrong).count()
    }

    pub(super) fn add(&mut self, checked: Checked, most: usize) {
        self.rows += 1;
        self.sources += u64::from(checked.is_source);
        self.copies += u64::from(checked.is_copy);
        self.written += checked.written;
        self.in_flight += checked.in_flight;
        for finding in checked.findings {
            if self.findings.len() < most {
                self.findings.push(finding);
            } else {
                self.omitted += 1;
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows, {} sources, {} copies", self.rows, self.sources, self.copies)?;
        for (count, what) in [(self.written, "written"), (self.in_flight, "in flight")] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        for wrong in Wrong::ALL {
            write!(f, ", {} {wrong}", self.count(wrong))?;
        }
        if self.omitted > 0 {
            write!(f, ", {} more", self.omitted)?;
        }
        Ok(())
    }
}

/// What a repair did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Repaired {
    /// Findings that are mended now, by this repair or by somebody before it.
    pub mended: u64,
    /// Findings that are not: a person has to decide, or a change was on its way.
    pub left: Vec<Finding>,
}
