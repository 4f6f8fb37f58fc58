//! Copying to the emulator of Azure Storage and back.

#[path = "copy/seeds.rs"]
mod seeds;

use table_core::{Result, TableName, copy};
use table_tests::azurite;
use uuid::Uuid;

use seeds::{content_as, memory, seeded_as};

#[tokio::test]
async fn every_row_and_type_arrives_in_the_service_and_comes_back() -> Result<()> {
    let Some(account) = azurite::account() else { return Ok(()) };
    let prefix = format!("T{}", Uuid::new_v4().simple());
    let tables = || ["Many", "Types", "Empty"].map(|name| TableName::new(format!("{prefix}{name}"))).into_iter();
    let source = seeded_as(&prefix).await?;
    let there = copy::tables_from(source.clone()).to(account.tables()).with_page_entities(5).run().await?;
    assert_eq!((there.tables, there.entities), (3, 25));
    assert_eq!(content_as(&prefix, &account.tables()).await?, content_as(&prefix, &source).await?);

    // Once more, which finds everything there and changes nothing.
    let again = copy::tables_from(source.clone()).to(account.tables()).run().await?;
    assert_eq!(again, there);

    let target = memory();
    let names = tables().collect::<Result<Vec<_>>>()?;
    copy::tables_from(account.tables()).to(target.clone()).with_tables(names).with_page_entities(7).run().await?;
    assert_eq!(content_as(&prefix, &target).await?, content_as(&prefix, &source).await?);
    for table in tables() {
        account.tables().delete_table(&table?).await?;
    }
    Ok(())
}
