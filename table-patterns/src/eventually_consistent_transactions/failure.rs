//! Whose fault a failure is, which decides what becomes of the item.
//!
//! The invariant: only what is wrong with an item itself counts towards the poison queue. What passes, what an operator
//! mends and what another process can do waits on the queue, for as long as it takes.

use table_core::{Error, ErrorKind};

/// Whose fault a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nobody's: the same call may succeed later.
    Passing,
    /// The surroundings': a table or a queue is missing, or a permission, until an operator sees to it.
    Operator,
    /// This process's: it knows no handler, list or index for the item, and another one may.
    Process,
    /// The item's: trying again does not help.
    Item,
    /// The item's, or this process's: it cannot be read here. It is one of another version, or of none.
    Reading,
}

/// A failure, and whose fault it is.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) fault: Fault,
    pub(super) error: Error,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self { fault: Fault::of(&error), error }
    }
}

impl Fault {
    pub(super) fn of(error: &Error) -> Self {
        if error.is_retryable() || error.outcome_unknown() {
            return Self::Passing;
        }
        match error.kind() {
            ErrorKind::Contention => Self::Passing,
            ErrorKind::PermissionDenied | ErrorKind::TableNotFound | ErrorKind::QueueNotFound => Self::Operator,
            ErrorKind::Unsupported => Self::Process,
            _ => Self::Item,
        }
    }
}

/// The failure of an item that this process knows nothing of, though another one may: while a new version of a program
/// is rolled out, its items reach processes of the old one too.
pub(crate) fn not_here(what: impl Into<String>) -> Error {
    Error::unsupported(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wrong_with_the_item_is_its_fault() {
        let fault = |kind| Fault::of(&Error::new(kind, "x"));
        assert_eq!(fault(ErrorKind::Throttled), Fault::Passing);
        assert_eq!(fault(ErrorKind::Contention), Fault::Passing);
        assert_eq!(fault(ErrorKind::PermissionDenied), Fault::Operator);
        assert_eq!(fault(ErrorKind::TableNotFound), Fault::Operator);
        assert_eq!(fault(ErrorKind::QueueNotFound), Fault::Operator);
        assert_eq!(Fault::of(&not_here("x")), Fault::Process);
        assert_eq!(fault(ErrorKind::InvalidValue), Fault::Item);
        assert_eq!(fault(ErrorKind::LimitExceeded), Fault::Item);
        assert_eq!(Fault::of(&Error::invalid_value("x").with_outcome_unknown(true)), Fault::Passing);
    }
}
