//! ETags: how they change, and what a conditional write does with them.

use std::collections::HashSet;

use table_core::{Action, ETag, ErrorKind, IfMatch};

use crate::context::Context;
use crate::failure::{Failure, Outcome, ensure, ensure_eq, ensure_kind};
use crate::test_table::{TestTable, key, row};

/// The writes that take a condition, on the row `1`.
#[derive(Clone, Copy)]
enum Write {
    Replace,
    Merge,
    Delete,
}

impl Write {
    fn action(self, if_match: IfMatch) -> Result<Action, Failure> {
        let entity = row("1")?.with("A", "changed")?;
        Ok(match self {
            Self::Replace => Action::Replace(entity, if_match),
            Self::Merge => Action::Merge(entity, if_match),
            Self::Delete => Action::Delete(entity.key, if_match),
        })
    }
}

/// A table with one row, the ETag it had at first, and the one it has now.
async fn table(context: &Context) -> Result<(TestTable, ETag, ETag), Failure> {
    let table = context.table().await?;
    let stale = table.insert(row("1")?.with("A", "old")?).await?;
    let current = table.put(Action::Merge(row("1")?.with("B", 1)?, IfMatch::Any)).await?;
    Ok((table, stale, current))
}

async fn current_is_taken(context: Context, write: Write) -> Outcome {
    let (table, _, current) = table(&context).await?;
    table.write(write.action(IfMatch::Version(current))?).await?;
    match write {
        Write::Delete => ensure_eq(table.get("1").await?, None, "the deleted row"),
        _ => ensure_eq(table.require("1").await?.get("A").and_then(|a| a.as_str()), Some("changed"), "the property"),
    }
}

async fn stale_is_refused(context: Context, write: Write) -> Outcome {
    let (table, stale, _) = table(&context).await?;
    let before = table.require("1").await?;
    let written = table.write(write.action(IfMatch::Version(stale))?).await;
    let error = ensure_kind(written, ErrorKind::PreconditionFailed, "a write upon a stale version")?;
    ensure(!error.is_retryable(), "a stale version is worth no retry")?;
    ensure_eq(error.key(), Some(&key("1")?), "the key that the error names")?;
    ensure_eq(table.require("1").await?, before, "the row after the refusal")
}

async fn existence_comes_first(context: Context, write: Write) -> Outcome {
    let (table, stale, current) = table(&context).await?;
    table.delete("1").await?;
    for etag in [stale, current] {
        let written = table.write(write.action(IfMatch::Version(etag))?).await;
        ensure_kind(written, ErrorKind::NotFound, "a conditional write of a missing row")?;
    }
    Ok(())
}

async fn any_version_is_taken(context: Context, write: Write) -> Outcome {
    let (table, ..) = table(&context).await?;
    table.write(write.action(IfMatch::Any)?).await?;
    Ok(())
}

pub(crate) async fn a_replace_of_the_current_version_is_done(context: Context) -> Outcome {
    current_is_taken(context, Write::Replace).await
}

pub(crate) async fn a_merge_of_the_current_version_is_done(context: Context) -> Outcome {
    current_is_taken(context, Write::Merge).await
}

pub(crate) async fn a_delete_of_the_current_version_is_done(context: Context) -> Outcome {
    current_is_taken(context, Write::Delete).await
}

pub(crate) async fn a_replace_of_a_stale_version_is_refused(context: Context) -> Outcome {
    stale_is_refused(context, Write::Replace).await
}

pub(crate) async fn a_merge_of_a_stale_version_is_refused(context: Context) -> Outcome {
    stale_is_refused(context, Write::Merge).await
}

pub(crate) async fn a_delete_of_a_stale_version_is_refused(context: Context) -> Outcome {
    stale_is_refused(context, Write::Delete).await
}

pub(crate) async fn a_replace_asks_for_existence_first(context: Context) -> Outcome {
    existence_comes_first(context, Write::Replace).await
}

pub(crate) async fn a_merge_asks_for_existence_first(context: Context) -> Outcome {
    existence_comes_first(context, Write::Merge).await
}

pub(crate) async fn a_delete_asks_for_existence_first(context: Context) -> Outcome {
    existence_comes_first(context, Write::Delete).await
}

pub(crate) async fn a_replace_of_any_version_is_done(context: Context) -> Outcome {
    any_version_is_taken(context, Write::Replace).await
}

pub(crate) async fn a_merge_of_any_version_is_done(context: Context) -> Outcome {
    any_version_is_taken(context, Write::Merge).await
}

pub(crate) async fn a_delete_of_any_version_is_done(context: Context) -> Outcome {
    any_version_is_taken(context, Write::Delete).await
}

pub(crate) async fn every_kind_of_write_changes_the_etag(context: Context) -> Outcome {
    let table = context.table().await?;
    let same = || row("1")?.with("A", 1).map_err(Failure::from);
    let mut last = table.insert(same()?).await?;
    let writes = [
        Action::Replace(same()?, IfMatch::Any),
        Action::Merge(same()?, IfMatch::Any),
        Action::InsertOrReplace(same()?),
        Action::InsertOrMerge(same()?),
        Action::Merge(row("1")?, IfMatch::Any),
    ];
    for action in writes {
        let what = action.name();
        let etag = table.put(action).await?;
        ensure(etag != last, &format!("{what} of what is there already kept the ETag"))?;
        last = etag;
    }
    Ok(())
}

pub(crate) async fn quick_writes_have_etags_of_their_own(context: Context) -> Outcome {
    let table = context.table().await?;
    let mut seen = HashSet::new();
    for number in 0..100 {
        let etag = table.put(Action::InsertOrReplace(row("1")?.with("N", number)?)).await?;
        ensure(seen.insert(etag), "two versions of a row have one ETag")?;
    }
    Ok(())
}

pub(crate) async fn a_row_inserted_again_has_another_etag(context: Context) -> Outcome {
    let table = context.table().await?;
    let mut seen = HashSet::new();
    for _ in 0..20 {
        ensure(seen.insert(table.insert(row("1")?).await?), "a row inserted again has an ETag that it had before")?;
        table.delete("1").await?;
    }
    Ok(())
}

pub(crate) async fn an_etag_does_not_survive_its_row(context: Context) -> Outcome {
    let (table, _, current) = table(&context).await?;
    table.delete("1").await?;
    table.insert(row("1")?.with("A", "old")?).await?;
    let written = table.write(Write::Delete.action(IfMatch::Version(current))?).await;
    ensure_kind(written, ErrorKind::PreconditionFailed, "the ETag of the row before it was deleted")?;
    Ok(())
}

pub(crate) async fn an_etag_of_another_row_is_refused(context: Context) -> Outcome {
    let (table, ..) = table(&context).await?;
    let other = table.insert(row("2")?).await?;
    let written = table.write(Write::Replace.action(IfMatch::Version(other))?).await;
    ensure_kind(written, ErrorKind::PreconditionFailed, "the ETag of another row")?;
    Ok(())
}

pub(crate) async fn an_etag_can_be_carried_as_text(context: Context) -> Outcome {
    let (table, stale, current) = table(&context).await?;
    let carried = |etag: &ETag| IfMatch::Version(ETag::from(etag.to_string()));
    let refused = table.write(Write::Merge.action(carried(&stale))?).await;
    ensure_kind(refused, ErrorKind::PreconditionFailed, "a stale ETag as text")?;
    table.write(Write::Merge.action(carried(&current))?).await?;
    Ok(())
}

pub(crate) async fn a_refused_write_keeps_the_etag(context: Context) -> Outcome {
    let (table, _, current) = table(&context).await?;
    let refused = table.write(Action::Insert(row("1")?)).await;
    ensure_kind(refused, ErrorKind::AlreadyExists, "inserting twice")?;
    ensure_eq(table.etag("1").await?, current, "the ETag after the refusal")
}
