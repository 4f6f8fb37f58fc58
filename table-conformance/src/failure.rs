//! How a case says that a store broke a guarantee.

use std::fmt;
use std::panic::Location;

use table_core::{Error, ErrorKind};

/// What a case ends with.
pub(crate) type Outcome = Result<(), Failure>;

/// A broken guarantee: what was seen, and which line of which case saw it.
#[derive(Debug, Clone)]
pub struct Failure {
    message: String,
    place: Option<&'static Location<'static>>,
}

impl Failure {
    /// A failure seen at the caller's line.
    #[track_caller]
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), place: Some(Location::caller()) }
    }

    /// A failure of the run, not of a line.
    pub(crate) fn of_run(message: impl Into<String>) -> Self {
        Self { message: message.into(), place: None }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.place {
            Some(place) => write!(f, " ({}:{})", place.file(), place.line()),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

/// A store's error where none was expected.
impl From<Error> for Failure {
    #[track_caller]
    fn from(error: Error) -> Self {
        Self::new(format!("unexpected error: {error}"))
    }
}

/// Checks that something holds.
#[track_caller]
pub(crate) fn ensure(holds: bool, what: &str) -> Outcome {
    if holds { Ok(()) } else { Err(Failure::new(what)) }
}

/// Checks that two things are equal.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "a case compares what it has just made")]
pub(crate) fn ensure_eq<T: PartialEq<U> + fmt::Debug, U: fmt::Debug>(actual: T, expected: U, what: &str) -> Outcome {
    if actual == expected {
        return Ok(());
    }
    Err(Failure::new(format!("{what}: expected {}, got {}", brief(&expected), brief(&actual))))
}

/// Checks that a call failed in a certain way, and gives its error back.
#[track_caller]
pub(crate) fn ensure_kind<T: fmt::Debug>(
    result: Result<T, Error>,
    kind: ErrorKind,
    what: &str,
) -> Result<Error, Failure> {
    match result {
        Err(error) if error.kind() == kind => Ok(error),
        Err(error) => Err(Failure::new(format!("{what}: expected the error `{kind}`, got `{error}`"))),
        Ok(value) => Err(Failure::new(format!("{what}: expected the error `{kind}`, got {}", brief(&value)))),
    }
}

/// The debug form, cut where it would flood a report.
fn brief(value: &impl fmt::Debug) -> String {
    const CHARS: usize = 600;
    let text = format!("{value:?}");
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
