//! Queries that know what they cost.
//!
//! A [`Query`] is plain data: which keys, which filter, which columns. Before it runs it is
//! planned into key ranges, and its [`CostClass`] is known: a scan is refused unless the caller
//! wrote [`allow_scan`](Query::allow_scan).

mod builder;
mod column;
mod evaluate;
mod filter;
mod odata;
mod plan;
mod predicate;
mod range;

pub use builder::Query;
pub use column::{Column, KeyColumn, Operand};
pub use evaluate::ValueRef;
pub use filter::{Comparison, Field, Filter};
pub use plan::{CostClass, Plan, Step};
pub use predicate::Predicate;
