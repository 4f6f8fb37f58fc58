//! Conditions on an entity, before its key fields have become key ranges.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{BitAnd, BitOr, Not};

use super::filter::{Comparison, Filter};
use crate::error::{Error, Result};
use crate::keys::KeyValue;

/// A condition on entities of type `E`, built from its columns.
///
/// Joined by `&`, `|` and `!`, or by [`and`](Predicate::and) and [`or`](Predicate::or). Long chains
/// stay one level deep.
pub struct Predicate<E> {
    node: Node,
    entity: PhantomData<fn() -> E>,
}

/// The tree of a predicate.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    /// A condition on properties.
    Filter(Filter),
    /// A condition on a field that only the key holds.
    Key {
        field: &'static str,
        test: KeyTest,
    },
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
    /// An operand that cannot be stored; reported when the query is planned.
    Error(Error),
}

/// What is asked of a key field.
#[derive(Debug, Clone)]
pub(crate) enum KeyTest {
    Compare(Comparison, KeyValue<'static>),
    Prefix(String),
}

impl<E> Predicate<E> {
    const fn new(node: Node) -> Self {
        Self { node, entity: PhantomData }
    }

    pub(crate) const fn filter(filter: Filter) -> Self {
        Self::new(Node::Filter(filter))
    }

    pub(crate) const fn error(error: Error) -> Self {
        Self::new(Node::Error(error))
    }

    pub(crate) fn key(field: &'static str, comparison: Comparison, value: Result<KeyValue<'_>>) -> Self {
        Self::new(match value {
            Ok(value) => Node::Key { field, test: KeyTest::Compare(comparison, value.into_owned()) },
            Err(error) => Node::Error(error.with_property(field)),
        })
    }

    pub(crate) fn key_prefix(field: &'static str, prefix: &str) -> Self {
        Self::new(Node::Key { field, test: KeyTest::Prefix(prefix.to_owned()) })
    }

    pub(crate) fn into_node(self) -> Node {
        self.node
    }

    /// Both conditions.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mut all = match self.node {
            Node::And(all) => all,
            node => vec![node],
        };
        all.push(other.node);
        Self::new(Node::And(all))
    }

    /// Either condition.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let mut any = match self.node {
            Node::Or(any) => any,
            node => vec![node],
        };
        any.push(other.node);
        Self::new(Node::Or(any))
    }
}

impl<E> Clone for Predicate<E> {
    fn clone(&self) -> Self {
        Self::new(self.node.clone())
    }
}

impl<E> BitAnd for Predicate<E> {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        self.and(other)
    }
}

impl<E> BitOr for Predicate<E> {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.or(other)
    }
}

impl<E> Not for Predicate<E> {
    type Output = Self;

    fn not(self) -> Self {
        Self::new(Node::Not(Box::new(self.node)))
    }
}

impl<E> fmt::Debug for Predicate<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.node.fmt(f)
    }
}
