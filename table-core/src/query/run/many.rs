//! Many keys or queries at once, such as one for each partition.

use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};

use super::Prepared;
use crate::entity::FromRow;
use crate::error::Result;
use crate::key::Key;
use crate::query::Query;
use crate::query::builder::MAX_CONCURRENCY;
use crate::table::Table;
use crate::versioned::Versioned;

impl Table {
    /// Reads several entities by their keys, at most `concurrency` (up to 64) of them at once. The
    /// answers stand in the order of the keys, `None` where there is no such entity. One storage
    /// transaction for each key.
    ///
    /// All keys are checked before the first is read, and the first error ends them all.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use table_core::{Entity, MemoryStore, Table};
    ///
    /// #[derive(Entity)]
    /// #[entity(partition = "{department}", row = "empid_{id:06}")]
    /// struct Employee {
    ///     department: String,
    ///     id: u32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> table_core::Result<()> {
    /// let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
    /// table.create().await?;
    /// table.insert(&Employee { department: "Sales".into(), id: 7 }).await?;
    ///
    /// let found = table.get_many([8, 7].map(|id| Employee::key("Sales", id)), 8).await?;
    /// assert!(found[0].is_none() && found[1].is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`].
    pub async fn get_many<R: FromRow, K: Into<Key<R>>>(
        &self,
        keys: impl IntoIterator<Item = K>,
        concurrency: usize,
    ) -> Result<Vec<Option<Versioned<R>>>> {
        let keys: Vec<Key<R>> = keys.into_iter().map(Into::into).collect();
        for key in &keys {
            key.place()?;
        }
        let reads = keys.into_iter().map(|key| self.get(key));
        stream::iter(reads).buffered(concurrency.clamp(1, MAX_CONCURRENCY)).try_collect().await
    }

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
