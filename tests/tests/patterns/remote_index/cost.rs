use std::sync::Arc;

use table_core::layer::Meter;
use table_core::{Entity, QueueStore, Result, Table, TableStore};
use table_patterns::Indexed;
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::inter_partition_secondary_index::Reads;
use table_tests::pattern::{TestStore, stores};

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

struct Metered<E> {
    entities: Indexed<E>,
    tables: Meter<Arc<dyn TableStore>>,
    queues: Meter<Arc<dyn QueueStore>>,
}

impl<E: Entity> Metered<E> {
    async fn new(store: &TestStore) -> Self {
        let (tables, queues) = (Meter::new(store.tables.clone()), Meter::new(store.queues.clone()));
        let table = Table::new(Arc::new(tables.clone()), "Entities").unwrap();
        let mover = Mover::builder(Arc::new(queues.clone()), "moves").unwrap();
        let mover = mover.keep_indexes::<E>(&table).build().await.unwrap();
        let entities = Indexed::<E>::kept_by(table, &mover).unwrap();
        entities.create_if_missing().await.unwrap();
        Self { entities, tables, queues }
    }

    /// Storage transactions and queue calls of some work.
    async fn cost<T>(&self, work: impl Future<Output = Result<T>>) -> (u64, u64) {
        let before = (self.tables.report(), self.queues.report());
        work.await.expect("work that is counted succeeds");
        let tables = (self.tables.report() - before.0).total().transactions;
        (tables, (self.queues.report() - before.1).total().transactions)
    }
}

#[tokio::test]
async fn each_write_takes_the_fewest_storage_transactions_and_queue_calls() -> Result<()> {
    for store in &stores() {
        let metered = Metered::<Seated>::new(store).await;
        let entities = &metered.entities;
        let seated = |id| Seated { department: "Sales".into(), id, office: "North".into(), age: 40 };
        let key = || Seated::key("Sales", 1);
        assert_eq!(metered.cost(entities.insert(&seated(1))).await, (3, 2));
        assert_eq!(metered.cost(entities.upsert(&seated(2))).await, (4, 2));
        // The entity, both index rows, the change, both index rows, the intent.
        assert_eq!(metered.cost(entities.update(key(), |jo| jo.office = "South".into())).await, (7, 2));
        // No index row holds the age, so no index hears of it.
        assert_eq!(metered.cost(entities.update(key(), |jo| jo.age += 1)).await, (2, 0));
        assert_eq!(metered.cost(entities.delete_by_key(key())).await, (5, 2));
    }
    Ok(())
}

#[tokio::test]
async fn a_unique_value_takes_one_storage_transaction_more() -> Result<()> {
    for store in &stores() {
        let metered = Metered::<Listed>::new(store).await;
        let entities = &metered.entities;
        let listed = Listed { department: "Sales".into(), id: 1, email: "jo@contoso.com".into() };
        assert_eq!(metered.cost(entities.insert(&listed)).await, (4, 2));
        let change = |jo: &mut Listed| jo.email = "jones@contoso.com".into();
        assert_eq!(metered.cost(entities.update(Listed::key("Sales", 1), change)).await, (8, 2));
        let found = metered.cost(entities.find(Listed::by_directory("jones@contoso.com"), Reads::Fast)).await;
        assert_eq!(found, (1, 0));
    }
    Ok(())
}
