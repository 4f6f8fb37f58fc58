//! Several sorted streams as one, in the order of the row keys.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};
use table_core::{Entity, EntityKey, PartitionKey, Query, Result, RowKey, Table, Versioned};

/// The next entity of one bucket, and those after it.
struct Head<E> {
    next: Versioned<E>,
    rest: BoxStream<'static, Result<Versioned<E>>>,
}

impl<E> Head<E> {
    fn key(&self) -> (&RowKey, &PartitionKey) {
        let EntityKey { partition, row } = self.next.key();
        (row, partition)
    }
}

/// The first key is the greatest, since that is what a heap gives.
impl<E> Ord for Head<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<E> PartialOrd for Head<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Head<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Head<E> {}

/// Reads queries side by side, in the order of the row keys.
pub(super) fn merge<E: Entity>(
    table: Table,
    queries: Vec<Query<E>>,
    concurrency: usize,
) -> BoxStream<'static, Result<Versioned<E>>> {
    let begin = async move {
        let heads = queries.into_iter().map(|query| head(table.stream(query)));
        let heads: Vec<Option<Head<E>>> = stream::iter(heads).buffer_unordered(concurrency).try_collect().await?;
        Ok(stream::try_unfold(heads.into_iter().flatten().collect(), next))
    };
    stream::once(begin).try_flatten().boxed()
}

/// Reads up to the next entity of a bucket; none at its end.
async fn head<E>(mut rest: BoxStream<'static, Result<Versioned<E>>>) -> Result<Option<Head<E>>> {
    Ok(rest.try_next().await?.map(|next| Head { next, rest }))
}

/// Takes the first of all buckets.
async fn next<E>(mut heads: BinaryHeap<Head<E>>) -> Result<Option<(Versioned<E>, BinaryHeap<Head<E>>)>> {
    let Some(Head { next, rest }) = heads.pop() else { return Ok(None) };
    heads.extend(head(rest).await?);
    Ok(Some((next, heads)))
}
