//! Many queries at once, such as one for each partition.

use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};

use super::Prepared;
use crate::entity::FromRow;
use crate::error::Result;
use crate::query::Query;
use crate::query::builder::MAX_CONCURRENCY;
use crate::table::Table;
use crate::versioned::Versioned;

impl Table {
    /// Reads everything that several queries find, at most `concurrency` (up to 64) of them at
    /// once. The results stand in the order of the queries.
    ///
    /// All queries are checked before the first is run, and the first error ends them all.
    ///
    /// # Errors
    /// Those of the queries and of the store.
    pub async fn all_many<E: FromRow, R: Send + 'static, Q: Into<Query<E, R>>>(
        &self,
        queries: impl IntoIterator<Item = Q>,
        concurrency: usize,
    ) -> Result<Vec<Vec<Versioned<R>>>> {
        let prepared = self.prepare_all(queries)?;
        let runs = prepared.into_iter().enumerate().map(|(position, query)| async move {
            let found = query.batches::<E>().try_concat().await?;
            Ok::<_, crate::Error>((position, found))
        });
        let mut results: Vec<_> =
            stream::iter(runs).buffer_unordered(concurrency.clamp(1, MAX_CONCURRENCY)).try_collect().await?;
        results.sort_unstable_by_key(|(position, _)| *position);
        Ok(results.into_iter().map(|(_, found)| found).collect())
    }

    /// Reads what several queries find as it is wanted, in the order of the queries. The first
    /// pages of up to `concurrency` (up to 64) queries are asked for at once.
    ///
    /// All queries are checked before the first is run. An error comes in its query's place and
    /// ends the stream.
    pub fn stream_many<E: FromRow, R: Send + 'static, Q: Into<Query<E, R>>>(
        &self,
        queries: impl IntoIterator<Item = Q>,
        concurrency: usize,
    ) -> BoxStream<'static, Result<Versioned<R>>> {
        let prepared = match self.prepare_all(queries) {
            Ok(prepared) => prepared,
            Err(error) => return stream::iter([Err(error)]).boxed(),
        };
        stream::iter(prepared)
            .map(|query| async {
                let mut batches = query.batches::<E>();
                let first = batches.try_next().await?;
                Ok(stream::iter(first.map(Ok)).chain(batches))
            })
            .buffered(concurrency.clamp(1, MAX_CONCURRENCY))
            .try_flatten()
            .map_ok(|batch| stream::iter(batch).map(Ok))
            .try_flatten()
            .boxed()
    }

    fn prepare_all<E: FromRow, R, Q: Into<Query<E, R>>>(
        &self,
        queries: impl IntoIterator<Item = Q>,
    ) -> Result<Vec<Prepared<R>>> {
        queries.into_iter().map(|query| Prepared::new(self, query.into())).collect()
    }
}
