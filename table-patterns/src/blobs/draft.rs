//! A row to be written, the blobs that come with it, and those that it leaves.

use object_store::path::Path;
use sha2::{Digest, Sha256};
use table_core::{BlobSchema, DynamicEntity, EntityKey, Error, PropertyName, Result, Value};

use super::reference::{Payload, Reference, References, hex, refer, sha256};

/// A row whose large properties are to go to blobs.
#[derive(Debug)]
pub(crate) struct Draft {
    /// The row, with references.
    pub(crate) row: DynamicEntity,
    /// The blobs to be put before it.
    pub(crate) uploads: Vec<(Path, Payload)>,
    /// The blobs that the row no longer refers to.
    pub(crate) drops: Vec<Path>,
}

impl Draft {
    /// Moves properties out of a row. What is in a blob already, by the row that was read, stays there.
    pub(crate) async fn of(
        mut row: DynamicEntity,
        schema: &BlobSchema,
        folder: &Path,
        id: &str,
        old: &References,
    ) -> Result<Self> {
        let moved: Vec<PropertyName> = row
            .properties
            .iter()
            .filter(|(name, value)| goes_out(schema, name, value))
            .map(|(name, _)| name.clone())
            .collect();
        let (mut references, mut uploads) = (Vec::new(), Vec::new());
        for name in moved {
            let Some(value) = row.properties.remove(name.as_str()) else { continue };
            let payload = Payload::of(value).map_err(|_| {
                Error::invalid_value("only text and binary properties can go to a blob").with_property(name.as_str())
            })?;
            let hash = sha256(&payload.bytes).await;
            let kept = old.iter().find(|(held, reference)| *held == name && reference.holds(&payload, &hash));
            let reference = if let Some((_, kept)) = kept {
                kept.clone()
            } else {
                let path = folder.clone().join(format!("{name}-{hash}-{id}"));
                let reference = Reference {
                    kind: payload.kind,
                    bytes: payload.bytes.len() as u64,
                    sha256: hash,
                    name: path.clone(),
                };
                uploads.push((path, payload));
                reference
            };
            references.push((name, reference));
        }
        let drops = dropped(old, &references);
        refer(&mut row, references);
        Ok(Self { row, uploads, drops })
    }

    /// The names that a message must tell before anything is put: those that come, and those that go.
    pub(crate) fn names(&self) -> Vec<Path> {
        self.uploads.iter().map(|(path, _)| path.clone()).chain(self.drops.iter().cloned()).collect()
    }
}

/// The blobs that were referred to and no longer are.
pub(crate) fn dropped(old: &References, new: &References) -> Vec<Path> {
    let kept = |name: &Path| new.iter().any(|(_, reference)| reference.name == *name);
    old.iter().map(|(_, reference)| &reference.name).filter(|name| !kept(name)).cloned().collect()
}

/// Whether a property goes to a blob: because its field says so, or because it is large.
fn goes_out(schema: &BlobSchema, name: &PropertyName, value: &Value) -> bool {
    let large = || {
        let bytes = match value {
            Value::Binary(_) | Value::String(_) => value.counted_bytes().saturating_sub(4),
            _ => 0,
        };
        schema.above.is_some_and(|above| bytes > above as usize) && !table_core::reserved::NAMES.contains(name)
    };
    schema.properties.contains(&name.as_str()) || large()
}

/// The folder of an entity's blobs. Its key may be longer than a file's name, so it is hashed.
pub(crate) fn folder(prefix: &Path, key: &EntityKey) -> Path {
    // No key holds the separator.
    let text = format!("{}/{}", key.partition.as_str(), key.row.as_str());
    let hash = hex(&Sha256::digest(text.as_bytes()));
    prefix.clone().join(hash.get(..32).unwrap_or(&hash))
}
