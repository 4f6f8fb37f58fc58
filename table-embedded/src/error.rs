//! redb's errors as ours.

use std::io;

use table_core::{Error, ErrorKind};

/// What can go wrong beneath the store, before it becomes a public error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StorageFailure {
    #[error(transparent)]
    Redb(#[from] redb::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
}

macro_rules! from_redb {
    ($($error:ty),*) => {
        $(impl From<$error> for StorageFailure {
            fn from(error: $error) -> Self {
                Self::Redb(error.into())
            }
        })*
    };
}

from_redb!(
    redb::StorageError,
    redb::TableError,
    redb::TransactionError,
    redb::CommitError,
    redb::DatabaseError,
    redb::CompactionError
);

impl From<StorageFailure> for Error {
    fn from(failure: StorageFailure) -> Self {
        let (kind, message) = match &failure {
            StorageFailure::Io(error) => io_kind(error),
            StorageFailure::Redb(error) => match error {
                redb::Error::Corrupted(_) => (ErrorKind::Corrupted, "the file is damaged; restore a backup"),
                redb::Error::UpgradeRequired(_) => (
                    ErrorKind::Unsupported,
                    "the file was written by an older redb; upgrade it with that version's tools first",
                ),
                redb::Error::DatabaseAlreadyOpen => {
                    (ErrorKind::Busy, "the file is open already, here or in another process; share one store")
                }
                redb::Error::Io(error) => io_kind(error),
                redb::Error::PreviousIo | redb::Error::DatabaseClosed => {
                    (ErrorKind::Unavailable, "the file could not be read or written; try again")
                }
                _ => (ErrorKind::Unavailable, "the storage engine failed"),
            },
        };
        Self::new(kind, message).with_source(failure)
    }
}

fn io_kind(error: &io::Error) -> (ErrorKind, &'static str) {
    match error.kind() {
        io::ErrorKind::NotFound => (ErrorKind::NotFound, "the folder of the file is not there; create it first"),
        io::ErrorKind::PermissionDenied => (ErrorKind::PermissionDenied, "the file may not be read and written"),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            (ErrorKind::Unavailable, "the disk is full; make room and try again")
        }
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            (ErrorKind::Corrupted, "the file is not one of this store's, or it is damaged")
        }
        io::ErrorKind::IsADirectory => (ErrorKind::InvalidName, "the path is a folder; name a file in it"),
        _ => (ErrorKind::Unavailable, "the file could not be read or written"),
    }
}
