//! Relationships: one to many, one to one, a join in the client, and inheritance.
//!
//! # Problem
//! A department has many employees, an employee has one badge, a person is an employee or a
//! contractor. The store knows rows and keys, and neither foreign keys nor joins.
//!
//! # Rows
//! `docs/relationships.md` helps to choose. In short:
//!
//! | relationship | rows | kept and read by |
//! | --- | --- | --- |
//! | one to many, in one partition | `(Sales, department)`, `(Sales, empid_000007)` | one transaction, one query of an `EntitySet`; counts by [`denormalization`](crate::denormalization) |
//! | one to many, apart | `(departments, Sales)` in one table, `(Sales, empid_000007)` in another | a join in the client: [`Lookup`] |
//! | one to many, in one type | `(Sales, empid_000007)` with the department's fields | itself; changed by [`denormalization`](crate::denormalization) |
//! | one to one, by convention | `(Sales, empid_000007)` and `(Sales, badge_000007)` | the key of one gives the key of the other |
//! | one to one, by stored link | `(Sales, empid_000007)` with `Badge` = `North/badge_000042` | [`Link`] |
//! | inheritance | several types in one table, each row saying its own | `#[derive(EntitySet)]` |
//!
//! # Guarantees
//! - What stands in one partition is written in one transaction and read by one query.
//! - An answer of a [`Lookup`] is never older than its bound, whoever shared the read; what is kept is
//!   bounded in number. After [`forget`](Lookup::forget) no answer comes from before it.
//! - A [`Link`] is the full key of its target and comes back as it was stored.
//!
//! # After a crash
//! Within a partition a transaction happened or it did not. Across partitions the order of two writes
//! decides what a crash between them leaves: write the target before the link to it, and delete the
//! link before its target. Then a crash leaves at most a target that nobody names, and never a link
//! that leads nowhere. [`eventually_consistent_transactions`](crate::eventually_consistent_transactions)
//! finishes both in any case.
//!
//! # When not to use it
//! - [`Lookup`], for what must never be stale: read it from the table.
//! - [`Lookup`], for a join over most of a large table: keep a copy where it is read, by
//!   [`denormalization`](crate::denormalization).
//! - Links both ways between partitions, which no transaction keeps in step.
//!
//! # One to many, in one partition
//! ```
//! use std::sync::Arc;
//! use table_core::{Entity, EntitySet, MemoryStore, PartitionKey, Query, Table};
//!
//! #[derive(Entity)]
//! #[entity(partition = "{name}", row = "department")]
//! struct Department {
//!     name: String,
//! }
//!
//! #[derive(Entity)]
//! #[entity(partition = "{department}", row = "empid_{id:06}")]
//! struct Employee {
//!     department: String,
//!     id: u32,
//! }
//!
//! #[derive(EntitySet)]
//! enum Staff {
//!     Department(Department),
//!     Employee(Employee),
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> table_core::Result<()> {
//! let table = Table::new(Arc::new(MemoryStore::new()), "Staff")?;
//! table.create().await?;
//! let employee = |id| Employee { department: "Sales".into(), id };
//! let department = Department { name: "Sales".into() };
//! table.transaction().insert(&department).insert(&employee(1)).insert(&employee(2)).commit().await?;
//!
//! let mut ids = Vec::new();
//! for row in table.all(Query::<Staff>::partition(&PartitionKey::new("Sales")?).allow_scan()).await? {
//!     match row.into_value() {
//!         Staff::Department(department) => assert_eq!(department.name, "Sales"),
//!         Staff::Employee(employee) => ids.push(employee.id),
//!     }
//! }
//! assert_eq!(ids, [1, 2]);
//! # Ok(())
//! # }
//! ```
//!
//! # One to one
//! By convention the two keys hold the same fields, and nothing is stored. By a link, one row says
//! where the other stands; the target is written first.
//!
//! ```
//! use std::sync::Arc;
//! use table_core::{Entity, MemoryStore, Table};
//! use table_patterns::relationships::Link;
//!
//! #[derive(Entity)]
//! #[entity(partition = "{department}", row = "empid_{id:06}")]
//! struct Employee {
//!     department: String,
//!     id: u32,
//!     badge: Option<Link<Badge>>,
//! }
//!
//! #[derive(Entity)]
//! #[entity(partition = "{department}", row = "photo_{id:06}")]
//! struct Photo {
//!     department: String,
//!     id: u32,
//!     jpeg: Vec<u8>,
//! }
//!
//! #[derive(Entity)]
//! #[entity(partition = "{site}", row = "badge_{number:06}")]
//! struct Badge {
//!     site: String,
//!     number: u32,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> table_core::Result<()> {
//! let table = Table::new(Arc::new(MemoryStore::new()), "Staff")?;
//! table.create().await?;
//! table.insert(&Badge { site: "North".into(), number: 42 }).await?;
//! let badge = Some(Link::to(&Badge::key("North", 42))?);
//! let jo = Employee { department: "Sales".into(), id: 7, badge };
//! let photo = Photo { department: "Sales".into(), id: 7, jpeg: vec![0xff, 0xd8] };
//! // The two of one partition go together.
//! table.transaction().insert(&jo).insert(&photo).commit().await?;
//!
//! let jo = table.require(Employee::key("Sales", 7)).await?;
//! assert_eq!(table.require(Photo::key(&jo.department, jo.id)).await?.jpeg.len(), 2);
//! let badge = jo.badge.as_ref().expect("a badge was given");
//! assert_eq!(table.require(badge).await?.number, 42);
//! # Ok(())
//! # }
//! ```
//!
//! # Inheritance
//! The concrete types are entities, and the abstract one is the enum over them; what they have in
//! common is a method.
//!
//! ```
//! use std::sync::Arc;
//! use table_core::keys::{KeyRange, Span};
//! use table_core::{Entity, EntitySet, MemoryStore, Query, Table};
//!
//! #[derive(Entity)]
//! #[entity(partition = "{team}", row = "person_employee_{id:06}")]
//! struct Employee {
//!     team: String,
//!     id: u32,
//!     name: String,
//!     salary: i64,
//! }
//!
//! #[derive(Entity)]
//! #[entity(partition = "{team}", row = "person_guest_{id:06}")]
//! struct Guest {
//!     team: String,
//!     id: u32,
//!     name: String,
//!     company: String,
//! }
//!
//! #[derive(EntitySet)]
//! enum Person {
//!     Employee(Employee),
//!     Guest(Guest),
//! }
//!
//! impl Person {
//!     fn name(&self) -> &str {
//!         match self {
//!             Self::Employee(employee) => &employee.name,
//!             Self::Guest(guest) => &guest.name,
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> table_core::Result<()> {
//! let table = Table::new(Arc::new(MemoryStore::new()), "People")?;
//! table.create().await?;
//! table.insert(&Guest { team: "Sales".into(), id: 1, name: "Al".into(), company: "Fabrikam".into() }).await?;
//! table.insert(&Employee { team: "Sales".into(), id: 1, name: "Jo".into(), salary: 50_000 }).await?;
//!
//! let range = KeyRange { partition: Span::exact("Sales"), row: Span::prefix("person_") };
//! let everyone = table.all(Query::<Person>::in_range(Ok(range))).await?;
//! let names: Vec<&str> = everyone.iter().map(|person| person.name()).collect();
//! assert_eq!(names, ["Jo", "Al"]);
//! // One type alone is an ordinary range.
//! assert_eq!(table.all(Guest::range("Sales")).await?[0].company, "Fabrikam");
//! # Ok(())
//! # }
//! ```

mod link;
mod lookup;

pub use link::Link;
pub use lookup::{Joined, Lookup, LookupOptions};
