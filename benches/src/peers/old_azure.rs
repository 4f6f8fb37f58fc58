//! azure_data_tables 0.21, the SDK's client of Azure Tables that is no longer kept.

use azure_data_tables::clients::{TableClient, TableServiceClientBuilder};
use azure_storage::{CloudLocation, ConnectionString, StorageCredentials};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Result;
use crate::workload::Employee;

/// An employee as the service's JSON has it: serde is the crate's whole mapping.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Stored {
    partition_key: String,
    row_key: String,
    age: i32,
    email: String,
    first_name: String,
    last_name: String,
    #[serde(rename = "Photo@odata.type")]
    photo_type: String,
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    photo: Bytes,
    skills: String,
}

fn to_base64<S: Serializer>(bytes: &Bytes, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes))
}

fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Bytes, D::Error> {
    let text = String::deserialize(deserializer)?;
    STANDARD.decode(text).map(Into::into).map_err(serde::de::Error::custom)
}

impl Stored {
    /// The row of an employee.
    pub(crate) fn of(employee: &Employee) -> Result<Self> {
        Ok(Self {
            partition_key: employee.department.clone(),
            row_key: row_key(employee.id),
            age: employee.age,
            email: employee.email.clone(),
            first_name: employee.first_name.clone(),
            last_name: employee.last_name.clone(),
            photo_type: "Edm.Binary".to_owned(),
            photo: employee.photo.clone().unwrap_or_default(),
            skills: serde_json::to_string(&employee.skills)?,
        })
    }
}

/// The row key of an employee.
pub(crate) fn row_key(id: u32) -> String {
    format!("empid_{id:07}")
}

/// A table of employees.
#[derive(Debug, Clone)]
pub(crate) struct OldAzure {
    table: TableClient,
}

impl OldAzure {
    /// A handle on a table of the account that a connection string names.
    pub(crate) fn open(connection_string: &str, table: &str) -> Result<Self> {
        let parts = ConnectionString::new(connection_string)?;
        let account = parts.account_name.ok_or("the connection string has no account")?;
        let key = parts.account_key.ok_or("the connection string has no key")?;
        let uri = parts.table_endpoint.ok_or("the connection string has no endpoint for tables")?;
        let location = CloudLocation::Custom { account: account.to_owned(), uri: uri.to_owned() };
        let credentials = StorageCredentials::access_key(account.to_owned(), key.to_owned());
        let service = TableServiceClientBuilder::with_location(location, credentials).build();
        Ok(Self { table: service.table_client(table) })
    }

    /// Inserts an employee.
    pub(crate) async fn insert(&self, employee: &Employee) -> Result {
        self.table.insert::<_, Stored>(&Stored::of(employee)?)?.await?;
        Ok(())
    }

    /// Reads an employee.
    pub(crate) async fn get(&self, department: &str, id: u32) -> Result<Stored> {
        let entity = self.table.partition_key_client(department).entity_client(row_key(id));
        Ok(entity.get::<Stored>().await?.entity)
    }

    /// Inserts employees of one department, all or none.
    pub(crate) async fn transact(&self, employees: &[Employee]) -> Result {
        let department = employees.first().ok_or("a transaction needs employees")?.department.as_str();
        let mut transaction = self.table.partition_key_client(department).transaction();
        for employee in employees {
            transaction = transaction.insert(&Stored::of(employee)?)?;
        }
        let answers = transaction.await?.operation_responses;
        if answers.len() == employees.len() && answers.iter().all(|answer| answer.status_code.is_success()) {
            Ok(())
        } else {
            Err("the transaction of the old client was refused".into())
        }
    }
}
