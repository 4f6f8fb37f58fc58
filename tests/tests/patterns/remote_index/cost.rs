use std::sync::Arc;

use table_core::layer::Meter;
use table_core::{Action, Entity, IfMatch, Operation, QueueStore, Result, Table, TableStore};
use table_patterns::Indexed;
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::inter_partition_secondary_index::Reads;
use table_patterns::maintenance::{Maintained, MaintenanceOptions};
use table_tests::pattern::{Costs, our_stores};

#[derive(Entity, Clone, Debug)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(office, table = "Offices", partition = "{office}", row = "{department}_{id:06}", include())]
struct Seated {
    department: String,
    id: u32,
    office: String,
    age: i32,
}

#[derive(Entity, Clone, Debug)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(directory, table = "Directory", partition = "{email}", row = "", include())]
struct Listed {
    department: String,
    id: u32,
    email: String,
}

async fn kept<E: Entity>(tables: impl TableStore, queues: impl QueueStore, name: &str) -> Result<Indexed<E>> {
    let table = Table::new(Arc::new(tables), name)?;
    let mover = Mover::builder(Arc::new(queues), &name.to_lowercase())?.keep_indexes::<E>(&table).build().await?;
    let entities = Indexed::<E>::kept_by(table, &mover)?;
    entities.create_if_missing().await?;
    Ok(entities)
}

#[tokio::test]
async fn each_operation_takes_the_storage_transactions_that_the_page_says() -> Result<()> {
    for store in &our_stores() {
        let (tables, queues) = (Meter::new(store.tables.clone()), Meter::new(store.queues.clone()));
        let mut costs = Costs::of("inter_partition_secondary_index", &tables).with_queues(&queues);
        let entities = kept::<Seated>(tables.clone(), queues.clone(), "Seated").await?;
        let seated = |id| Seated { department: "Sales".into(), id, office: "North".into(), age: 40 };
        let key = || Seated::key("Sales", 1);
        costs.count("insert", entities.insert(&seated(1))).await;
        costs.count("upsert of a new one", entities.upsert(&seated(2))).await;
        // The entity, both index rows, the change, both index rows, the intent.
        costs.count("update of the indexed field", entities.update(key(), |jo| jo.office = "South".into())).await;
        // No index row holds the age, so no index hears of it.
        costs.count("update of another field", entities.update(key(), |jo| jo.age += 1)).await;
        costs.count("delete_by_key", entities.delete_by_key(key())).await;

        let entities = kept::<Listed>(tables.clone(), queues.clone(), "Listed").await?;
        let listed = Listed { department: "Sales".into(), id: 1, email: "jo@contoso.com".into() };
        costs.count("insert with a unique value", entities.insert(&listed)).await;
        let change = |jo: &mut Listed| jo.email = "jones@contoso.com".into();
        costs.count("update of a unique value", entities.update(Listed::key("Sales", 1), change)).await;
        let found = entities.find(Listed::by_directory("jones@contoso.com"), Reads::Fast);
        assert!(costs.count("find fast", found).await.is_some());
        let found = entities.find(Listed::by_directory("jones@contoso.com"), Reads::Verified);
        assert!(costs.count("find verified", found).await.is_some());
        costs.are_documented();
    }
    Ok(())
}

#[tokio::test]
async fn maintenance_takes_the_storage_transactions_that_the_page_says() -> Result<()> {
    for store in &our_stores() {
        let (tables, queues) = (Meter::new(store.tables.clone()), Meter::new(store.queues.clone()));
        let mut costs = Costs::of("maintenance", &tables).with_queues(&queues);
        let entities = kept::<Seated>(tables.clone(), queues.clone(), "Seated").await?;
        let options = MaintenanceOptions::default;
        let seated = |id| Seated { department: "Sales".into(), id, office: "North".into(), age: 40 };
        for id in 1..=10 {
            let insert = Operation::new(Action::Insert(seated(id).to_row()?))?;
            entities.table().store().write(entities.table().name(), insert).await?;
        }
        assert_eq!(costs.count("build for 10 rows", entities.build(options())).await.written, 10);
        assert!(costs.count("verify of 10 rows and copies", entities.verify(options())).await.is_clean());
        let (offices, copy) = (entities.table().sibling("Offices")?, seated(1).index_row(0)?.expect("a copy"));
        offices.store().write(offices.name(), Operation::new(Action::Delete(copy.key, IfMatch::Any))?).await?;
        let report = entities.verify(options()).await?;
        assert_eq!(costs.count("repair of 1 finding", entities.repair(&report)).await.mended, 1);
        costs.are_documented();
    }
    Ok(())
}
