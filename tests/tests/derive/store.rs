//! Derived types on a store: a table of entities and index copies, read in every way.

use std::sync::Arc;

use table_core::query::CostClass;
use table_core::{
    Action, DynamicEntity, Entity, EntitySet, ErrorKind, MemoryStore, Operation, PartitionKey, Projection, Query,
    Result, Table,
};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{department}", row = "empid_{id:06}")]
#[index(email, row = "email_{email}", include(name))]
#[index(name, row = "name_{name}_{id:06}", include(age))]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: Option<String>,
    age: i32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{name}", row = "department")]
struct Department {
    name: String,
    head_count: i32,
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Employee)]
struct NameAndAge {
    name: String,
    age: i32,
}

#[derive(EntitySet, Debug)]
enum Staff {
    Employee(Employee),
    Department(Department),
    #[entity(other)]
    Other(DynamicEntity),
}

/// A table with one department of twenty, one of them without an address.
async fn staffed() -> Result<Table> {
    let table = Table::new(Arc::new(MemoryStore::new()), "Staff")?;
    table.create().await?;
    table.insert(&Department { name: "Sales".into(), head_count: 20 }).await?;
    for id in 0..20 {
        let employee = Employee {
            department: "Sales".into(),
            id,
            name: if id % 2 == 0 { "Ann".into() } else { "Bo".into() },
            email: (id != 7).then(|| format!("e{id}@contoso.com")),
            age: 30 + i32::try_from(id).unwrap_or(0),
        };
        let rows = [Some(employee.to_row()?), employee.index_row(0)?, employee.index_row(1)?];
        for row in rows.into_iter().flatten() {
            table.store().write(table.name(), Operation::new(Action::Insert(row))?).await?;
        }
    }
    Ok(table)
}

#[tokio::test]
async fn every_access_path_finds_what_it_names() -> Result<()> {
    let table = staffed().await?;
    assert_eq!(table.require(Employee::key("Sales", 7)).await?.age, 37);

    let copy = table.require(Employee::by_email("Sales", "e3@contoso.com")).await?;
    assert_eq!((copy.id, copy.name.as_str()), (3, "Bo"));
    assert_eq!(table.require(copy.source_key()).await?.email.as_deref(), Some("e3@contoso.com"));
    assert!(table.get(Employee::by_email("Sales", "e7@contoso.com")).await?.is_none());

    let ids: Vec<u32> = table.all(Employee::by_name("Sales", "Bo")).await?.iter().map(|copy| copy.id).collect();
    assert_eq!(ids, [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    let ids: Vec<u32> = table.all(Employee::range("Sales").id_range(5..8)).await?.iter().map(|each| each.id).collect();
    assert_eq!(ids, [5, 6, 7]);
    Ok(())
}

#[tokio::test]
async fn a_partition_gives_each_entity_once() -> Result<()> {
    let table = staffed().await?;
    let sales = PartitionKey::new("Sales")?;
    let staff = table.all(Query::<Staff>::partition(&sales).allow_scan()).await?;
    let (mut ages, mut heads, mut others) = (0, 0, Vec::new());
    for each in staff {
        match each.into_value() {
            Staff::Employee(employee) => ages += employee.age,
            Staff::Department(department) => heads += department.head_count,
            Staff::Other(other) => others.push(other),
        }
    }
    assert_eq!((ages, heads, others.len()), (20 * 30 + 190, 20, 0));
    assert_eq!(table.all(Query::<Employee>::partition(&sales).allow_scan()).await?.len(), 20);
    Ok(())
}

#[tokio::test]
async fn columns_filter_by_property_and_by_key() -> Result<()> {
    let table = staffed().await?;
    let query = Employee::range("Sales").query().filter(Employee::AGE.ge(48));
    assert_eq!(query.explain()?.class(), CostClass::Range);
    assert_eq!(table.all(query).await?.len(), 2);

    let query = Query::<Employee>::all().filter(Employee::DEPARTMENT.eq("Sales") & Employee::ID.lt(3_u32));
    assert_eq!(query.explain()?.class(), CostClass::Range);
    assert_eq!(table.all(query).await?.len(), 3);

    let query = Employee::range("Sales").id(4).query().project::<NameAndAge>();
    let read = table.first(query).await?.map(table_core::Versioned::into_value);
    assert_eq!(read, Some(NameAndAge { name: "Ann".into(), age: 34 }));
    Ok(())
}

#[tokio::test]
async fn a_continuation_belongs_to_the_type_that_was_read() -> Result<()> {
    let table = staffed().await?;
    let sales = PartitionKey::new("Sales")?;
    let everyone = Query::<Staff>::partition(&sales).allow_scan().page_size(3);
    let next = table.page(everyone.clone(), None).await?.next.unwrap();
    assert_eq!(table.page(everyone, Some(&next)).await?.items.len(), 3);

    // The same keys and columns, read as something else.
    let rows = Query::<DynamicEntity>::partition(&sales).allow_scan().page_size(3);
    let refused = table.page(rows, Some(&next)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidQuery);
    Ok(())
}
