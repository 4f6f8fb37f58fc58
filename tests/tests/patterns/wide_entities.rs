//! Entities over several rows.

use std::sync::Arc;

use table_core::{
    Action, DynamicEntity, Entity, EntityKey, ErrorKind, IfMatch, Operation, Properties, PropertyName, Query, Result,
    Table, Value, Versioned,
};
use table_patterns::UpdateOptions;
use table_patterns::wide_entities::{Wide, WideRows};
use table_tests::pattern::{
    Altered, Costs, Faults, TASKS, TestStore, behind, contend, our_stores, rows, stores, three_attempts,
};

/// Up to 1.25 MiB in a typed entity.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{site}", row = "survey_{id:06}")]
struct Survey {
    site: String,
    id: u32,
    remark: Option<String>,
    #[entity(flatten)]
    scans: Scans,
}

macro_rules! scans {
    ($($field:ident)*) => {
        #[derive(table_core::Flatten, Clone, Debug, PartialEq)]
        struct Scans {
            $($field: Vec<u8>,)*
        }

        fn scans(bytes: usize) -> Scans {
            Scans { $($field: vec![7; bytes],)* }
        }
    };
}

scans! { a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 }

fn survey(bytes: usize) -> Survey {
    Survey { site: "A".into(), id: 1, remark: None, scans: scans(bytes) }
}

fn key() -> EntityKey {
    EntityKey::parse("000123", "2014").unwrap()
}

fn name(number: usize) -> PropertyName {
    PropertyName::new(format!("Day{number:05}")).unwrap()
}

fn days(count: usize, value: i32) -> DynamicEntity {
    let properties = (0..count).map(|number| (name(number), Value::Int32(value))).collect();
    DynamicEntity { properties, ..DynamicEntity::new(key()) }
}

fn day(number: usize, value: i32) -> Properties {
    [(name(number), Value::Int32(value))].into_iter().collect()
}

fn wide(table: &Table) -> WideRows {
    WideRows::new(table.clone())
}

async fn stored(table: &Table) -> Option<DynamicEntity> {
    wide(table).get(&key()).await.unwrap()
}

#[tokio::test]
async fn a_wide_entity_comes_back_whole_and_shrinks_without_a_rest() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let mut etag = wide(&table).insert(days(365, 1)).await?;
        assert_eq!(rows(&table).await.len(), 3);
        for count in [365, 1000, 10, 0, 251] {
            etag = wide(&table).replace(days(count, 2), &etag).await?;
            let read = stored(&table).await.unwrap();
            assert_eq!((read.properties, read.etag), (days(count, 2).properties, Some(etag.clone())));
            assert_eq!(rows(&table).await.len(), 1 + count.div_ceil(250));
        }
        wide(&table).delete(&key(), &etag).await?;
        assert_eq!(rows(&table).await, []);
        assert_eq!(stored(&table).await, None);
    }
    Ok(())
}

#[tokio::test]
async fn a_typed_entity_may_be_larger_than_a_row() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let surveys = Wide::<Survey>::new(table.clone());
        surveys.insert(&survey(64 * 1024)).await?;
        assert_eq!(*surveys.get(Survey::key("A", 1)).await?.unwrap(), survey(64 * 1024));
        assert_eq!(surveys.insert(&survey(1)).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
        // The rows are not taken for ordinary ones.
        assert!(table.all(Survey::range("A")).await?.is_empty());

        surveys.patch(Survey::patch(Survey::key("A", 1)).remark("clear".to_owned())).await?;
        let read = surveys.get(Survey::key("A", 1)).await?.unwrap();
        assert_eq!((read.remark.as_deref(), read.scans.b9.len()), (Some("clear"), 64 * 1024));
        let updated = surveys.update(Survey::key("A", 1), |survey| survey.scans = scans(10)).await?;
        assert_eq!(rows(&table).await.len(), 2);
        assert_eq!(surveys.delete(&read).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
        surveys.delete(&updated).await?;
        assert!(surveys.get(Survey::key("A", 1)).await?.is_none());
        let missing = surveys.update(Survey::key("A", 1), |_| ()).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    }
    Ok(())
}

#[tokio::test]
async fn a_range_of_entities_is_read_in_order() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        let surveys = Wide::<Survey>::new(table.clone());
        for id in [12, 3, 123, 7] {
            surveys.insert(&Survey { id, ..survey(1) }).await?;
        }
        wide(&table).insert(days(365, 1)).await?;
        let ids = |found: Vec<Versioned<Survey>>| found.iter().map(|survey| survey.id).collect::<Vec<_>>();
        assert_eq!(ids(surveys.all(Survey::range("A").id_range(4..100)).await?), [7, 12]);
        assert_eq!(ids(surveys.all(Survey::range("A").query().top(3)).await?), [3, 7, 12]);
        assert_eq!(surveys.all(Survey::range("A").id_range(12..13)).await?[0].scans, scans(1));
        let remarked = Survey::range("A").query().filter(Survey::REMARK.eq("clear"));
        let error = surveys.all(remarked).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery);
        assert!(error.message().contains("ask for keys alone"), "{error}");
        assert_eq!(surveys.all(Query::all()).await.unwrap_err().kind(), ErrorKind::ScanRefused);
    }
    Ok(())
}

#[tokio::test]
async fn a_patch_writes_its_part_and_the_head() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let first = wide(&table).insert(days(1000, 1)).await?;
        let before = meter.report();
        let etag = wide(&table).patch(&key(), &day(600, 5), &IfMatch::Version(first.clone())).await?;
        assert_eq!((meter.report() - before).operation("transact").entities_written, 2);
        let read = stored(&table).await.unwrap();
        assert_eq!((read.get("Day00600"), read.etag.as_ref()), (Some(&Value::Int32(5)), Some(&etag)));
        let stale = wide(&table).patch(&key(), &day(1, 5), &IfMatch::Version(first)).await.unwrap_err();
        assert_eq!(stale.kind(), ErrorKind::PreconditionFailed);
        // A name that no part has yet goes where its neighbours are, and a full part is split.
        wide(&table).patch(&key(), &day(99_999, 6), &IfMatch::Any).await?;
        wide(&table)
            .patch(&key(), &[(PropertyName::new("A")?, Value::Int32(0))].into_iter().collect(), &IfMatch::Any)
            .await?;
        let read = stored(&table).await.unwrap();
        assert_eq!((read.properties.len(), read.get("Day99999")), (1002, Some(&Value::Int32(6))));
        let gone = wide(&table).patch(&EntityKey::parse("p", "r")?, &day(1, 1), &IfMatch::Any).await.unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::NotFound);
    }
    Ok(())
}

#[tokio::test]
async fn what_one_transaction_cannot_write_is_refused_with_its_count() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let error = wide(&table).insert(days(25_000, 1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.message().contains("this one takes 101"), "{error}");
        let mut heavy = DynamicEntity::new(key());
        for number in 0..70 {
            heavy.properties.insert(name(number), Value::from(vec![0_u8; 64 * 1024]));
        }
        let error = wide(&table).insert(heavy).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.message().contains("this one takes 45"), "{error}");
        assert_eq!(meter.report().total().transactions, 0);
    }
    Ok(())
}

#[tokio::test]
async fn each_operation_takes_the_storage_transactions_that_the_page_says() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let mut costs = Costs::of("wide_entities", &meter);
        let wide = wide(&table);
        costs.count("insert", wide.insert(days(365, 1))).await;
        costs.count("get", wide.get(&key())).await;
        let surveys = Wide::<Survey>::new(table.clone());
        surveys.insert(&survey(1)).await?;
        costs.count("all of 1", surveys.all(Survey::range("A").id_range(1..9))).await;
        costs.count("patch", wide.patch(&key(), &day(1, 2), &IfMatch::Any)).await;
        let etag = wide.get(&key()).await?.unwrap().etag.unwrap();
        costs.count("replace", wide.replace(days(300, 2), &etag)).await;
        let etag = wide.get(&key()).await?.unwrap().etag.unwrap();
        costs.count("delete", wide.delete(&key(), &etag)).await;
        costs.are_documented();
    }
    Ok(())
}

#[tokio::test]
async fn a_missing_part_is_reported_and_not_read_for_ever() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        wide(&table).insert(days(365, 1)).await?;
        let part = EntityKey::parse("000123", "2014!01")?;
        table.store().write(table.name(), Operation::new(Action::Delete(part, IfMatch::Any))?).await?;
        assert_eq!(wide(&table).get(&key()).await.unwrap_err().kind(), ErrorKind::Corrupted);
    }
    Ok(())
}

#[tokio::test]
async fn the_loop_gives_up_after_its_bound() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        wide(&table).insert(days(365, 1)).await?;
        let rival = Altered::with_rival(Arc::clone(table.store()));
        let outpaced = wide(&behind(&table, rival));
        let outpaced = outpaced.with_options(three_attempts());
        let error = outpaced.patch(&key(), &day(1, 2), &IfMatch::Any).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Contention);
        assert_eq!(stored(&table).await.unwrap().properties, days(365, 1).properties);

        Wide::<Survey>::new(table.clone()).insert(&survey(1)).await?;
        let rival = Altered::with_rival(Arc::clone(table.store()));
        let outpaced = Wide::<Survey>::new(behind(&table, rival)).with_options(three_attempts());
        let error = outpaced.update(Survey::key("A", 1), |survey| survey.remark = None).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Contention);
    }
    Ok(())
}

#[tokio::test]
async fn a_fault_at_any_call_leaves_the_old_or_the_new_state() {
    let prepare = async |table: Table| {
        wide(&table).insert(days(600, 1)).await.unwrap();
    };
    // The marks differ from run to run; what they mark does not.
    let state = async |table: Table| {
        let rows = rows(&table).await.len();
        (stored(&table).await.map(|whole| whole.properties), rows)
    };
    let etag = async |table: &Table| Ok::<_, table_core::Error>(wide(table).get(&key()).await?.unwrap().etag.unwrap());
    let insert = async |table: Table| wide(&table).insert(days(300, 1)).await.map(|_| ());
    assert_eq!(Faults { prepare: async |_| (), act: insert, state }.everywhere().await.undecided, 0);
    let patch = async |table: Table| wide(&table).patch(&key(), &day(7, 7), &IfMatch::Any).await.map(|_| ());
    assert_eq!(Faults { prepare, act: patch, state }.everywhere().await.undecided, 0);
    // A part that is full, so that all are written anew; Azurite does not count what a merge leaves.
    let split = async |table: Table| {
        let more = [(PropertyName::new("A")?, Value::Int32(0))].into_iter().collect();
        wide(&table).patch(&key(), &more, &IfMatch::Any).await.map(|_| ())
    };
    assert_eq!(Faults { prepare, act: split, state }.on_each(&our_stores()).await.undecided, 0);
    let shrink = async |table: Table| wide(&table).replace(days(10, 2), &etag(&table).await?).await.map(|_| ());
    assert_eq!(Faults { prepare, act: shrink, state }.everywhere().await.undecided, 0);
    let delete = async |table: Table| wide(&table).delete(&key(), &etag(&table).await?).await;
    assert_eq!(Faults { prepare, act: delete, state }.everywhere().await.undecided, 1);
}

fn short_pages(table: &Table) -> WideRows {
    let short = Altered::with_short_pages(Arc::clone(table.store()));
    let table = Table::new(Arc::new(short), table.name().as_str()).unwrap();
    WideRows::new(table).with_options(UpdateOptions::default().with_attempts(1000))
}

/// Half of the tasks write all values anew, the others read a row at a time: never half of a write.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_torn_read_is_noticed_and_repeated() -> Result<()> {
    for store in &stores() {
        let prepare = async |table: Table| {
            wide(&table).insert(days(600, 0)).await.unwrap();
        };
        contend(store, prepare, |task, table| async move {
            let all = short_pages(&table);
            for round in 0..8 {
                let read = all.get(&key()).await?.unwrap();
                let values: Vec<&Value> = read.properties.iter().map(|(_, value)| value).collect();
                assert!(values.iter().all(|value| *value == values[0]), "half of a write was read");
                if task % 8 == 0 {
                    let next = i32::try_from(task * 100 + round + 1).unwrap();
                    match all.replace(days(600, next), read.etag.as_ref().unwrap()).await {
                        Err(error) if error.kind() != ErrorKind::PreconditionFailed => return Err(error),
                        _ => {}
                    }
                }
            }
            Ok(())
        })
        .await;
    }
    Ok(())
}

async fn patched(store: &TestStore) -> Table {
    let prepare = async |table: Table| {
        wide(&table).insert(days(600, 0)).await.unwrap();
    };
    contend(store, prepare, |task, table| async move {
        let all = wide(&table).with_options(UpdateOptions::default().with_attempts(500));
        for round in 0..3 {
            let number = usize::try_from(task * 30 + round).unwrap();
            all.patch(&key(), &day(number, 1), &IfMatch::Any).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_patches_never_lose_each_other() {
    for store in &stores() {
        let table = patched(store).await;
        let read = stored(&table).await.unwrap();
        let set = read.properties.iter().filter(|(_, value)| **value == Value::Int32(1)).count();
        assert_eq!(set, usize::try_from(TASKS * 3).unwrap());
    }
}

/// The first part is written anew between the read of the head and its own.
#[tokio::test]
async fn a_read_that_is_always_torn_ends_after_its_bound() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        wide(&table).insert(days(600, 0)).await?;
        let patched = table.clone();
        let disturbed = Altered::disturbed(Arc::clone(table.store()), move |_| {
            let wide = wide(&patched);
            async move { drop(wide.patch(&key(), &day(0, 1), &IfMatch::Any).await.unwrap()) }
        });
        let disturbed = Altered::with_short_pages(Arc::new(disturbed));
        let reading = wide(&behind(&table, disturbed)).with_options(three_attempts());
        let error = reading.get(&key()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Contention);
        assert!(error.message().contains("each of 3 attempts"), "{error}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_update_of_a_typed_entity_is_lost() -> Result<()> {
    for store in &stores() {
        let prepare = async |table: Table| Wide::<Survey>::new(table).insert(&survey(1)).await.map(drop).unwrap();
        let table = contend(store, prepare, |_, table| async move {
            let surveys = Wide::<Survey>::new(table).with_options(UpdateOptions::default().with_attempts(500));
            for _ in 0..3 {
                surveys.update(Survey::key("A", 1), |survey| survey.scans.a0.push(7)).await?;
            }
            Ok(())
        })
        .await;
        let left = Wide::<Survey>::new(table).get(Survey::key("A", 1)).await?.unwrap();
        assert_eq!(left.scans.a0.len(), usize::try_from(1 + TASKS * 3).unwrap());
    }
    Ok(())
}
