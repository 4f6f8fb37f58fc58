//! `cargo xtask tidy`: what no lint checks.
//!
//! A check is a function from the [`Tree`] of files (or from what cargo knows of the workspace)
//! to its [`Complaint`]s, so each is tested on small trees of good and bad samples.

mod changelog;
mod dependencies;
mod fences;
mod length;
mod links;
mod manifests;
mod tree;
mod whitespace;
mod words;

use std::fmt;

use crate::run::Outcome;
use crate::workspace::Workspace;
use tree::Tree;

/// Something to put right.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Complaint {
    path: String,
    line: Option<usize>,
    message: String,
}

impl Complaint {
    /// About a file as a whole.
    fn file(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: None, message: message.into() }
    }

    /// About one line, counted from 1.
    fn line(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: Some(line), message: message.into() }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.message),
            None => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

/// The checks that look at files alone.
const CHECKS: [fn(&Tree) -> Vec<Complaint>; 6] =
    [changelog::check, fences::check, length::check, links::check, whitespace::check, words::check];

/// Runs every check and prints every complaint.
pub(crate) fn run(workspace: &Workspace) -> Outcome {
    let tree = Tree::load(&workspace.root)?;
    let mut complaints: Vec<Complaint> = CHECKS.iter().flat_map(|check| check(&tree)).collect();
    complaints.extend(dependencies::check(workspace));
    complaints.extend(manifests::check(workspace, &tree));
    complaints.sort();
    for complaint in &complaints {
        println!("{complaint}");
    }
    match complaints.len() {
        0 => Ok(()),
        1 => Err("tidy found one thing to put right, above".to_owned()),
        many => Err(format!("tidy found {many} things to put right, above")),
    }
}
