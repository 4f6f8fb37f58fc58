//! Queries that know what they cost.
//!
//! A [`Query`] is plain data: which keys, which filter, which columns. Before it runs it is
//! planned into key ranges, and its [`CostClass`] is known: a scan is refused unless the caller
//! wrote [`allow_scan`](Query::allow_scan).

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

pub use builder::Query;
pub use column::{Column, KeyColumn, Operand};
pub use continuation::Continuation;
pub use evaluate::ValueRef;
pub use explain::Explain;
pub use filter::{Comparison, Field, Filter};
pub use plan::{CostClass, Plan, Step};
pub use predicate::Predicate;
pub use run::ResultPage;
pub use select::{Columns, OptionalColumn};
