//! More targets than a transaction and a page hold, in several partitions.

use std::sync::Arc;

use futures_util::stream;
use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan, Meter};
use table_core::{Entity, Key, LoadOptions, Query, QueueStore, Result, Table, TableStore};
use table_patterns::denormalization::{Denormalized, KeepsCopies, Targets};
use table_patterns::eventually_consistent_transactions::Mover;
use table_tests::pattern::{TestStore, memory, our_stores};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{site}", row = "building")]
struct Building {
    site: String,
    name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{site}_{floor:02}", row = "badge_{id:06}")]
struct Badge {
    site: String,
    floor: u32,
    id: u32,
    building_name: String,
}

/// Badges on each floor: more than a transaction holds on each, and together more than two pages.
const FLOORS: [u32; 3] = [250, 120, 1900];
const BADGES: u32 = FLOORS[0] + FLOORS[1] + FLOORS[2];

impl KeepsCopies for Badge {
    type Source = Building;

    fn targets(building: &Building) -> Targets<Self> {
        let floors = (0_u32..).zip(FLOORS).map(|(floor, _)| Self::FLOOR.eq(floor));
        let any = floors.reduce(table_core::query::Predicate::or).expect("there are floors");
        Query::all().filter(Self::SITE.eq(building.site.as_str())).filter(any).allow_scan().into()
    }

    fn source(&self) -> Option<Key<Building>> {
        Some(Building::key(&self.site))
    }

    fn take(&mut self, building: Option<&Building>) {
        self.building_name = building.map(|building| building.name.clone()).unwrap_or_default();
    }
}

fn open(tables: &Arc<dyn TableStore>) -> (Table, Table) {
    let table = |name| Table::new(Arc::clone(tables), name).unwrap();
    (table("Buildings"), table("Badges"))
}

async fn mover(tables: &Arc<dyn TableStore>, queues: &Arc<dyn QueueStore>) -> Mover {
    let (buildings, badges) = open(tables);
    let builder = Mover::builder(Arc::clone(queues), "moves").unwrap();
    builder.keep_copies::<Badge>(&buildings, &badges).build().await.unwrap()
}

async fn kept(tables: &Arc<dyn TableStore>, queues: &Arc<dyn QueueStore>) -> (Denormalized<Badge>, Mover) {
    let (buildings, badges) = open(tables);
    let mover = mover(tables, queues).await;
    (Denormalized::kept_by(buildings, badges, &mover).unwrap(), mover)
}

async fn prepare(store: &TestStore) -> (Denormalized<Badge>, Mover) {
    let (badges, mover) = kept(&store.tables, &store.queues).await;
    badges.create_if_missing().await.unwrap();
    badges.insert(&Building { site: "hq".into(), name: "Old".into() }).await.unwrap();
    let floors = (0_u32..).zip(FLOORS).flat_map(|(floor, count)| (0..count).map(move |id| (floor, id)));
    let all = floors.map(|(floor, id)| Badge { site: "hq".into(), floor, id, building_name: "Old".into() });
    badges.table().load(stream::iter(all), LoadOptions::default()).await.unwrap();
    (badges, mover)
}

async fn stale(store: &TestStore) -> u32 {
    let (buildings, badges) = open(&store.tables);
    let name = buildings.require(Building::key("hq")).await.unwrap().into_value().name;
    let all = badges.all(Query::<Badge>::all().allow_scan()).await.unwrap();
    assert_eq!(all.len(), BADGES as usize);
    u32::try_from(all.iter().filter(|badge| badge.building_name != name).count()).unwrap()
}

#[tokio::test]
async fn they_follow_in_transactions_of_a_hundred_and_the_worker_has_the_rest() -> Result<()> {
    for store in &our_stores() {
        prepare(store).await;
        let meter = Meter::new(store.tables.clone());
        let tables: Arc<dyn TableStore> = Arc::new(meter.clone());
        let (badges, mover) = kept(&tables, &store.queues).await;
        let before = meter.report();
        badges.update(Building::key("hq"), |building| building.name = "New".into()).await?;
        let writer = meter.report() - before.clone();
        let left = stale(store).await;
        assert!(left > 0 && left < BADGES, "{left} of {BADGES} are left to a worker");
        assert_eq!(mover.progress().await?.queued, 1);
        assert!(mover.run_due().await? > 0, "what the writer leaves is due at once");
        assert_eq!(stale(store).await, 0);
        // 3 and 2 and 19, and the building with its intent.
        let all = meter.report() - before;
        assert_eq!(all.operation("transact").transactions, 3 + 2 + 19 + 1, "{all:?}");
        let written = |report: &table_core::layer::MeterReport| report.operation("transact").entities_written;
        assert_eq!(written(&all), u64::from(BADGES) + 2, "each badge is written once");
        assert_eq!(written(&writer), u64::from(BADGES - left) + 2);
    }
    Ok(())
}

/// Whoever dies between two transactions leaves the rest to the next worker, which goes on where the message says.
#[tokio::test(start_paused = true)]
async fn a_death_between_two_transactions_is_resumed() -> Result<()> {
    let mut cut = 0;
    for call in 4..60 {
        let store = memory();
        let (_, mover) = prepare(&store).await;
        let plan = FaultPlan::new(FaultOptions::default().with_death(call, FaultMoment::After));
        let tables: Arc<dyn TableStore> = Arc::new(Fault::new(store.tables.clone(), plan.clone()));
        let queues: Arc<dyn QueueStore> = Arc::new(Fault::new(store.queues.clone(), plan.clone()));
        let (dying, worker) = kept(&tables, &queues).await;
        drop(dying.update(Building::key("hq"), |building| building.name = "New".into()).await);
        drop(worker.run_due().await);
        let left = stale(&store).await;
        cut += u32::from(left > 0 && left < BADGES);
        super::settle(&store, &mover).await;
        assert_eq!(stale(&store).await, 0, "after a death at call {call}");
        if !plan.is_dead() {
            break;
        }
    }
    assert!(cut > 20, "only {cut} deaths were between two transactions");
    Ok(())
}

#[tokio::test]
async fn a_delete_reaches_them_all() -> Result<()> {
    for store in &our_stores() {
        let (badges, mover) = prepare(store).await;
        assert!(badges.delete(Building::key("hq")).await?);
        super::settle(store, &mover).await;
        let all = badges.table().all(Query::<Badge>::all().allow_scan()).await?;
        assert!(all.iter().all(|badge| badge.building_name.is_empty()));
    }
    Ok(())
}
