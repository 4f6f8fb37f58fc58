//! The files of the repository, as the checks see them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::run::{Outcome, read};

/// Every file that git tracks or would track, by its path from the root with `/` between names.
#[derive(Debug, Default)]
pub(super) struct Tree {
    texts: BTreeMap<String, String>,
    paths: BTreeSet<String>,
}

impl Tree {
    /// Reads the files of a repository.
    pub(super) fn load(root: &Path) -> Outcome<Self> {
        let mut git = Command::new("git");
        git.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let listed = read(&mut git)?;
        let mut tree = Self::default();
        for path in listed.split_terminator('\0') {
            let file = root.join(path);
            // A file that is deleted and not yet committed so is listed all the same.
            if !file.is_file() {
                continue;
            }
            let bytes = fs::read(&file).map_err(|error| format!("{path} cannot be read: {error}"))?;
            tree.add(path, bytes);
        }
        Ok(tree)
    }

    fn add(&mut self, path: &str, bytes: Vec<u8>) {
        self.paths.insert(path.to_owned());
        if let Ok(text) = String::from_utf8(bytes) {
            self.texts.insert(path.to_owned(), text);
        }
    }

    /// The text of a file; none for a binary file and for no file.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// All text files.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// All text files with this ending.
    pub(super) fn with_extension<'a>(&'a self, extension: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.texts().filter(move |(path, _)| has_extension(path, extension))
    }

    /// Whether there is such a file, or a folder with files in it.
    pub(super) fn exists(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        path.is_empty()
            || self.paths.contains(path)
            || self.paths.range(folder.clone()..).next().is_some_and(|next| next.starts_with(&folder))
    }
}

/// Whether a file's name ends so.
pub(super) fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

/// A tree of samples.
#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Tree {
    fn from(files: [(&str, &str); N]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.add(path, text.as_bytes().to_vec());
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_exists_by_its_files() {
        let tree = Tree::from([("docs/a.md", ""), ("docs-old.md", "")]);
        assert!(tree.exists("docs") && tree.exists("docs/") && tree.exists("docs/a.md"));
        assert!(!tree.exists("doc") && !tree.exists("docs/b.md"));
    }

    #[test]
    fn a_binary_file_exists_without_text() {
        let mut tree = Tree::default();
        tree.add("v1.redb", vec![0xff, 0xfe]);
        assert!(tree.exists("v1.redb"));
        assert_eq!(tree.text("v1.redb"), None);
    }
}
