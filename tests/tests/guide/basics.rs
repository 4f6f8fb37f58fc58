//! Everything of the guide but its patterns.

use std::sync::Arc;

use futures_util::TryStreamExt;
use table_azure::{AzureAccount, Credential};
use table_core::layer::Meter;
use table_core::query::CostClass;
use table_core::{
    Action, DynamicEntity, ErrorKind, IfMatch, MemoryStore, Operation, PartitionKey, Query, Result, Table, Timestamp,
    Value,
};
use table_patterns::prepend_append::{HotPartitionOptions, hot_partitions};
use table_patterns::{Link, Lookup, LookupOptions};

use super::{Badge, Claim, Department, Employee, Staff, employee, staffed};

#[tokio::test]
async fn about_the_service() -> Result<()> {
    let table = staffed().await?;
    let (ana, ken) = (employee("Sales", 7, 41), employee("Sales", 8, 42));
    table.transaction().insert(&ana).insert(&ken).commit().await?;
    assert_eq!(table.count(Employee::range("Sales")).await?, 12);

    let too_many = (0..101).fold(table.transaction(), |all, id| all.insert(&employee("Legal", id, 30)));
    assert_eq!(too_many.commit().await.unwrap_err().kind(), ErrorKind::LimitExceeded);

    let meter = Meter::new(table.store().clone());
    let metered = Table::new(Arc::new(meter.clone()), "Staff")?;
    metered.require(Employee::key("Sales", 7)).await?;
    assert_eq!(meter.report().total().transactions, 1);
    Ok(())
}

#[tokio::test]
async fn design_for_querying() -> Result<()> {
    let table = staffed().await?;
    let jo = table.require(Employee::key("Sales", 223)).await?;
    assert_eq!(jo.skills[0].name, "Rust");
    let some = table.all(Employee::range("Sales").id_range(222..225)).await?;
    assert_eq!(some.len(), 3);
    let older = Employee::range("Sales").query().filter(Employee::AGE.ge(40));
    assert_eq!(table.count(older).await?, 5);

    let anywhere = Query::<Employee>::all().filter(Employee::AGE.ge(40));
    assert_eq!(table.all(anywhere.clone()).await.unwrap_err().kind(), ErrorKind::ScanRefused);
    assert_eq!(anywhere.explain()?.class(), CostClass::TableScan);
    let all = table.all(anywhere.allow_scan()).await?;
    assert_eq!(all.len(), 10);

    let either = Employee::DEPARTMENT.eq("Sales") & (Employee::ID.eq(221) | Employee::ID.eq(229));
    let query = Query::<Employee>::all().filter(either);
    assert_eq!(query.explain()?.class(), CostClass::MultiRange);
    assert_eq!(table.all(query).await?.len(), 2);
    Ok(())
}

#[tokio::test]
async fn partition_keys_and_sorting() -> Result<()> {
    let meter = Meter::new(MemoryStore::new());
    let table = Table::new(Arc::new(meter.clone()), "Claims")?;
    table.create().await?;
    let mut at: Timestamp = "2014-07-31T18:00:00Z".parse()?;
    for number in 0..10 {
        at = at.next_tick();
        table.insert(&Claim { employee: 123, at, number }).await?;
    }
    let hot = hot_partitions(&meter.report(), HotPartitionOptions::default().with_writes(5));
    assert_eq!(hot[0].partition.partition.as_str(), "000123");
    let first = table.first(Claim::range(123).query().allow_scan()).await?;
    assert_eq!(first.unwrap().number, 9);
    Ok(())
}

#[tokio::test]
async fn design_for_modification() -> Result<()> {
    let table = staffed().await?;
    let mut jo = table.require(Employee::key("Sales", 223)).await?;
    let mut late = jo.clone();
    jo.age += 1;
    table.replace(&mut jo).await?;
    assert_eq!(table.replace(&mut late).await.unwrap_err().kind(), ErrorKind::PreconditionFailed);
    table.patch(Employee::patch(Employee::key("Sales", 223)).age(50)).await?;
    table.insert_or_replace(&employee("Sales", 223, 51)).await?;
    table.insert_or_merge(&employee("Sales", 223, 52)).await?;
    assert_eq!(table.require(Employee::key("Sales", 223)).await?.age, 52);
    table.delete_if_exists(Employee::key("Sales", 224)).await?;

    let mut sales = table.require(Department::key("Sales")).await?;
    sales.employee_count += 1;
    table.transaction().replace(&sales).insert(&employee("Sales", 9, 25)).commit().await?;
    assert_eq!(table.require(Department::key("Sales")).await?.employee_count, 11);

    let (new, old) = (employee("Sales", 10, 25), employee("Sales", 9, 25));
    let refused = table.transaction().insert(&new).insert(&old).commit().await.unwrap_err();
    assert_eq!(refused.operation_index(), Some(1));
    Ok(())
}

#[tokio::test]
async fn relationships() -> Result<()> {
    let table = staffed().await?;
    let badge = Link::to(&Department::key("Sales"))?;
    assert_eq!(table.require(&badge).await?.name, "Sales");

    let employees = table.all(Employee::range("Sales").id_range(222..225)).await?;
    let departments = Lookup::<Department>::new(table, LookupOptions::default());
    let joined = departments.join(employees, |each| Some(Department::key(&each.department))).await?;
    assert!(joined.iter().all(|each| each.related.as_ref().is_some_and(|sales| sales.employee_count == 10)));
    Ok(())
}

#[test]
fn shared_access_signatures() -> Result<()> {
    let token = "sv=2019-02-02&tn=Employees&sp=r&sig=c2VjcmV0";
    let account = AzureAccount::new("https://contoso.table.core.windows.net", Credential::sas(token)?)?;
    assert!(!format!("{account:?}").contains("c2VjcmV0"), "a signature is a secret");
    Ok(())
}

#[tokio::test]
async fn retrieving_entities() -> Result<()> {
    let table = staffed().await?;
    let mut stream = table.stream(Employee::range("Sales"));
    let mut count = 0;
    while let Some(employee) = stream.try_next().await? {
        assert_eq!(employee.department, "Sales");
        count += 1;
    }
    assert_eq!(count, 10);

    let query = Employee::range("Sales").query().page_size(4);
    let first = table.page(query.clone(), None).await?;
    let token = first.next.unwrap().to_token();
    let second = table.page(query, Some(&token.parse()?)).await?;
    assert_eq!(second.items[0].id, 224);

    let badges = table.all(Employee::range("Sales").query().project::<Badge>()).await?;
    assert_eq!(*badges[0], Badge { id: 220, name: "e220".into() });
    let departments = ["Sales", "Marketing"].map(Employee::range);
    let both = table.all_many(departments, 8).await?;
    assert_eq!(both.iter().map(Vec::len).sum::<usize>(), 20);
    Ok(())
}

#[tokio::test]
async fn heterogeneous_types() -> Result<()> {
    let table = staffed().await?;
    let sales = Query::<Staff>::partition(&PartitionKey::new("Sales")?).allow_scan();
    let mut names = Vec::new();
    for each in table.all(sales).await? {
        match each.into_value() {
            Staff::Employee(employee) => names.push(employee.name),
            Staff::Department(department) => names.push(department.name),
            Staff::Other(row) => names.push(row.key.row.to_string()),
        }
    }
    assert_eq!(names.len(), 11);

    let row = table.require::<DynamicEntity>(Department::key("Sales").resolve()?).await?;
    assert_eq!(row.get("EntityType"), Some(&Value::from("Department")));
    let unchanged = IfMatch::Version(row.etag().clone());
    let change = DynamicEntity::new(row.key.clone()).with("EmployeeCount", 11_i64)?;
    table.store().write(table.name(), Operation::new(Action::Merge(change, unchanged))?).await?;
    assert_eq!(table.require(Department::key("Sales")).await?.employee_count, 11);
    Ok(())
}
