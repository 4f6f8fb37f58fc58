//! A join in the client: related entities by key, kept for a while.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::stream::{self, Stream, StreamExt, TryStreamExt};
use quick_cache::sync::Cache;
use table_core::{EntityKey, FromRow, Key, Query, Result, Table, Versioned};
use tokio::time::Instant;

/// How many related entities are read at once at most.
const MOST_CONCURRENCY: usize = 64;
/// How many entities of a stream are joined together.
const JOINED_AT_ONCE: usize = 1000;
/// How often a reader waits for another's read before it reads by itself.
const MOST_WAITS: usize = 3;

/// How much a [`Lookup`] keeps, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookupOptions {
    /// Entities that are kept; the least used go first.
    pub entries: usize,
    /// How old an answer may be.
    pub age: Duration,
    /// Entities that a join reads at once, from 1 to 64.
    pub concurrency: usize,
}

impl Default for LookupOptions {
    /// A thousand entities for a minute, eight read at once.
    fn default() -> Self {
        Self { entries: 1000, age: Duration::from_secs(60), concurrency: 8 }
    }
}

impl LookupOptions {
    /// Sets how many entities are kept.
    #[must_use]
    pub const fn with_entries(mut self, entries: usize) -> Self {
        self.entries = entries;
        self
    }

    /// Sets how old an answer may be.
    #[must_use]
    pub const fn with_age(mut self, age: Duration) -> Self {
        self.age = age;
        self
    }

    /// Sets how many entities a join reads at once.
    #[must_use]
    pub const fn with_concurrency(mut self, requests: usize) -> Self {
        self.concurrency = requests;
        self
    }
}

/// An entity, and the one that it is related to.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined<L, R> {
    /// The entity that names the other.
    pub entity: L,
    /// The other; `None` where it names none, or one that is not there.
    pub related: Option<Arc<Versioned<R>>>,
}

/// Entities by key, read once and kept: for what is looked up often and changes seldom.
///
/// An answer, and also the answer that there is no such entity, is at most so old as
/// [`LookupOptions::age`] says. Readers who miss the same key at once share one read. Clones share
/// what they keep.
///
/// ```
/// use std::sync::Arc;
/// use table_core::{Entity, MemoryStore, Table};
/// use table_patterns::relationships::{Lookup, LookupOptions};
///
/// #[derive(Entity)]
/// #[entity(partition = "departments", row = "{name}")]
/// struct Department {
///     name: String,
///     floor: i32,
/// }
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
/// let store = Arc::new(MemoryStore::new());
/// let (departments, employees) = (Table::new(store.clone(), "Departments")?, Table::new(store, "Employees")?);
/// departments.create().await?;
/// employees.create().await?;
/// departments.insert(&Department { name: "Sales".into(), floor: 3 }).await?;
/// for id in [1, 2] {
///     employees.insert(&Employee { department: "Sales".into(), id }).await?;
/// }
///
/// let departments = Lookup::<Department>::new(departments, LookupOptions::default());
/// let sales = employees.all(Employee::range("Sales")).await?;
/// // Two employees, and one read of their department; none at all the next time.
/// for joined in departments.join(sales, |employee| Some(Department::key(&employee.department))).await? {
///     assert_eq!(joined.related.map(|department| department.floor), Some(3));
/// }
/// # Ok(())
/// # }
/// ```
pub struct Lookup<R> {
    table: Table,
    options: LookupOptions,
    kept: Arc<Kept<R>>,
}

/// Where a row stands: its key, and the table where it is another than the lookup's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Place {
    table: Option<&'static str>,
    key: EntityKey,
}

impl Place {
    fn of<R>(key: &Key<R>) -> Result<Self> {
        Ok(Self { table: key.table(), key: key.resolve()? })
    }
}

struct Kept<R> {
    cache: Cache<Place, Answer<R>>,
    /// How often something was forgotten, so that a read which began before keeps nothing after.
    forgotten: Mutex<u64>,
}

/// What a read found, and when it began.
struct Answer<R> {
    found: Option<Arc<Versioned<R>>>,
    asked: Instant,
}

impl<R: FromRow + Sync> Lookup<R> {
    /// Lookups in a table, with nothing kept yet.
    #[must_use]
    pub fn new(table: Table, options: LookupOptions) -> Self {
        let kept = Kept { cache: Cache::new(options.entries), forgotten: Mutex::new(0) };
        Self { table, options, kept: Arc::new(kept) }
    }

    /// The table, for reads past what is kept.
    #[must_use]
    pub const fn table(&self) -> &Table {
        &self.table
    }

    /// Reads one entity; `None` where there is none. One storage transaction, or none where the answer
    /// is kept and not too old.
    ///
    /// # Errors
    /// As [`Table::get`]; an error is not kept.
    pub async fn get(&self, key: impl Into<Key<R>>) -> Result<Option<Arc<Versioned<R>>>> {
        let key = key.into();
        let place = Place::of(&key)?;
        for _ in 0..MOST_WAITS {
            match self.kept.cache.get_value_or_guard_async(&place).await {
                Ok(answer) if self.is_fresh(&answer) => return Ok(answer.found),
                Ok(_) => drop(self.kept.cache.remove_if(&place, |answer| !self.is_fresh(answer))),
                Err(guard) => {
                    let answer = self.ask(key).await?;
                    // Refused where the key was forgotten meanwhile; the answer is good for this caller.
                    drop(guard.insert(answer.clone()));
                    return Ok(answer.found);
                }
            }
        }
        // Others read it again and again, and each time their answer was too old to share.
        Ok(self.ask(key).await?.found)
    }

    /// Joins entities with those that they name, in their order: one storage transaction for each
    /// related entity that is not kept, however many name it.
    ///
    /// # Errors
    /// As [`Lookup::get`].
    pub async fn join<L>(
        &self,
        entities: impl IntoIterator<Item = L>,
        link: impl Fn(&L) -> Option<Key<R>>,
    ) -> Result<Vec<Joined<L, R>>> {
        let mut wanted: HashMap<Place, Key<R>> = HashMap::new();
        let mut rows = Vec::new();
        for entity in entities {
            let key = link(&entity);
            let place = key.as_ref().map(Place::of).transpose()?;
            wanted.extend(place.clone().zip(key));
            rows.push((entity, place));
        }
        let reads = wanted.into_iter().map(|(place, key)| async move { Ok((place, self.get(key).await?)) });
        let concurrency = self.options.concurrency.clamp(1, MOST_CONCURRENCY);
        let reads = stream::iter(reads).buffer_unordered(concurrency);
        let found: HashMap<Place, Option<Arc<Versioned<R>>>> = reads.try_collect().await?;
        let related = |place: Option<Place>| place.and_then(|place| found.get(&place).cloned().flatten());
        Ok(rows.into_iter().map(|(entity, place)| Joined { entity, related: related(place) }).collect())
    }

    /// Joins entities as they come, up to a thousand at once: `departments.join_stream(table.stream(..), ..)`.
    ///
    /// The stream ends at the first error, its own or that of a lookup.
    pub fn join_stream<'l, L: Send + 'l>(
        &'l self,
        entities: impl Stream<Item = Result<L>> + Send + 'l,
        link: impl Fn(&L) -> Option<Key<R>> + Send + Sync + 'l,
    ) -> impl Stream<Item = Result<Joined<L, R>>> + Send + 'l {
        let link = Arc::new(link);
        entities
            .try_ready_chunks(JOINED_AT_ONCE)
            .map_err(|error| error.1)
            .and_then(move |chunk| {
                let link = Arc::clone(&link);
                async move { self.join(chunk, |entity| link(entity)).await }
            })
            .map_ok(|joined| stream::iter(joined).map(Ok))
            .try_flatten()
    }

    /// Reads what a query finds and keeps it, so that a small table is read by the page and not by
    /// the row. Returns how many entities it found, of which those that fit are kept.
    ///
    /// # Errors
    /// As [`Table::all`].
    pub async fn load(&self, query: impl Into<Query<R>>) -> Result<usize> {
        let query = query.into();
        let table = query.explain()?.table();
        let (asked, forgotten) = (Instant::now(), *self.kept.forgotten());
        let all = self.table.all(query).await?;
        let count = all.len();
        let still = self.kept.forgotten();
        if *still == forgotten {
            for entity in all {
                let place = Place { table, key: entity.key().clone() };
                self.kept.cache.insert(place, Answer { found: Some(Arc::new(entity)), asked });
            }
        }
        Ok(count)
    }

    /// Forgets what is kept of a key, so that the next read asks the store: after a write, for those
    /// who must see it.
    ///
    /// # Errors
    /// [`InvalidKey`](table_core::ErrorKind::InvalidKey) for a key that no row can have.
    pub fn forget(&self, key: impl Into<Key<R>>) -> Result<()> {
        let key = key.into();
        let place = Place::of(&key)?;
        let mut forgotten = self.kept.forgotten();
        *forgotten += 1;
        self.kept.cache.remove(&place);
        Ok(())
    }

    /// Forgets everything.
    pub fn forget_all(&self) {
        let mut forgotten = self.kept.forgotten();
        *forgotten += 1;
        self.kept.cache.clear();
    }

    async fn ask(&self, key: Key<R>) -> Result<Answer<R>> {
        // The age counts from before the read, since a write may have overtaken the answer.
        let asked = Instant::now();
        Ok(Answer { found: self.table.get(key).await?.map(Arc::new), asked })
    }

    fn is_fresh(&self, answer: &Answer<R>) -> bool {
        answer.asked.elapsed() <= self.options.age
    }
}

impl<R> Kept<R> {
    /// A count is whole at any time, so a panic elsewhere does not spoil it.
    fn forgotten(&self) -> std::sync::MutexGuard<'_, u64> {
        self.forgotten.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R> Clone for Answer<R> {
    fn clone(&self) -> Self {
        Self { found: self.found.clone(), asked: self.asked }
    }
}

impl<R> Clone for Lookup<R> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), options: self.options, kept: Arc::clone(&self.kept) }
    }
}

impl<R> fmt::Debug for Lookup<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").field("table", &self.table).field("options", &self.options).finish_non_exhaustive()
    }
}
