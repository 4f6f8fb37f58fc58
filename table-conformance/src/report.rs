//! What a run of the suite found.

use std::fmt;

use crate::failure::Failure;
use crate::suite::Case;

/// How one case ended.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// The store keeps the guarantee.
    Passed,
    /// The store breaks the guarantee, or a named deviation is gone.
    Failed(Failure),
    /// The store breaks the guarantee, as the harness says it does.
    Deviated {
        /// Why that is accepted.
        reason: String,
        /// What was seen.
        failure: Failure,
    },
    /// The store does not claim what the case needs.
    NotApplicable(&'static str),
}

/// How every case ended. It prints as one line; the alternate form `{:#}` adds the details.
#[derive(Debug, Clone)]
pub struct Report {
    store: String,
    verdicts: Vec<(Case, Verdict)>,
    /// What is wrong with the harness itself.
    complaints: Vec<String>,
}

impl Report {
    pub(crate) fn new(store: &str, verdicts: Vec<(Case, Verdict)>, complaints: Vec<String>) -> Self {
        Self { store: store.to_owned(), verdicts, complaints }
    }

    /// Every case with its verdict, in the order of the suite.
    #[must_use]
    pub fn verdicts(&self) -> &[(Case, Verdict)] {
        &self.verdicts
    }

    /// The cases that the store fails.
    pub fn failures(&self) -> impl Iterator<Item = (&Case, &Failure)> {
        self.verdicts.iter().filter_map(|(case, verdict)| match verdict {
            Verdict::Failed(failure) => Some((case, failure)),
            _ => None,
        })
    }

    /// How many cases the store passes.
    #[must_use]
    pub fn passed(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Passed))
    }

    /// How many cases the store fails, and how many words of the harness are wrong.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.failures().count() + self.complaints.len()
    }

    /// How many cases fail as the harness says they do.
    #[must_use]
    pub fn deviated(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Deviated { .. }))
    }

    /// How many cases need what the store does not claim.
    #[must_use]
    pub fn not_applicable(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::NotApplicable(_)))
    }

    /// Whether the store passes, known deviations aside. A run of no cases passes nothing.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.failed() == 0 && self.passed() > 0
    }

    fn count(&self, of: impl Fn(&Verdict) -> bool) -> usize {
        self.verdicts.iter().filter(|(_, verdict)| of(verdict)).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} passed, {} failed", self.store, self.passed(), self.failed())?;
        if self.deviated() > 0 {
            write!(f, " ({} deviations)", self.deviated())?;
        }
        if self.not_applicable() > 0 {
            write!(f, ", {} not applicable", self.not_applicable())?;
        }
        if f.alternate() {
            for complaint in &self.complaints {
                write!(f, "\n  harness: {complaint}")?;
            }
            for (case, verdict) in &self.verdicts {
                match verdict {
                    Verdict::Passed => {}
                    Verdict::Failed(failure) => write!(f, "\n  failed {case}: {failure}")?,
                    Verdict::Deviated { reason, .. } => write!(f, "\n  deviates {case}: {reason}")?,
                    Verdict::NotApplicable(why) => write!(f, "\n  not applicable {case}: {why}")?,
                }
            }
        }
        Ok(())
    }
}
