//! Keys and rows as one would convert them by hand, for this one struct.

use std::sync::LazyLock;

use table_core::{DynamicEntity, EntityKey, PropertyName, Result, Value};

use crate::workload::Employee;

static ENTITY_TYPE: LazyLock<PropertyName> = LazyLock::new(|| name("EntityType"));
static AGE: LazyLock<PropertyName> = LazyLock::new(|| name("Age"));
static EMAIL: LazyLock<PropertyName> = LazyLock::new(|| name("Email"));
static FIRST_NAME: LazyLock<PropertyName> = LazyLock::new(|| name("FirstName"));
static LAST_NAME: LazyLock<PropertyName> = LazyLock::new(|| name("LastName"));
static PHOTO: LazyLock<PropertyName> = LazyLock::new(|| name("Photo"));
static SKILLS: LazyLock<PropertyName> = LazyLock::new(|| name("Skills"));

#[expect(clippy::expect_used, reason = "the names above are valid")]
fn name(name: &'static str) -> PropertyName {
    PropertyName::from_static(name).expect("a property name")
}

/// The partition key and the row key as texts.
pub(crate) fn encode_key(department: &str, id: u32) -> (String, String) {
    (department.to_owned(), format!("empid_{id:07}"))
}

/// The fields that the keys hold.
pub(crate) fn decode_key(partition: &str, row: &str) -> Option<(String, u32)> {
    let digits = row.strip_prefix("empid_").filter(|digits| digits.len() == 7)?;
    Some((partition.to_owned(), digits.parse().ok()?))
}

/// The row of an employee.
pub(crate) fn to_row(employee: &Employee) -> Result<DynamicEntity> {
    let (partition, row) = encode_key(&employee.department, employee.id);
    let mut row = DynamicEntity::new(EntityKey::parse(&partition, &row)?);
    let mut put = |name: &PropertyName, value: Value| drop(row.properties.insert(name.clone(), value));
    put(&AGE, Value::Int32(employee.age));
    put(&EMAIL, Value::String(employee.email.clone()));
    put(&ENTITY_TYPE, Value::String("Employee".to_owned()));
    put(&FIRST_NAME, Value::String(employee.first_name.clone()));
    put(&LAST_NAME, Value::String(employee.last_name.clone()));
    if let Some(photo) = &employee.photo {
        put(&PHOTO, Value::Binary(photo.clone()));
    }
    put(&SKILLS, Value::String(serde_json::to_string(&employee.skills).unwrap_or_default()));
    Ok(row)
}

/// The employee of a row; none where it is no employee's.
pub(crate) fn from_row(row: DynamicEntity) -> Option<Employee> {
    let (department, id) = decode_key(row.key.partition.as_str(), row.key.row.as_str())?;
    let mut properties = row.properties;
    let (mut text, mut age, mut photo) = ([const { None }; 4], None, None);
    for (name, value) in properties.drain() {
        match (name.as_str(), value) {
            ("Age", Value::Int32(number)) => age = Some(number),
            ("Photo", Value::Binary(bytes)) => photo = Some(bytes),
            ("FirstName", Value::String(value)) => text[0] = Some(value),
            ("LastName", Value::String(value)) => text[1] = Some(value),
            ("Email", Value::String(value)) => text[2] = Some(value),
            ("Skills", Value::String(value)) => text[3] = Some(value),
            _ => {}
        }
    }
    let [first_name, last_name, email, skills] = text;
    Some(Employee {
        department,
        id,
        first_name: first_name?,
        last_name: last_name?,
        age: age?,
        email: email?,
        skills: serde_json::from_str(&skills?).ok()?,
        photo,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::employee;
    use table_core::Entity;

    #[test]
    fn it_writes_and_reads_what_the_derive_does() {
        let employee = employee(4711);
        let row = to_row(&employee).unwrap();
        assert_eq!(row, employee.to_row().unwrap());
        assert_eq!(from_row(row), Some(employee));
    }
}
