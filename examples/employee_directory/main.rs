//! A small employee directory: every access path with what it costs, and a tool to keep one.
//!
//! ```sh
//! cargo run --example employee_directory                    # a company in a temporary file, and every way to reach it
//! cargo run --example employee_directory -- --help          # the directory as a tool
//! ```
//!
//! Bad input ends it with exit code 2 and a message that says what to do; any other failure with 1.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "what it prints is what it is for")]

mod commands;
mod directory;
mod domain;
mod moves;
mod report;
mod seed;
mod walk;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use table_core::{Error, ErrorKind, Query, Result};
use table_examples::{OpenStore, StoreChoice};

use directory::Directory;
use domain::{Department, Messages};

/// Departments and their employees, with reviews, expense claims and photos, on any store.
///
/// Without a command it fills the store, unless it holds a company, and walks every access path.
#[derive(Parser, Debug)]
#[command(name = "employee_directory")]
struct Options {
    /// Where the data is: memory, embedded, embedded:PATH, azure, or azure:CONNECTION_STRING.
    #[arg(long, global = true, default_value = "embedded")]
    store: StoreChoice,
    #[command(subcommand)]
    command: Option<commands::Command>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    if options.command.is_some() && !options.store.is_kept() {
        let message = "say where the directory is kept, as in `--store embedded:company.redb`";
        Options::command().error(clap::error::ErrorKind::MissingRequiredArgument, message).exit();
    }
    let store = match options.store.open() {
        Ok(store) => store,
        Err(error) => {
            eprintln!("employee_directory: {}: {}: {}", options.store, error.kind(), error.message());
            return ExitCode::from(2);
        }
    };
    match run(&store, options.command).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("employee_directory: {}: {}", error.kind(), error.message());
            ExitCode::from(if is_bad_input(&error) { 2 } else { 1 })
        }
    }
}

async fn run(store: &OpenStore, command: Option<commands::Command>) -> Result<()> {
    let directory = Directory::open(store).await?;
    if let Some(command) = command {
        return commands::run(&directory, command).await;
    }
    let somebody = Query::<Department>::all().allow_scan().top(1);
    if directory.staff.all(somebody).await?.is_empty() {
        seed::seed(&directory).await?;
    } else if directory.messages.get(Messages::key(seed::JO, seed::DAY)).await?.is_none() {
        // They are the last thing that is written.
        return Err(Error::invalid_value(
            "this store holds a company that the tour does not know, or a tour that was cut off while it was filled; give it a new file, or a command",
        ));
    }
    walk::walk(&directory).await
}

/// Whether the user can mend it by asking for something else.
fn is_bad_input(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound
            | ErrorKind::AlreadyExists
            | ErrorKind::InvalidKey
            | ErrorKind::InvalidValue
            | ErrorKind::LimitExceeded
            | ErrorKind::PermissionDenied
    )
}
