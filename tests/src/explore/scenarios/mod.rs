//! What is explored.

mod archive;
mod blobs;
mod copies;
mod history;
mod index;
mod items;
mod lists;

use super::stage::Scenario;

/// Every scenario: two actors each, explored exhaustively.
#[must_use]
pub fn pairs() -> Vec<Scenario> {
    [items::PAIRS, archive::PAIRS, index::PAIRS, blobs::PAIRS, copies::PAIRS, lists::PAIRS].concat()
}

/// Two writers and two workers, explored by chance.
#[must_use]
pub fn crowds() -> Vec<Scenario> {
    [items::CROWDS, archive::CROWDS, index::CROWDS, blobs::CROWDS, copies::CROWDS, lists::CROWDS].concat()
}

/// The scenario of a name.
#[must_use]
pub fn named(name: &str) -> Option<Scenario> {
    pairs().into_iter().chain(crowds()).find(|scenario| scenario.name == name)
}
