//! Keys by template beside `format!` and `parse`.

use std::hint::black_box;

use table_core::{Entity, EntityKey, Result as CoreResult};

use crate::Result;
use crate::bench::{Bench, Measure, Side, time_per_call};
use crate::fixtures::Fixtures;
use crate::peers::by_hand;
use crate::workload::{Employee, employee, random_numbers};

pub(super) fn run(bench: &mut Bench, fixtures: &Fixtures) -> Result {
    let calls = fixtures.scale.calls;
    let employees: Vec<Employee> = random_numbers(fixtures.scale.rows, 1_000, 0).into_iter().map(employee).collect();
    let each = |number: usize| employees.get(number % employees.len()).ok_or("no employee");
    let keys = employees.iter().map(Entity::entity_key).collect::<CoreResult<Vec<EntityKey>>>()?;
    let key = |number: usize| keys.get(number % keys.len()).ok_or("no key");

    bench.compare(Measure::time("key/encode", "format!").at_most(1.0), || {
        let ours: Side<'_> = Box::new(|_| {
            time_per_call(calls, |number| {
                black_box(each(number)?.entity_key()?);
                Ok(())
            })
        });
        let peer: Side<'_> = Box::new(|_| {
            time_per_call(calls, |number| {
                let employee = each(number)?;
                black_box(by_hand::encode_key(&employee.department, employee.id));
                Ok(())
            })
        });
        Ok((ours, peer))
    })?;

    bench.compare(Measure::time("key/decode", "parse").at_most(1.0), || {
        let ours: Side<'_> = Box::new(|_| {
            time_per_call(calls, |number| {
                black_box(Employee::key_fields(key(number)?)?);
                Ok(())
            })
        });
        let peer: Side<'_> = Box::new(|_| {
            time_per_call(calls, |number| {
                let key = key(number)?;
                black_box(by_hand::decode_key(key.partition.as_str(), key.row.as_str()).ok_or("no key of ours")?);
                Ok(())
            })
        });
        Ok((ours, peer))
    })
}
