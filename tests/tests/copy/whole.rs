//! What a copy brings along, and what it leaves alone.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use table_core::layer::{Fault, FaultOptions, FaultPlan};
use table_core::{DynamicEntity, EntityKey, ErrorKind, LoadOptions, Result, Table, copy};
use table_tests::pattern::Altered;
use table_tests::stores::embedded_store;

use super::{Store, content, memory, name, put, seeded};

#[tokio::test]
async fn every_table_row_and_type_arrives_by_way_of_another_store() -> Result<()> {
    let source = seeded().await?;
    let (embedded, _, _folder) = embedded_store();
    let between: Store = Arc::new(embedded);
    let target = memory();
    let there = copy::tables_from(source.clone()).to(between.clone()).run().await?;
    let back = copy::tables_from(between.clone()).to(target.clone()).run().await?;
    assert_eq!((there.tables, there.entities), (3, 25));
    assert_eq!(there, back);
    let content_of_source = content(&source).await?;
    assert_eq!(content(&between).await?, content_of_source);
    assert_eq!(content(&target).await?, content_of_source);
    Ok(())
}

#[tokio::test]
async fn pages_may_be_short_and_come_in_any_number() -> Result<()> {
    let source = seeded().await?;
    for entities in [1, 7, 1_000] {
        let target = memory();
        let short: Store = Arc::new(Altered::with_short_pages(source.clone()));
        for from in [source.clone(), short] {
            copy::tables_from(from).to(target.clone()).with_page_entities(entities).run().await?;
            assert_eq!(content(&target).await?, content(&source).await?);
        }
    }
    Ok(())
}

#[tokio::test]
async fn chosen_tables_alone_are_copied() -> Result<()> {
    let target = memory();
    let copy = copy::tables_from(seeded().await?).to(target.clone()).with_tables([name("MANY"), name("Empty")]);
    assert_eq!(copy.run().await?.tables, 2);
    let tables: Vec<String> = content(&target).await?.into_iter().map(|(table, _)| table.to_lowercase()).collect();
    assert_eq!(tables, ["empty", "many"]);
    Ok(())
}

#[tokio::test]
async fn a_chosen_table_that_is_not_there_is_refused_before_anything_is_copied() -> Result<()> {
    let target = memory();
    let copy = copy::tables_from(seeded().await?).to(target.clone()).with_tables([name("Many"), name("Missing")]);
    let error = copy.run().await.unwrap_err();
    assert_eq!((error.kind(), error.table()), (ErrorKind::TableNotFound, Some("Missing")));
    assert_eq!(content(&target).await?, []);
    Ok(())
}

#[tokio::test]
async fn a_second_copy_changes_nothing() -> Result<()> {
    let (source, target) = (seeded().await?, memory());
    copy::tables_from(source.clone()).to(target.clone()).run().await?;
    let many = Table::new(target.clone(), "Many")?;
    let key = EntityKey::parse("p1", "001")?;
    let before = many.require::<DynamicEntity>(key.clone()).await?;
    let again = copy::tables_from(source).to(target).run().await?;
    assert_eq!((again.tables, again.entities), (3, 25));
    assert_eq!(many.require::<DynamicEntity>(key).await?.etag(), before.etag());
    Ok(())
}

#[tokio::test]
async fn a_row_of_the_target_is_written_over_only_when_allowed() -> Result<()> {
    let (source, target) = (seeded().await?, memory());
    let many = Table::new(target.clone(), "Many")?;
    many.create().await?;
    let key = EntityKey::parse("p1", "004")?;
    put(&many, DynamicEntity::new(key.clone()).with("Id", "newer")?).await?;

    let copy = copy::tables_from(source.clone()).to(target.clone());
    let error = copy.clone().run().await.unwrap_err();
    assert_eq!((error.kind(), error.key(), error.table()), (ErrorKind::AlreadyExists, Some(&key), Some("Many")));
    assert_eq!(many.require::<DynamicEntity>(key).await?.get("Id"), Some(&"newer".into()));

    copy.overwriting().run().await?;
    assert_eq!(content(&target).await?, content(&source).await?);
    Ok(())
}

#[tokio::test]
async fn progress_names_the_table_and_counts_up_to_the_whole() -> Result<()> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&seen);
    copy::tables_from(seeded().await?)
        .to(memory())
        .with_page_entities(10)
        .with_progress(move |so_far| {
            record.lock().unwrap().push((
                so_far.table.to_string(),
                so_far.tables,
                so_far.tables_in_all,
                so_far.entities,
            ));
        })
        .run()
        .await?;
    let expected = [("Empty", 1, 0), ("Many", 1, 10), ("Many", 1, 20), ("Many", 2, 23), ("Types", 3, 25)]
        .map(|(table, tables, entities)| (table.to_owned(), tables, 3, entities));
    assert_eq!(*seen.lock().unwrap(), expected);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn no_more_requests_run_at_once_than_allowed() -> Result<()> {
    let source = memory();
    let many = Table::new(source.clone(), "Many")?;
    many.create().await?;
    let rows = (0..12).map(|each| Ok(DynamicEntity::new(EntityKey::parse(&format!("p{each:02}"), "")?)));
    many.load_rows(futures_util::stream::iter(rows), LoadOptions::default()).await?;
    let second = Duration::from_secs(1);
    for (concurrency, seconds) in [(1, 12), (4, 3), (12, 1)] {
        let slow = FaultPlan::new(FaultOptions::default().with_latency(second..=second));
        let target: Store = Arc::new(Fault::new(memory(), slow));
        let started = tokio::time::Instant::now();
        copy::tables_from(source.clone()).to(target).with_concurrency(concurrency).run().await?;
        // The table is created first, which is one more request.
        assert_eq!(started.elapsed().as_secs(), seconds + 1, "{concurrency} at once");
    }
    Ok(())
}
