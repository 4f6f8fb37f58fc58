//! The guide's patterns, a line or two for each. Their own tests are elsewhere.

use std::sync::Arc;

use bytes::Bytes;
use object_store::memory::InMemory;
use table_core::keys::KeyPart;
use table_core::{DynamicEntity, Entity, EntityKey, Key, MemoryStore, PartitionKey, Query, Result, Table, Timestamp};
use table_patterns::eventually_consistent_transactions::{Archive, Mover};
use table_patterns::index_entities::ListPlace;
use table_patterns::inter_partition_secondary_index::Reads;
use table_patterns::log_data::LogOptions;
use table_patterns::{
    BlobTable, Compound, DataSeries, Denormalized, IndexEntities, Indexed, KeepsCopies, Large, LogData, LogTail,
    Period, RollingTables, Spread, Targets, WideRows,
};

use super::{Claim, Employee as Plain, employee};

#[derive(Entity, Clone)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(email, row = "email_{email}", include(name))]
#[index(directory, table = "EmployeesByEmail", partition = "{email}", row = "", include(name))]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
}

#[derive(Entity)]
#[entity(partition = "{department}", row = "empid_{id:06}_{year:04}")]
struct Review {
    department: String,
    id: u32,
    year: u16,
    rating: i32,
}

#[derive(Entity, Clone)]
#[entity(partition = "{name}", row = "department")]
struct Department {
    name: String,
    manager: Option<u32>,
    manager_name: Option<String>,
}

impl KeepsCopies for Department {
    type Source = Plain;

    fn targets(employee: &Plain) -> Targets<Self> {
        Self::range(&employee.department).query().into()
    }

    fn source(&self) -> Option<Key<Plain>> {
        self.manager.map(|id| Plain::key(&self.name, id))
    }

    fn take(&mut self, manager: Option<&Plain>) {
        self.manager_name = manager.map(|manager| manager.name.clone());
    }
}

#[derive(Entity)]
#[entity(partition = "{employee:06}", row = "{day:08}")]
struct Messages {
    employee: u32,
    day: u32,
}

#[derive(Entity)]
#[entity(partition = "{at:%Y%m%d%H}_{bucket(employee, 16):02}", row = "{at}_{employee:06}")]
struct Event {
    at: Timestamp,
    employee: u32,
}

#[derive(Entity, Clone)]
#[entity(partition = "portraits", row = "{id:06}")]
struct Portrait {
    id: u32,
    #[entity(blob)]
    photo: Bytes,
}

async fn table(store: &Arc<MemoryStore>, name: &str) -> Result<Table> {
    let table = Table::new(store.clone(), name)?;
    table.create_if_missing().await?;
    Ok(table)
}

#[tokio::test]
async fn secondary_indexes() -> Result<()> {
    let store = Arc::new(MemoryStore::new());
    let table = table(&store, "Employees").await?;
    let mover = Mover::builder(store, "moves")?.keep_indexes::<Employee>(&table).build().await?;
    let employees = Indexed::<Employee>::kept_by(table, &mover)?;
    employees.create_if_missing().await?;
    let jo = Employee { department: "Sales".into(), id: 7, name: "Jo".into(), email: "jo@contoso.com".into() };
    employees.insert(&jo).await?;
    let found = employees.full(Employee::by_email("Sales", "jo@contoso.com")).await?;
    assert_eq!(found.unwrap().id, 7);
    let found = employees.find(Employee::by_directory("jo@contoso.com"), Reads::Verified).await?;
    assert_eq!(found.unwrap().department, "Sales");
    Ok(())
}

#[tokio::test]
async fn eventually_consistent_transactions() -> Result<()> {
    let store = Arc::new(MemoryStore::new());
    let (current, archive) = (table(&store, "Current").await?, table(&store, "Archive").await?);
    current.insert(&employee("Sales", 7, 41)).await?;
    let pair = Archive::new(current.clone(), archive.clone());
    let mover = Mover::builder(store, "moves")?.archive(pair).build().await?;
    mover.archive(&current, Plain::key("Sales", 7)).await?;
    mover.run_due().await?;
    assert!(archive.get(Plain::key("Sales", 7)).await?.is_some());
    Ok(())
}

#[tokio::test]
async fn lists_copies_and_compound_keys() -> Result<()> {
    let store = Arc::new(MemoryStore::new());
    let employees =
        IndexEntities::<Plain>::new(table(&store, "Lists").await?).list("name", |each| Some(each.name.clone()));
    employees.insert(&employee("Sales", 7, 41)).await?;
    let found = employees.find(&PartitionKey::new("Sales")?, "name", "e7").await?;
    assert_eq!(found.len(), 1);

    let by_name = ListPlace::table("ListsByName");
    let everybody =
        IndexEntities::<Plain>::new(employees.table().clone()).list_at(by_name, "name", |e| Some(e.name.clone()));
    let mover = Mover::builder(store.clone(), "lists")?.keep_lists(&everybody).build().await?;
    let everybody = everybody.kept_by(&mover)?;
    everybody.create_if_missing().await?;
    everybody.insert(&Plain { name: "e7".into(), ..employee("Marketing", 8, 41) }).await?;
    let found = everybody.find_across("name", "e7").await?;
    assert_eq!(found.len(), 1);

    let departments = Denormalized::<Department>::new(table(&store, "Staff").await?);
    departments.insert(&employee("Sales", 7, 41)).await?;
    departments.insert_target(&Department { name: "Sales".into(), manager: Some(7), manager_name: None }).await?;
    departments.update(Plain::key("Sales", 7), |jo| jo.name = "Jo".into()).await?;
    let sales = departments.table().require(Department::key("Sales")).await?;
    assert_eq!(sales.manager_name.as_deref(), Some("Jo"));

    let (staff, offices) = (table(&store, "Employees").await?, table(&store, "Offices").await?);
    let builder = Mover::builder(store.clone(), "copies")?.keep_copies::<Department>(&staff, &offices);
    let mover = builder.build().await?;
    let departments = Denormalized::<Department>::kept_by(staff, offices, &mover)?;
    departments.insert(&employee("Sales", 7, 41)).await?;
    departments.insert_target(&Department { name: "Sales".into(), manager: Some(7), manager_name: None }).await?;
    departments.update(Plain::key("Sales", 7), |jo| jo.name = "Jo".into()).await?;
    let sales = departments.table().require(Department::key("Sales")).await?;
    assert_eq!(sales.manager_name.as_deref(), Some("Jo"));

    let families = Compound::<Plain, Review>::new(table(&store, "Families").await?)?;
    let review = Review { department: "Sales".into(), id: 7, year: 2014, rating: 5 };
    families.insert(&employee("Sales", 7, 41), &[review]).await?;
    let family = families.get(Plain::key("Sales", 7)).await?.unwrap();
    assert_eq!((family.parts[0].year, family.parts[0].rating), (2014, 5));
    Ok(())
}

#[tokio::test]
async fn logs_series_and_wide_entities() -> Result<()> {
    let store = Arc::new(MemoryStore::new());
    let at: Timestamp = "2014-07-31T18:00:00Z".parse()?;
    let claims = LogTail::<Claim>::new(table(&store, "Claims").await?, Claim::range(123))?;
    claims.append(&Claim { employee: 123, at, number: 1 }).await?;
    let latest = claims.latest(10).await?;
    assert_eq!(latest.len(), 1);

    let logins =
        RollingTables::new(store.clone(), "Logins", Period::Day, 7)?.with_clock(table_core::ManualClock::new(at));
    logins.insert(at, &Claim { employee: 123, at, number: 1 }).await?;
    assert_eq!(logins.drop_expired().await?, []);

    let hours = DataSeries::<Messages, i32>::new(table(&store, "Messages").await?, 24)?;
    let today = Messages { employee: 123, day: 20_140_731 };
    assert_eq!(hours.increment(&today, 17, 1).await?, 1);

    let years = WideRows::new(table(&store, "Years").await?);
    let year = DynamicEntity::new(EntityKey::parse("000123", "2014")?).with("Day001", 7)?;
    years.insert(year.clone()).await?;
    assert_eq!(years.get(&year.key).await?.unwrap().properties, year.properties);

    let events = table(&store, "Events").await?;
    events.insert(&Event { at, employee: 7 }).await?;
    let events = Spread::<Event>::new(events)?.all(&[at.to_key()?], Query::allow_scan).await?;
    assert_eq!(events.len(), 1);
    Ok(())
}

#[tokio::test]
async fn large_entities_and_log_data() -> Result<()> {
    let (store, blobs) = (Arc::new(MemoryStore::new()), Arc::new(InMemory::new()));
    let place = BlobTable::new(table(&store, "Portraits").await?, blobs.clone());
    let mover = Mover::builder(store, "moves")?.keep_blobs(&place).build().await?;
    let employees = Large::<Portrait>::kept_by(place, &mover)?;
    let photo = Bytes::from(vec![7; 2_000_000]);
    employees.insert(&Portrait { id: 7, photo: photo.clone() }).await?;
    assert_eq!(employees.require(Portrait::key(7)).await?.photo, photo);

    let at: Timestamp = "2014-07-31T18:05:00Z".parse()?;
    let log = LogData::new(blobs, "queue")?;
    let writer = log.writer(LogOptions::default());
    writer.append_at(at, "message received").await?;
    writer.close().await?;
    assert_eq!(log.read(at..Timestamp::MAX).await?.len(), 1);
    Ok(())
}
