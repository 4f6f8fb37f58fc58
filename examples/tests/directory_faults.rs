//! The employee directory dies at every call to its store while it hires, moves and lets go; the next run makes it whole.
#![expect(clippy::expect_used, clippy::print_stderr, reason = "helpers of tests; what they print shows when one fails")]
#![expect(dead_code, reason = "the app's own modules, of which a test uses some")]

#[path = "../employee_directory/directory.rs"]
mod directory;
#[path = "../employee_directory/domain.rs"]
mod domain;
#[path = "../employee_directory/moves.rs"]
mod moves;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::memory::InMemory;
use table_core::layer::{Fault, FaultMoment, FaultOptions, FaultPlan};
use table_core::{DynamicEntity, ManualClock, MemoryStore, Query, QueueName, QueueStore, Result, Timestamp};
use table_examples::OpenStore;
use table_patterns::inter_partition_secondary_index::Reads;

use directory::Directory;
use domain::{Department, Employee, Leaver, Person, Review, Transfer};

const MOMENTS: [FaultMoment; 3] = [FaultMoment::Before, FaultMoment::RequestLost, FaultMoment::After];
const JO: u32 = 223;
const NEW: u32 = 225;
const DEPARTMENTS: [&str; 2] = ["Sales", "Marketing"];

/// What the directory does when it dies.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Act {
    Hire,
    /// Of two, of whom the second has the address of somebody else.
    HireRefused,
    Move,
    Leave,
}

/// Stores that outlive every process that uses them.
struct World {
    memory: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
    blobs: Arc<InMemory>,
}

impl World {
    async fn new() -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp::now()));
        let world = Self { memory: Arc::new(MemoryStore::with_clock(clock.clone())), clock, blobs: Arc::default() };
        let directory = Directory::open(&world.healthy()).await.expect("it opens");
        for name in DEPARTMENTS {
            directory.add_department(name).await.expect("a department");
        }
        directory.hire(&[employee(JO), employee(224)], &|| ()).await.expect("they are hired");
        review(&directory).await;
        directory.appoint(JO).await.expect("a manager");
        directory.keep_photo(JO, Bytes::from_static(b"smile")).await.expect("a photo");
        world
    }

    fn healthy(&self) -> OpenStore {
        OpenStore::new(self.memory.clone(), self.memory.clone(), self.blobs.clone())
    }

    fn faulty(&self, plan: &FaultPlan) -> OpenStore {
        let store = Arc::new(Fault::new(self.memory.clone(), plan.clone()));
        OpenStore::new(store.clone(), store, self.blobs.clone())
    }

    /// Another process, after a while.
    async fn after(&self, wait: Duration) -> Directory {
        self.clock.advance(wait);
        Directory::open(&self.healthy()).await.expect("it opens")
    }
}

fn employee(id: u32) -> Employee {
    Employee {
        department: "Sales".into(),
        id,
        first_name: "Jo".into(),
        last_name: "Jones".into(),
        age: 41,
        email: format!("jo{id}@contoso.com"),
        posting: String::new(),
    }
}

/// The only review there is.
async fn review(directory: &Directory) {
    let review = Review { department: "Sales".into(), id: JO, year: 2014, rating: 5 };
    directory.families.add(&review).await.expect("a review");
}

async fn act(store: &OpenStore, act: Act) -> Result<()> {
    let directory = Directory::open(store).await?;
    match act {
        Act::Hire => directory.hire(&[employee(NEW)], &|| ()).await,
        Act::HireRefused => {
            let same_address = Employee { email: employee(JO).email, ..employee(226) };
            let refused = directory.hire(&[employee(NEW), same_address], &|| ()).await;
            assert!(refused.is_err(), "an address is given once");
            Ok(())
        }
        Act::Move => directory.relocate(JO, "Marketing").await.map(|_| ()),
        Act::Leave => directory.let_go(JO).await.map(|_| ()),
    }
}

/// Where everybody is, after it was checked that all rows agree on it.
async fn state(directory: &Directory) -> Vec<(u32, &'static str)> {
    let mut places = Vec::new();
    for name in DEPARTMENTS {
        let employees = directory.employees.all(Employee::range(name)).await.expect("employees");
        let department = directory.staff.require(Department::key(name)).await.expect("the department");
        assert_eq!(department.employee_count, i64::try_from(employees.len()).expect("few"), "{name}");
        let managed = employees.iter().find(|employee| Some(employee.id) == department.manager);
        assert_eq!(department.manager_email, managed.map(|manager| manager.email.clone()), "{name}");
        let partition = table_core::PartitionKey::new(name).expect("a key");
        let rows = Query::<DynamicEntity>::partition(&partition).allow_scan();
        let rows = directory.staff.all(rows).await.expect("rows");
        for prefix in ["email_", "lname_"] {
            let copies = rows.iter().filter(|row| row.key.row.as_str().starts_with(prefix)).count();
            assert_eq!(copies, employees.len(), "{prefix} in {name}");
        }
        let reviews = directory.staff.all(Review::range(name).query()).await.expect("reviews");
        let jo_is_here = employees.iter().any(|employee| employee.id == JO);
        assert_eq!(reviews.len(), usize::from(jo_is_here), "reviews go along: {name}");
        for employee in &employees {
            let person = directory.person(employee.id).await.expect("a person");
            assert_eq!((&*person.department, &person.email), (name, &employee.email));
            let found = directory.people.find(Person::by_email(&employee.email), Reads::Fast).await.expect("a lookup");
            assert_eq!(found.map(|copy| copy.id), Some(employee.id));
            places.push((employee.id, name));
        }
    }
    let archived = directory.archive.all(Query::<Leaver>::all().allow_scan()).await.expect("the archive");
    for leaver in archived {
        assert_eq!(leaver.luggage.reviews.len(), 1);
        places.push((leaver.id, "archive"));
    }
    let people = directory.people.table().all(Query::<Person>::all().allow_scan()).await.expect("people");
    assert_eq!(people.len(), places.iter().filter(|(_, place)| *place != "archive").count(), "{places:?}");
    places.sort_unstable();
    places
}

/// Nothing is left to be done, and nothing of what was left for a while.
async fn assert_clean(world: &World, directory: &Directory, at: &str) {
    for queue in ["directory-moves", "directory-moves-poison", "directory-keeper", "directory-keeper-poison"] {
        let length = world.memory.queue_length(&QueueName::new(queue).expect("a name")).await.expect("a length");
        assert_eq!(length, 0, "{queue} {at}");
    }
    for table in [&directory.staff, directory.people.table(), &directory.archive] {
        let rows = table.all(Query::<DynamicEntity>::all().allow_scan()).await.expect("rows");
        let left = rows.iter().map(|row| row.key.row.as_str());
        let left: Vec<_> = left.filter(|row| row.starts_with("transfer_") || row.starts_with('~')).collect();
        assert!(left.is_empty(), "{left:?} {at}");
    }
}

/// Where somebody is, for everybody.
type Places<'p> = &'p [(u32, &'static str)];

async fn dies_at_every_call(doing: Act, old: Places<'_>, new: Places<'_>) {
    let plan = FaultPlan::quiet();
    act(&World::new().await.faulty(&plan), doing).await.expect("it works");
    let calls = plan.calls();
    assert!(calls > 20, "only {calls} calls were counted");
    let (mut old_ends, mut new_ends) = (0, 0);
    for call in 1..=calls {
        for moment in MOMENTS {
            for options in
                [FaultOptions::default().with_death(call, moment), FaultOptions::default().with_failure(call, moment)]
            {
                let (world, plan) = (World::new().await, FaultPlan::new(options));
                let result = act(&world.faulty(&plan), doing).await;
                let at = format!("{doing:?} {moment:?} at call {call} gave {result:?}, {:?}", plan.records());
                let found = is_mended(&world, old, new, &at).await;
                assert!(result.is_err() || found == new, "{found:?} {at}");
                old_ends += u32::from(found == old);
                new_ends += u32::from(found == new);
            }
        }
    }
    assert!(old_ends > 0 && new_ends > 0, "both ends must be met: {old_ends}, {new_ends}");
}

/// The process dies after each of its calls, and the one after it, too.
async fn dies_twice(doing: Act, old: Places<'_>, new: Places<'_>) {
    let (opening, plan) = (FaultPlan::quiet(), FaultPlan::quiet());
    Directory::open(&World::new().await.faulty(&opening)).await.expect("it opens");
    act(&World::new().await.faulty(&plan), doing).await.expect("it works");
    for first in opening.calls() + 1..=plan.calls() {
        for second in opening.calls().saturating_sub(2).. {
            let world = World::new().await;
            let death_at = |call| FaultPlan::new(FaultOptions::default().with_death(call, FaultMoment::After));
            drop(act(&world.faulty(&death_at(first)), doing).await);
            world.clock.advance(Duration::from_secs(600));
            let plan = death_at(second);
            drop(Directory::open(&world.faulty(&plan)).await);
            let at = format!("{doing:?} at {first} and {second}: {:?}", plan.records());
            is_mended(&world, old, new, &at).await;
            if !plan.is_dead() {
                break;
            }
        }
    }
}

/// Later processes make it whole, and leave nothing behind.
async fn is_mended(world: &World, old: Places<'_>, new: Places<'_>, at: &str) -> Vec<(u32, &'static str)> {
    let mut found = Vec::new();
    for _ in 0..4 {
        found = state_of(world, Duration::from_secs(600), at).await;
    }
    assert!(found == old || found == new, "{found:?} {at}");
    for _ in 0..3 {
        assert_eq!(state_of(world, Duration::from_secs(90_000), at).await, found, "{at}");
    }
    assert_clean(world, &world.after(Duration::ZERO).await, at).await;
    found
}

async fn state_of(world: &World, wait: Duration, at: &str) -> Vec<(u32, &'static str)> {
    let directory = world.after(wait).await;
    eprintln!("{at}");
    state(&directory).await
}

const OLD: Places<'_> = &[(JO, "Sales"), (224, "Sales")];

/// Everything with one death, and with two.
async fn dies(doing: Act, new: Places<'_>) {
    dies_at_every_call(doing, OLD, new).await;
    dies_twice(doing, OLD, new).await;
}

#[tokio::test(flavor = "current_thread")]
async fn whoever_dies_an_employee_is_hired_or_is_not() {
    dies(Act::Hire, &[(JO, "Sales"), (224, "Sales"), (NEW, "Sales")]).await;
}

#[tokio::test(flavor = "current_thread")]
async fn whoever_dies_an_employee_who_is_refused_leaves_no_trace() {
    dies(Act::HireRefused, OLD).await;
}

#[tokio::test(flavor = "current_thread")]
async fn whoever_dies_an_employee_works_in_one_department() {
    dies(Act::Move, &[(JO, "Marketing"), (224, "Sales")]).await;
}

#[tokio::test(flavor = "current_thread")]
async fn whoever_dies_a_leaver_is_employed_or_in_the_archive() {
    dies(Act::Leave, &[(JO, "archive"), (224, "Sales")]).await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_message_that_comes_again_does_not_move_who_has_moved_back() {
    let plan = FaultPlan::quiet();
    act(&World::new().await.faulty(&plan), Act::Move).await.expect("it works");
    let mut again = 0;
    for call in 1..=plan.calls() {
        let world = World::new().await;
        let plan = FaultPlan::new(FaultOptions::default().with_death(call, FaultMoment::Before));
        drop(act(&world.faulty(&plan), Act::Move).await);
        // The dead one's lease lasts, so its message is still to come when the employee is back.
        let directory = world.after(Duration::ZERO).await;
        if directory.staff.get(Employee::key("Marketing", JO)).await.expect("a read").is_none() {
            continue;
        }
        assert!(directory.relocate(JO, "Sales").await.expect("a move"), "back at once");
        again += u32::from(plan.is_dead());
        is_mended(&world, OLD, OLD, &format!("died at {call}")).await;
    }
    assert!(again > 0, "one death at least leaves a message whose work is done");
}

#[tokio::test(flavor = "current_thread")]
async fn a_message_that_comes_late_does_not_let_go_who_was_hired_anew() {
    let plan = FaultPlan::quiet();
    act(&World::new().await.faulty(&plan), Act::Leave).await.expect("it works");
    let mut late = 0;
    for call in 1..=plan.calls() {
        let world = World::new().await;
        let plan = FaultPlan::new(FaultOptions::default().with_death(call, FaultMoment::After));
        drop(act(&world.faulty(&plan), Act::Leave).await);
        let directory = world.after(Duration::ZERO).await;
        if directory.staff.get(Employee::key("Sales", JO)).await.expect("a read").is_none() {
            continue;
        }
        assert!(directory.let_go(JO).await.expect("a second message"), "gone at once");
        directory.hire(&[employee(JO)], &|| ()).await.expect("number and address are free");
        review(&directory).await;
        let queue = QueueName::new("directory-moves").expect("a name");
        late += u32::from(world.memory.queue_length(&queue).await.expect("a length") > 3);
        let both: Places<'_> = &[(JO, "Sales"), (JO, "archive"), (224, "Sales")];
        is_mended(&world, both, both, &format!("died at {call}")).await;
    }
    assert!(late > 0, "one death at least leaves a message that is still to come");
}

#[tokio::test(flavor = "current_thread")]
async fn who_hires_so_slowly_that_it_was_given_up_leaves_no_trace() {
    let plan = FaultPlan::quiet();
    Directory::open(&World::new().await.faulty(&plan)).await.expect("it opens");
    let world = World::new().await;
    // It sends its message and stands still.
    let sent = FaultPlan::new(FaultOptions::default().with_death(plan.calls() + 1, FaultMoment::After));
    act(&world.faulty(&sent), Act::Hire).await.expect_err("it stands still");
    let directory = world.after(Duration::from_secs(600)).await;
    let rows = directory.staff.all(Query::<Transfer>::all().allow_scan()).await.expect("rows");
    let given_up = rows.iter().find(|mark| mark.given_up).expect("a worker has given it up");
    // It wakes up, writes the person, is refused the employee, and dies.
    directory.desk.hire(&given_up.message, &[employee(NEW)], &|| ()).await.expect_err("given up");
    assert!(directory.person(NEW).await.is_ok(), "it has left a person");
    let directory = world.after(Duration::from_secs(90_000)).await;
    assert_eq!(state(&directory).await, OLD);
    for _ in 0..3 {
        world.after(Duration::from_secs(90_000)).await;
    }
    assert_clean(&world, &directory, "at last").await;
}
