//! What every checked text has in common: keys and names print, parse and travel as plain text.

/// Implements the traits of types that wrap one text in their first field and check it in `new`.
macro_rules! checked_text {
    ($($name:ident),*) => {
        $(
            impl std::fmt::Display for $name {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str(&self.0)
                }
            }

            impl std::fmt::Debug for $name {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    std::fmt::Debug::fmt(self.as_str(), f)
                }
            }

            impl AsRef<str> for $name {
                fn as_ref(&self) -> &str {
                    &self.0
                }
            }

            impl std::str::FromStr for $name {
                type Err = $crate::Error;

                fn from_str(name: &str) -> $crate::Result<Self> {
                    Self::new(name)
                }
            }

            impl TryFrom<&str> for $name {
                type Error = $crate::Error;

                fn try_from(name: &str) -> $crate::Result<Self> {
                    Self::new(name)
                }
            }

            impl<'de> serde::Deserialize<'de> for $name {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                    let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                    Self::new(&*text).map_err(serde::de::Error::custom)
                }
            }
        )*
    };
}

pub(crate) use checked_text;
