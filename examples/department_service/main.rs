//! The employees of a company's departments behind a small HTTP API.
//!
//! ```sh
//! cargo run --example department_service -- --store embedded:service.redb --listen 127.0.0.1:8080
//! curl localhost:8080/departments/Sales/employees -H 'Content-Type: application/json' \
//!   -d '{"id": 223, "first_name": "Jo", "last_name": "Jones", "email": "jo@contoso.com", "age": 41}'
//! curl localhost:8080/employees/223/move -H 'Content-Type: application/json' -H 'If-Match: *' -d '{"department": "Legal"}'
//! curl localhost:8080/departments/Legal/employees?last_name=Jones
//! ```
//!
//! | request | does |
//! | --- | --- |
//! | `POST /departments/Sales/employees` | adds an employee; 409 where the id or the email address is taken, in any department |
//! | `GET /employees/223` | one employee, with its ETag |
//! | `PUT /employees/223` | changes it, if it still has the version that `If-Match` names; else 412 |
//! | `DELETE /employees/223` | removes it, on the same condition |
//! | `POST /employees/223/move` | to the department that the body names, on the same condition |
//! | `GET /employees?email=jo@contoso.com` | who has this address, in any department |
//! | `GET /departments/Sales/employees?last_name=Jones` | everybody with this name, by the page |
//! | `GET /departments/Sales/employees?page_size=10&after=...` | everybody, by the page; `next` of one page is `after` of the next |
//!
//! An interrupt or a TERM signal ends it: requests under way are answered first. Killed at any moment, it loses nothing that
//! was answered, and finishes what was begun when it runs again.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it says where it listens, and why it does not")]

mod api;
mod condition;
mod domain;
mod problem;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use table_core::Table;
use table_examples::StoreChoice;
use table_patterns::Indexed;
use table_patterns::IntentOptions;
use table_patterns::eventually_consistent_transactions::Mover;
use tokio::net::TcpListener;

use domain::Employee;

/// The employees of a company's departments over HTTP.
#[derive(Parser, Debug)]
#[command(name = "department_service")]
struct Options {
    /// Where the data is: memory, embedded, embedded:PATH, azure, or azure:CONNECTION_STRING.
    #[arg(long, default_value = "embedded")]
    store: StoreChoice,
    /// The address to listen on; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// For how many seconds whoever began a change is waited for, before another finishes it.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    patience: u64,
}

#[tokio::main]
async fn main() -> ExitCode {
    match serve(Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("department_service: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(options: Options) -> Result<(), Box<dyn std::error::Error>> {
    let store = options.store.open().map_err(|error| format!("{}: {error}", options.store))?;
    let table = Table::new(store.tables.clone(), "Employees")?;
    let mover =
        Mover::builder(Arc::clone(&store.queues), "employee-indexes")?.keep_indexes::<Employee>(&table).build().await?;
    let patience = IntentOptions::default().with_hidden(Duration::from_secs(options.patience));
    let employees = Indexed::<Employee>::kept_by(table, &mover)?.with_intents(patience)?;
    employees.create_if_missing().await?;

    let listener = TcpListener::bind(options.listen).await;
    let listener = listener.map_err(|error| {
        format!(
            "cannot listen on {}: {error}; choose another address with --listen, or port 0 for a free one",
            options.listen
        )
    })?;
    println!("listening on http://{}", listener.local_addr()?);
    let workers = mover.start();
    axum::serve(listener, api::router(employees)).with_graceful_shutdown(interrupted()).await?;
    workers.shutdown().await;
    println!("stopped");
    Ok(())
}

/// Waits for an interrupt, or on Unix for the signal that asks a service to stop.
async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    // Without a way to be told, it runs until it is killed, which loses nothing either.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
