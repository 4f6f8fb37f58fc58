//! The cases by subject. Each is one sentence about a store, and `list.rs` names its guarantee.

pub(crate) mod concurrency;
pub(crate) mod conditions;
pub(crate) mod filters;
pub(crate) mod keys;
pub(crate) mod limits;
pub(crate) mod messages;
pub(crate) mod order;
pub(crate) mod paging;
pub(crate) mod queues;
pub(crate) mod ranges;
pub(crate) mod reads;
pub(crate) mod receipts;
pub(crate) mod selection;
pub(crate) mod tables;
pub(crate) mod transactions;
pub(crate) mod values;
pub(crate) mod visibility;
pub(crate) mod writes;
