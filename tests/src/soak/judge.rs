//! What is there in the end, and whether that was promised.

use std::sync::Arc;

use futures_util::TryStreamExt;
use table_core::{Clock, DynamicEntity, FromRow, Query, Result, Table, Versioned};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::maintenance::{Maintained, MaintenanceOptions};

use super::copies::look_at_copies;
use super::promises::{Found, Promises};
use super::world::{Document, Employee, Record, World, file_of};
use super::writers::{employee_state, is_shared, text_of};
use crate::explore::{Judgement, Wrong};

/// Judges a world whose queue is empty.
///
/// # Errors
/// Those of reaching the stores.
pub(super) async fn judge(world: &World, promises: &Promises, clock: Arc<dyn Clock>) -> Result<Judgement> {
    let mut judgement = Judgement::default();
    let mover = world.mover().await?;
    let left = mover.progress().await?.queued;
    judgement.expect(left == 0, Wrong::Broken, || format!("{left} messages are left on the queue"));
    for item in mover.poisoned().await? {
        judgement.find(Wrong::Broken, format!("poisoned: {item:?}"));
    }
    let options = MaintenanceOptions::default().with_clock(Arc::clone(&clock));
    judgement.add_report(&world.employees(&mover)?.verify(options).await?);
    let blobs = world.documents(&mover)?.verify().await?;
    for name in &blobs.orphaned {
        judgement.find(Wrong::Orphaned, format!("nothing refers to the blob {name}"));
    }
    for (key, property) in &blobs.missing {
        judgement.find(Wrong::Lost, format!("the blob of {property} of {key} is not there"));
    }
    let mut found = Found::default();
    if blobs.missing.is_empty() {
        look_at_documents(world, &mover, &mut found, &mut judgement).await?;
    }
    look_at_employees(world, &mut found).await?;
    look_at_copies(world, &mover, clock, &mut found, &mut judgement).await?;
    look_at_records(world, &mut found, &mut judgement).await?;
    look_at_notes(world, &mut found).await?;
    promises.judge(&mut judgement, &found);
    for table in ["Employees", "Current", "Archive", "Documents", "Products", "Items"] {
        look_for_marks(&world.table(table)?, &mut judgement).await?;
    }
    Ok(judgement)
}

async fn all<R: FromRow>(table: &Table) -> Result<Vec<R>> {
    let rows = table.all(Query::<R>::all().allow_scan()).await?;
    Ok(rows.into_iter().map(Versioned::into_value).collect())
}

async fn look_at_employees(world: &World, found: &mut Found) -> Result<()> {
    for employee in all::<Employee>(&world.table("Employees")?).await? {
        if is_shared(employee.id) {
            let counts = employee.counts.iter().enumerate();
            found.counts.extend(counts.map(|(writer, count)| (format!("count:{}:{writer}", employee.id), *count)));
        } else {
            found.states.insert(format!("employee:{}", employee.id), employee_state(&employee));
        }
    }
    Ok(())
}

async fn look_at_documents(world: &World, mover: &Mover, found: &mut Found, judgement: &mut Judgement) -> Result<()> {
    let documents = world.documents(mover)?;
    for document in documents.all(Query::<Document>::all().allow_scan()).await? {
        let Document { id, version, text, .. } = document.value();
        judgement
            .expect(*text == text_of(*version), Wrong::Stale, || format!("document {id} is not version {version}"));
        found.states.insert(format!("document:{id}"), format!("v{version}"));
    }
    Ok(())
}

async fn look_at_records(world: &World, found: &mut Found, judgement: &mut Judgement) -> Result<()> {
    for (table, archived) in [("Current", false), ("Archive", true)] {
        for Record { id, version, .. } in all(&world.table(table)?).await? {
            let name = format!("record:{id}");
            if archived {
                found.archived.insert(name.clone());
            }
            let before = found.states.insert(name, format!("v{version}"));
            judgement.expect(before.is_none(), Wrong::Doubled, || format!("record {id} is in both tables"));
        }
    }
    Ok(())
}

async fn look_at_notes(world: &World, found: &mut Found) -> Result<()> {
    let rows = all::<DynamicEntity>(&world.table("Notes")?).await?;
    let folder = object_store::path::Path::from("notes");
    let files: Vec<_> =
        world.blobs.list(Some(&folder)).map_ok(|meta| meta.location).try_collect().await.map_err(|error| {
            table_core::Error::new(table_core::ErrorKind::Unavailable, "the notes cannot be listed").with_source(error)
        })?;
    for row in &rows {
        let number = row.key.row.as_str().parse().unwrap_or_default();
        let state = if files.contains(&file_of(number)) { "noted" } else { "without-file" };
        found.states.insert(format!("note:{number}"), state.to_owned());
    }
    for file in files {
        let number = file.filename().and_then(|name| name.strip_suffix(".txt")).unwrap_or_default();
        found.states.entry(format!("note:{number}")).or_insert_with(|| "without-row".to_owned());
    }
    Ok(())
}

/// Intents, fences and tombstones are gone when nobody needs them any more.
async fn look_for_marks(table: &Table, judgement: &mut Judgement) -> Result<()> {
    for row in all::<DynamicEntity>(table).await? {
        let is_mark = row.key.row.as_str().starts_with('~')
            || row.get("RowKind").and_then(table_core::Value::as_str) == Some("tombstone");
        judgement.expect(!is_mark, Wrong::Orphaned, || format!("{} still holds {}", table.name(), row.key));
    }
    Ok(())
}
