//! Random calls without what Azurite is known to do otherwise.

use table_core::query::{Field, Filter};
use table_core::{EntityKey, Value};

use crate::steps::{Search, Step, Write};

pub(crate) fn steps(steps: Vec<Step>) -> Vec<Step> {
    steps.into_iter().filter_map(step).collect()
}

fn step(step: Step) -> Option<Step> {
    Some(match step {
        Step::Create(table) => Step::Create(name(table)),
        Step::Drop(table) => Step::Drop(name(table)),
        Step::List => Step::List,
        Step::Write(table, key, change) => Step::Write(name(table), key, write(change)),
        Step::Transact(table, partition, changes) => Step::Transact(
            name(table),
            partition,
            changes.into_iter().map(|(row, change)| (row, write(change))).collect(),
        ),
        Step::Get(table, key, selection) => Step::Get(name(table), key, selection),
        Step::Query(table, wanted) => Step::Query(name(table), search(wanted)),
        Step::Interrupted(table, wanted, changes) => {
            let changes = changes.into_iter().map(|(key, change): (EntityKey, Write)| (key, write(change))).collect();
            Step::Interrupted(name(table), search(wanted), changes)
        }
        // Its clock is its own.
        Step::Clock(_) => return None,
    })
}

/// Azurite finds a table only under the case that it was created with.
fn name(table: &'static str) -> &'static str {
    if table == "STAFF" { "Staff" } else { table }
}

/// `A` holds numbers and `B` texts, so that comparisons of different types, at which Azurite errs, do not come up; `a`
/// holds every type and is not compared.
fn write(mut write: Write) -> Write {
    for (name, value) in &mut write.properties {
        *value = match (*name, &*value) {
            ("A", Value::Int32(number)) => Value::Int32(*number),
            ("A", other) => Value::Int32(i32::try_from(other.counted_bytes() % 4).unwrap()),
            ("B", Value::String(text)) => Value::String(text.clone()),
            ("B", other) => Value::String(format!("{}", other.counted_bytes() % 4)),
            // JavaScript's JSON has no minus zero.
            (_, Value::Double(0.0)) => Value::Double(0.0),
            (_, other) => other.clone(),
        };
    }
    write
}

fn search(mut search: Search) -> Search {
    search.filter = search.filter.map(filter);
    search
}

fn filter(wanted: Filter) -> Filter {
    match wanted {
        Filter::And(all) => Filter::And(all.into_iter().map(filter).collect()),
        Filter::Or(any) => Filter::Or(any.into_iter().map(filter).collect()),
        Filter::Not(inner) => Filter::Not(Box::new(filter(*inner))),
        Filter::Compare { field, comparison, value } => {
            let fits = match &field {
                Field::Property(name) if name.as_str() == "A" => matches!(value, Value::Int32(_)),
                Field::Property(name) if name.as_str() == "B" => matches!(value, Value::String(_)),
                Field::Property(_) | Field::Timestamp => false,
                Field::PartitionKey | Field::RowKey => true,
            };
            if fits { Filter::Compare { field, comparison, value } } else { Filter::ALWAYS }
        }
    }
}
