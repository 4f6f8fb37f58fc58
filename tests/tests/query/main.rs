//! Queries: filters as text, plans, typed conditions on keys, and running them.

mod lowering;
mod many;
mod paging;
mod planning;
mod running;
mod selecting;
mod support;
mod text;
