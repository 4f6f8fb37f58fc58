//! The mark of one version of an entity.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;

use crate::timestamp::Timestamp;

/// The mark of one version of an entity: it changes with every write and never repeats.
///
/// Tags made of a time, as the service's and our own stores' are, take no memory of their own.
///
/// ```
/// use table_core::ETag;
///
/// let text = r#"W/"datetime'2014-08-22T00%3A50%3A32.1234567Z'""#;
/// let etag: ETag = text.into();
/// assert_eq!(etag.to_string(), text);
/// assert_eq!(etag.timestamp().unwrap().to_string(), "2014-08-22T00:50:32.1234567Z");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ETag(Form);

/// A time as it stands in a tag. A text of this length that is a time has both its colons encoded, and all digits of its
/// second: there is no other way to be as long.
const TIME: &str = "2014-08-22T00%3A50%3A32.1234567Z";

#[derive(Clone, PartialEq, Eq, Hash)]
enum Form {
    /// Prints as the service's form, and nothing else parses into it, so equality is exact.
    Time(Timestamp),
    Opaque(SmolStr),
}

impl ETag {
    /// The tag of a version written at this time.
    #[must_use]
    pub const fn from_timestamp(at: Timestamp) -> Self {
        Self(Form::Time(at))
    }

    /// The time of the write, where the tag tells it.
    #[must_use]
    pub const fn timestamp(&self) -> Option<Timestamp> {
        match &self.0 {
            Form::Time(at) => Some(*at),
            Form::Opaque(_) => None,
        }
    }
}

impl From<&str> for ETag {
    fn from(text: &str) -> Self {
        text.strip_prefix("W/\"datetime'")
            .and_then(|rest| rest.strip_suffix("'\""))
            .filter(|at| at.len() == TIME.len())
            .and_then(|at| Timestamp::from_str(&at.replace("%3A", ":")).ok())
            .map_or_else(|| Self(Form::Opaque(SmolStr::new(text))), Self::from_timestamp)
    }
}

impl From<String> for ETag {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Time(at) => {
                let text = at.to_string().replace(':', "%3A");
                write!(f, "W/\"datetime'{text}'\"")
            }
            Form::Opaque(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ETag({self})")
    }
}

impl Serialize for ETag {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ETag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <std::borrow::Cow<'de, str>>::deserialize(deserializer).map(|text| Self::from(&*text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_canonical_form_is_taken_apart() {
        for text in [
            "W/\"datetime'2014-08-22T00:50:32.1234567Z'\"",
            "W/\"datetime'2014-08-22T00%3A50%3A32Z'\"",
            "W/\"datetime'2014-08-22T00:50%3A32.1234567Z'\"",
            "W/\"datetime'2014-08-22T00%3a50%3a32.1234567Z'\"",
            "W/\"datetime'2014-08-22T00%3A50%3A32.123456Z'\"",
            "W/\"datetime'2014-08-22T00%3A50%3A32.123456789'\"",
            "W/\"datetime'2014-08-22T00:50:32.1234567Z    '\"",
            "\"0x8D4BCC2E4835CD0\"",
            "",
        ] {
            let etag = ETag::from(text);
            assert_eq!(etag.to_string(), text);
            assert_eq!(etag.timestamp(), None);
        }
    }
}
