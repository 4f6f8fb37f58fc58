//! The directory: its tables, and the patterns that keep them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use table_core::layer::Meter;
use table_core::{Entity, Error, ErrorKind, LoadOptions, QueueStore, Result, Table, TableStore, Versioned};
use table_examples::OpenStore;
use table_patterns::eventually_consistent_transactions::{Archive, Mover, Outgoing};
use table_patterns::{BlobTable, Compound, DataSeries, Denormalized, Indexed, Large, LogTail};

use crate::domain::{Claim, Department, Employee, Messages, Person, Photo, Review};
use crate::moves::{Desk, GRACE, Hire, Leave, Move};

/// How long somebody who hires has before a worker takes it for dead.
const HIDDEN: Duration = Duration::from_secs(30);
/// Employees whose rows fit one transaction: each has two copies, and the department is written with them.
pub(crate) const MOST_HIRED: usize = 30;

/// Everything that the program does is done through one of these.
pub(crate) struct Directory {
    /// Departments, employees and reviews.
    pub(crate) staff: Table,
    /// Employees, found by address and by last name in their department.
    pub(crate) employees: Indexed<Employee>,
    /// Employees with their reviews.
    pub(crate) families: Compound<Employee, Review>,
    /// Departments with their manager and the number of their employees.
    pub(crate) departments: Denormalized<Department>,
    /// Everybody; number and address are unique in the company.
    pub(crate) people: Indexed<Person>,
    /// Photos, in blobs.
    pub(crate) photos: Large<Photo>,
    /// Who has left.
    pub(crate) archive: Table,
    /// Messages by the hour.
    pub(crate) messages: DataSeries<Messages, i32>,
    claims: Table,
    /// The steps of what spans partitions.
    pub(crate) desk: Desk,
    /// Keeps indexes, blobs and the archive.
    keeper: Mover,
    /// Hires, moves and lets go.
    moves: Mover,
    /// Counts storage transactions.
    pub(crate) tables: Meter<Arc<dyn TableStore>>,
    /// Counts calls to queues.
    pub(crate) queues: Meter<Arc<dyn QueueStore>>,
}

impl Directory {
    /// Opens the directory, and finishes what an earlier run has left undone.
    pub(crate) async fn open(store: &OpenStore) -> Result<Self> {
        let (tables, queues) = (Meter::new(Arc::clone(&store.tables)), Meter::new(Arc::clone(&store.queues)));
        let table = |name| Table::new(Arc::new(tables.clone()), name);
        let (staff, people, photos) = (table("Staff")?, table("People")?, table("Photos")?);
        let (archive, claims, messages) = (table("Archive")?, table("Claims")?, table("Messages")?);
        for each in [&staff, &people, &photos, &archive, &claims, &messages] {
            each.create_if_missing().await?;
        }
        let pictures = BlobTable::new(photos, store.blobs("photos").await?);
        let keeper = Mover::builder(Arc::new(queues.clone()), "directory-keeper")?
            .keep_indexes::<Person>(&people)
            .keep_blobs(&pictures)
            .archive(Archive::new(staff.clone(), archive.clone()))
            .build()
            .await?;
        let people = Indexed::kept_by(people, &keeper)?;
        people.create_if_missing().await?;
        let desk = Desk {
            staff: staff.clone(),
            people: people.clone(),
            photos: Large::kept_by(pictures, &keeper)?,
            families: Compound::new(staff.clone())?,
            archivist: keeper.clone(),
        };
        let moves = desk.handle(Mover::builder(Arc::new(queues.clone()), "directory-moves")?).build().await?;
        let directory = Self {
            employees: Indexed::new(staff.clone())?,
            families: desk.families.clone(),
            departments: Denormalized::new(staff.clone()),
            messages: DataSeries::new(messages, 24)?,
            photos: desk.photos.clone(),
            staff,
            people,
            archive,
            claims,
            desk,
            keeper,
            moves,
            tables,
            queues,
        };
        directory.run_due().await?;
        Ok(directory)
    }

    /// Does what is due. A service starts workers instead; a tool that ends at once does it in passing.
    pub(crate) async fn run_due(&self) -> Result<()> {
        self.moves.run_due().await?;
        self.keeper.run_due().await.map(|_| ())
    }

    /// Adds a department, unless it is there.
    pub(crate) async fn add_department(&self, name: &str) -> Result<()> {
        match self.departments.insert_target(&Department::new(name)).await {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Hires employees of one department, which may be new: at most [`MOST_HIRED`], all or none. Calls back for each.
    pub(crate) async fn hire(&self, employees: &[Employee], hired: &(dyn Fn() + Sync)) -> Result<()> {
        let Some(first) = employees.first() else { return Ok(()) };
        // What does not fit a key is refused before anything is written.
        for employee in employees {
            employee.entity_key()?;
            employee.index_keys()?;
        }
        let people = employees.iter().map(|employee| employee.id).collect();
        let item = Hire { department: first.department.clone(), people };
        let receipt = self.moves.send_later(&Outgoing::of(&item)?, HIDDEN).await?;
        let result = self.desk.hire(&receipt.id, employees, hired).await;
        if let Err(error) = &result {
            if error.outcome_unknown() || error.is_retryable() {
                // The message stays, and whoever gets it finds out.
                return result;
            }
            self.desk.take_back(&item, &receipt.id).await?;
        }
        // Where this fails, a worker gets the message, finds that all is done, and does the same.
        drop(self.moves.exchange(&receipt, item.done()?, GRACE).await);
        result
    }

    /// Where somebody works; an error that says so where nobody has this number.
    pub(crate) async fn person(&self, id: u32) -> Result<Versioned<Person>> {
        let found = self.people.get(Person::key(id)).await?;
        found.ok_or_else(|| Error::not_found(format!("there is no employee {id}; `find --department` lists them")))
    }

    /// Somebody, wherever they work.
    pub(crate) async fn employee(&self, id: u32) -> Result<Versioned<Employee>> {
        let person = self.person(id).await?;
        let found = self.employees.get(Employee::key(&person.department, id)).await?;
        found.ok_or_else(|| {
            Error::not_found(format!("employee {id} is being added or moved; try again in half a minute"))
        })
    }

    /// Moves somebody to another department, with their reviews; says whether it is done already.
    pub(crate) async fn relocate(&self, id: u32, to: &str) -> Result<bool> {
        let Employee { department: from, posting, .. } = self.employee(id).await?.into_value();
        if from == to {
            return Err(Error::invalid_value(format!("employee {id} works in {to} already")));
        }
        self.desk.department(to).await?;
        self.moves.send(&Move { id, from, to: to.to_owned(), posting }).await?;
        self.run_due().await?;
        Ok(self.staff.get(Employee::key(to, id)).await?.is_some())
    }

    /// Lets somebody go, to the archive; says whether it is done already.
    pub(crate) async fn let_go(&self, id: u32) -> Result<bool> {
        let hired = self.person(id).await?.hired.clone();
        let Employee { department, posting, .. } = self.employee(id).await?.into_value();
        self.moves.send(&Leave { id, department, hired, posting }).await?;
        self.run_due().await?;
        Ok(self.people.get(Person::key(id)).await?.is_none())
    }

    /// Keeps a photo of somebody, in place of the one before.
    pub(crate) async fn keep_photo(&self, id: u32, picture: Bytes) -> Result<()> {
        let hired = self.person(id).await?.hired.clone();
        self.photos.upsert(&Photo { id, hired, picture }).await.map(|_| ())
    }

    /// The photo of somebody.
    pub(crate) async fn photo(&self, id: u32) -> Result<Option<Versioned<Photo>>> {
        let hired = self.person(id).await?.hired.clone();
        self.photos.get(Photo::key(id, &hired)).await
    }

    /// Adds reviews of employees who are known to be there, in as few transactions as the service allows.
    pub(crate) async fn load_reviews(&self, reviews: Vec<Review>) -> Result<u64> {
        Ok(self.staff.load(stream::iter(reviews), LoadOptions::default()).await?.entities)
    }

    /// The expense claims of one employee.
    pub(crate) fn claims(&self, employee: u32) -> Result<LogTail<Claim>> {
        LogTail::new(self.claims.clone(), Claim::range(employee))
    }

    /// Makes somebody the manager of their department.
    pub(crate) async fn appoint(&self, id: u32) -> Result<Versioned<Department>> {
        let department = self.person(id).await?.department.clone();
        self.departments.update_target(Department::key(&department), |department| department.manager = Some(id)).await
    }
}
