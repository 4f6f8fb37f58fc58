//! Going on where an earlier copy was.

use std::fs;
use std::sync::{Arc, Mutex};

use table_core::copy::{self, CopyCursor};
use table_core::layer::Meter;
use table_core::{DynamicEntity, EntityKey, ErrorKind, Result, Table};

use super::{Store, content, delete, memory, name, put, seeded};

/// The cursors of a copy that reads a few rows at a time.
async fn cursors(source: &Store) -> Result<Vec<CopyCursor>> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&seen);
    copy::tables_from(source.clone())
        .to(memory())
        .with_page_entities(5)
        .with_progress(move |so_far| record.lock().unwrap().push(so_far.cursor.clone()))
        .run()
        .await?;
    let cursors = seen.lock().unwrap().clone();
    Ok(cursors)
}

#[tokio::test]
async fn a_copy_goes_on_after_the_page_that_its_cursor_names() -> Result<()> {
    let source = seeded().await?;
    let cursors = cursors(&source).await?;
    assert_eq!(cursors.len(), 7, "one for Empty, five for Many, one for Types");
    for (at, cursor) in cursors.into_iter().enumerate() {
        let kept = serde_json::to_string(&cursor).unwrap();
        let target = Meter::new(memory());
        let done = copy::tables_from(source.clone())
            .to(Arc::new(target.clone()))
            .with_page_entities(5)
            .with_cursor(serde_json::from_str(&kept).unwrap())
            .run()
            .await?;
        assert_eq!((done.tables, done.entities), (3, 25));
        let missing = [25, 20, 15, 10, 5, 2, 0];
        assert_eq!(target.report().total().entities_written, missing[at]);
    }
    Ok(())
}

#[tokio::test]
async fn a_cursor_of_other_tables_is_refused() -> Result<()> {
    let source = seeded().await?;
    let cursor = cursors(&source).await?.remove(1);
    let copy = copy::tables_from(source).to(memory()).with_tables([name("Types")]).with_cursor(cursor);
    assert_eq!(copy.run().await.unwrap_err().kind(), ErrorKind::InvalidQuery);
    Ok(())
}

#[tokio::test]
async fn a_state_file_leads_a_second_run_on_and_is_gone_in_the_end() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("copy.state");
    let (source, target) = (seeded().await?, memory());
    // In the way of the last row of Many.
    let many = Table::new(target.clone(), "Many")?;
    many.create().await?;
    let blocked = EntityKey::parse("p2", "020")?;
    put(&many, DynamicEntity::new(blocked.clone())).await?;

    let copy = copy::tables_from(source.clone()).to(target.clone()).with_page_entities(5).with_state_file(&file);
    assert_eq!(copy.clone().run().await.unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert!(file.is_file());

    // A row of a page that is stored is not looked at again, so this one is not copied.
    let first = Table::new(source.clone(), "Many")?.require::<DynamicEntity>(EntityKey::parse("p0", "000")?).await?;
    delete(&many, &first.key).await?;
    delete(&many, &blocked).await?;
    copy.run().await?;
    assert!(!file.exists());
    assert_eq!(many.get::<DynamicEntity>(first.key.clone()).await?, None);
    put(&many, DynamicEntity { etag: None, timestamp: None, ..first.into_value() }).await?;
    assert_eq!(content(&target).await?, content(&source).await?);
    Ok(())
}

#[tokio::test]
async fn a_damaged_state_file_is_refused_by_name() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("copy.state");
    fs::write(&file, "{").unwrap();
    let error = copy::tables_from(seeded().await?).to(memory()).with_state_file(&file).run().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupted);
    assert!(error.message().contains("copy.state") && error.message().contains("delete it"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_state_file_that_cannot_be_written_stops_the_copy() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("no such folder").join("copy.state");
    let error = copy::tables_from(seeded().await?).to(memory()).with_state_file(&file).run().await.unwrap_err();
    assert!(!error.is_retryable() && error.message().contains("copy.state"), "{error}");
    Ok(())
}
