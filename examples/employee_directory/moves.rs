//! What spans partitions: hiring, moving and leaving.
//!
//! Each begins with a message on a durable queue, and goes on in steps. A step is one transaction of one partition, and
//! inserts a [`Transfer`] row there that bears the message's name: so it happens once, however often the message is
//! delivered, and however late a worker comes that was thought dead. Whoever dies, the next delivery goes on.
//!
//! | | steps |
//! | --- | --- |
//! | [`Hire`] | the person, who claims number and address; the employee, with the department's count. If the first was done and the second can no longer come, the person goes |
//! | [`Move`] | out of the old department, into its transfer row; the person's department; into the new department |
//! | [`Leave`] | out of the department, as a [`Leaver`], which the mover takes to the archive; the photo; the person |
//!
//! In between an employee who moves is in neither department, and never in both. A message names whom it means with the
//! message that brought them there, so that one which comes late leaves alone who has come back. Transfer rows go in a day;
//! who hires and stands still for longer than a quarter of that gives up.

use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use table_core::{EntityKey, Error, ErrorKind, Result, Table, Timestamp, Versioned};
use table_patterns::eventually_consistent_transactions::{Delivery, Mover, MoverBuilder, Next, Outgoing, WorkItem};
use table_patterns::{Compound, Family, Indexed, IndexedTransaction, KeepsCopies, Large};

use crate::domain::{Department, Employee, Leaver, Luggage, Person, Photo, Review, Transfer};

/// Longer than any worker can be late.
pub(crate) const GRACE: Duration = Duration::from_secs(24 * 60 * 60);
/// Attempts of a step while others write to the same rows.
const MOST_ATTEMPTS: u32 = 50;
/// Persons that are written at once; the embedded store commits them together.
const WRITES_AT_ONCE: usize = 16;

/// Employees are being hired; whoever gets this sees to it that they are, or are not.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub(crate) struct Hire {
    pub(crate) department: String,
    pub(crate) people: Vec<u32>,
}

/// An employee is to work elsewhere.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub(crate) struct Move {
    pub(crate) id: u32,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) posting: String,
}

/// An employee is to leave the company.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub(crate) struct Leave {
    pub(crate) id: u32,
    pub(crate) department: String,
    pub(crate) hired: String,
    pub(crate) posting: String,
}

/// The transfer rows of a message are to go.
#[derive(Serialize, Deserialize, Clone, Debug)]
struct Forget {
    departments: Vec<String>,
    person: Option<u32>,
    /// Whom the message was to hire.
    hires: Vec<u32>,
}

impl Hire {
    /// What is left to do once everybody is hired, or can no longer be.
    pub(crate) fn done(self) -> Result<Outgoing> {
        Outgoing::of(&Forget { departments: vec![self.department], person: None, hires: self.people })
    }
}

impl WorkItem for Hire {
    const KIND: &'static str = "hire";
}

impl WorkItem for Move {
    const KIND: &'static str = "move";
}

impl WorkItem for Leave {
    const KIND: &'static str = "leave";
}

impl WorkItem for Forget {
    const KIND: &'static str = "forget";
}

/// An employee, for as long as it is where a message has brought it.
struct Posted<'a> {
    department: &'a str,
    id: u32,
    posting: &'a str,
}

/// How somebody goes out of a department.
enum Exit<'a> {
    /// Into the transfer row.
    Moves,
    /// As a leaver who was hired by this message.
    Leaves(&'a str),
}

/// What the steps are done with.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) staff: Table,
    pub(crate) people: Indexed<Person>,
    pub(crate) photos: Large<Photo>,
    pub(crate) families: Compound<Employee, Review>,
    /// Takes leavers to the archive.
    pub(crate) archivist: Mover,
}

impl Desk {
    /// Tells a mover what to do with the messages.
    pub(crate) fn handle(&self, builder: MoverBuilder) -> MoverBuilder {
        let (hires, moves, leaves, forgets) = (self.clone(), self.clone(), self.clone(), self.clone());
        builder
            .on(move |item: Hire, delivery| {
                let desk = hires.clone();
                async move { desk.settle_hire(item, &delivery).await }
            })
            .on(move |item: Move, delivery| {
                let desk = moves.clone();
                async move { desk.settle_move(item, &delivery).await }
            })
            .on(move |item: Leave, delivery| {
                let desk = leaves.clone();
                async move { desk.settle_leave(item, &delivery).await }
            })
            .on(move |item: Forget, delivery: Delivery| {
                let desk = forgets.clone();
                async move { desk.forget(&item, delivery.id()).await.map(|()| Next::Done) }
            })
    }

    /// Hires employees of one department on behalf of a message, and calls back for each.
    pub(crate) async fn hire(&self, message: &str, employees: &[Employee], hired: &(dyn Fn() + Sync)) -> Result<()> {
        let began = Instant::now();
        let Some(first) = employees.first() else { return Ok(()) };
        let persons = employees.iter().map(|employee| Person {
            id: employee.id,
            email: employee.email.clone(),
            department: employee.department.clone(),
            hired: message.to_owned(),
        });
        // All are waited for, also where one is refused: none may come after what follows.
        let inserted: Vec<Result<()>> = stream::iter(persons)
            .map(|person| async move {
                self.people.insert(&person).await?;
                hired();
                Ok(())
            })
            .buffer_unordered(WRITES_AT_ONCE)
            .collect()
            .await;
        inserted.into_iter().collect::<Result<()>>()?;
        let posted: Vec<Employee> =
            employees.iter().map(|employee| Employee { posting: message.to_owned(), ..employee.clone() }).collect();
        if began.elapsed() < GRACE / 4 && self.take_in(&first.department, message, &posted, &[]).await? {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Contention, "hiring took so long that it was given up; try again"))
    }

    /// Takes back what was done for a message that can no longer hire; says whether it had hired.
    pub(crate) async fn take_back(&self, item: &Hire, message: &str) -> Result<bool> {
        let fence = Transfer { given_up: true, ..Transfer::mark(&item.department, message) };
        match self.staff.insert(&fence).await {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let mark = self.staff.require(Transfer::key(&item.department, message)).await?;
                if !mark.given_up {
                    return Ok(true);
                }
            }
            result => drop(result?),
        }
        for id in &item.people {
            self.remove_person(*id, message).await?;
        }
        Ok(false)
    }

    /// Deletes the transfer rows of a message. Whoever hired so slowly that it was given up, and died before it could
    /// take back what it had begun, has left persons behind.
    async fn forget(&self, item: &Forget, message: &str) -> Result<()> {
        for name in &item.departments {
            let mark = self.staff.get(Transfer::key(name, message)).await?;
            if mark.is_some_and(|mark| mark.given_up) {
                for id in &item.hires {
                    self.remove_person(*id, message).await?;
                }
            }
        }
        let people = item.person.iter().map(|id| (self.people.table(), place_of(*id)));
        let staff = item.departments.iter().map(|name| (&self.staff, name.clone()));
        for (table, place) in people.chain(staff) {
            match table.delete_unconditionally(Transfer::key(&place, message)).await {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    async fn settle_hire(&self, item: Hire, delivery: &Delivery) -> Result<Next> {
        delivery.step("hire or take back", self.take_back(&item, delivery.id())).await?;
        Ok(Next::Become(item.done()?, GRACE))
    }

    async fn settle_move(&self, item: Move, delivery: &Delivery) -> Result<Next> {
        let (message, Move { id, from, to, posting }) = (delivery.id(), item);
        let who = Posted { department: &from, id, posting: &posting };
        let Some(out) = delivery.step("take out", self.take_out(&who, message, &Exit::Moves)).await? else {
            return Ok(Next::Done);
        };
        let Some(Luggage { mut employee, mut reviews }) = out.luggage else {
            return Err(Error::corrupted("a transfer row has no employee"));
        };
        delivery.step("note where they work", self.note(id, &to, message)).await?;
        employee.department.clone_from(&to);
        message.clone_into(&mut employee.posting);
        for review in &mut reviews {
            review.department.clone_from(&to);
        }
        delivery.step("take in", self.take_in(&to, message, &[employee], &reviews)).await?;
        later(&Forget { departments: vec![from, to], person: Some(id), hires: Vec::new() })
    }

    async fn settle_leave(&self, item: Leave, delivery: &Delivery) -> Result<Next> {
        let (message, Leave { id, department, hired, posting }) = (delivery.id(), item);
        let (who, exit) = (Posted { department: &department, id, posting: &posting }, Exit::Leaves(&hired));
        if delivery.step("take out", self.take_out(&who, message, &exit)).await?.is_none() {
            return Ok(Next::Done);
        }
        let leaver = Leaver::key(&department, id, &hired);
        delivery.step("archive", self.archivist.archive(&self.staff, leaver)).await?;
        delivery.step("delete the photo", self.photos.delete_by_key(Photo::key(id, &hired))).await?;
        delivery.step("delete the person", self.remove_person(id, &hired)).await?;
        later(&Forget { departments: vec![department], person: None, hires: Vec::new() })
    }

    /// Takes employees into a department, with their reviews; says whether it was this call that did it, and not
    /// another for the same message.
    async fn take_in(&self, name: &str, message: &str, employees: &[Employee], reviews: &[Review]) -> Result<bool> {
        let mark = Transfer::mark(name, message);
        let more = i64::try_from(employees.len()).unwrap_or(i64::MAX);
        for _ in 0..MOST_ATTEMPTS {
            let transaction = IndexedTransaction::new(&self.staff).insert(&mark);
            let transaction = match self.staff.get(Department::key(name)).await? {
                Some(mut department) => {
                    department.count(more);
                    transaction.replace(&department)
                }
                None => transaction.insert(&Department { employee_count: more, ..Department::new(name) }),
            };
            let transaction = employees.iter().fold(transaction, IndexedTransaction::insert);
            match reviews.iter().fold(transaction, IndexedTransaction::insert).commit().await {
                Ok(_) => return Ok(true),
                Err(error) if is_done(&error, &mark)? => return Ok(false),
                Err(error) => wait_after(error).await?,
            }
        }
        Err(busy(name))
    }

    /// Takes an employee out of a department; `None` where it is not there, and this message has not taken it out.
    async fn take_out(&self, who: &Posted<'_>, message: &str, exit: &Exit<'_>) -> Result<Option<Transfer>> {
        let Posted { department: name, id, posting } = *who;
        for _ in 0..MOST_ATTEMPTS {
            let family = self.families.get(Employee::key(name, id)).await?;
            let mut department = self.department(name).await?;
            // Last: while it is not there, this message has not taken out what was read before.
            if let Some(done) = self.staff.get(Transfer::key(name, message)).await? {
                return Ok(Some(done.into_value()));
            }
            let Some(family) = family.filter(|family| family.head.posting == posting) else { return Ok(None) };
            department.count(-1);
            if department.manager == Some(id) {
                department.manager = None;
                department.take(None);
            }
            let luggage = luggage(&family);
            let mut mark = Transfer::mark(name, message);
            let mut transaction = IndexedTransaction::new(&self.staff).delete(&family.head).replace(&department);
            match exit {
                Exit::Moves => mark.luggage = Some(luggage),
                Exit::Leaves(hired) => {
                    let (department, hired) = (name.to_owned(), (*hired).to_owned());
                    transaction =
                        transaction.insert(&Leaver { department, id, hired, left: Timestamp::now(), luggage });
                }
            }
            let transaction = family.parts.iter().fold(transaction.insert(&mark), IndexedTransaction::delete);
            match transaction.commit().await {
                Ok(_) => return Ok(Some(mark)),
                Err(error) if is_done(&error, &mark)? => {}
                Err(error) => wait_after(error).await?,
            }
        }
        Err(busy(name))
    }

    /// Notes where somebody works.
    async fn note(&self, id: u32, department: &str, message: &str) -> Result<()> {
        let mark = Transfer::mark(&place_of(id), message);
        let patch = Person::patch(Person::key(id)).department(department.to_owned());
        match self.people.table().transaction().insert(&mark).patch(patch).commit().await {
            Err(error) if !is_done(&error, &mark)? => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes the person whom a message hired, if it is still there.
    async fn remove_person(&self, id: u32, hired: &str) -> Result<()> {
        match self.people.get(Person::key(id)).await? {
            Some(person) if person.hired == hired => self.people.delete(&person).await,
            _ => Ok(()),
        }
    }

    pub(crate) async fn department(&self, name: &str) -> Result<Versioned<Department>> {
        let found = self.staff.get(Department::key(name)).await?;
        found.ok_or_else(|| Error::not_found(format!("there is no department {name}; `add` somebody to it first")))
    }
}

impl Transfer {
    fn mark(place: &str, message: &str) -> Self {
        Self { place: place.to_owned(), message: message.to_owned(), given_up: false, luggage: None }
    }
}

/// The partition of a person.
fn place_of(id: u32) -> String {
    format!("{id:06}")
}

fn luggage(family: &Family<Employee, Review>) -> Luggage {
    let reviews = family.parts.iter().map(|review| review.value().clone()).collect();
    Luggage { employee: family.head.value().clone(), reviews }
}

/// The message is done, and its transfer rows go when nobody can be late.
fn later(item: &Forget) -> Result<Next> {
    Ok(Next::Become(Outgoing::of(item)?, GRACE))
}

/// Whether a step was refused because it is done.
fn is_done(error: &Error, mark: &Transfer) -> Result<bool> {
    let at: EntityKey = table_core::Entity::entity_key(mark)?;
    Ok(error.kind() == ErrorKind::AlreadyExists && !error.outcome_unknown() && error.key() == Some(&at))
}

/// Waits a moment where somebody was faster; gives any other failure back.
async fn wait_after(error: Error) -> Result<()> {
    let is_new = error.key().is_some_and(|key| key.row.as_str() == "department");
    let conflict = matches!(error.kind(), ErrorKind::PreconditionFailed | ErrorKind::NotFound)
        || (error.kind() == ErrorKind::AlreadyExists && is_new);
    if !conflict || error.outcome_unknown() {
        return Err(error);
    }
    tokio::time::sleep(Duration::from_millis(2)).await;
    Ok(())
}

fn busy(department: &str) -> Error {
    Error::new(ErrorKind::Contention, format!("{department} changed again and again; try again"))
}
