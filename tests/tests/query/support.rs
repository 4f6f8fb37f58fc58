//! An entity with every sort of key part, and a store that records and hinders.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use table_core::keys::{KeyPart, KeyTemplate, KeyValue, PartFormat, PartKind, PartSpec, TemplatePart};
use table_core::query::{Column, KeyColumn};
use table_core::store::{Capabilities, Page, PageToken, Selection, StoreQuery, TablePage, TableStore};
use table_core::{
    Discriminator, DynamicEntity, Entity, EntityKey, FromRow, MemoryStore, Operation, Properties, Property,
    PropertyName, Result, Schema, Table, TableName, Transaction, Unindexed, Versioned, Written,
};

/// A visit: partition `{region}_{team}`, row `v_{customer}_{floor}{vip}_{note}`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Visit {
    pub(crate) region: String,
    pub(crate) team: u8,
    pub(crate) customer: String,
    pub(crate) floor: i8,
    pub(crate) vip: bool,
    pub(crate) note: String,
    pub(crate) age: i32,
    pub(crate) rating: Option<f64>,
}

const fn field(name: &'static str, kind: PartKind, terminator: Option<char>) -> TemplatePart {
    TemplatePart::Field { name, format: PartFormat::new(kind, PartSpec::Default, terminator) }
}

static SCHEMA: Schema = Schema {
    name: "Visit",
    version: 1,
    upgrades: false,
    discriminator: Discriminator::Property,
    partition: KeyTemplate::new(&[
        field("region", PartKind::Text, Some('_')),
        TemplatePart::Literal("_"),
        field("team", u8::KIND, None),
    ]),
    row: KeyTemplate::new(&[
        TemplatePart::Literal("v_"),
        field("customer", PartKind::Text, Some('_')),
        TemplatePart::Literal("_"),
        field("floor", i8::KIND, None),
        field("vip", PartKind::Bool, None),
        TemplatePart::Literal("_"),
        field("note", PartKind::Text, None),
    ]),
    properties: &["Age", "Rating"],
    indexes: &[],
    blobs: table_core::BlobSchema::NONE,
};

impl Visit {
    pub(crate) const REGION: KeyColumn<Self, String> = KeyColumn::new("region");
    pub(crate) const TEAM: KeyColumn<Self, u8> = KeyColumn::new("team");
    pub(crate) const CUSTOMER: KeyColumn<Self, String> = KeyColumn::new("customer");
    pub(crate) const FLOOR: KeyColumn<Self, i8> = KeyColumn::new("floor");
    pub(crate) const VIP: KeyColumn<Self, bool> = KeyColumn::new("vip");
    pub(crate) const NOTE: KeyColumn<Self, String> = KeyColumn::new("note");
    pub(crate) const AGE: Column<Self, i32> = Column::new("Age");
    pub(crate) const RATING: Column<Self, f64> = Column::new("Rating");

    /// A visit of customer `c` with this number as its floor.
    pub(crate) fn numbered(region: &str, floor: i8) -> Self {
        Self {
            region: region.into(),
            team: 1,
            customer: "c".into(),
            floor,
            vip: false,
            note: String::new(),
            age: i32::from(floor),
            rating: None,
        }
    }
}

impl FromRow for Visit {
    fn row_prefix() -> &'static str {
        SCHEMA.row.literal_prefix()
    }

    fn label() -> &'static str {
        SCHEMA.name
    }

    fn recognizes(row: &DynamicEntity) -> bool {
        SCHEMA.recognizes(row)
    }

    fn from_row(row: DynamicEntity) -> Result<Versioned<Self>> {
        let mut partition = [KeyValue::Lost, KeyValue::Lost];
        SCHEMA.partition.decode(row.key.partition.as_str(), &mut partition)?;
        let mut keys = [KeyValue::Lost, KeyValue::Lost, KeyValue::Lost, KeyValue::Lost];
        SCHEMA.row.decode(row.key.row.as_str(), &mut keys)?;
        let [region, team] = partition;
        let [customer, floor, vip, note] = keys;
        let visit = Self {
            region: String::from_key(region)?,
            team: u8::from_key(team)?,
            customer: String::from_key(customer)?,
            floor: i8::from_key(floor)?,
            vip: bool::from_key(vip)?,
            note: String::from_key(note)?,
            age: i32::from_value(row.get("Age").cloned().expect("a visit has an age"))?,
            rating: row.get("Rating").cloned().map(f64::from_value).transpose()?,
        };
        Versioned::from_read(visit, row, Vec::new())
    }
}

impl Entity for Visit {
    const SCHEMA: &'static Schema = &SCHEMA;

    fn entity_key(&self) -> Result<EntityKey> {
        Ok(EntityKey::new(
            SCHEMA.partition.partition_key(&[self.region.to_key()?, self.team.to_key()?])?,
            SCHEMA.row.row_key(&[
                self.customer.to_key()?,
                self.floor.to_key()?,
                self.vip.to_key()?,
                self.note.to_key()?,
            ])?,
        ))
    }

    fn write_properties(&self, properties: &mut Properties) -> Result<()> {
        properties.insert(PropertyName::new("Age")?, self.age.into());
        if let Some(rating) = self.rating {
            properties.insert(PropertyName::new("Rating")?, rating.into());
        }
        Ok(())
    }

    fn index_key(&self, _: usize) -> Result<Option<EntityKey>> {
        Ok(None)
    }

    fn write_index_properties(&self, _: usize, _: &mut Properties) -> Result<()> {
        Ok(())
    }
}

impl Unindexed for Visit {}

/// A memory store that records what is asked of it, and gives short pages with empty ones between.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) inner: MemoryStore,
    pub(crate) calls: Mutex<Vec<Call>>,
    pub(crate) running: AtomicUsize,
    /// The most calls that ran at once.
    pub(crate) most_running: AtomicUsize,
    /// Rows of a page at most; 0 for as many as are asked for.
    pub(crate) rows_of_a_page: usize,
    /// Whether an empty page comes before each page.
    pub(crate) stutters: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Call {
    Get(EntityKey, Selection),
    Query(StoreQuery),
}

impl Recorder {
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    async fn record(&self, call: Call) {
        self.calls.lock().unwrap().push(call);
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_running.fetch_max(running, Ordering::SeqCst);
        // Others run meanwhile, if they may.
        tokio::task::yield_now().await;
        self.running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What an empty page's token begins with.
const PAUSE: &str = "pause:";

#[async_trait::async_trait]
impl TableStore for Recorder {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.inner.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.inner.delete_table(table).await
    }

    async fn list_tables(&self, after: Option<&PageToken>) -> Result<TablePage> {
        self.inner.list_tables(after).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, selection: &Selection) -> Result<Option<DynamicEntity>> {
        self.record(Call::Get(key.clone(), selection.clone())).await;
        self.inner.get(table, key, selection).await
    }

    async fn query(&self, table: &TableName, query: &StoreQuery) -> Result<Page> {
        self.record(Call::Query(query.clone())).await;
        let mut query = query.clone();
        let after = query.after.take();
        let resumed = after.as_ref().and_then(|token| token.as_str().strip_prefix(PAUSE));
        if self.stutters && resumed.is_none() {
            let paused = format!("{PAUSE}{}", after.as_ref().map_or("", PageToken::as_str));
            return Ok(Page { entities: Vec::new(), next: Some(PageToken::new(paused)) });
        }
        query.after = match resumed {
            Some("") => None,
            Some(token) => Some(PageToken::new(token)),
            None => after,
        };
        if self.rows_of_a_page > 0 {
            query.limit = Some(query.page_size().min(self.rows_of_a_page));
        }
        self.inner.query(table, &query).await
    }

    async fn write(&self, table: &TableName, operation: Operation) -> Result<Written> {
        self.inner.write(table, operation).await
    }

    async fn transact(&self, table: &TableName, transaction: Transaction) -> Result<Vec<Written>> {
        self.inner.transact(table, transaction).await
    }
}

/// A new table `Visits` on a recording store.
pub(crate) async fn table_on(store: Recorder) -> (Table, Arc<Recorder>) {
    let store = Arc::new(store);
    let table = Table::new(Arc::clone(&store) as Arc<dyn TableStore>, "Visits").unwrap();
    table.create().await.unwrap();
    (table, store)
}

/// A table with visits on these floors in each region.
pub(crate) async fn visits(store: Recorder, regions: &[&str], floors: std::ops::Range<i8>) -> (Table, Arc<Recorder>) {
    let (table, store) = table_on(store).await;
    for region in regions {
        for floor in floors.clone() {
            table.insert(&Visit::numbered(region, floor)).await.unwrap();
        }
    }
    (table, store)
}

/// The floors of what a query found.
pub(crate) fn floors<'v>(found: impl IntoIterator<Item = &'v Versioned<Visit>>) -> Vec<i8> {
    found.into_iter().map(|visit| visit.floor).collect()
}
