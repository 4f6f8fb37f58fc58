//! Queries that know what they cost.
//!
//! A [`Query`] is plain data: which keys, which filter, which columns. Before it runs it is
//! planned into key ranges, and its [`CostClass`] is known: a scan is refused unless the caller
//! wrote [`allow_scan`](Query::allow_scan).
//!
//! | class | what fixes it | requests |
//! | --- | --- | --- |
//! | [`Point`](CostClass::Point) | partition key and row key | one |
//! | [`Range`](CostClass::Range) | partition key, a range of row keys | one for each page |
//! | [`MultiRange`](CostClass::MultiRange) | an `or` over row keys, or over full keys | as many points or ranges, some at once |
//! | [`PartitionScan`](CostClass::PartitionScan) | partition keys alone | one for each page of whole partitions |
//! | [`TableScan`](CostClass::TableScan) | no partition key, or a range of them | one for each page of the table |
//! | [`Empty`](CostClass::Empty) | conditions that contradict each other | none |
//!
//! Conditions on other properties change none of this: they are checked on the rows that the keys
//! lead to. A typed query always knows the literal that its row keys begin with, so the entities of
//! one type in a partition are a `Range`.
//!
//! The way of a query: a [`Predicate`] of typed columns, or OData text, becomes a [`Filter`] on
//! stored names; the filter becomes a [`Plan`] of disjoint ranges in key order; and
//! [`Table`](crate::Table) reads the ranges as a list, a stream, a count, or page by page with a
//! [`Continuation`].

mod blob_column;
mod builder;
mod column;
mod continuation;
mod evaluate;
mod explain;
mod filter;
mod lower;
mod odata;
mod plan;
mod predicate;
mod range;
mod run;
mod select;

pub use blob_column::BlobColumn;
pub use builder::{Query, RowReader};
pub use column::{Column, KeyColumn, Operand};
pub use continuation::Continuation;
pub use evaluate::ValueRef;
pub use explain::Explain;
pub use filter::{Comparison, Field, Filter};
pub use plan::{CostClass, Plan, Step};
pub use predicate::Predicate;
pub use run::ResultPage;
pub use select::{Columns, OptionalColumn};
