//! The compound key: an entity and what belongs to it under one key prefix, read by one query.
//!
//! # Problem
//! An employee has reviews, one a year. Kept in a table of their own they take a second request,
//! and no transaction spans both.
//!
//! # Rows
//! The row key of a part is that of its head, followed by more:
//!
//! | partition | row | what |
//! | --- | --- | --- |
//! | `Sales` | `empid_000123` | the head: an employee |
//! | `Sales` | `empid_000123_2011` | a part: the review of 2011 |
//! | `Sales` | `empid_000123_2012` | a part: the review of 2012 |
//!
//! # Guarantees
//! - Head and parts are read by one range query that meets no other head's rows: employee 12 never
//!   meets 123.
//! - A part is added only while its head is there, and a head is deleted only with all its parts, so
//!   no part is ever without its head. For that, adding a part gives its head a new version.
//! - Parts have an order of their own, and their ranges are those of their type:
//!   `Review::range("Sales").id(123).year_range(2010..)`.
//!
//! # After a crash
//! Every write is one transaction, so it happened or it did not. A lost answer is settled by the
//! token in the row that was added; a deletion leaves none, so its outcome can stay unknown.
//!
//! # When not to use it
//! - When the head is read often and its parts hardly ever: give the parts a table of their own.
//! - When a head has more than 99 parts that must go with it in one transaction.
//! - When many writers add parts to one head at once, since all of them touch the head.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Bound;

use table_core::keys::{KeyRange, KeyTemplate, KeyValue, Span, TemplatePart};
use table_core::{
    Action, DynamicEntity, ETag, Entity, EntityKey, Error, ErrorKind, IfMatch, Key, Operation, Query, Result, Table,
    Versioned,
};

use crate::attempts::UpdateOptions;
use crate::intra_partition_secondary_index::IndexedTransaction;
use crate::rows::version;

/// Heads of type `H` and their parts of type `P`, in one table.
///
/// ```
/// use std::sync::Arc;
/// use table_core::{Entity, MemoryStore, Table};
/// use table_patterns::Compound;
///
/// #[derive(Entity)]
/// #[entity(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
///     name: String,
/// }
///
/// #[derive(Entity)]
/// #[entity(partition = "{department}", row = "empid_{id:06}_{year:04}")]
/// struct Review {
///     department: String,
///     id: u32,
///     year: u16,
///     rating: i32,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
/// table.create().await?;
/// let employees = Compound::<Employee, Review>::new(table.clone())?;
///
/// let review = |year, rating| Review { department: "Sales".into(), id: 123, year, rating };
/// let jo = Employee { department: "Sales".into(), id: 123, name: "Jo".into() };
/// employees.insert(&jo, &[review(2011, 4)]).await?;
/// employees.add(&review(2012, 5)).await?;
///
/// let family = employees.get(Employee::key("Sales", 123)).await?.expect("Jo is there");
/// assert_eq!(family.head.name, "Jo");
/// assert_eq!(family.parts.iter().map(|review| review.rating).collect::<Vec<_>>(), [4, 5]);
/// // By year, or by a range of years.
/// assert_eq!(table.require(Review::key("Sales", 123, 2012)).await?.rating, 5);
/// assert_eq!(table.all(Review::range("Sales").id(123).year_range(2012..)).await?.len(), 1);
/// # Ok(())
/// # }
/// ```
pub struct Compound<H, P> {
    table: Table,
    options: UpdateOptions,
    /// What stands between the key of a head and the rest of a part's.
    separator: &'static str,
    entities: PhantomData<fn() -> (H, P)>,
}

/// A head and its parts, in the order of their keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Family<H, P> {
    /// The head.
    pub head: Versioned<H>,
    /// Its parts.
    pub parts: Vec<Versioned<P>>,
}

impl<H: Entity, P: Entity> Compound<H, P> {
    /// The families of a table.
    ///
    /// # Errors
    /// [`InvalidKey`](ErrorKind::InvalidKey) where the row key of a part does not begin with that of
    /// its head, or their partition keys differ; [`Unsupported`](ErrorKind::Unsupported) on a store
    /// without order.
    pub fn new(table: Table) -> Result<Self> {
        table.store().capabilities().require_order("a compound key")?;
        let separator = separator(H::SCHEMA.partition, P::SCHEMA.partition)
            .filter(|rest| rest.is_empty())
            .and_then(|_| separator(H::SCHEMA.row, P::SCHEMA.row))
            .filter(|_| H::SCHEMA.row != P::SCHEMA.row)
            .ok_or_else(|| unrelated::<H, P>())?;
        Ok(Self { table, options: UpdateOptions::default(), separator, entities: PhantomData })
    }

    /// Sets how often [`delete_by_key`](Compound::delete_by_key) tries again under contention.
    #[must_use]
    pub const fn with_options(mut self, options: UpdateOptions) -> Self {
        self.options = options;
        self
    }

    /// The table, for queries of heads and of parts.
    #[must_use]
    pub const fn table(&self) -> &Table {
        &self.table
    }

    /// Adds a head that must not exist, and its first parts. One storage transaction.
    ///
    /// # Errors
    /// As [`IndexedTransaction::commit`]; [`InvalidKey`](ErrorKind::InvalidKey) for a part of another
    /// head.
    pub async fn insert(&self, head: &H, parts: &[P]) -> Result<ETag> {
        let key = head.entity_key()?;
        let mut transaction = IndexedTransaction::new(&self.table).insert(head);
        for part in parts {
            let of = head_of::<H, P>(&part.entity_key()?)?;
            if of != key {
                let message = format!("the part belongs to the head {of}, and not to {key}; insert it with its own");
                return Err(Error::invalid_key(message).with_key(part.entity_key()?));
            }
            transaction = transaction.insert(part);
        }
        version(transaction.commit().await?.into_iter().next())
    }

    /// Adds a part that must not exist, to a head that must. One storage transaction.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) where there is no head, and as [`IndexedTransaction::commit`].
    pub async fn add(&self, part: &P) -> Result<ETag> {
        let head = head_of::<H, P>(&part.entity_key()?)?;
        // The empty merge asks for the head, and moves its version so that no deletion passes by.
        let touch = Operation::new(Action::Merge(DynamicEntity::new(head), IfMatch::Any))?;
        let transaction = IndexedTransaction::new(&self.table).operation(touch).insert(part);
        version(transaction.commit().await?.pop())
    }

    /// Reads a head and all its parts; `None` where there is no head. One storage transaction for each
    /// page of up to 1,000 rows.
    ///
    /// # Errors
    /// Those of reading.
    pub async fn get(&self, key: Key<H>) -> Result<Option<Family<H, P>>> {
        let rows = self.table.all(Query::<DynamicEntity>::in_range(key.resolve().map(|key| self.range(&key)))).await?;
        let (mut head, mut parts) = (None, Vec::with_capacity(rows.len()));
        for row in rows {
            let row = row.into_value();
            if H::recognizes(&row) {
                head = Some(H::from_row(row)?);
            } else if P::recognizes(&row) {
                parts.push(P::from_row(row)?);
            }
        }
        Ok(head.map(|head| Family { head, parts }))
    }

    /// Deletes a head and its parts as they were read. One storage transaction.
    ///
    /// # Errors
    /// [`PreconditionFailed`](ErrorKind::PreconditionFailed) where a row was changed or a part was
    /// added since, [`LimitExceeded`](ErrorKind::LimitExceeded) above 99 parts, and as
    /// [`IndexedTransaction::commit`].
    pub async fn delete(&self, family: &Family<H, P>) -> Result<()> {
        let head = IndexedTransaction::new(&self.table).delete(&family.head);
        family.parts.iter().fold(head, IndexedTransaction::delete).commit().await.map(|_| ())
    }

    /// Deletes a head and whatever parts it has, and says whether there was one. It is read first:
    /// two storage transactions when nobody else was faster.
    ///
    /// # Errors
    /// [`Contention`](ErrorKind::Contention), and as [`Compound::delete`].
    pub async fn delete_by_key(&self, key: Key<H>) -> Result<bool> {
        let mut attempts = self.options.begin();
        loop {
            let Some(family) = self.get(key.clone()).await? else { return Ok(false) };
            match self.delete(&family).await {
                Ok(()) => return Ok(true),
                Err(error) => {
                    let conflict = matches!(error.kind(), ErrorKind::PreconditionFailed | ErrorKind::NotFound);
                    attempts.after(error, conflict).await?;
                }
            }
        }
    }

    /// The rows from a head to its last part.
    fn range(&self, head: &EntityKey) -> KeyRange {
        let parts = Span::prefix(&format!("{}{}", head.row, self.separator));
        let row = Span::new(Bound::Included(head.row.as_str().into()), parts.upper().map(Into::into));
        KeyRange { partition: Span::exact(head.partition.as_str()), row }
    }
}

/// What follows the one template in the other, up to the next field; `None` where the one is no
/// beginning of the other.
fn separator(head: KeyTemplate, part: KeyTemplate) -> Option<&'static str> {
    let mut parts = part.parts().iter();
    for ours in head.parts() {
        match (ours, parts.next()?) {
            (TemplatePart::Field { format: ours, .. }, TemplatePart::Field { format: theirs, .. })
                if ours == theirs => {}
            (TemplatePart::Literal(ours), TemplatePart::Literal(theirs)) if ours == theirs => {}
            _ => return None,
        }
    }
    match parts.next() {
        Some(TemplatePart::Literal(literal)) => Some(literal),
        Some(TemplatePart::Field { .. }) | None => Some(""),
    }
}

/// The key of the head that a part belongs to.
fn head_of<H: Entity, P: Entity>(part: &EntityKey) -> Result<EntityKey> {
    let row = P::SCHEMA.row;
    let mut values = vec![KeyValue::Lost; row.fields().count()];
    row.decode(part.row.as_str(), &mut values)?;
    values.truncate(H::SCHEMA.row.fields().count());
    Ok(EntityKey::new(part.partition.clone(), H::SCHEMA.row.row_key(&values)?))
}

fn unrelated<H: Entity, P: Entity>() -> Error {
    Error::invalid_key(format!(
        "the row key of {} must begin with that of {} and go on, within the same partition: {} and {}; a text at the end of the head's key does not do, since it is written otherwise where more follows",
        P::SCHEMA.name,
        H::SCHEMA.name,
        P::SCHEMA.row,
        H::SCHEMA.row
    ))
}

impl<H, P> Clone for Compound<H, P> {
    fn clone(&self) -> Self {
        Self {
            table: self.table.clone(),
            options: self.options.clone(),
            separator: self.separator,
            entities: PhantomData,
        }
    }
}

impl<H, P> fmt::Debug for Compound<H, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compound").field("table", &self.table).field("options", &self.options).finish_non_exhaustive()
    }
}
