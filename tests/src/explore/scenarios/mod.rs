//! What is explored.

mod archive;
mod history;
mod index;
mod items;
mod lists;

use super::stage::Scenario;

/// Every scenario: two actors each, explored exhaustively.
#[must_use]
pub fn pairs() -> Vec<Scenario> {
    [items::PAIRS, archive::PAIRS, index::PAIRS, lists::PAIRS].concat()
}

/// Two writers and two workers, explored by chance.
#[must_use]
pub fn crowds() -> Vec<Scenario> {
    [items::CROWDS, archive::CROWDS, index::CROWDS, lists::CROWDS].concat()
}

/// The scenario of a name.
#[must_use]
pub fn named(name: &str) -> Option<Scenario> {
    pairs().into_iter().chain(crowds()).find(|scenario| scenario.name == name)
}
