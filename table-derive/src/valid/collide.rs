//! Whether two rows of one entity could have the same key.
//!
//! Each template is a pattern over characters: literals, fixed numbers of digits, texts of any
//! length. Two patterns can meet when some text fits both, which a walk over the pairs of their
//! positions decides exactly, as far as the types are known.

use crate::ast::{Entity, Index, Key};
use crate::error::Errors;
use crate::field::Field;
use crate::names;
use crate::shape::Shape;
use crate::template::{Part, Spec, Template};

/// A set of characters: one bit for each of ASCII, and one for all others.
#[derive(Clone, Copy)]
struct Set {
    ascii: u128,
    others: bool,
}

impl Set {
    const ALL: Self = Self { ascii: u128::MAX, others: true };

    fn of(chars: &str) -> Self {
        chars.chars().fold(Self { ascii: 0, others: false }, |set, each| match u32::from(each) {
            code @ 0..128 => Self { ascii: set.ascii | 1 << code, ..set },
            _ => Self { others: true, ..set },
        })
    }

    const fn meets(self, other: Self) -> bool {
        self.ascii & other.ascii != 0 || (self.others && other.others)
    }

    fn without(self, each: char) -> Self {
        Self { ascii: self.ascii & !Self::of(each.encode_utf8(&mut [0; 4])).ascii, ..self }
    }
}

/// One step of a pattern.
#[derive(Clone, Copy)]
enum Step {
    One(Set),
    /// None or more.
    Many(Set),
}

const DIGITS: &str = "0123456789";
const HEX: &str = "0123456789abcdef";
/// Digits of a time.
const TICK_DIGITS: u8 = 19;

/// The keys that a template can give.
fn pattern(template: &Template, fields: &[Field<'_>]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (part, next) in template.with_next() {
        match part {
            Part::Literal(literal) => steps.extend(literal.chars().map(|each| Step::One(Set::of(&each.to_string())))),
            Part::Field { field, spec } => {
                let shape = fields.get(*field).map_or(Shape::Opaque, |field| field.shape);
                push_field(&mut steps, shape, spec, next);
            }
        }
    }
    steps
}

fn push_field(steps: &mut Vec<Step>, shape: Shape, spec: &Spec, next: Option<&Part>) {
    let mut push = |chars: &str, count: u8| steps.extend((0..count).map(|_| Step::One(Set::of(chars))));
    // A width, a bucket, `desc` and a calendar format tell the form whatever the type is.
    match (shape, spec) {
        (_, Spec::Width(width) | Spec::Bucket { width, .. }) => push(DIGITS, *width),
        (_, Spec::Calendar(format)) => {
            let mut chars = format.chars();
            while let Some(each) = chars.next() {
                match each {
                    '%' => push(DIGITS, if chars.next() == Some('Y') { 4 } else { 2 }),
                    each => push(&each.to_string(), 1),
                }
            }
        }
        (_, Spec::Desc) | (Shape::Time, Spec::Default) => push(DIGITS, TICK_DIGITS),
        (Shape::Unsigned { digits }, Spec::Default) => push(DIGITS, digits),
        (Shape::Signed { digits }, Spec::Default) => {
            push("np", 1);
            push(DIGITS, digits);
        }
        (Shape::Float { hex_digits }, Spec::Default) => push(HEX, hex_digits),
        (Shape::Uuid, Spec::Default) => {
            for (at, count) in [8, 4, 4, 4, 12].into_iter().enumerate() {
                push("-", u8::from(at > 0));
                push(HEX, count);
            }
        }
        (Shape::Bool, Spec::Default) => {
            push("ft", 1);
            steps.push(Step::Many(Set::of("alserue")));
        }
        (Shape::Text, Spec::Default) => {
            let ending = match next {
                Some(Part::Literal(literal)) => literal.chars().next(),
                _ => None,
            };
            steps.push(Step::Many(ending.map_or(Set::ALL, |ending| Set::ALL.without(ending))));
        }
        (Shape::Bytes | Shape::Opaque | Shape::Unsupported(_), Spec::Default) => steps.push(Step::Many(Set::ALL)),
    }
}

/// Whether some text fits both patterns.
fn can_meet(a: &[Step], b: &[Step]) -> bool {
    let mut seen = vec![vec![false; b.len() + 1]; a.len() + 1];
    let mut open = vec![(0, 0)];
    while let Some((at, bt)) = open.pop() {
        let Some(mark) = seen.get_mut(at).and_then(|row| row.get_mut(bt)) else { continue };
        if std::mem::replace(mark, true) {
            continue;
        }
        match (a.get(at), b.get(bt)) {
            (None, None) => return true,
            (first, second) => {
                if matches!(first, Some(Step::Many(_))) {
                    open.push((at + 1, bt));
                }
                if matches!(second, Some(Step::Many(_))) {
                    open.push((at, bt + 1));
                }
                if let (Some((set, after)), Some((other, behind))) = (eat(first, at), eat(second, bt))
                    && set.meets(other)
                {
                    open.push((after, behind));
                }
            }
        }
    }
    false
}

/// What a step takes, and the position after it took one character.
fn eat(step: Option<&Step>, at: usize) -> Option<(Set, usize)> {
    match step? {
        Step::One(set) => Some((*set, at + 1)),
        Step::Many(set) => Some((*set, at)),
    }
}

/// Checks all rows of an entity that stand in the same table.
pub(super) fn check(entity: &Entity<'_>, errors: &mut Errors) {
    let fields = &entity.fields;
    let collide = |a: &Key, b: &Key| {
        !a.is_broken()
            && !b.is_broken()
            && can_meet(&pattern(&a.row, fields), &pattern(&b.row, fields))
            && can_meet(&pattern(&a.partition, fields), &pattern(&b.partition, fields))
    };
    for (position, index) in entity.indexes.iter().enumerate() {
        if index.table.is_none() && collide(&entity.key, &index.key) {
            report(index, "the primary key", errors);
        }
        for other in entity.indexes.iter().take(position) {
            if same_table(index, other) && collide(&other.key, &index.key) {
                report(index, &format!("the index `{}`", names::plain(&other.name)), errors);
            }
        }
    }
}

fn same_table(a: &Index, b: &Index) -> bool {
    match (&a.table, &b.table) {
        (None, None) => true,
        (Some(a), Some(b)) => a.value().eq_ignore_ascii_case(&b.value()),
        _ => false,
    }
}

fn report(index: &Index, other: &str, errors: &mut Errors) {
    let name = names::plain(&index.name);
    errors.add(
        &index.key.row.text,
        format!(
            "a row of the index `{name}` could have the same key as one of {other} in the same table; begin each row key with a literal of its own, as in `{name}_`"
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(text: &str) -> Vec<Step> {
        text.chars().map(|each| Step::One(Set::of(&each.to_string()))).collect()
    }

    #[test]
    fn patterns_meet_where_some_text_fits_both() {
        let digits: Vec<Step> = vec![Step::One(Set::of(DIGITS)); 3];
        let text = vec![Step::Many(Set::ALL)];
        assert!(can_meet(&literal("abc"), &text));
        assert!(can_meet(&digits, &literal("123")));
        assert!(!can_meet(&digits, &literal("12")));
        assert!(!can_meet(&digits, &literal("12a")));
        assert!(can_meet(&text, &text));
        assert!(can_meet(&[], &text));
        assert!(!can_meet(&[], &digits));
        let mut mail = literal("m_");
        mail.push(Step::Many(Set::ALL));
        let mut name = literal("n_");
        name.push(Step::Many(Set::ALL));
        assert!(!can_meet(&mail, &name));
        let until_dash = [vec![Step::Many(Set::ALL.without('-'))], literal("-x")].concat();
        assert!(!can_meet(&until_dash, &literal("a-b-x")));
        assert!(can_meet(&until_dash, &literal("ab-x")));
    }
}
