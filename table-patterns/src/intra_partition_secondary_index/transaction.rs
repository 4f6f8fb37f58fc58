//! Writes of whole entities, copies included, that happen together or not at all.

use table_core::{
    Action, DynamicEntity, Entity, EntityKey, Error, ErrorKind, IfMatch, IndexKey, IndexSchema, Operation, Result,
    Table, Transaction, Versioned, Written, limits,
};

use crate::rows::{marked, unchanged};

/// Writes to entities of one partition, each with the copies that its indexes keep.
///
/// It is to entities with indexes what [`TableTransaction`](table_core::TableTransaction) is to those
/// without, and takes both. An entity that cannot be written is reported by
/// [`commit`](IndexedTransaction::commit), and nothing is sent.
///
/// ```
/// use std::sync::Arc;
/// use table_core::{Entity, MemoryStore, Table};
/// use table_patterns::IndexedTransaction;
///
/// #[derive(Entity)]
/// #[entity(partition = "{department}", row = "empid_{id:06}")]
/// #[index(email, row = "email_{email}", include())]
/// struct Employee {
///     department: String,
///     id: u32,
///     email: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
/// table.create().await?;
/// let employee = |id, email: &str| Employee { department: "Sales".into(), id, email: email.into() };
/// let (jo, al) = (employee(1, "jo@contoso.com"), employee(2, "al@contoso.com"));
/// let written = IndexedTransaction::new(&table).insert(&jo).insert(&al).commit().await?;
/// assert_eq!(written.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "nothing is written before `commit`"]
pub struct IndexedTransaction<'t> {
    table: &'t Table,
    steps: Result<Vec<Step>>,
    /// Whether a row carries the token of this write; one decides for all.
    marked: bool,
    /// Whether somebody else keeps the copies in other partitions.
    local_part: bool,
}

/// One operation, and what it is for.
#[derive(Debug)]
struct Step {
    operation: Operation,
    role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The caller's own: the primary row of an entity, or an operation made elsewhere.
    Primary,
    /// A copy that must not be there yet, of the unique index with this name.
    Claim(&'static str),
    /// Any other copy that is written.
    Copy,
    /// A copy that is stale.
    Stale,
    /// The row that says that copies elsewhere are to follow.
    Intent,
    /// The same of a pattern that keeps more than indexes.
    OuterIntent,
}

/// Why nothing was written, and which row it was.
#[derive(Debug)]
pub(crate) struct Refused {
    error: Error,
    role: Option<Role>,
}

impl Refused {
    /// Whether the primary row was changed or deleted since it was read.
    pub(crate) fn is_conflict(&self) -> bool {
        self.is_of_primary() && matches!(self.error.kind(), ErrorKind::PreconditionFailed | ErrorKind::NotFound)
    }

    /// Whether the primary row was inserted since it was found absent.
    pub(crate) fn is_raced_insert(&self) -> bool {
        self.is_of_primary() && self.error.kind() == ErrorKind::AlreadyExists
    }

    /// Whether a fence stands in the place of the intent.
    pub(crate) fn is_fenced(&self) -> bool {
        self.role == Some(Role::Intent)
            && self.error.kind() == ErrorKind::AlreadyExists
            && !self.error.outcome_unknown()
    }

    /// Whether a fence stands in the place of the intent of a pattern that keeps more than indexes.
    pub(crate) fn is_outer_fenced(&self) -> bool {
        self.role == Some(Role::OuterIntent)
            && self.error.kind() == ErrorKind::AlreadyExists
            && !self.error.outcome_unknown()
    }

    /// Whether the write has not happened and will not.
    pub(crate) fn is_final(&self) -> bool {
        !self.error.outcome_unknown() && !self.error.is_retryable()
    }

    pub(crate) const fn error(&self) -> &Error {
        &self.error
    }

    pub(crate) fn into_error(self) -> Error {
        self.error
    }

    fn is_of_primary(&self) -> bool {
        self.role == Some(Role::Primary)
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self { error, role: None }
    }
}

impl<'t> IndexedTransaction<'t> {
    /// Begins a transaction.
    pub const fn new(table: &'t Table) -> Self {
        Self { table, steps: Ok(Vec::new()), marked: false, local_part: false }
    }

    /// Begins a transaction that leaves the copies in other partitions to somebody else.
    pub(crate) const fn local_part(table: &'t Table) -> Self {
        Self { table, steps: Ok(Vec::new()), marked: false, local_part: true }
    }

    /// Adds the row that says that copies elsewhere are to follow.
    pub(crate) fn intent(self, row: DynamicEntity) -> Self {
        self.push(|steps, _| {
            steps.push(Step::new(Action::Insert(row), Role::Intent)?);
            Ok(())
        })
    }

    /// Adds the intent of a pattern that keeps more than the indexes.
    pub(crate) fn outer_intent(self, row: DynamicEntity) -> Self {
        self.push(|steps, _| {
            steps.push(Step::new(Action::Insert(row), Role::OuterIntent)?);
            Ok(())
        })
    }

    /// Adds an entity that must not exist, and its copies.
    pub fn insert<E: Entity>(self, entity: &E) -> Self {
        self.insert_as(entity, refuse_blobs::<E>().and_then(|()| entity.to_row()))
    }

    /// Adds an entity that must not exist, as the row that was made of it, and its copies.
    pub(crate) fn insert_as<E: Entity>(self, entity: &E, row: Result<DynamicEntity>) -> Self {
        let local_part = self.local_part;
        self.push(|steps, mark| {
            let row = mark.on(row?);
            steps.push(Step::new(Action::Insert(row), Role::Primary)?);
            put_copies(steps, entity, local_part, |_| false)
        })
    }

    /// Writes an entity over the version that was read, moves the copies whose keys changed, and
    /// removes those that it no longer has.
    pub fn replace<E: Entity>(self, read: &Versioned<E>) -> Self {
        self.replace_as(read, refuse_blobs::<E>().and_then(|()| read.to_row()))
    }

    /// As [`replace`](IndexedTransaction::replace), with the row that was made of the entity.
    pub(crate) fn replace_as<E: Entity>(self, read: &Versioned<E>, row: Result<DynamicEntity>) -> Self {
        let local_part = self.local_part;
        self.push(|steps, mark| {
            let row = mark.on(row?);
            steps.push(Step::new(Action::Replace(row, unchanged(read)), Role::Primary)?);
            let new_keys = read.value().index_keys()?;
            let kept = |key: &EntityKey| new_keys.iter().any(|new| new.key == *key);
            remove_copies(steps, read, local_part, |key| !kept(key))?;
            let held = |key: &EntityKey| read.index_keys().iter().any(|old| old.key == *key);
            put_copies(steps, read.value(), local_part, held)
        })
    }

    /// Writes a row over the version that was read, whose copies stay as they are.
    pub(crate) fn replace_stored(self, row: DynamicEntity, unchanged: IfMatch) -> Self {
        self.push(|steps, mark| {
            steps.push(Step::new(Action::Replace(mark.on(row), unchanged), Role::Primary)?);
            Ok(())
        })
    }

    /// Deletes the version that was read, and its copies.
    pub fn delete<E: Entity>(self, read: &Versioned<E>) -> Self {
        self.delete_as(read, refuse_blobs::<E>())
    }

    /// As [`delete`](IndexedTransaction::delete), where somebody else sees to the blobs.
    pub(crate) fn delete_as<E: Entity>(self, read: &Versioned<E>, allowed: Result<()>) -> Self {
        let local_part = self.local_part;
        self.push(|steps, _| {
            allowed?;
            steps.push(Step::new(Action::Delete(read.key().clone(), unchanged(read)), Role::Primary)?);
            remove_copies(steps, read, local_part, |_| true)
        })
    }

    /// Does all that another transaction was to do, in this one. One token stands for both.
    pub(crate) fn join(mut self, other: Self) -> Self {
        self.steps = self.steps.and_then(|mut steps| {
            steps.extend(other.steps?);
            Ok(steps)
        });
        self.marked |= other.marked;
        self
    }

    /// The transaction, unless it holds an entity that cannot be written.
    pub(crate) fn checked(self) -> Result<Self> {
        Ok(Self { steps: Ok(self.steps?), ..self })
    }

    /// The rows that it writes, and the bytes that the service counts for them.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&EntityKey, usize)> {
        let steps = self.steps.as_ref().map(Vec::as_slice).unwrap_or_default();
        steps.iter().map(|step| (step.operation.key(), step.operation.counted_bytes()))
    }

    /// Adds an operation made elsewhere. It must not touch a row of an entity with indexes.
    pub fn operation(self, operation: Operation) -> Self {
        self.push(|steps, _| {
            steps.push(Step { operation, role: Role::Primary });
            Ok(())
        })
    }

    fn push(mut self, add: impl FnOnce(&mut Vec<Step>, &mut Mark) -> Result<()>) -> Self {
        let mut mark = Mark { due: !self.marked };
        self.steps = self.steps.and_then(|mut steps| add(&mut steps, &mut mark).map(|()| steps));
        self.marked = !mark.due;
        self
    }

    /// Does all writes, or none, and answers for each entity and operation in the order in which
    /// they were added.
    ///
    /// # Errors
    /// [`AlreadyExists`](ErrorKind::AlreadyExists) for an entity that is there, or, naming the index,
    /// for a key of a unique index that belongs to another entity;
    /// [`PreconditionFailed`](ErrorKind::PreconditionFailed) and [`NotFound`](ErrorKind::NotFound) for
    /// an entity that was changed or deleted since it was read;
    /// [`LimitExceeded`](ErrorKind::LimitExceeded) above 100 operations or 4 MiB, with the count;
    /// [`Unsupported`](ErrorKind::Unsupported) for an index in another partition or table.
    pub async fn commit(self) -> Result<Vec<Written>> {
        self.try_commit().await.map_err(Refused::into_error)
    }

    /// As [`commit`](IndexedTransaction::commit), and says which row was refused.
    pub(crate) async fn try_commit(self) -> Result<Vec<Written>, Refused> {
        let mut steps = self.steps?;
        loop {
            // Only a transaction that may have to be sent once more, and smaller, is kept.
            let kept = steps.iter().any(|step| matches!(step.role, Role::Stale));
            let roles: Vec<Role> = steps.iter().map(|step| step.role).collect();
            let operations = if kept {
                steps.iter().map(|step| step.operation.clone()).collect()
            } else {
                steps.drain(..).map(|step| step.operation).collect()
            };
            let error = match send(self.table, operations).await {
                Ok(written) => return Ok(primaries(written, &roles)),
                Err(error) => error,
            };
            match missing_copy(&error, &roles) {
                // The entity is older than its index, so there was no copy to delete.
                Some(position) if kept => drop(steps.remove(position)),
                _ => {
                    let role = role_of(&error, &roles);
                    return Err(Refused { error: explain(error, role), role });
                }
            }
        }
    }
}

impl Step {
    fn new(action: Action, role: Role) -> Result<Self> {
        Ok(Self { operation: Operation::new(action)?, role })
    }
}

/// Puts the token of this write on one row, and on no more.
struct Mark {
    due: bool,
}

impl Mark {
    fn on(&mut self, row: DynamicEntity) -> DynamicEntity {
        if std::mem::take(&mut self.due) { marked(row) } else { row }
    }
}

/// Writes the copies of an entity. The key of a unique index must be free, unless `held` says that
/// the entity holds it already.
fn put_copies<E: Entity>(
    steps: &mut Vec<Step>,
    entity: &E,
    local_part: bool,
    held: impl Fn(&EntityKey) -> bool,
) -> Result<()> {
    for (position, index) in E::SCHEMA.indexes.iter().enumerate() {
        if !index.is_local() {
            if local_part {
                continue;
            }
            return Err(remote(E::SCHEMA.name, index.name));
        }
        let Some(copy) = entity.index_row(position)? else { continue };
        // Nobody else can own the key of an index that is not unique, so an orphan there is healed.
        steps.push(if index.unique && !held(&copy.key) {
            Step::new(Action::Insert(copy), Role::Claim(index.name))?
        } else {
            Step::new(Action::InsertOrReplace(copy), Role::Copy)?
        });
    }
    Ok(())
}

fn remove_copies<E: Entity>(
    steps: &mut Vec<Step>,
    read: &Versioned<E>,
    local_part: bool,
    stale: impl Fn(&EntityKey) -> bool,
) -> Result<()> {
    for copy in read.index_keys() {
        if !is_local::<E>(copy, read.key()) {
            if local_part {
                continue;
            }
            return Err(remote(E::SCHEMA.name, copy.index));
        }
        if !stale(&copy.key) {
            continue;
        }
        steps.push(Step::new(Action::Delete(copy.key.clone(), IfMatch::Any), Role::Stale)?);
    }
    Ok(())
}

/// Whether a copy stands in the partition of its entity. An older version of the type may have had indexes
/// that the schema no longer names.
pub(crate) fn is_local<E: Entity>(copy: &IndexKey, source: &EntityKey) -> bool {
    let named = E::SCHEMA.indexes.iter().find(|index| index.name == copy.index);
    named.map_or_else(|| copy.table.is_none() && copy.key.partition == source.partition, IndexSchema::is_local)
}

/// Refuses an entity with fields in blobs, which only [`Large`](crate::Large) looks after.
pub(crate) fn refuse_blobs<E: Entity>() -> Result<()> {
    if E::SCHEMA.blobs.is_none() {
        return Ok(());
    }
    let name = E::SCHEMA.name;
    Err(Error::unsupported(format!(
        "{name} keeps fields in blobs; write it through `Large::<{name}>`, which keeps its indexes in the partition too"
    )))
}

fn remote(entity: &str, index: &str) -> Error {
    Error::unsupported(format!(
        "the index {index} of {entity} keeps its copies in another partition or table, which no transaction spans; write one entity at a time, through an `Indexed` that a mover keeps"
    ))
}

async fn send(table: &Table, mut operations: Vec<Operation>) -> Result<Vec<Written>> {
    if operations.len() == 1
        && let Some(operation) = operations.pop()
    {
        return table.store().write(table.name(), operation).await.map(|written| vec![written]);
    }
    if operations.len() > limits::TRANSACTION_OPERATIONS {
        return Err(Error::limit_exceeded(format!(
            "the rows and their copies take {} operations, and a transaction has at most {}; declare fewer indexes, or write fewer entities at once",
            operations.len(),
            limits::TRANSACTION_OPERATIONS
        ))
        .with_table(table.name().as_str()));
    }
    table.store().transact(table.name(), Transaction::new(operations)?).await
}

fn primaries(written: Vec<Written>, roles: &[Role]) -> Vec<Written> {
    written
        .into_iter()
        .zip(roles)
        .filter(|(_, role)| matches!(role, Role::Primary))
        .map(|(written, _)| written)
        .collect()
}

fn role_of(error: &Error, roles: &[Role]) -> Option<Role> {
    roles.get(error.operation_index().unwrap_or(0)).copied()
}

/// The position of a stale copy that is gone already, where that is why a transaction was refused.
fn missing_copy(error: &Error, roles: &[Role]) -> Option<usize> {
    let refused = error.kind() == ErrorKind::NotFound && !error.outcome_unknown();
    let stale = matches!(role_of(error, roles), Some(Role::Stale));
    (refused && stale).then(|| error.operation_index().unwrap_or(0))
}

/// Says which index refused a second owner.
fn explain(error: Error, role: Option<Role>) -> Error {
    let Some(Role::Claim(index)) = role else { return error };
    if error.kind() != ErrorKind::AlreadyExists || error.outcome_unknown() {
        return error;
    }
    let mut taken = taken(index);
    if let Some(table) = error.table() {
        taken = taken.with_table(table);
    }
    if let Some(key) = error.key() {
        taken = taken.with_key(key.clone());
    }
    if let Some(position) = error.operation_index() {
        taken = taken.with_operation_index(position);
    }
    taken.with_source(error)
}

/// The error for a value of a unique index that another entity has.
pub(crate) fn taken(index: &str) -> Error {
    Error::already_exists(format!(
        "the unique index {index} holds this key for another entity; choose another value, or change that entity first"
    ))
}
