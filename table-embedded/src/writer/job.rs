//! A write on its way through the writer.

use table_core::{Error, Result};
use tokio::sync::oneshot;

use super::group::{Failure, Group};
use crate::error::StorageFailure;

/// A write of any kind: done in a group, and answered once that is committed.
pub(super) trait Job: Send {
    /// The bytes that it brings along.
    fn bytes(&self) -> usize;

    /// Checks the conditions and makes the changes. An error is the file's, and the whole group's.
    fn run(&mut self, group: &mut Group<'_>) -> Result<(), StorageFailure>;

    /// Answers with how the commit ended, or with why the write was refused before it.
    fn answer(self: Box<Self>, committed: &Result<()>);
}

/// A write that answers with a `T`.
pub(super) struct Write<T, W> {
    bytes: usize,
    work: Option<W>,
    result: Option<Result<T>>,
    answer: oneshot::Sender<Result<T>>,
}

impl<T, W> Write<T, W> {
    pub(super) const fn new(bytes: usize, work: W, answer: oneshot::Sender<Result<T>>) -> Self {
        Self { bytes, work: Some(work), result: None, answer }
    }
}

impl<T, W> Job for Write<T, W>
where
    T: Send,
    W: FnOnce(&mut Group<'_>) -> Result<T, Failure> + Send,
{
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn run(&mut self, group: &mut Group<'_>) -> Result<(), StorageFailure> {
        let Some(work) = self.work.take() else {
            return Ok(());
        };
        self.result = match work(group) {
            Ok(value) => Some(Ok(value)),
            Err(Failure::Refused(error)) => Some(Err(error)),
            Err(Failure::Storage(failure)) => return Err(failure),
        };
        Ok(())
    }

    fn answer(self: Box<Self>, committed: &Result<()>) {
        let result = match (self.result, committed) {
            (Some(Err(refused)), _) => Err(refused),
            (_, Err(failed)) => Err(failed.clone()),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (None, Ok(())) => Err(Error::corrupted("a write was left out of its group")),
        };
        // A caller that stopped waiting does not mind.
        drop(self.answer.send(result));
    }
}
