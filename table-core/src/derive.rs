//! The derive macros, under the names of their traits.

/// Turns a struct into an entity: keys by template, fields as properties, indexes as declared.
///
/// ```
/// use std::sync::Arc;
/// use table_core::{Entity, MemoryStore, Table};
///
/// #[derive(Entity, Clone, Debug, PartialEq)]
/// #[entity(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
///     name: String,
///     age: i32,
///     #[entity(json)]
///     skills: Vec<String>,
///     email: Option<String>,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> table_core::Result<()> {
/// let table = Table::new(Arc::new(MemoryStore::new()), "Employees")?;
/// table.create().await?;
/// let jo = Employee {
///     department: "Sales".into(),
///     id: 223,
///     name: "Jo".into(),
///     age: 41,
///     skills: vec!["chess".into()],
///     email: None,
/// };
/// table.insert(&jo).await?;
///
/// assert_eq!(*table.require(Employee::key("Sales", 223)).await?, jo);
/// let query = Employee::range("Sales").id_range(200..300).filter(Employee::AGE.ge(40));
/// assert_eq!(table.all(query).await?.len(), 1);
/// # Ok(())
/// # }
/// ```
///
/// # Keys
/// A template holds literals and fields: `{id}` in the default form of its type, `{id:06}` as a
/// number of six digits, `{at:desc}` as a time with the latest first, `{at:%Y%m%d}` as a time by
/// calendar; `{{` and `}}` stand for braces. In a partition key `{bucket(id, 16):02}` is one of
/// sixteen numbers, by which rows spread over as many partitions. A field that the keys hold is not
/// stored again, unless its part loses information, as calendar formats and buckets do.
///
/// # Attributes of the struct, in `#[entity(...)]`
/// | attribute | meaning |
/// | --- | --- |
/// | `partition = "..."`, `row = "..."` | the key templates; both are needed |
/// | `name = "..."` | the stored type name; the struct's own by default |
/// | `version = 2` | the version of the properties, from 1 |
/// | `upgrade_from(Old)` | rows of lower versions are read as `Old` and turned by `From<Old>`. `Old` has the same `name`, and keeps its `#[index]` attributes, since they say which copies its rows have. Without it, old rows are read as they are |
/// | `discriminator = "row_key"` | rows carry no `EntityType` and are told by their row key, whose template begins with a literal |
/// | `rename_all = "..."` | the case of property names; `PascalCase` by default |
/// | `names(key = "...", key_fields = "...", range = "...", patch = "...")` | other names for these functions, where they would clash with your own; what follows from them is named after them: with `range = "rows"` the type is `EmployeeRows`, with `key = "place"` the inverse is `place_fields` |
/// | `blob_above = 32768` | any text, binary or JSON property above so many bytes is kept in a blob, text counted as UTF-16; a filter does not see what is there |
/// | `crate = "..."` | the path to this crate, where it is not `::table_core` |
///
/// # Attributes of a field, in `#[entity(...)]`
/// | attribute | meaning |
/// | --- | --- |
/// | `rename = "..."` | the property's name |
/// | `column = "..."` | the column constant's name |
/// | `default`, `default = "path"` | what a row without the property gives |
/// | `skip` | not stored; `Default::default()` when read |
/// | `json` | stored as JSON text; anything that serde knows |
/// | `blob` | kept in a blob, with a reference in the row; bytes, text or, with `json`, JSON. No key and no index copy holds it. Such an entity is written and read by the patterns crate's `Large`, and is not [`Unindexed`](crate::Unindexed) |
/// | `flatten`, `flatten(prefix = "...")` | one property for each field of a struct that derives [`Flatten`](derive@crate::Flatten) |
///
/// An `Option` is an absent property when `None`. Properties that no field names are ignored.
///
/// # Indexes
/// `#[index(email, row = "email_{email}", include(first_name))]` declares a copy of each entity
/// under another key. Clauses: `row` (needed), `partition` and `table` where they are not the
/// entity's own, `include(...)` for the fields that a copy holds (all without it, none with
/// `include()`), and `derive(...)` for traits of the copy's struct beside `Clone` and `Debug`,
/// which its fields must have. A copy also holds the fields of the primary key, so that it leads
/// back to its entity. An index is unique when its key lacks a part of the primary key. A `None`
/// in its key means no copy. Indexes are kept by the patterns crate, so an entity that has any
/// is not [`Unindexed`](crate::Unindexed).
///
/// An index in another partition or table whose table, key or included fields change needs a new
/// name while programs run that know it as it was: their workers know an index by its name. Declare
/// it beside the old one, and take that away when they are gone and their queue is empty.
///
/// ```
/// use table_core::Entity;
///
/// #[derive(Entity)]
/// #[entity(partition = "{department}", row = "empid_{id:06}")]
/// #[index(email, row = "email_{email}", include(name))]
/// #[index(name, row = "name_{name}_{id:06}", include())]
/// struct Employee {
///     department: String,
///     id: u32,
///     name: String,
///     email: Option<String>,
/// }
///
/// // Unique: the arguments fix the whole key of one `EmployeeByEmail`.
/// let key = Employee::by_email("Sales", "jo@contoso.com");
/// assert_eq!(key.resolve()?.row.as_str(), "email_jo@contoso.com");
/// // Not unique: a query for every `EmployeeByName` of that name.
/// let query = Employee::by_name("Sales", "Jo");
/// assert!(query.explain()?.to_string().starts_with("Range"));
/// # Ok::<(), table_core::Error>(())
/// ```
///
/// # What is generated
/// For a struct `Employee`, with the struct's visibility:
/// - `Employee::key(..)`, of the fields of the partition key and then those of the row key: `&str`
///   for a text, numbers and times by value, other types by reference, and `Employee::key_fields(&key)`,
///   which gives the fields back that a key holds whole, as a tuple;
/// - `Employee::range(..)`, of the partition's fields: an `EmployeeRange`, on which each row part
///   `id` has `id(..)` to fix it, `id_range(..)` and, for a text, `id_prefix(..)`. A text that
///   more parts follow has no range, since such texts do not sort as their rows do. `query()`, or
///   `Query::from` where a row part is named `query`, gives all rows with the parts so far;
/// - for each index `email` the struct `EmployeeByEmail` with `source_key()`, the lookup
///   `Employee::by_email(..)` and the range `Employee::range_by_email(..)`;
/// - a [`Column`](crate::query::Column) or, for a field that only the key holds, a
///   [`KeyColumn`](crate::query::KeyColumn) for each field: `Employee::AGE`. JSON and flattened
///   fields have none, and a field in a blob has a [`BlobColumn`](crate::query::BlobColumn) that names it;
/// - `Employee::patch(..)` with a method for each field that no key, no index copy and no blob holds,
///   where there is any; flattened fields have none, since a merge cannot remove a property.
///
/// A generic struct states the bounds that its fields need, such as
/// `T: Property + Send + Sync + 'static`.
///
/// # Mistakes
/// Every mistake in an attribute is a compile error at its place: unknown fields, texts that would
/// run into what follows, two keys that could be equal in one table, reserved names, types that
/// the service does not have. Clippy's `duplicated_attributes` takes two indexes that include the
/// same field for a mistake; allow it.
pub use table_derive::Entity;

/// Makes one type of several entities that share a table; `match` tells them apart.
///
/// Each variant holds one entity, boxed or not. A row is told by its `EntityType`, or without one
/// by its keys. A variant `#[entity(other)] Other(DynamicEntity)` takes the rows of every other
/// type; without it such a row is an error that names its type. Index copies and other marked rows
/// are skipped.
///
/// ```
/// use table_core::{DynamicEntity, Entity, EntityKey, EntitySet, ETag, FromRow};
///
/// #[derive(Entity, Debug, PartialEq)]
/// #[entity(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
/// }
///
/// #[derive(Entity, Debug, PartialEq)]
/// #[entity(partition = "{name}", row = "department")]
/// struct Department {
///     name: String,
/// }
///
/// #[derive(EntitySet, Debug, PartialEq)]
/// enum Staff {
///     Employee(Employee),
///     Department(Department),
///     #[entity(other)]
///     Other(DynamicEntity),
/// }
///
/// let mut row = Department { name: "Sales".into() }.to_row()?;
/// row.etag = Some(ETag::from("a version"));
/// assert_eq!(*Staff::from_row(row)?, Staff::Department(Department { name: "Sales".into() }));
/// # Ok::<(), table_core::Error>(())
/// ```
pub use table_derive::EntitySet;

/// Lets the fields of a struct become properties of the entity that holds it.
///
/// The struct takes `#[entity(rename_all = "...", crate = "...")]`, and its fields the attributes
/// of an entity's fields; it can hold flattened structs itself.
///
/// ```
/// use table_core::{Entity, Flatten, Value};
///
/// #[derive(Flatten)]
/// struct Address {
///     city: String,
///     street: Option<String>,
/// }
///
/// #[derive(Entity)]
/// #[entity(partition = "customers", row = "{id}")]
/// struct Customer {
///     id: u32,
///     #[entity(flatten(prefix = "Home"))]
///     home: Address,
/// }
///
/// let customer = Customer { id: 1, home: Address { city: "Bern".into(), street: None } };
/// assert_eq!(customer.to_row()?.get("HomeCity"), Some(&Value::from("Bern")));
/// # Ok::<(), table_core::Error>(())
/// ```
pub use table_derive::Flatten;

/// Reads a part of an entity: a struct with some of its fields.
///
/// Each field has the name and the type of a field of the entity, which may be `Option` of it;
/// `#[projection(default)]` says what a row without the property gives, and
/// `#[projection(column = "...")]` names the column where the entity chose another. Only the
/// needed properties are read; fields that the key holds come from the key. Rows of older versions
/// are read as they are, since an upgrade needs the whole row.
///
/// ```
/// use table_core::{Entity, FromRow, Projection};
///
/// #[derive(Entity)]
/// #[entity(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
///     name: String,
///     age: i32,
/// }
///
/// #[derive(Projection)]
/// #[projection(of = Employee)]
/// struct Badge {
///     id: u32,
///     name: String,
/// }
///
/// let query = Employee::range("Sales").query().project::<Badge>();
/// assert!(Badge::selection().includes("Name") && !Badge::selection().includes("Age"));
/// # drop(query);
/// ```
pub use table_derive::Projection;

/// Makes a C-like enum a property and a key part as text, or a newtype as what it holds.
///
/// Variants are stored under their own names; `#[property(rename_all = "...")]` and
/// `#[property(rename = "...")]` choose others. In a key they sort by that text. A newtype around
/// a type that no key can hold, such as `Bytes`, is a property only.
///
/// ```
/// use table_core::{Property, Value};
///
/// #[derive(Property, Debug, PartialEq)]
/// #[property(rename_all = "snake_case")]
/// enum Status {
///     Active,
///     OnLeave,
/// }
///
/// #[derive(Property)]
/// struct EmployeeId(u32);
///
/// assert_eq!(Status::OnLeave.to_value()?, Some(Value::from("on_leave")));
/// assert_eq!(EmployeeId(7).to_value()?, Some(Value::Int64(7)));
/// # Ok::<(), table_core::Error>(())
/// ```
pub use table_derive::Property;
