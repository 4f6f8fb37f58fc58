//! What an execution left behind that must not be there, or not be so.

use std::fmt;

use table_patterns::maintenance;

/// How something can be wrong once all queues are empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// What was acknowledged is gone, or a row that must be there is not.
    Lost,
    /// A copy does not say what its source says.
    Stale,
    /// A row is there that belongs to nothing.
    Orphaned,
    /// Something is there twice that may be there once.
    Doubled,
    /// A call failed that must not, somebody panicked, or the execution did not end.
    Broken,
}

/// How many things were wrong, of each sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// See [`Wrong::Lost`].
    pub lost: u64,
    /// See [`Wrong::Stale`].
    pub stale: u64,
    /// See [`Wrong::Orphaned`].
    pub orphaned: u64,
    /// See [`Wrong::Doubled`].
    pub doubled: u64,
    /// See [`Wrong::Broken`].
    pub broken: u64,
}

impl Counts {
    /// Whether nothing was wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }

    /// Adds other counts.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            lost: self.lost + other.lost,
            stale: self.stale + other.stale,
            orphaned: self.orphaned + other.orphaned,
            doubled: self.doubled + other.doubled,
            broken: self.broken + other.broken,
        }
    }

    /// Counts what a judgement found.
    pub fn add(&mut self, judgement: &Judgement) {
        for (wrong, _) in &judgement.findings {
            match wrong {
                Wrong::Lost => self.lost += 1,
                Wrong::Stale => self.stale += 1,
                Wrong::Orphaned => self.orphaned += 1,
                Wrong::Doubled => self.doubled += 1,
                Wrong::Broken => self.broken += 1,
            }
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lost, stale, orphaned, doubled, broken } = self;
        write!(f, "{lost} lost, {stale} stale, {orphaned} orphaned, {doubled} doubled")?;
        if *broken > 0 { write!(f, ", {broken} broken") } else { Ok(()) }
    }
}

/// What is wrong after one execution.
#[derive(Debug, Clone, Default)]
pub struct Judgement {
    findings: Vec<(Wrong, String)>,
}

impl Judgement {
    /// Notes something that is wrong.
    pub fn find(&mut self, wrong: Wrong, what: impl Into<String>) {
        self.findings.push((wrong, what.into()));
    }

    /// Notes something unless it is so.
    pub fn expect(&mut self, so: bool, otherwise: Wrong, what: impl FnOnce() -> String) {
        if !so {
            self.find(otherwise, what());
        }
    }

    /// Notes what maintenance has found; and what it takes to be on its way, since nothing is any more.
    pub fn add_report(&mut self, report: &maintenance::Report) {
        for finding in &report.findings {
            let wrong = match finding.wrong {
                maintenance::Wrong::Missing => Wrong::Lost,
                maintenance::Wrong::Stale => Wrong::Stale,
                maintenance::Wrong::Orphaned | maintenance::Wrong::Leftover => Wrong::Orphaned,
                maintenance::Wrong::Doubled => Wrong::Doubled,
                maintenance::Wrong::Unreadable => Wrong::Broken,
            };
            self.find(wrong, format!("verify: {finding}"));
        }
        let whole = report.omitted == 0 && report.in_flight == 0;
        self.expect(whole, Wrong::Broken, || format!("verify leaves something open: {report}"));
    }

    /// What is wrong, one by one.
    pub fn findings(&self) -> impl Iterator<Item = &(Wrong, String)> {
        self.findings.iter()
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (wrong, what) in &self.findings {
            writeln!(f, "  {wrong:?}: {what}")?;
        }
        Ok(())
    }
}
