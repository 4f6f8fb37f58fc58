//! One to many, one to one, joins and inheritance.

use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use table_core::keys::{KeyRange, Span};
use table_core::layer::Meter;
use table_core::{DynamicEntity, Entity, EntitySet, ErrorKind, Flatten, Key, PartitionKey, Query, Result, Table};
use table_patterns::{Denormalized, IndexedTransaction, Joined, KeepsCopies, Link, Lookup, LookupOptions, Targets};
use table_tests::pattern::{Altered, Costs, Faults, TASKS, behind, contend, rows, stores};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "departments", row = "department_{name}")]
struct Department {
    name: String,
    floor: i32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    badge: Option<Link<Badge>>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{site}", row = "badge_{number:06}")]
struct Badge {
    site: String,
    number: u32,
    owner: Option<Link<Employee>>,
}

fn employee(department: &str, id: u32) -> Employee {
    Employee { department: department.into(), id, badge: None }
}

fn department(name: &str, floor: i32) -> Department {
    Department { name: name.into(), floor }
}

#[expect(clippy::unnecessary_wraps, reason = "a link may be none")]
fn of(employee: &Employee) -> Option<Key<Department>> {
    Some(Department::key(&employee.department))
}

fn lookup(table: &Table) -> Lookup<Department> {
    Lookup::new(table.clone(), LookupOptions::default())
}

fn floors<L>(joined: &[Joined<L, Department>]) -> Vec<Option<i32>> {
    joined.iter().map(|each| each.related.as_ref().map(|department| department.floor)).collect()
}

#[tokio::test]
async fn a_join_gives_each_entity_its_own_and_reads_each_other_once() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        table.insert(&department("Sales", 1)).await?;
        table.insert(&department("Marketing", 2)).await?;
        let names = ["Sales", "Marketing", "Nowhere", "Sales", "Nowhere", "Marketing"];
        let employees: Vec<Employee> = (0..).zip(names).map(|(id, name)| employee(name, id)).collect();
        let departments = lookup(&table);
        let before = meter.report();
        let joined = departments.join(employees.clone(), of).await?;
        assert_eq!(joined.iter().map(|each| each.entity.id).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(floors(&joined), [Some(1), Some(2), None, Some(1), None, Some(2)]);
        // Also that there is no such department is read once, and kept.
        assert_eq!((meter.report() - before.clone()).total().transactions, 3);
        assert_eq!(floors(&departments.join(employees.clone(), of).await?), floors(&joined));
        assert_eq!((meter.report() - before).total().transactions, 3);
        assert_eq!(floors(&departments.join(employees, |_| None).await?), [None; 6]);
    }
    Ok(())
}

#[tokio::test]
async fn a_stream_is_joined_as_it_comes() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        table.insert(&department("Sales", 1)).await?;
        for id in 0..5 {
            table.insert(&employee("Sales", id)).await?;
        }
        let departments = lookup(&table);
        let stream = departments.join_stream(table.stream(Employee::range("Sales")), |employee| of(employee));
        let joined: Vec<_> = stream.try_collect().await?;
        assert_eq!(joined.iter().map(|each| each.entity.id).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!(floors(&joined), [Some(1); 5]);

        let failing = table.stream(Query::<Employee>::all());
        let mut failing = std::pin::pin!(departments.join_stream(failing, |employee| of(employee)));
        assert_eq!(failing.try_next().await.unwrap_err().kind(), ErrorKind::ScanRefused);
    }
    Ok(())
}

#[tokio::test]
async fn no_more_is_kept_than_was_allowed() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let departments = Lookup::<Department>::new(table, LookupOptions::default().with_entries(10));
        let all = async || {
            for number in 0..100 {
                assert!(departments.get(Department::key(&format!("D{number}"))).await.unwrap().is_none());
            }
        };
        all().await;
        assert_eq!(meter.report().total().transactions, 100);
        all().await;
        assert!(meter.report().total().transactions >= 190, "{:?}", meter.report().total());
    }
    Ok(())
}

/// On the memory store, since the clock stands still.
#[tokio::test(start_paused = true)]
async fn an_answer_is_never_older_than_allowed() -> Result<()> {
    let (table, meter) = stores()[0].metered().await;
    let options = LookupOptions::default().with_age(Duration::from_secs(10));
    let departments = Lookup::<Department>::new(table.clone(), options);
    let floor =
        async || Ok::<_, table_core::Error>(departments.get(Department::key("Sales")).await?.map(|it| it.floor));
    assert_eq!(floor().await?, None);
    table.insert(&department("Sales", 1)).await?;
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!(floor().await?, None);
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(floor().await?, Some(1));
    let mut read = table.require(Department::key("Sales")).await?;
    read.floor = 2;
    table.replace(&mut read).await?;
    let before = meter.report();
    assert_eq!(floor().await?, Some(1));
    assert_eq!((meter.report() - before).total().transactions, 0);
    tokio::time::advance(Duration::from_secs(11)).await;
    assert_eq!(floor().await?, Some(2));

    let never = Lookup::<Department>::new(table.clone(), options.with_age(Duration::ZERO));
    assert_eq!(never.get(Department::key("Sales")).await?.map(|it| it.floor), Some(2));
    read.floor = 3;
    table.replace(&mut read).await?;
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(never.get(Department::key("Sales")).await?.map(|it| it.floor), Some(3));
    Ok(())
}

#[tokio::test]
async fn what_is_forgotten_is_read_again() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        table.insert(&department("Sales", 1)).await?;
        let departments = lookup(&table);
        let floor = async || departments.get(Department::key("Sales")).await.unwrap().map(|it| it.floor);
        assert_eq!(floor().await, Some(1));
        for forget_all in [false, true] {
            let mut read = table.require(Department::key("Sales")).await?;
            read.floor += 1;
            table.replace(&mut read).await?;
            assert_eq!(floor().await, Some(read.floor - 1));
            if forget_all {
                departments.forget_all();
            } else {
                departments.forget(Department::key("Sales"))?;
            }
            assert_eq!(floor().await, Some(read.floor));
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_small_table_is_loaded_by_the_page() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        for floor in 0..20 {
            table.insert(&department(&format!("D{floor}"), floor)).await?;
        }
        let departments = lookup(&table);
        let before = meter.report();
        assert_eq!(departments.load(Department::range()).await?, 20);
        for floor in 0..20 {
            let found = departments.get(Department::key(&format!("D{floor}"))).await?;
            assert_eq!(found.map(|it| it.floor), Some(floor));
        }
        assert_eq!((meter.report() - before).total().transactions, 1);
    }
    Ok(())
}

/// A write and a `forget` come between a read and the keeping of its answer.
#[tokio::test]
async fn a_read_that_began_before_a_forget_keeps_nothing_after_it() -> Result<()> {
    for store in &stores() {
        for load in [false, true] {
            let table = store.table().await;
            table.insert(&department("Sales", 1)).await?;
            let (asked, go_on) = (Arc::new(tokio::sync::Notify::new()), Arc::new(tokio::sync::Notify::new()));
            let held = Altered::held_after_first_read(Arc::clone(table.store()), asked.clone(), go_on.clone());
            let departments = lookup(&behind(&table, held));
            let reading = departments.clone();
            let reader = tokio::spawn(async move {
                if load {
                    reading.load(Department::range()).await.map(|_| ())
                } else {
                    reading.get(Department::key("Sales")).await.map(|_| ())
                }
            });
            asked.notified().await;
            let mut read = table.require(Department::key("Sales")).await?;
            read.floor = 2;
            table.replace(&mut read).await?;
            departments.forget(Department::key("Sales"))?;
            go_on.notify_one();
            reader.await.unwrap()?;
            assert_eq!(departments.get(Department::key("Sales")).await?.map(|it| it.floor), Some(2), "load: {load}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_failure_is_not_kept() {
    let state = async |table: Table| rows(&table).await.len();
    let act = async |table: Table| {
        let departments = lookup(&table);
        let key = || Department::key("Sales");
        let found = match departments.get(key()).await {
            Ok(found) => found,
            // The failed read must not stand in the way of the next.
            Err(_) => departments.get(key()).await?,
        };
        assert_eq!(found.map(|it| it.floor), Some(1));
        let marked = IndexedTransaction::new(&table).insert(&employee("Sales", 1)).commit().await;
        marked.map(|_| ())
    };
    let prepare = async |table: Table| {
        table.insert(&department("Sales", 1)).await.unwrap();
    };
    let faults = Faults { prepare, act, state };
    assert_eq!(faults.everywhere().await.undecided, 0);
}

/// All tasks ask for the same four departments at once, and each is read once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_side_by_side_share_a_read() -> Result<()> {
    for store in &stores() {
        let prepare = async |table: Table| {
            for floor in 0..4 {
                table.insert(&department(&format!("D{floor}"), floor)).await.unwrap();
            }
        };
        let shared: Arc<std::sync::OnceLock<(Meter<_>, Lookup<Department>)>> = Arc::default();
        contend(store, prepare, |task, table| {
            let shared = Arc::clone(&shared);
            async move {
                let (_, departments) = shared.get_or_init(|| {
                    let meter = Meter::new(Arc::clone(table.store()));
                    let metered = Table::new(Arc::new(meter.clone()), table.name().as_str()).unwrap();
                    (meter, lookup(&metered))
                });
                for round in 0..20 {
                    let floor = i32::try_from((task + round) % 4).unwrap();
                    let found = departments.get(Department::key(&format!("D{floor}"))).await?;
                    assert_eq!(found.map(|it| it.floor), Some(floor));
                }
                Ok(())
            }
        })
        .await;
        assert_eq!(shared.get().unwrap().0.report().total().transactions, 4);
    }
    Ok(())
}

/// Writers change a department and forget it; whoever changed it sees that change or a later one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_forgets_after_a_write_sees_it() -> Result<()> {
    for store in &stores() {
        let prepare = async |table: Table| table.insert(&department("Sales", 0)).await.map(drop).unwrap();
        let shared: Arc<std::sync::OnceLock<Lookup<Department>>> = Arc::default();
        let table = contend(store, prepare, |_, table| {
            let shared = Arc::clone(&shared);
            async move {
                let departments = shared.get_or_init(|| lookup(&table));
                let counted = table_patterns::Indexed::<Department>::new(table.clone())?;
                let options = table_patterns::UpdateOptions::default().with_attempts(500);
                let counted = counted.with_options(options);
                for _ in 0..5 {
                    let mine = counted.update(Department::key("Sales"), |sales| sales.floor += 1).await?.floor;
                    departments.forget(Department::key("Sales"))?;
                    let seen = departments.get(Department::key("Sales")).await?.map(|it| it.floor);
                    assert!(seen >= Some(mine), "wrote {mine} and saw {seen:?}");
                }
                Ok(())
            }
        })
        .await;
        assert_eq!(table.require(Department::key("Sales")).await?.floor, i32::try_from(TASKS * 5).unwrap());
    }
    Ok(())
}

#[tokio::test]
async fn each_operation_takes_the_storage_transactions_that_the_page_says() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let mut costs = Costs::of("relationships", &meter);
        for name in ["Sales", "Marketing"] {
            table.insert(&department(name, 1)).await?;
        }
        let departments = lookup(&table);
        let key = || Department::key("Sales");
        costs.count("get", departments.get(key())).await;
        costs.count("get of what is kept", departments.get(key())).await;
        let employees = (0..100).map(|id| employee(if id % 2 == 0 { "Sales" } else { "Marketing" }, id));
        departments.forget_all();
        costs.count("join of 100 entities with 2", departments.join(employees.clone(), of)).await;
        costs.count("join of what is kept", departments.join(employees, of)).await;
        costs.count("load", departments.load(Department::range())).await;
        let links = ["Sales", "Marketing", "Nowhere"].map(|name| Link::to(&Department::key(name)).unwrap());
        costs.count("get_many of 3 links", table.get_many::<Department, _>(links, 8)).await;
        costs.are_documented();
    }
    Ok(())
}

/// One type for a team and its members, in one partition.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{team}", row = "team")]
struct Team {
    team: String,
    name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{team}", row = "member_employee_{id:06}")]
struct Member {
    team: String,
    id: u32,
    #[entity(flatten(prefix = "Team"))]
    of: TeamFields,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{team}", row = "member_guest_{id:06}")]
struct Guest {
    team: String,
    id: u32,
    company: String,
}

/// What each member carries of its team, so that one read gives both.
#[derive(Flatten, Clone, Debug, PartialEq, Default)]
struct TeamFields {
    name: String,
}

#[derive(EntitySet, Debug, PartialEq)]
enum Everything {
    Team(Team),
    Member(Member),
    Guest(Guest),
}

#[derive(EntitySet, Debug, PartialEq)]
enum Person {
    Member(Member),
    Guest(Guest),
}

impl KeepsCopies for Member {
    type Source = Team;

    fn targets(team: &Team) -> Targets<Self> {
        Self::range(&team.team).query().into()
    }

    fn source(&self) -> Option<Key<Team>> {
        Some(Team::key(&self.team))
    }

    fn take(&mut self, team: Option<&Team>) {
        self.of = team.map(|team| TeamFields { name: team.name.clone() }).unwrap_or_default();
    }
}

fn team(name: &str) -> Team {
    Team { team: "A".into(), name: name.into() }
}

fn member(id: u32, of: &str) -> Member {
    Member { team: "A".into(), id, of: TeamFields { name: of.into() } }
}

async fn team_of_two(table: &Table) -> Result<()> {
    let guest = Guest { team: "A".into(), id: 1, company: "Fabrikam".into() };
    let begun = table.transaction().insert(&team("Blue"));
    begun.insert(&member(1, "Blue")).insert(&member(2, "Blue")).insert(&guest).commit().await.map(drop)
}

#[tokio::test]
async fn one_and_many_of_a_partition_come_by_one_query() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        team_of_two(&table).await?;
        let before = meter.report();
        let all = table.all(Query::<Everything>::partition(&PartitionKey::new("A")?).allow_scan()).await?;
        assert_eq!((meter.report() - before).total().transactions, 1);
        let teams = all.iter().filter(|row| matches!(row.value(), Everything::Team(team) if team.name == "Blue"));
        assert_eq!((teams.count(), all.len()), (1, 4));
    }
    Ok(())
}

#[tokio::test]
async fn one_type_carries_the_fields_of_the_other_and_all_change_together() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        team_of_two(&table).await?;
        assert_eq!(table.require(Member::key("A", 2)).await?.of.name, "Blue");
        Denormalized::<Member>::new(table.clone()).update(Team::key("A"), |team| team.name = "Red".into()).await?;
        let members = table.all(Member::range("A")).await?;
        assert_eq!(members.iter().map(|member| member.of.name.as_str()).collect::<Vec<_>>(), ["Red", "Red"]);
    }
    Ok(())
}

#[tokio::test]
async fn types_with_a_common_ancestor_are_read_as_what_they_are() -> Result<()> {
    for store in &stores() {
        let table = store.table().await;
        team_of_two(&table).await?;
        let range = KeyRange { partition: Span::exact("A"), row: Span::prefix("member_") };
        let people = table.all(Query::<Person>::in_range(Ok(range))).await?;
        let guests = people.iter().filter(|person| matches!(person.value(), Person::Guest(_))).count();
        assert_eq!((people.len(), guests), (3, 1));
        assert_eq!(table.all(Guest::range("A")).await?[0].company, "Fabrikam");
    }
    Ok(())
}

#[tokio::test]
async fn links_lead_both_ways_and_are_followed_at_once() -> Result<()> {
    for store in &stores() {
        let (table, meter) = store.metered().await;
        let owner = Some(Link::to(&Employee::key("Sales", 7))?);
        table.insert(&Badge { site: "North".into(), number: 42, owner }).await?;
        let badge = Some(Link::to(&Badge::key("North", 42))?);
        table.insert(&Employee { badge, ..employee("Sales", 7) }).await?;

        let jo = table.require(Employee::key("Sales", 7)).await?;
        let badge = table.require(jo.badge.as_ref().unwrap()).await?;
        assert_eq!(badge.number, 42);
        assert_eq!(table.require(badge.owner.as_ref().unwrap()).await?.id, 7);
        // The stored form is part of the format.
        let raw = table.require::<DynamicEntity>(jo.key().clone()).await?;
        assert_eq!(raw.get("Badge"), Some(&"North/badge_000042".into()));

        let before = meter.report();
        let found = table.get_many(jo.badge.iter().chain([&Link::to(&Badge::key("South", 1))?]), 8).await?;
        assert_eq!(found.iter().map(|badge| badge.as_ref().map(|it| it.number)).collect::<Vec<_>>(), [Some(42), None]);
        assert_eq!((meter.report() - before).total().transactions, 2);
    }
    Ok(())
}
