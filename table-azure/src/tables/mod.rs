//! Tables over HTTP: our own client of the service's REST interface.

mod address;
mod batch;
mod batch_answer;
mod entity;
mod filter;
mod request;
mod token;

use async_trait::async_trait;
use azure_core::http::headers::{CLIENT_REQUEST_ID, CONTENT_TYPE, ETAG};
use azure_core::http::{Context, Method, Pipeline, PipelineSendOptions, RawResponse, Request};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use table_core::store::{Capabilities, Page, PageToken, Selection, StoreQuery, TablePage};
use table_core::{
    DynamicEntity, ETag, EntityKey, Error, ErrorKind, Operation, Result, TableName, TableStore, Transaction, Written,
    limits,
};
use uuid::Uuid;

use self::address::Place;
use self::request::Write;
use crate::account::AzureAccount;
use crate::call::{Call, Subject};
use crate::cosmos;
use crate::endpoint::{Endpoint, Service};
use crate::failure;

/// A selection whose names are longer than this together is made by the client, since addresses have limits.
const SELECT_CHARS: usize = 4096;

/// The tables of an account: one request for each call, none repeated.
///
/// [`AzureAccount::tables`] gives them behind [`Retry`](table_core::layer::Retry), which is what applications want.
#[derive(Debug, Clone)]
pub struct AzureTables {
    account: AzureAccount,
    pipeline: Pipeline,
    cosmos: bool,
}

impl AzureTables {
    pub(crate) fn new(account: &AzureAccount) -> Self {
        let pipeline = Pipeline::new(
            option_env!("CARGO_PKG_NAME"),
            option_env!("CARGO_PKG_VERSION"),
            account.client_options(Service::Tables),
            Vec::new(),
            Vec::new(),
            None,
        );
        Self { account: account.clone(), pipeline, cosmos: account.is_cosmos() }
    }

    fn endpoint(&self, call: &Call<'_>) -> Result<&Endpoint> {
        self.account.endpoint(Service::Tables).map_err(|error| call.locate(error))
    }

    /// Sends a request and gives back an answer of success.
    async fn send(&self, call: &Call<'_>, mut request: Request) -> Result<RawResponse> {
        // The pipeline would add one too, but looks for it first, and what it looks for in vain costs it an error with
        // the whole stack where RUST_BACKTRACE is set: a third of the request.
        request.insert_header(CLIENT_REQUEST_ID, Uuid::new_v4().to_string());
        let context = Context::new();
        let options = PipelineSendOptions { skip_checks: true, ..PipelineSendOptions::default() };
        let work = self.pipeline.send(&context, &mut request, Some(options));
        let answer = call.run(self.account.options().traced_keys, work).await?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        Err(call.locate(failure::of_answer(call, answer.status(), answer.headers(), answer.body())))
    }

    /// The JSON of an answer.
    fn json<T: DeserializeOwned>(call: &Call<'_>, answer: &RawResponse) -> Result<T> {
        let content_type = answer.headers().get_optional_str(&CONTENT_TYPE).unwrap_or_default();
        if !content_type.to_ascii_lowercase().starts_with("application/json") {
            let error = Error::new(
                ErrorKind::Unavailable,
                "the endpoint does not answer as a table service does; check its address",
            );
            return Err(call.locate(error.with_retryable(false)));
        }
        serde_json::from_slice(answer.body())
            // The cause would quote what the answer holds.
            .map_err(|_| call.locate(Error::corrupted("the service's answer is not the JSON that it should be")))
    }
}

/// The body of a page of entities.
#[derive(Deserialize)]
struct Rows {
    value: Vec<Map<String, Json>>,
}

/// The body of a page of tables.
#[derive(Deserialize)]
struct Tables {
    value: Vec<ListedTable>,
}

#[derive(Deserialize)]
struct ListedTable {
    #[serde(rename = "TableName")]
    name: String,
}

#[async_trait]
impl TableStore for AzureTables {
    fn capabilities(&self) -> Capabilities {
        if self.cosmos { cosmos::capabilities() } else { Capabilities::table_service() }
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        let call = Call::change("create_table", Subject::Table).on(table.as_str());
        let body = serde_json::json!({ "TableName": table.as_str() }).to_string().into_bytes();
        let request = request::with_json(address::tables(self.endpoint(&call)?), Method::Post, body);
        self.send(&call, request).await.map(drop)
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        let call = Call::change("delete_table", Subject::Table).on(table.as_str());
        let request = request::plain(address::listed_table(self.endpoint(&call)?, table), Method::Delete);
        self.send(&call, request).await.map(drop)
    }

    async fn list_tables(&self, after: Option<&PageToken>) -> Result<TablePage> {
        let call = Call::read("list_tables", Subject::Query);
        let mut parameters = vec![("$top", limits::PAGE_ENTITIES.to_string())];
        if let Some(token) = after {
            parameters.extend(token::parameters(token, &token::OF_TABLES).map_err(|error| call.locate(error))?);
        }
        let url = address::with_query(address::tables(self.endpoint(&call)?), &parameters);
        let answer = self.send(&call, request::plain(url, Method::Get)).await?;
        let listed: Tables = Self::json(&call, &answer)?;
        let tables = listed.value.iter().map(|table| TableName::new(&table.name));
        let tables = tables.collect::<Result<_>>().map_err(|error| call.locate(error))?;
        Ok(TablePage { tables, next: token::of_headers(answer.headers(), &token::OF_TABLES) })
    }

    async fn get(&self, table: &TableName, key: &EntityKey, selection: &Selection) -> Result<Option<DynamicEntity>> {
        let call = Call::read("get", Subject::Entity).on(table.as_str()).with_key(key);
        let url = Place::Entity(table, key).at(self.endpoint(&call)?);
        let url = address::with_query(url, &select(selection).into_iter().collect::<Vec<_>>());
        match self.send(&call, request::plain(url, Method::Get)).await {
            Ok(answer) => {
                let row = Self::json(&call, &answer)?;
                entity::decode(&row, selection).map(Some).map_err(|error| call.locate(error))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn query(&self, table: &TableName, query: &StoreQuery) -> Result<Page> {
        let call = Call::read("query", Subject::Query).on(table.as_str());
        let parameters = parameters(query).map_err(|error| call.locate(error))?;
        let url = address::with_query(Place::Table(table).at(self.endpoint(&call)?), &parameters);
        let answer = self.send(&call, request::plain(url, Method::Get)).await?;
        let rows: Rows = Self::json(&call, &answer)?;
        let entities = rows.value.iter().map(|row| entity::decode(row, &query.selection)).collect::<Result<_>>();
        let entities = entities.map_err(|error| call.locate(error))?;
        Ok(Page { entities, next: token::of_headers(answer.headers(), &token::OF_ROWS) })
    }

    async fn write(&self, table: &TableName, operation: Operation) -> Result<Written> {
        let call = Call::change(operation.name(), Subject::Entity).on(table.as_str()).with_key(operation.key());
        let located = |error| call.locate(error);
        if self.cosmos {
            cosmos::check_operation(&operation).map_err(located)?;
        }
        let write = Write::of(table, &operation, self.cosmos).map_err(located)?;
        let answer = self.send(&call, write.into_request(self.endpoint(&call)?)).await?;
        if operation.action().entity().is_none() {
            return Ok(Written { etag: None });
        }
        match answer.headers().get_optional_str(&ETAG) {
            Some(etag) => Ok(Written { etag: Some(ETag::from(etag)) }),
            None => {
                Err(located(Error::corrupted("the service's answer to a write has no ETag").with_outcome_unknown(true)))
            }
        }
    }

    async fn transact(&self, table: &TableName, transaction: Transaction) -> Result<Vec<Written>> {
        let call = Call::change("transact", Subject::Entity).on(table.as_str());
        let located = |error| call.locate(error);
        if self.cosmos {
            cosmos::check_transaction(&transaction).map_err(located)?;
        }
        let request = batch::encode(self.endpoint(&call)?, table, &transaction, self.cosmos).map_err(located)?;
        let answer = self.send(&call, request).await?;
        batch_answer::decode(answer.headers(), answer.body(), table.as_str(), &transaction).map_err(located)
    }
}

/// What a query asks for, as parameters.
fn parameters(query: &StoreQuery) -> Result<Vec<(&'static str, String)>> {
    let page_size = query.page_size();
    if page_size == 0 {
        return Err(Error::invalid_query("a page of no entities never ends; ask for one entity at least"));
    }
    let mut parameters = vec![("$top", page_size.to_string())];
    parameters.extend(filter::text(&query.range, query.filter.as_ref()).map(|text| ("$filter", text)));
    parameters.extend(select(&query.selection));
    if let Some(token) = &query.after {
        parameters.extend(token::parameters(token, &token::OF_ROWS)?);
    }
    Ok(parameters)
}

/// What a read selects, where it does: keys and version come along always.
fn select(selection: &Selection) -> Option<(&'static str, String)> {
    let Selection::Only(names) = selection else {
        return None;
    };
    let mut text = "PartitionKey,RowKey,Timestamp".to_owned();
    for name in names {
        text.push(',');
        text.push_str(name.as_str());
    }
    (text.len() <= SELECT_CHARS).then_some(("$select", text))
}
