//! Writing an entity and the lists that name it.

use futures_util::stream::{self, StreamExt, TryStreamExt};
use table_core::{
    Action, DynamicEntity, ETag, Entity, EntityKey, Error, ErrorKind, IfMatch, Key, Operation, Result, Versioned,
    Written,
};

use super::place::Spot;
use super::settle::{Lists, Outcome, new_id};
use super::shelf::{Held, Shelf, Uploaded};
use super::{IndexEntities, KeyList, LISTED_READS};
use crate::blobs::Draft;
use crate::intent::{Age, Ended, Garbage, Sent, is_conflict};
use crate::intra_partition_secondary_index::{IndexedTransaction, Refused};
use crate::rows::{fits_no_key, marked, version};

/// A list that an entity joins or leaves.
#[derive(Debug, Clone)]
struct Change {
    spot: Spot,
    is_elsewhere: bool,
    joins: bool,
}

/// What is read before a change, and known of it.
struct Attempt<'a> {
    source: &'a EntityKey,
    changes: &'a [Change],
    held: Vec<Held>,
    age: Age,
}

impl<E: Entity> IndexEntities<E> {
    /// Adds an entity that must not exist, and lists it. One storage transaction to read each list,
    /// and one to write everything; for lists elsewhere one more for each, another, and two calls to the queue.
    ///
    /// # Errors
    /// [`AlreadyExists`](ErrorKind::AlreadyExists), [`Contention`](ErrorKind::Contention),
    /// [`LimitExceeded`](ErrorKind::LimitExceeded) for a list without blobs over 1 MiB, or within 64 KiB of that where
    /// it stands elsewhere; that or [`InvalidKey`](ErrorKind::InvalidKey) for a value that fits the key of no list; and
    /// as [`IndexedTransaction::commit`].
    pub async fn insert(&self, entity: &E) -> Result<ETag> {
        self.require_keeper()?;
        let key = entity.entity_key()?;
        let changes = self.changes(&key, &[], &self.values(entity))?;
        let mut attempts = self.options.begin();
        loop {
            let transaction = IndexedTransaction::new(&self.table).insert(entity);
            match Box::pin(self.attempt(transaction, &key, &changes)).await {
                Ok(written) => return version(written),
                Err(ended) => {
                    let (error, conflict) = conflict(ended, |error| is_of_a_list(error, &changes));
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }

    /// Reads an entity, changes it, and writes it and the lists that it leaves and joins, again where
    /// somebody else was faster. Two storage transactions, and one more for each list that changes; for lists
    /// elsewhere two more for each, another, and two calls to the queue.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound), and as [`IndexEntities::insert`].
    pub async fn update(&self, key: Key<E>, mut change: impl FnMut(&mut E) + Send) -> Result<Versioned<E>> {
        self.require_keeper()?;
        let mut attempts = self.options.begin();
        loop {
            let mut read = self.table.require(key.clone()).await?;
            let old = self.values(&read);
            change(&mut read);
            let changes = self.changes(read.key(), &old, &self.values(&read))?;
            let transaction = IndexedTransaction::new(&self.table).replace(&read);
            match Box::pin(self.attempt(transaction, read.key(), &changes)).await {
                Ok(written) => {
                    read.written(version(written)?)?;
                    return Ok(read);
                }
                Err(ended) => {
                    let ours = |error: &Error| is_of_a_list(error, &changes) || is_of_the_entity(error);
                    let (error, conflict) = conflict(ended, ours);
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }

    /// Deletes an entity, takes it off its lists, and says whether it was there. Two storage
    /// transactions, and one more for each list; for lists elsewhere two more for each, another, and two calls to
    /// the queue.
    ///
    /// # Errors
    /// [`Contention`](ErrorKind::Contention), and as [`IndexedTransaction::commit`].
    pub async fn delete(&self, key: Key<E>) -> Result<bool> {
        self.require_keeper()?;
        let mut attempts = self.options.begin();
        loop {
            let Some(read) = self.table.get::<E>(key.clone()).await? else { return Ok(false) };
            let changes = self.changes(read.key(), &self.values(&read), &[])?;
            let transaction = IndexedTransaction::new(&self.table).delete(&read);
            match Box::pin(self.attempt(transaction, read.key(), &changes)).await {
                Ok(_) => return Ok(true),
                Err(ended) => {
                    let ours = |error: &Error| is_of_a_list(error, &changes) || is_of_the_entity(error);
                    let (error, conflict) = conflict(ended, ours);
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }

    /// The values by which an entity is listed, one for each list.
    fn values(&self, entity: &E) -> Vec<Option<String>> {
        self.lists.iter().map(|list| (list.value)(entity)).collect()
    }

    /// The lists that an entity leaves with its old values, and joins with its new ones. A new one that fits no key is
    /// refused; an old one, as another program may have written it, was never listed.
    fn changes(&self, key: &EntityKey, old: &[Option<String>], new: &[Option<String>]) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        for (position, list) in self.lists.iter().enumerate() {
            let [old, new] = [old, new].map(|values| values.get(position).and_then(Option::as_deref));
            if old == new {
                continue;
            }
            let spot =
                |value: Option<&str>| value.map(|value| list.spot(&self.table, &key.partition, value)).transpose();
            let left = match spot(old) {
                Err(error) if fits_no_key(&error) => None,
                left => left?,
            };
            for (spot, joins) in [(left, false), (spot(new)?, true)] {
                changes.extend(spot.map(|spot| Change { spot, is_elsewhere: list.is_elsewhere(), joins }));
            }
        }
        Ok(changes)
    }

    /// Reads the lists, and writes the entity with them: those beside it in its transaction, those elsewhere by the
    /// steps of an intent. What was written of the entity comes back.
    async fn attempt(
        &self,
        transaction: IndexedTransaction<'_>,
        source: &EntityKey,
        changes: &[Change],
    ) -> Result<Option<Written>, Ended> {
        let age = Age::begin();
        let spots: Vec<Spot> = changes.iter().map(|change| change.spot.clone()).collect();
        let reads = stream::iter(spots).map(|spot| self.read(spot));
        let held: Vec<Held> = reads.buffered(LISTED_READS).try_collect().await.map_err(Refused::from)?;
        let attempt = Attempt { source, changes, held, age };
        self.check_sizes(&attempt).map_err(Refused::from)?;
        let mut sent = self.send(&attempt).await?;
        match self.commit(transaction, &attempt, sent.as_mut()).await {
            Ok(written) => {
                if let (Some(sent), Some(keeper)) = (sent, &self.keeper) {
                    keeper.finish(&self.table, &sent, self.follow(&attempt)).await;
                }
                Ok(written)
            }
            Err(ended) => {
                if let (Ended::Refused(refused), Some(sent), Some(keeper)) = (&ended, &sent, &self.keeper)
                    && refused.is_final()
                {
                    keeper.give_up(sent, async { Ok(Vec::new()) }).await;
                }
                Err(ended)
            }
        }
    }

    /// Refuses lists that would get too large.
    fn check_sizes(&self, attempt: &Attempt<'_>) -> Result<()> {
        let joined = attempt.changes.iter().zip(&attempt.held).filter(|(change, _)| change.joins);
        for (Change { spot, .. }, held) in joined {
            let keys = held.keys.clone().with(attempt.source, true);
            self.shelf().check(self.declared(&spot.list)?, spot, held, &keys)?;
        }
        Ok(())
    }

    async fn read(&self, spot: Spot) -> Result<Held> {
        self.shelf().read(self.declared(&spot.list)?, &spot).await
    }

    /// Tells of the lists elsewhere before anything is written. Nothing where there are none.
    async fn send(&self, attempt: &Attempt<'_>) -> Result<Option<Sent<Lists>>, Ended> {
        let elsewhere = attempt.changes.iter().filter(|change| change.is_elsewhere);
        let lists: Vec<Spot> = elsewhere.map(|change| change.spot.clone()).collect();
        let Some(keeper) = self.keeper.as_ref().filter(|_| !lists.is_empty()) else { return Ok(None) };
        let (scope, source) = (self.scope.clone(), attempt.source.clone());
        keeper.send(scope, new_id(), source, Lists { lists }, attempt.age).await.map(Some)
    }

    /// The entity and the lists beside it, in one transaction; with the intent where there is one. The blobs of
    /// these lists come before.
    async fn commit(
        &self,
        mut transaction: IndexedTransaction<'_>,
        attempt: &Attempt<'_>,
        mut sent: Option<&mut Sent<Lists>>,
    ) -> Result<Option<Written>, Ended> {
        let mut drafts: Vec<(&Spot, Draft)> = Vec::new();
        let mut versions: Vec<(Option<ETag>, bool)> = Vec::new();
        for (change, held) in attempt.beside() {
            let keys = held.keys.clone().with(attempt.source, change.joins);
            let draft = self.draft_beside(&change.spot, held, &keys).await.map_err(Refused::from)?;
            drafts.push((&change.spot, draft));
            versions.push((held.etag.clone(), keys.is_empty()));
        }
        let uploaded = self.upload(sent.as_deref_mut(), &mut drafts).await?;
        for ((_, Draft { row, .. }), (version, is_empty)) in drafts.into_iter().zip(versions) {
            if let Some(operation) = operation(row, version, is_empty).map_err(Refused::from)? {
                transaction = transaction.operation(operation);
            }
        }
        let written = match (sent, &self.keeper) {
            (Some(sent), Some(keeper)) => keeper.commit(&self.table, sent, transaction).await,
            (None, Some(keeper)) if uploaded.is_some() && attempt.age.is_too_old(keeper.options.grace) => {
                Err(Ended::Again(Error::precondition_failed("the lists were read too long ago")))
            }
            _ => transaction.try_commit().await.map_err(Ended::from),
        };
        match &written {
            Ok(_) => self.shelf().uploaded(uploaded).await,
            Err(Ended::Refused(refused)) if refused.error().outcome_unknown() => {}
            Err(_) => self.shelf().take_back(uploaded).await,
        }
        Ok(written?.into_iter().next())
    }

    /// Puts blobs before the transaction, while the message of the change stays hidden: a worker that took it would put a
    /// fence, and the change would begin again, as slowly.
    async fn upload(
        &self,
        sent: Option<&mut Sent<Lists>>,
        drafts: &mut [(&Spot, Draft)],
    ) -> Result<Option<Uploaded>, Ended> {
        let lists = self.shelf();
        let uploading = lists.upload(drafts);
        let uploaded = match (sent, &self.keeper) {
            (Some(sent), Some(keeper)) => keeper.while_hidden(sent, uploading).await.ok_or_else(taken)?,
            _ => uploading.await,
        };
        Ok(uploaded.map_err(Refused::from)?)
    }

    /// Writes a list beside its entities, if it is still what was read, with another operation in the same
    /// transaction; says whether it was.
    pub(super) async fn write_beside(
        &self,
        spot: &Spot,
        held: &Held,
        keys: &KeyList,
        with: Option<Operation>,
    ) -> Result<bool> {
        let draft = self.draft_beside(spot, held, keys).await?;
        let mut drafts = [(spot, draft)];
        let uploaded = self.shelf().upload(&mut drafts).await?;
        let [(_, Draft { row, .. })] = drafts;
        let list = operation(row, held.etag.clone(), keys.is_empty())?;
        let transaction = IndexedTransaction::new(&self.table);
        let transaction = with.into_iter().chain(list).fold(transaction, IndexedTransaction::operation);
        match transaction.commit().await {
            Ok(_) => {
                self.shelf().uploaded(uploaded).await;
                Ok(true)
            }
            Err(error) if is_conflict(&error) => {
                self.shelf().take_back(uploaded).await;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    async fn draft_beside(&self, spot: &Spot, held: &Held, keys: &KeyList) -> Result<Draft> {
        if keys.is_empty() {
            return Ok(Shelf::without_blob(DynamicEntity::new(spot.key.clone()), held));
        }
        self.shelf().draft(self.declared(&spot.list)?, spot, held, keys).await
    }

    /// Brings the lists elsewhere up to date after the entity was written: as they were read where they still are
    /// so, else all is read again.
    async fn follow(&self, attempt: &Attempt<'_>) -> Result<Vec<Garbage>> {
        let mut outcome = Outcome::default();
        for (Change { spot, joins, .. }, held) in attempt.elsewhere() {
            match self.write_key(spot, held.clone(), attempt.source, *joins, attempt.age).await.transpose() {
                Some(written) => outcome.add(written),
                None => outcome.add(self.settle(attempt.source, std::slice::from_ref(spot)).await),
            }
        }
        outcome.end()
    }
}

impl Attempt<'_> {
    fn beside(&self) -> impl Iterator<Item = (&Change, &Held)> {
        self.changes.iter().zip(&self.held).filter(|(change, _)| !change.is_elsewhere)
    }

    fn elsewhere(&self) -> impl Iterator<Item = (&Change, &Held)> {
        self.changes.iter().zip(&self.held).filter(|(change, _)| change.is_elsewhere)
    }
}

/// What becomes of the row of a list beside its entities, where it has to be written at all.
fn operation(row: DynamicEntity, read: Option<ETag>, is_empty: bool) -> Result<Option<Operation>> {
    let action = match read.map(IfMatch::Version) {
        Some(unchanged) if is_empty => Action::Delete(row.key, unchanged),
        Some(unchanged) => Action::Replace(marked(row), unchanged),
        None if is_empty => return Ok(None),
        None => Action::Insert(marked(row)),
    };
    Operation::new(action).map(Some)
}

fn taken() -> Ended {
    Ended::Again(Error::precondition_failed(
        "a worker took the change for abandoned while blobs of its lists were put; hide intents for longer, or look after the queue's clock",
    ))
}

/// Why an attempt ended, and whether another may succeed.
fn conflict(ended: Ended, is_ours: impl FnOnce(&Error) -> bool) -> (Error, bool) {
    match ended {
        Ended::Again(error) => (error, true),
        Ended::Refused(refused) => {
            let error = refused.into_error();
            let conflict = is_ours(&error);
            (error, conflict)
        }
    }
}

/// Whether a list beside the entity was changed, made or deleted since it was read.
fn is_of_a_list(error: &Error, changes: &[Change]) -> bool {
    let refusal =
        matches!(error.kind(), ErrorKind::PreconditionFailed | ErrorKind::NotFound | ErrorKind::AlreadyExists);
    refusal && changes.iter().any(|change| error.key() == Some(&change.spot.key))
}

/// Whether the entity was changed or deleted since it was read.
fn is_of_the_entity(error: &Error) -> bool {
    let first = error.operation_index().unwrap_or(0) == 0;
    first && matches!(error.kind(), ErrorKind::PreconditionFailed | ErrorKind::NotFound)
}
