//! Entities with two indexes in the embedded store, beside databases that keep indexes themselves.

mod inserts;
mod loads;
mod lookups;

use crate::Result;
use crate::bench::Bench;
use crate::fixtures::Fixtures;

pub(super) use lookups::whole_by_email;

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    inserts::run(bench, fixtures)?;
    lookups::run(bench, fixtures)?;
    loads::run(bench, fixtures)
}
