//! The one error type of the toolkit.
//!
//! An [`Error`] says what kind of failure it is ([`Error::kind`]), whether trying again can help
//! ([`Error::is_retryable`]), whether the write may have happened all the same
//! ([`Error::outcome_unknown`]), and where it happened: operation, table, key, property, and the
//! position within a transaction. Messages say what to do and never hold a property's value.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::keys::EntityKey;

/// The result of everything that can fail here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, as a caller decides on it.
///
/// ```
/// use table_core::{EntityKey, ErrorKind};
///
/// let error = EntityKey::parse("Sales", "a/b").unwrap_err();
/// match error.kind() {
///     ErrorKind::InvalidKey => assert!(!error.is_retryable()),
///     other => panic!("{other}"),
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The entity, queue or message is not there.
    NotFound,
    /// The table is not there.
    TableNotFound,
    /// The queue is not there.
    QueueNotFound,
    /// Something with this key or name is there already.
    AlreadyExists,
    /// The entity or message has changed since it was read.
    PreconditionFailed,
    /// A key cannot be written or read: a forbidden character, a number too wide for its template.
    InvalidKey,
    /// A table, queue or property name is not allowed.
    InvalidName,
    /// A value cannot be stored without loss.
    InvalidValue,
    /// A filter, selection or continuation cannot be used.
    InvalidQuery,
    /// The query would scan, and the caller did not allow it.
    ScanRefused,
    /// A limit of the service would be exceeded.
    LimitExceeded,
    /// The service asks to slow down.
    Throttled,
    /// The service did not answer, or answered with an internal failure.
    Unavailable,
    /// The credentials are missing, wrong or do not allow this.
    PermissionDenied,
    /// This store cannot do what was asked.
    Unsupported,
    /// A stored row is not what its type says, or a file is damaged.
    Corrupted,
    /// Somebody else holds what this call needs exclusively.
    Busy,
    /// A bound on repetitions was reached under contention.
    Contention,
}

impl ErrorKind {
    /// Whether an error of this kind is worth trying again, unless the error says otherwise.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Throttled | Self::Unavailable | Self::Busy)
    }

    /// The name of the kind in plain words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not found",
            Self::TableNotFound => "table not found",
            Self::QueueNotFound => "queue not found",
            Self::AlreadyExists => "already exists",
            Self::PreconditionFailed => "changed since it was read",
            Self::InvalidKey => "invalid key",
            Self::InvalidName => "invalid name",
            Self::InvalidValue => "invalid value",
            Self::InvalidQuery => "invalid query",
            Self::ScanRefused => "scan refused",
            Self::LimitExceeded => "limit exceeded",
            Self::Throttled => "throttled",
            Self::Unavailable => "unavailable",
            Self::PermissionDenied => "permission denied",
            Self::Unsupported => "unsupported",
            Self::Corrupted => "corrupted",
            Self::Busy => "busy",
            Self::Contention => "too much contention",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failure, with everything known about where it happened.
///
/// ```
/// use table_core::{ErrorKind, TableName};
///
/// let error = TableName::new("no spaces please").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidName);
/// assert!(!error.is_retryable());
/// ```
#[derive(Clone)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Debug, Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    retryable: bool,
    outcome_unknown: bool,
    operation: Option<&'static str>,
    table: Option<String>,
    key: Option<EntityKey>,
    property: Option<String>,
    operation_index: Option<usize>,
    service_code: Option<String>,
    request_id: Option<String>,
    retry_after: Option<Duration>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of a kind, with a message that says what to do about it.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            inner: Box::new(Inner {
                kind,
                message: message.into(),
                retryable: kind.is_retryable(),
                outcome_unknown: false,
                operation: None,
                table: None,
                key: None,
                property: None,
                operation_index: None,
                service_code: None,
                request_id: None,
                retry_after: None,
                source: None,
            }),
        }
    }

    /// What went wrong, as a caller decides on it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.inner.retryable
    }

    /// Whether a write was sent and its answer lost: it may or may not have happened.
    ///
    /// Never repeat such a write blindly, and never treat it as refused.
    #[must_use]
    pub fn outcome_unknown(&self) -> bool {
        self.inner.outcome_unknown
    }

    /// The message alone, without kind and place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// The store operation that failed, such as `insert`.
    #[must_use]
    pub fn operation(&self) -> Option<&str> {
        self.inner.operation
    }

    /// The table or queue concerned.
    #[must_use]
    pub fn table(&self) -> Option<&str> {
        self.inner.table.as_deref()
    }

    /// The key of the entity concerned.
    #[must_use]
    pub fn key(&self) -> Option<&EntityKey> {
        self.inner.key.as_ref()
    }

    /// The property concerned.
    #[must_use]
    pub fn property(&self) -> Option<&str> {
        self.inner.property.as_deref()
    }

    /// The position of the failing operation in its transaction, from 0.
    #[must_use]
    pub fn operation_index(&self) -> Option<usize> {
        self.inner.operation_index
    }

    /// The service's own error code, where a service answered.
    #[must_use]
    pub fn service_code(&self) -> Option<&str> {
        self.inner.service_code.as_deref()
    }

    /// The service's id of the failed request, for a support case.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.inner.request_id.as_deref()
    }

    /// How long the service asked to wait before the next try.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.inner.retry_after
    }

    /// Overrides whether trying again can help.
    #[must_use]
    pub fn with_retryable(mut self, retryable: bool) -> Self {
        self.inner.retryable = retryable;
        self
    }

    /// Marks a write whose answer was lost.
    #[must_use]
    pub fn with_outcome_unknown(mut self, unknown: bool) -> Self {
        self.inner.outcome_unknown = unknown;
        self
    }

    /// Names the operation, unless one is named already.
    #[must_use]
    pub fn with_operation(mut self, operation: &'static str) -> Self {
        self.inner.operation.get_or_insert(operation);
        self
    }

    /// Names the table or queue, unless one is named already.
    #[must_use]
    pub fn with_table(mut self, table: impl Into<String>) -> Self {
        self.inner.table.get_or_insert_with(|| table.into());
        self
    }

    /// Names the entity, unless one is named already.
    #[must_use]
    pub fn with_key(mut self, key: EntityKey) -> Self {
        self.inner.key.get_or_insert(key);
        self
    }

    /// Names the property, unless one is named already.
    #[must_use]
    pub fn with_property(mut self, property: impl Into<String>) -> Self {
        self.inner.property.get_or_insert_with(|| property.into());
        self
    }

    /// Says which operation of a transaction failed.
    #[must_use]
    pub fn with_operation_index(mut self, index: usize) -> Self {
        self.inner.operation_index = Some(index);
        self
    }

    /// Keeps the service's own code and request id.
    #[must_use]
    pub fn with_service(mut self, code: Option<String>, request_id: Option<String>) -> Self {
        self.inner.service_code = code;
        self.inner.request_id = request_id;
        self
    }

    /// Keeps the service's word on how long to wait.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.inner.retry_after = Some(wait);
        self
    }

    /// Keeps the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.inner.source = Some(source.into().into());
        self
    }
}

macro_rules! shorthands {
    ($($(#[$doc:meta])* $name:ident => $kind:ident;)*) => {
        /// One constructor for each kind that is raised in many places.
        impl Error {
            $($(#[$doc])* #[must_use] pub fn $name(message: impl Into<String>) -> Self {
                Self::new(ErrorKind::$kind, message)
            })*
        }
    };
}

shorthands! {
    /// [`ErrorKind::NotFound`].
    not_found => NotFound;
    /// [`ErrorKind::AlreadyExists`].
    already_exists => AlreadyExists;
    /// [`ErrorKind::PreconditionFailed`].
    precondition_failed => PreconditionFailed;
    /// [`ErrorKind::InvalidKey`].
    invalid_key => InvalidKey;
    /// [`ErrorKind::InvalidName`].
    invalid_name => InvalidName;
    /// [`ErrorKind::InvalidValue`].
    invalid_value => InvalidValue;
    /// [`ErrorKind::InvalidQuery`].
    invalid_query => InvalidQuery;
    /// [`ErrorKind::LimitExceeded`].
    limit_exceeded => LimitExceeded;
    /// [`ErrorKind::Unsupported`].
    unsupported => Unsupported;
    /// [`ErrorKind::Corrupted`].
    corrupted => Corrupted;
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.inner;
        write!(f, "{}", inner.kind)?;
        if !inner.message.is_empty() {
            write!(f, ": {}", inner.message)?;
        }
        let mut place = PlaceWriter { f, any: false };
        if let Some(operation) = inner.operation {
            place.item(format_args!("{operation}"))?;
        }
        if let Some(table) = &inner.table {
            place.item(format_args!("table {table}"))?;
        }
        if let Some(key) = &inner.key {
            place.item(format_args!("entity {key}"))?;
        }
        if let Some(property) = &inner.property {
            place.item(format_args!("property {property}"))?;
        }
        if let Some(index) = inner.operation_index {
            place.item(format_args!("operation {index} of the transaction"))?;
        }
        if let Some(code) = &inner.service_code {
            place.item(format_args!("service code {code}"))?;
        }
        if let Some(id) = &inner.request_id {
            place.item(format_args!("request {id}"))?;
        }
        if inner.outcome_unknown {
            place.item(format_args!("the write may have happened"))?;
        }
        place.close()
    }
}

/// Writes the parenthesis that says where an error happened.
struct PlaceWriter<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    any: bool,
}

impl PlaceWriter<'_, '_> {
    fn item(&mut self, item: fmt::Arguments<'_>) -> fmt::Result {
        self.f.write_str(if self.any { ", " } else { " (" })?;
        self.any = true;
        self.f.write_fmt(item)
    }

    fn close(self) -> fmt::Result {
        if self.any { self.f.write_str(")") } else { Ok(()) }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.inner, f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner.source.as_deref().map(|source| source as _)
    }
}
