//! Queries: filters as text, plans, typed conditions on keys, and running them.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod lowering;
mod many;
mod paging;
mod planning;
mod running;
mod selecting;
mod support;
mod text;
