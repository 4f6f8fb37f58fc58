//! Where a copy goes on, as something to keep.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::names::TableName;
use crate::store::PageToken;

/// Where a copy goes on: everything before it is stored in the target.
///
/// Tables are copied by name, so a table and a page of it say all. It serialises by serde, and survives a
/// restart of the program as far as the pages of the source store do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyCursor {
    /// The table to go on with.
    pub(super) table: TableName,
    /// What is stored of it.
    pub(super) stored: Stored,
    /// Entities that are stored so far, of all tables.
    pub(super) entities: u64,
}

/// How much of a table is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stored {
    /// The pages before this one.
    Before(PageToken),
    /// All of it.
    Whole,
}

/// The file that keeps a cursor between runs.
pub(super) struct StateFile(PathBuf);

impl StateFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// The cursor in the file; none where there is no file.
    pub(super) fn read(&self) -> Result<Option<CopyCursor>> {
        let bytes = match fs::read(&self.0) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("read", &self.0, error)),
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            Error::corrupted(format!(
                "the state file {} is damaged; delete it, and the copy starts over",
                self.0.display()
            ))
            .with_operation("copy")
            .with_source(error)
        })
    }

    /// Puts a cursor into the file in one step, so that a crash leaves the old one or the new one.
    pub(super) fn write(&self, cursor: &CopyCursor) -> Result<()> {
        let mut unfinished = self.0.clone().into_os_string();
        unfinished.push(".new");
        let bytes = serde_json::to_vec(cursor).map_err(io::Error::from);
        bytes
            .and_then(|bytes| fs::write(&unfinished, bytes))
            .and_then(|()| fs::rename(&unfinished, &self.0))
            .map_err(|error| failed("write", &self.0, error))
    }

    pub(super) fn delete(&self) -> Result<()> {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("delete", &self.0, error)),
            _ => Ok(()),
        }
    }
}

fn failed(what: &str, path: &Path, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, format!("cannot {what} the state file {}: {error}", path.display()))
        .with_operation("copy")
        .with_retryable(false)
        .with_source(error)
}
