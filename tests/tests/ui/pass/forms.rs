//! Forms that must compile without a warning.
#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub)]

use table_core::keys::KeyPart;
use table_core::{DynamicEntity, Entity, EntitySet, Flatten, Projection, Property};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(name = "Employee", version = 2, upgrade_from(EmployeeV1), partition = "{department}", row = "empid_{id:06}")]
#[index(email, row = "email_{email}", include(first_name))]
#[index(r#type, table = "Types", partition = "{type}", row = "{department}_{id}")]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    r#type: String,
    email: Option<String>,
    name: String,
    version: i32,
    #[entity(flatten(prefix = "Home"))]
    home: Address,
}

#[derive(Entity)]
#[entity(name = "Employee", partition = "{department}", row = "empid_{id:06}")]
struct EmployeeV1 {
    department: String,
    id: u32,
}

impl From<EmployeeV1> for Employee {
    fn from(old: EmployeeV1) -> Self {
        Self {
            department: old.department,
            id: old.id,
            first_name: String::new(),
            r#type: String::new(),
            email: None,
            name: String::new(),
            version: 0,
            home: Address { city: String::new() },
        }
    }
}

#[derive(Flatten, Clone, Debug, PartialEq)]
struct Address {
    city: String,
}

#[derive(Entity)]
#[entity(partition = "{key}", row = "", names(key = "at"))]
struct Keyed<T>
where
    T: Property + KeyPart + Send + Sync + 'static,
{
    key: T,
}

impl<T: Property + KeyPart + Send + Sync + 'static> Keyed<T> {
    fn key(&self) -> &T {
        &self.key
    }
}

#[derive(Property)]
struct Photo(Vec<u8>);

#[derive(Property)]
enum Status {
    Active,
}

#[derive(EntitySet)]
enum Staff {
    Employee(Box<Employee>),
    #[entity(other)]
    Other(DynamicEntity),
}

#[derive(Projection)]
#[projection(of = Employee)]
struct Name {
    name: String,
    department: String,
}

fn main() {
    let _ = Keyed { key: 5_u32 }.key();
    let _ = Keyed::<u32>::at(&5);
    let _ = (Photo(Vec::new()).0, Status::Active);
    fn uses(staff: Staff) -> Option<Name> {
        match staff {
            Staff::Employee(employee) => Some(Name { name: employee.name, department: employee.department }),
            Staff::Other(other) => {
                drop(other);
                None
            }
        }
    }
    let _ = uses;
    let name = Name { name: String::new(), department: String::new() };
    let _ = (name.name, name.department);
}
