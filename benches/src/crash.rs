//! A process that writes until it is killed.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use table_core::Table;
use table_embedded::EmbeddedStore;

use crate::Result;
use crate::fixtures::TABLE;
use crate::peers::sqlite::Sqlite;
use crate::workload::employee;

/// The first argument that makes this program a victim; the engine and the file follow.
const FLAG: &str = "--victim";
/// Writes after which the victim may be killed.
const FIRST_WRITES: usize = 20;
/// Numbers of employees that no loaded file has.
const FIRST_NUMBER: usize = 8_000_000;

/// What a victim writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engine {
    Embedded,
    Sqlite,
}

impl Engine {
    const fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Sqlite => "sqlite",
        }
    }
}

/// A process that writes to a file until it is killed.
#[derive(Debug)]
pub(crate) struct Victim {
    engine: Engine,
    path: PathBuf,
}

impl Victim {
    /// One that writes to an embedded store.
    pub(crate) fn embedded(path: &Path) -> Self {
        Self { engine: Engine::Embedded, path: path.to_owned() }
    }

    /// One that writes to SQLite.
    pub(crate) fn sqlite(path: &Path) -> Self {
        Self { engine: Engine::Sqlite, path: path.to_owned() }
    }

    /// What this process is to be, where it was started as a victim.
    pub(crate) fn parse(arguments: &[String]) -> Option<Self> {
        let [flag, engine, path] = arguments else { return None };
        let engine = [Engine::Embedded, Engine::Sqlite].into_iter().find(|each| each.name() == engine)?;
        (flag == FLAG).then(|| Self { engine, path: PathBuf::from(path) })
    }

    /// Starts this program as the victim, lets it write for a while, and kills it.
    pub(crate) fn kill_while_writing(&self) -> Result {
        let mut child = Command::new(std::env::current_exe()?)
            .args([FLAG, self.engine.name()])
            .arg(&self.path)
            .stdout(Stdio::piped())
            .spawn()?;
        let mut ready = String::new();
        let heard = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut ready)).transpose();
        child.kill()?;
        child.wait()?;
        heard?;
        if ready.is_empty() { Err("the process to be killed wrote nothing".into()) } else { Ok(()) }
    }

    /// Writes until the process is killed, and says when it has begun.
    pub(crate) fn run(&self) -> Result {
        let written = |count: usize| -> Result {
            if count == FIRST_WRITES {
                println!("ready");
                std::io::stdout().flush()?;
            }
            Ok(())
        };
        // Each life of a victim writes employees of its own.
        let first = FIRST_NUMBER + usize::try_from(std::process::id() % 10_000)? * 100;
        match self.engine {
            Engine::Embedded => {
                let table = Table::new(Arc::new(EmbeddedStore::open(&self.path)?), TABLE)?;
                let runtime = tokio::runtime::Builder::new_current_thread().build()?;
                for count in 0.. {
                    runtime.block_on(table.insert_or_replace(&employee(first + count % 100)))?;
                    written(count)?;
                }
            }
            Engine::Sqlite => {
                let sqlite = Sqlite::open(&self.path)?;
                for count in 0.. {
                    sqlite.replace(&employee(first + count % 100))?;
                    written(count)?;
                }
            }
        }
        Ok(())
    }
}
