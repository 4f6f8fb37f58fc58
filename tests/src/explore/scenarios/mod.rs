//! What is explored.

mod archive;
mod copies;
mod death;
mod index;
mod items;

use super::stage::Scenario;

/// Every scenario: two actors each, explored exhaustively.
#[must_use]
pub fn pairs() -> Vec<Scenario> {
    [items::PAIRS, archive::PAIRS, index::PAIRS, copies::PAIRS].concat()
}

/// Two writers and two workers, explored by chance.
#[must_use]
pub fn crowds() -> Vec<Scenario> {
    [items::CROWDS, archive::CROWDS, index::CROWDS, copies::CROWDS].concat()
}

/// The scenario of a name.
#[must_use]
pub fn named(name: &str) -> Option<Scenario> {
    pairs().into_iter().chain(crowds()).find(|scenario| scenario.name == name)
}
