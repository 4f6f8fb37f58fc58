//! Writers that change everything there is, and tell what they begin and what comes of it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bytes::Bytes;
use table_core::{Result, Table, Versioned};
use table_patterns::Indexed;
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::large_entities::Large;
use tokio::task::JoinSet;

use super::promises::NOTHING;
use super::world::{Document, Employee, Note, Record, World};

/// Writers of employees; each has some for itself, and shares others.
const WRITERS: u32 = 3;
/// Employees that each writer has for itself.
const OWN: u32 = 4;
/// Employees that all writers count on.
const SHARED: u32 = 2;
/// The first number of the shared employees.
const FIRST_SHARED: u32 = 900;
/// Unique values, fewer than there are employees that want one.
const EMAILS: u32 = 10;
/// Documents of the one who writes them.
const DOCUMENTS: u32 = 4;

/// Writers of items; each has some for itself.
const ITEM_WRITERS: u32 = 2;

/// Who hears of what writers begin, and what comes of it.
#[derive(Clone)]
pub struct Watcher(Arc<dyn Fn(String) + Send + Sync>);

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}

impl Watcher {
    /// Somebody who hears each line.
    pub fn new(hears: impl Fn(String) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hears))
    }

    fn tell(&self, line: String) {
        (self.0)(line);
    }

    /// Tells what a change begins and what came of it.
    pub(super) async fn change(&self, thing: &str, state: &str, work: impl Future<Output = Result<()>>) {
        self.tell(format!("begin {thing} {state}"));
        let outcome = match work.await {
            Ok(()) => "done",
            Err(error) if error.outcome_unknown() => "unknown",
            Err(_) => "refused",
        };
        self.tell(format!("{outcome} {thing}"));
    }
}

/// All writers of one process.
#[derive(Debug)]
pub struct Writers {
    pub(super) world: World,
    pub(super) watcher: Watcher,
    /// Numbers that no other process has had.
    numbers: AtomicI64,
}

impl Writers {
    /// Writers whose numbers are those of this round of a soak.
    #[must_use]
    pub fn new(world: World, watcher: Watcher, round: u32) -> Arc<Self> {
        Arc::new(Self { world, watcher, numbers: AtomicI64::new(i64::from(round) * 1_000_000) })
    }

    pub(super) fn number(&self) -> i64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Lets each writer make so many changes.
    ///
    /// # Errors
    /// Those of reading; what becomes of a change is told.
    ///
    /// # Panics
    /// Where a writer does.
    #[expect(clippy::expect_used, reason = "a writer that panics is a failure of the test")]
    pub async fn run(self: &Arc<Self>, changes: u64) -> Result<()> {
        let mover = self.world.mover().await?;
        let mut tasks = JoinSet::new();
        for writer in 0..WRITERS {
            tasks.spawn(Self::write_employees(Arc::clone(self), mover.clone(), writer, changes));
            tasks.spawn(Self::count(Arc::clone(self), mover.clone(), writer, changes));
        }
        for writer in 0..ITEM_WRITERS {
            tasks.spawn(Self::write_items(Arc::clone(self), mover.clone(), writer, changes));
        }
        tasks.spawn(Self::write_products(Arc::clone(self), mover.clone(), changes));
        tasks.spawn(Self::write_records(Arc::clone(self), mover.clone(), changes));
        tasks.spawn(Self::write_documents(Arc::clone(self), mover.clone(), changes));
        tasks.spawn(Self::send_notes(Arc::clone(self), mover, changes));
        while let Some(ended) = tasks.join_next().await {
            ended.expect("a writer that does not panic")?;
        }
        Ok(())
    }

    async fn write_employees(self: Arc<Self>, mover: Mover, writer: u32, changes: u64) -> Result<()> {
        let employees = self.world.employees(&mover)?;
        for _ in 0..changes {
            let id = writer * 100 + fastrand::u32(0..OWN);
            let read = employees.get(Employee::key(&department(id), id)).await?;
            self.change_employee(&employees, id, read).await;
        }
        Ok(())
    }

    async fn change_employee(&self, employees: &Indexed<Employee>, id: u32, read: Option<Versioned<Employee>>) {
        let thing = format!("employee:{id}");
        let email = (fastrand::u8(0..8) > 0).then(|| format!("{}-{}", self.world.name, fastrand::u32(0..EMAILS)));
        let office = (fastrand::u8(0..4) > 0).then(|| if fastrand::bool() { "n" } else { "s" }.to_owned());
        let version = self.number();
        match read {
            None => {
                let new = Employee { department: department(id), id, version, email, office, counts: Vec::new() };
                let insert = async { employees.insert(&new).await.map(|_| ()) };
                self.watcher.change(&thing, &employee_state(&new), insert).await;
            }
            Some(read) if fastrand::u8(0..5) == 0 => {
                self.watcher.change(&thing, NOTHING, employees.delete(&read)).await;
            }
            Some(mut read) => {
                read.version = version;
                // Else the change is one of a copied field only.
                if fastrand::u8(0..4) > 0 {
                    (read.email, read.office) = (email, office);
                }
                let state = employee_state(&read);
                self.watcher.change(&thing, &state, employees.replace(&mut read)).await;
            }
        }
    }

    /// Counts on employees that others count on too, and moves them between offices.
    async fn count(self: Arc<Self>, mover: Mover, writer: u32, changes: u64) -> Result<()> {
        let employees = self.world.employees(&mover)?;
        for _ in 0..changes {
            let id = FIRST_SHARED + fastrand::u32(0..SHARED);
            let key = Employee::key(&department(id), id);
            if employees.get(key.clone()).await?.is_none() {
                let counts = vec![0; WRITERS as usize];
                let (email, office) = (None, None);
                let new = Employee { department: department(id), id, version: 0, email, office, counts };
                // Another may be faster.
                drop(employees.insert(&new).await);
                continue;
            }
            let (thing, version) = (format!("count:{id}:{writer}"), self.number());
            self.watcher.tell(format!("counting {thing}"));
            let counted = employees.update(key, |employee| {
                employee.version = version;
                employee.office = Some(if version % 2 == 0 { "n" } else { "s" }.to_owned());
                if let Some(count) = employee.counts.get_mut(writer as usize) {
                    *count += 1;
                }
            });
            if counted.await.is_ok() {
                self.watcher.tell(format!("counted {thing}"));
            }
        }
        Ok(())
    }

    /// Writes a record, has it moved, and writes it again meanwhile.
    async fn write_records(self: Arc<Self>, mover: Mover, changes: u64) -> Result<()> {
        let current = self.world.table("Current")?;
        for _ in 0..=changes / 3 {
            let version = self.number();
            let id = u32::try_from(version).unwrap_or_default();
            let new = Record { owner: "records".into(), id, version };
            let thing = format!("record:{id}");
            let insert = async { current.insert(&new).await.map(|_| ()) };
            self.watcher.change(&thing, &format!("v{version}"), insert).await;
            self.watcher.tell(format!("asking {thing}"));
            if mover.archive(&current, Record::key("records", id)).await.is_ok() {
                self.watcher.tell(format!("asked {thing}"));
            }
            self.rewrite(&current, &thing, id).await?;
        }
        Ok(())
    }

    async fn rewrite(&self, current: &Table, thing: &str, id: u32) -> Result<()> {
        let Some(mut read) = current.get(Record::key("records", id)).await? else { return Ok(()) };
        read.version = self.number();
        let state = format!("v{}", read.version);
        self.watcher.change(thing, &state, current.replace(&mut read)).await;
        Ok(())
    }

    async fn write_documents(self: Arc<Self>, mover: Mover, changes: u64) -> Result<()> {
        let documents = self.world.documents(&mover)?;
        for _ in 0..changes {
            let id = fastrand::u32(0..DOCUMENTS);
            let read = documents.get(Document::key("writer", id)).await?;
            self.change_document(&documents, id, read).await;
        }
        Ok(())
    }

    async fn change_document(&self, documents: &Large<Document>, id: u32, read: Option<Versioned<Document>>) {
        let (thing, version) = (format!("document:{id}"), self.number());
        let (state, text) = (format!("v{version}"), text_of(version));
        match read {
            None => {
                let new = Document { owner: "writer".into(), id, version, text };
                let insert = async { documents.insert(&new).await.map(|_| ()) };
                self.watcher.change(&thing, &state, insert).await;
            }
            Some(read) if fastrand::u8(0..6) == 0 => {
                self.watcher.change(&thing, NOTHING, documents.delete(&read)).await;
            }
            Some(mut read) => {
                (read.version, read.text) = (version, text);
                self.watcher.change(&thing, &state, documents.replace(&mut read)).await;
            }
        }
    }

    async fn send_notes(self: Arc<Self>, mover: Mover, changes: u64) -> Result<()> {
        for _ in 0..changes {
            let number = self.number();
            let send = async { mover.send(&Note { number }).await.map(|_| ()) };
            self.watcher.change(&format!("note:{number}"), "noted", send).await;
        }
        Ok(())
    }
}

fn department(id: u32) -> String {
    format!("d{}", id % 5)
}

pub(super) fn employee_state(employee: &Employee) -> String {
    let Employee { version, email, office, .. } = employee;
    format!("v{version}:{}:{}", email.as_deref().unwrap_or(NOTHING), office.as_deref().unwrap_or(NOTHING))
}

/// The number of the first employee that is shared.
pub(super) const fn is_shared(id: u32) -> bool {
    id >= FIRST_SHARED
}

/// What a version of a document says: more or less, and nothing that another version says.
pub(super) fn text_of(version: i64) -> Bytes {
    let times = usize::try_from(version % 97).unwrap_or_default() * 200 + 1;
    Bytes::from(format!("{version} ").repeat(times))
}
