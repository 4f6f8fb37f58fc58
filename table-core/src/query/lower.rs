//! From conditions on key fields to conditions on the keys themselves.
//!
//! A field that only the key holds can be asked for where the key sorts by it: the leading parts
//! fixed, then one part in a range. So a predicate is first brought into an `or` of `and`s, and in
//! each of these the conditions are matched with the key templates, part by part.
//!
//! The invariant: of the rows of the entity's type, exactly those fulfil the filter whose fields
//! fulfil the predicate. What keys cannot say is refused with a hint, never approximated.

use std::cmp::Ordering;
use std::ops::Bound;

use super::filter::{Comparison, Field, Filter};
use super::plan::MAX_RANGES;
use super::predicate::{KeyTest, Node};
use super::range::span_filter;
use crate::entity::Schema;
use crate::error::{Error, Result};
use crate::keys::{KeyPrefix, KeyRange, KeyTemplate, KeyValue, PartFormat, PartitionKey, Span, TemplatePart, utf16};

/// The filter that a predicate stands for, on rows of this schema.
pub(super) fn lower(schema: &Schema, node: &Node) -> Result<Filter> {
    let terms = alternatives(node, false)?;
    let filters = terms.iter().map(|term| term.lower(schema)).collect::<Result<Vec<_>>>()?;
    Ok(Filter::any_of(filters))
}

/// A condition on one key field.
#[derive(Debug, Clone, Copy)]
struct Condition<'n> {
    field: &'static str,
    test: Test<'n>,
}

#[derive(Debug, Clone, Copy)]
enum Test<'n> {
    Compare(Comparison, &'n KeyValue<'static>),
    /// Whether the text begins with this one, or whether it does not.
    Prefix(&'n str, bool),
}

/// Conditions that must hold together.
#[derive(Debug, Clone, Default)]
struct Term<'n> {
    keys: Vec<Condition<'n>>,
    filters: Vec<Filter>,
}

/// The predicate, or its opposite, as alternatives of which one must hold.
fn alternatives(node: &Node, opposite: bool) -> Result<Vec<Term<'_>>> {
    // What has no key field in it stays whole, so that only key fields count as alternatives.
    if let Some(filter) = as_filter(node)? {
        return Ok(vec![Term::of_filter(filter, opposite)]);
    }
    match (node, opposite) {
        (Node::Filter(filter), _) => Ok(vec![Term::of_filter(filter.clone(), opposite)]),
        (Node::Error(error), _) => Err(error.clone()),
        (Node::Key { field, test }, _) => Ok(vec![Term::of_key(field, test, opposite)]),
        (Node::Not(inner), _) => alternatives(inner, !opposite),
        (Node::And(nodes), false) | (Node::Or(nodes), true) => {
            nodes.iter().try_fold(vec![Term::default()], |terms, node| both(&terms, &alternatives(node, opposite)?))
        }
        (Node::Or(nodes), false) | (Node::And(nodes), true) => nodes.iter().try_fold(Vec::new(), |mut terms, node| {
            terms.extend(alternatives(node, opposite)?);
            bounded(terms)
        }),
    }
}

/// The node as a filter on properties, unless a key field stands in it.
fn as_filter(node: &Node) -> Result<Option<Filter>> {
    let each = |nodes: &[Node]| nodes.iter().map(as_filter).collect::<Result<Option<Vec<_>>>>();
    Ok(match node {
        Node::Filter(filter) => Some(filter.clone()),
        Node::Key { .. } => None,
        Node::And(nodes) => each(nodes)?.map(Filter::all_of),
        Node::Or(nodes) => each(nodes)?.map(Filter::any_of),
        Node::Not(inner) => as_filter(inner)?.map(Filter::negated),
        Node::Error(error) => return Err(error.clone()),
    })
}

fn both<'n>(some: &[Term<'n>], others: &[Term<'n>]) -> Result<Vec<Term<'n>>> {
    if some.len().saturating_mul(others.len()) > MAX_RANGES {
        return Err(too_many());
    }
    let join = |one: &Term<'n>, other: &Term<'n>| Term {
        keys: [&*one.keys, &*other.keys].concat(),
        filters: [&*one.filters, &*other.filters].concat(),
    };
    Ok(some.iter().flat_map(|one| others.iter().map(move |other| join(one, other))).collect())
}

fn bounded(terms: Vec<Term<'_>>) -> Result<Vec<Term<'_>>> {
    if terms.len() > MAX_RANGES { Err(too_many()) } else { Ok(terms) }
}

fn too_many() -> Error {
    Error::limit_exceeded(format!(
        "the conditions on key fields have more than {MAX_RANGES} alternatives; split them into several queries and run them together with stream_many"
    ))
}

impl<'n> Term<'n> {
    fn of_filter(filter: Filter, opposite: bool) -> Self {
        Self { keys: Vec::new(), filters: vec![if opposite { filter.negated() } else { filter }] }
    }

    fn of_key(field: &'static str, test: &'n KeyTest, opposite: bool) -> Self {
        let test = match test {
            KeyTest::Compare(comparison, value) => {
                Test::Compare(if opposite { comparison.opposite() } else { *comparison }, value)
            }
            KeyTest::Prefix(prefix) => Test::Prefix(prefix, !opposite),
        };
        Self { keys: vec![Condition { field, test }], filters: Vec::new() }
    }

    fn lower(&self, schema: &Schema) -> Result<Filter> {
        let partition = KeyShape::of(&schema.partition, &self.keys)?;
        let row = KeyShape::of(&schema.row, &self.keys)?;
        for condition in &self.keys {
            let said = partition.said.contains(&condition.field) || row.said.contains(&condition.field);
            if !said {
                return Err(self.refusal(schema, condition.field));
            }
        }
        let keys = [partition.filter(&Field::PartitionKey), row.filter(&Field::RowKey)];
        Ok(Filter::all_of(keys.into_iter().chain(self.filters.iter().cloned())))
    }

    /// Says what to fix first so that a field can be asked for.
    fn refusal(&self, schema: &Schema, field: &'static str) -> Error {
        let in_partition = schema.partition.fields().any(|(name, _)| name == field);
        let (template, key) = if in_partition { (&schema.partition, "partition") } else { (&schema.row, "row") };
        let leading = template.fields().take_while(|(name, _)| *name != field);
        let open = leading.map(|(name, _)| name).find(|name| !self.keys.iter().any(|each| each.fixes(name)));
        let message = match open {
            Some(open) => format!(
                "the {key} key {template} sorts by {field} only where {open} is fixed; add a condition that {open} equals one value"
            ),
            None => format!("the {key} key {template} does not sort by {field}; leave the condition out of the query"),
        };
        Error::invalid_query(message).with_property(field)
    }
}

impl Condition<'_> {
    fn fixes(&self, field: &str) -> bool {
        self.field == field && matches!(self.test, Test::Compare(Comparison::Eq, _))
    }

    /// Whether the condition holds for a value of its field.
    fn holds(&self, value: &KeyValue<'_>) -> bool {
        match self.test {
            Test::Compare(comparison, operand) => {
                compare(value, operand).is_some_and(|ordering| comparison.holds(ordering))
            }
            Test::Prefix(prefix, wanted) => matches!(value, KeyValue::Text(text) if text.starts_with(prefix) == wanted),
        }
    }

    /// The keys for which the condition holds, after the leading parts.
    fn spans(&self, leading: &KeyPrefix, format: PartFormat, is_last: bool) -> Result<Vec<Span>> {
        let rows = |range: Result<KeyRange>| range.map(|range| range.row);
        let fixed = |value: &KeyValue<'_>| rows(leading.clone().push(Ok(value.clone())).finish());
        Ok(match self.test {
            Test::Compare(Comparison::Eq, value) => vec![fixed(value)?],
            Test::Compare(Comparison::Ne, value) => fixed(value)?.complement().into(),
            Test::Prefix(prefix, wanted) => {
                let span = rows(leading.clone().text_prefix(prefix))?;
                if wanted { vec![span] } else { span.complement().into() }
            }
            Test::Compare(_, _) if format.is_text() && !is_last => {
                return Err(Error::invalid_query(format!(
                    "rows do not sort by the text {} where more parts of the key follow it; ask for one value or a prefix",
                    self.field
                ))
                .with_property(self.field));
            }
            Test::Compare(comparison, value) => {
                let value = || Ok(value.clone());
                let (lower, upper) = match comparison {
                    Comparison::Gt => (Bound::Excluded(value()), Bound::Unbounded),
                    Comparison::Ge => (Bound::Included(value()), Bound::Unbounded),
                    Comparison::Lt => (Bound::Unbounded, Bound::Excluded(value())),
                    _ => (Bound::Unbounded, Bound::Included(value())),
                };
                vec![rows(leading.clone().between(lower, upper))?]
            }
        })
    }
}

/// What conditions say about one of the two keys.
struct KeyShape {
    /// Where the key may lie.
    spans: Vec<Span>,
    /// The fields whose conditions the spans express.
    said: Vec<&'static str>,
}

impl KeyShape {
    /// Walks along a template: parts that are fixed, then one in a range, then nothing.
    fn of(template: &KeyTemplate, conditions: &[Condition<'_>]) -> Result<Self> {
        let mut leading = KeyPrefix::new(Ok(PartitionKey::default()), template);
        let mut said = Vec::new();
        let last = template.parts().len();
        for (position, part) in template.parts().iter().enumerate() {
            let TemplatePart::Field { name, format } = *part else { continue };
            let about: Vec<_> = conditions.iter().filter(|each| each.field == name).collect();
            if about.is_empty() || format.is_lossy() {
                break;
            }
            said.push(name);
            let fixed = about.iter().find_map(|each| match each.test {
                Test::Compare(Comparison::Eq, value) => Some(value),
                _ => None,
            });
            let Some(value) = fixed else {
                let spans = about.iter().try_fold(vec![leading.clone().finish()?.row], |spans, each| {
                    Ok::<_, Error>(intersect(&spans, &each.spans(&leading, format, position + 1 == last)?))
                })?;
                return Ok(Self { spans, said });
            };
            if !about.iter().all(|each| each.holds(value)) {
                return Ok(Self { spans: Vec::new(), said: conditions.iter().map(|each| each.field).collect() });
            }
            leading = leading.push(Ok(value.clone()));
        }
        Ok(Self { spans: vec![leading.finish()?.row], said })
    }

    fn filter(&self, field: &Field) -> Filter {
        Filter::any_of(self.spans.iter().map(|span| span_filter(field, span)))
    }
}

fn intersect(some: &[Span], others: &[Span]) -> Vec<Span> {
    let pairs = some.iter().flat_map(|one| others.iter().map(|other| one.intersect(other)));
    pairs.filter(|span| !span.is_empty()).collect()
}

/// How two values compare, as their forms in a key do.
fn compare(a: &KeyValue<'_>, b: &KeyValue<'_>) -> Option<Ordering> {
    match (a, b) {
        (KeyValue::Unsigned(a), KeyValue::Unsigned(b)) => Some(a.cmp(b)),
        (KeyValue::Signed(a), KeyValue::Signed(b)) => Some(a.cmp(b)),
        (KeyValue::Float(a), KeyValue::Float(b)) => Some(a.total_cmp(b)),
        (KeyValue::Bool(a), KeyValue::Bool(b)) => Some(a.cmp(b)),
        (KeyValue::Uuid(a), KeyValue::Uuid(b)) => Some(a.cmp(b)),
        (KeyValue::Time(a), KeyValue::Time(b)) => Some(a.cmp(b)),
        (KeyValue::Text(a), KeyValue::Text(b)) => Some(utf16::compare(a, b)),
        _ => None,
    }
}
