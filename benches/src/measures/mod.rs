//! The measures, a file for each subject. A line is measured only if its name is wanted.

mod azure;
mod disk;
mod growth;
mod indexed;
mod keys;
mod many_tables;
mod memory;
mod mover;
mod open;
mod queues;
mod reads;
mod rows;
mod sides;
mod writers;
mod writes;

use crate::Result;
use crate::bench::Bench;
use crate::fixtures::Fixtures;

/// Measures everything that is wanted.
pub(crate) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    keys::run(bench, fixtures)?;
    rows::run(bench, fixtures)?;
    memory::run(bench, fixtures)?;
    azure::run(bench, fixtures)?;
    reads::run(bench, fixtures)?;
    writes::run(bench, fixtures)?;
    indexed::run(bench, fixtures)?;
    mover::run(bench, fixtures)?;
    growth::run(bench, fixtures)?;
    queues::run(bench, fixtures)?;
    many_tables::run(bench, fixtures)?;
    open::run(bench, fixtures)?;
    disk::run(bench, fixtures)
}
