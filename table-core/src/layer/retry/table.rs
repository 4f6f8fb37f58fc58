//! Repeated calls to tables.

use async_trait::async_trait;

use super::Retry;
use super::attempts::{Attempts, undecided};
use super::settle::Settled;
use crate::dynamic::DynamicEntity;
use crate::error::{Error, ErrorKind, Result};
use crate::keys::EntityKey;
use crate::names::TableName;
use crate::operation::{Action, IfMatch, Operation, Transaction, Written};
use crate::store::{Capabilities, Page, PageToken, Selection, StoreQuery, TablePage, TableStore};

#[async_trait]
impl<S: TableStore> TableStore for Retry<S> {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.repeat_until_done(ErrorKind::AlreadyExists, || self.inner.create_table(table)).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.repeat_until_done(ErrorKind::TableNotFound, || self.inner.delete_table(table)).await
    }

    async fn list_tables(&self, after: Option<&PageToken>) -> Result<TablePage> {
        self.attempts().repeat(|| self.inner.list_tables(after)).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, selection: &Selection) -> Result<Option<DynamicEntity>> {
        self.attempts().repeat(|| self.inner.get(table, key, selection)).await
    }

    async fn query(&self, table: &TableName, query: &StoreQuery) -> Result<Page> {
        self.attempts().repeat(|| self.inner.query(table, query)).await
    }

    async fn write(&self, table: &TableName, operation: Operation) -> Result<Written> {
        let mut attempts = self.attempts();
        loop {
            let error = match attempts.make(self.inner.write(table, operation.clone())).await {
                Ok(written) => return Ok(written),
                Err(error) => error,
            };
            if attempts.answer_lost && is_deleted_anyway(operation.action(), &error) {
                return Ok(Written { etag: None });
            }
            let settled = self.after_failure(table, std::slice::from_ref(&operation), error, &mut attempts).await?;
            if let Some(written) = settled.into_iter().flatten().next() {
                return Ok(written);
            }
        }
    }

    async fn transact(&self, table: &TableName, transaction: Transaction) -> Result<Vec<Written>> {
        let mut attempts = self.attempts();
        loop {
            let error = match attempts.make(self.inner.transact(table, transaction.clone())).await {
                Ok(written) => return Ok(written),
                Err(error) => error,
            };
            if let Some(written) = self.after_failure(table, transaction.operations(), error, &mut attempts).await? {
                return Ok(written);
            }
        }
    }
}

impl<S: TableStore> Retry<S> {
    /// Answers a failed write that turned out to have happened, or returns when it is to be repeated.
    async fn after_failure(
        &self,
        table: &TableName,
        operations: &[Operation],
        error: Error,
        attempts: &mut Attempts<'_>,
    ) -> Result<Option<Vec<Written>>> {
        if !(attempts.answer_lost && may_be_our_own_doing(error.kind())) {
            attempts.wait_after(error).await?;
            return Ok(None);
        }
        match self.settle(table, operations, attempts).await {
            Ok(Settled::Happened(written)) => Ok(Some(written)),
            Ok(Settled::DidNotHappen) => {
                // The doubt is gone: should the next attempt be refused as well, it is by somebody else's doing.
                attempts.answer_lost = false;
                attempts.wait(error).await?;
                Ok(None)
            }
            Ok(Settled::Undecided) | Err(_) => Err(undecided(error)),
        }
    }
}

/// The refusals that a write can cause itself, when it is repeated after it happened.
const fn may_be_our_own_doing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::AlreadyExists | ErrorKind::PreconditionFailed | ErrorKind::NotFound)
}

/// Whether an entity that was to be gone in any version is gone.
fn is_deleted_anyway(action: &Action, error: &Error) -> bool {
    matches!(action, Action::Delete(_, IfMatch::Any)) && error.kind() == ErrorKind::NotFound
}
