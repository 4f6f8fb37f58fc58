//! Writers and readers side by side.

use futures_util::future::try_join_all;
use table_core::keys::KeyRange;
use table_core::store::StoreQuery;
use table_core::{Action, ErrorKind, IfMatch, Value};

use crate::context::Context;
use crate::failure::{Failure, Outcome, ensure, ensure_eq};
use crate::test_table::{TestTable, row};

const WRITERS: usize = 8;
/// Conflicts that a loop of the suite meets before the store is taken to be stuck.
const MOST_CONFLICTS: usize = 10_000;

/// Runs tasks side by side and gives what each found.
async fn side_by_side<T, F>(tasks: impl IntoIterator<Item = F>) -> Result<Vec<T>, Failure>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Failure>> + Send + 'static,
{
    let tasks: Vec<_> = tasks.into_iter().map(tokio::spawn).collect();
    let results = try_join_all(tasks).await.map_err(|panic| Failure::of_run(format!("a task panicked: {panic}")))?;
    results.into_iter().collect()
}

fn number(value: Option<&Value>) -> Result<i32, Failure> {
    match value {
        Some(Value::Int32(number)) => Ok(*number),
        other => Err(Failure::new(format!("not a number: {other:?}"))),
    }
}

/// Whether a write was done; a certain refusal is an answer too.
fn done<T>(result: table_core::Result<T>, refused: ErrorKind) -> Result<bool, Failure> {
    match result {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == refused => Ok(false),
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn of_many_inserts_one_is_done(context: Context) -> Outcome {
    let table = context.table().await?;
    for round in 0..5 {
        let inserts = (0..WRITERS).map(|_| {
            let table = table.clone();
            async move { done(table.write(Action::Insert(row(&format!("{round}"))?)).await, ErrorKind::AlreadyExists) }
        });
        let winners = side_by_side(inserts).await?.into_iter().filter(|done| *done).count();
        ensure_eq(winners, 1, "how many of the inserts of one row were done")?;
    }
    Ok(())
}

pub(crate) async fn of_many_writes_upon_one_version_one_is_done(context: Context) -> Outcome {
    let table = context.table().await?;
    for _ in 0..5 {
        let etag = table.put(Action::InsertOrReplace(row("1")?)).await?;
        let writes = (0..WRITERS).map(|_| {
            let (table, etag) = (table.clone(), etag.clone());
            async move {
                let action = Action::Replace(row("1")?, IfMatch::Version(etag));
                done(table.write(action).await, ErrorKind::PreconditionFailed)
            }
        });
        let winners = side_by_side(writes).await?.into_iter().filter(|done| *done).count();
        ensure_eq(winners, 1, "how many of the writes upon one version were done")?;
    }
    Ok(())
}

pub(crate) async fn no_update_of_an_etag_loop_is_lost(context: Context) -> Outcome {
    const ROUNDS: i32 = 10;
    let table = context.table().await?;
    table.insert(row("1")?.with("N", 0)?).await?;
    side_by_side((0..WRITERS).map(|_| {
        let table = table.clone();
        async move {
            for _ in 0..ROUNDS {
                increment(&table).await?;
            }
            Ok(())
        }
    }))
    .await?;
    let expected = ROUNDS * i32::try_from(WRITERS).unwrap_or_default();
    ensure_eq(number(table.require("1").await?.get("N"))?, expected, "the count of all increments")
}

async fn increment(table: &TestTable) -> Outcome {
    for _ in 0..MOST_CONFLICTS {
        let mut read = table.require("1").await?;
        let etag = read.etag.take().ok_or_else(|| Failure::new("a read gave no ETag"))?;
        let next = number(read.get("N"))? + 1;
        read.set("N", next)?;
        if done(table.write(Action::Replace(read, IfMatch::Version(etag))).await, ErrorKind::PreconditionFailed)? {
            return Ok(());
        }
    }
    Err(Failure::new("an ETag loop does not end"))
}

pub(crate) async fn merges_of_different_properties_all_stay(context: Context) -> Outcome {
    let table = context.table().await?;
    table.insert(row("1")?).await?;
    side_by_side((0..WRITERS).map(|writer| {
        let table = table.clone();
        async move { table.put(Action::Merge(row("1")?.with(&format!("P{writer}"), 1)?, IfMatch::Any)).await }
    }))
    .await?;
    ensure_eq(table.require("1").await?.properties.len(), WRITERS, "the properties of all merges")
}

pub(crate) async fn a_page_never_shows_half_a_transaction(context: Context) -> Outcome {
    const ROUNDS: i32 = 30;
    let table = context.table().await?;
    let all = |round: i32| -> Result<Vec<Action>, Failure> {
        ["a", "b", "c"].iter().map(|each| Ok(Action::InsertOrReplace(row(each)?.with("N", round)?))).collect()
    };
    table.transact(all(0)?).await?;
    let writer = {
        let table = table.clone();
        tokio::spawn(async move {
            for round in 1..=ROUNDS {
                table.transact(all(round)?).await?;
            }
            Outcome::Ok(())
        })
    };
    loop {
        let ended = writer.is_finished();
        let page = table.page(&StoreQuery::new(KeyRange::ALL)).await?;
        let numbers = page.entities.iter().map(|row| number(row.get("N"))).collect::<Result<Vec<_>, _>>()?;
        ensure(page.next.is_none() && numbers.len() == 3, "three rows are not one page")?;
        ensure(numbers.iter().all(|each| Some(each) == numbers.first()), "a page shows half a transaction")?;
        if ended {
            break;
        }
        tokio::task::yield_now().await;
    }
    writer.await.map_err(|panic| Failure::of_run(format!("the writer panicked: {panic}")))?
}

pub(crate) async fn of_many_transactions_upon_one_version_one_is_done(context: Context) -> Outcome {
    let table = context.table().await?;
    let etag = table.insert(row("1")?).await?;
    let transactions = (0..WRITERS).map(|writer| {
        let (table, etag) = (table.clone(), etag.clone());
        async move {
            let mine = row(&format!("by {writer}"))?;
            let actions = vec![Action::Insert(mine), Action::Merge(row("1")?, IfMatch::Version(etag))];
            done(table.transact(actions).await, ErrorKind::PreconditionFailed)
        }
    });
    let winners = side_by_side(transactions).await?.into_iter().filter(|done| *done).count();
    ensure_eq(winners, 1, "how many of the transactions upon one version were done")?;
    ensure_eq(table.keys_in(KeyRange::ALL).await?.len(), 2, "the rows: the first, and that of the winner")
}
