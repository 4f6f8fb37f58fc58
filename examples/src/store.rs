//! Choosing a store by a word: the same program runs on each.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use table_azure::AzureAccount;
use table_core::{Error, ErrorKind, MemoryStore, QueueStore, Result, TableStore};
use table_embedded::EmbeddedStore;
use tempfile::TempDir;

/// Which store an app runs on: `memory`, `embedded` or `embedded:PATH`, `azure` or `azure:CONNECTION_STRING`.
///
/// A bare `azure` takes the connection string from the environment variable `AZURE_STORAGE_CONNECTION_STRING`.
///
/// ```
/// use table_examples::StoreChoice;
///
/// let choice: StoreChoice = "embedded:company.redb".parse()?;
/// assert_eq!(choice.to_string(), "embedded:company.redb");
/// assert!("cloud".parse::<StoreChoice>().unwrap_err().contains("memory, embedded"));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone)]
pub enum StoreChoice {
    /// Gone when the program ends.
    Memory,
    /// A file; one in a temporary folder where no path is given.
    Embedded(Option<PathBuf>),
    /// An account of Azure Storage, or of its emulator. It shows no secret.
    Azure(AzureAccount),
}

/// A store that is ready for use.
#[derive(Debug, Clone)]
pub struct OpenStore {
    /// Its tables.
    pub tables: Arc<dyn TableStore>,
    /// Its queues.
    pub queues: Arc<dyn QueueStore>,
    blobs: Blobs,
    /// A folder that goes when the last user of the store does.
    _temporary: Option<Arc<TempDir>>,
}

/// Where the blobs of a store are.
#[derive(Debug, Clone)]
enum Blobs {
    Memory(Arc<InMemory>),
    /// Beside this file.
    Files(PathBuf),
    Account(AzureAccount),
}

impl StoreChoice {
    /// Whether what is stored is still there when the program runs again.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        matches!(self, Self::Embedded(Some(_)) | Self::Azure(_))
    }

    /// Opens the store.
    ///
    /// # Errors
    /// Those of opening the store.
    pub fn open(&self) -> Result<OpenStore> {
        match self {
            Self::Memory => {
                let store = Arc::new(MemoryStore::new());
                Ok(OpenStore::new(store.clone(), store, Arc::default()))
            }
            Self::Azure(account) => Ok(OpenStore {
                tables: account.tables(),
                queues: account.queues(),
                blobs: Blobs::Account(account.clone()),
                _temporary: None,
            }),
            Self::Embedded(Some(path)) => OpenStore::file(path, None),
            Self::Embedded(None) => {
                let folder = tempfile::tempdir().map_err(|error| cannot("make a temporary folder", error))?;
                let path = folder.path().join("store.redb");
                OpenStore::file(&path, Some(Arc::new(folder)))
            }
        }
    }
}

impl OpenStore {
    /// A store of parts, with blobs in memory.
    #[must_use]
    pub fn new(tables: Arc<dyn TableStore>, queues: Arc<dyn QueueStore>, blobs: Arc<InMemory>) -> Self {
        Self { tables, queues, blobs: Blobs::Memory(blobs), _temporary: None }
    }

    fn file(path: &Path, temporary: Option<Arc<TempDir>>) -> Result<Self> {
        let store = Arc::new(EmbeddedStore::open(path)?);
        let blobs = Blobs::Files(path.to_owned());
        Ok(Self { tables: store.clone(), queues: store, blobs, _temporary: temporary })
    }

    /// The blobs of a name: a container of the account, or a folder beside the file, such as `company.redb.photos`.
    ///
    /// # Errors
    /// Those of making the container or the folder.
    pub async fn blobs(&self, name: &str) -> Result<Arc<dyn ObjectStore>> {
        match &self.blobs {
            Blobs::Memory(blobs) => Ok(blobs.clone()),
            Blobs::Files(path) => {
                let mut folder = path.clone().into_os_string();
                folder.push(format!(".{name}"));
                fs::create_dir_all(&folder)
                    .map_err(|error| cannot("make a folder for blobs beside the store", error))?;
                let files = LocalFileSystem::new_with_prefix(&folder);
                let files = files.map_err(|error| cannot("open the folder for blobs beside the store", error))?;
                // A row must not outlive its blob when the machine dies, so both reach the disk.
                Ok(Arc::new(files.with_fsync(true)))
            }
            Blobs::Account(account) => {
                let container = account.blobs(name);
                container.create_if_missing().await?;
                container.open()
            }
        }
    }
}

fn cannot(what: &str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Unavailable, format!("cannot {what}: {error}")).with_source(error)
}

impl FromStr for StoreChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':').map_or((text, None), |(kind, rest)| (kind, Some(rest))) {
            ("memory", None) => Ok(Self::Memory),
            ("embedded", None) => Ok(Self::Embedded(None)),
            ("embedded", Some("")) => Err("a path must follow `embedded:`".to_owned()),
            ("embedded", Some(path)) => Ok(Self::Embedded(Some(path.into()))),
            ("azure", None) => AzureAccount::from_environment().map(Self::Azure).map_err(said),
            ("azure", Some(text)) => AzureAccount::from_connection_string(text).map(Self::Azure).map_err(said),
            _ => {
                Err("there are the stores memory, embedded, embedded:PATH, azure and azure:CONNECTION_STRING"
                    .to_owned())
            }
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the form that `map_err` takes")]
fn said(error: table_core::Error) -> String {
    error.message().to_owned()
}

impl fmt::Display for StoreChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory"),
            Self::Embedded(None) => f.write_str("embedded"),
            Self::Embedded(Some(path)) => write!(f, "embedded:{}", path.display()),
            Self::Azure(_) => f.write_str("azure"),
        }
    }
}
