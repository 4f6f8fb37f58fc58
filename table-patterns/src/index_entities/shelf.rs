//! Reading and writing the row of a list, with the blob that a long one is in.
//!
//! A blob is put before the row that refers to it, and told of in a message before that: after a grace period, when
//! nobody can be late, whatever of the named blobs the row does not refer to is deleted. The row's version is the
//! list's, wherever the keys are.

use object_store::path::Path;
use table_core::store::{MessageReceipt, Selection};
use table_core::{BlobSchema, DynamicEntity, ETag, Error, Result, Table, Value, limits, reserved};

use super::blobs::{CollectBlobs, ListBlobs, Replaced};
use super::list::{KeyList, PIECE};
use super::place::{List, Spot};
use crate::attempts::UpdateOptions;
use crate::blobs::{Draft, References, dangling, dropped, fetch, folder, put_all, references, remove};
use crate::eventually_consistent_transactions::Outgoing;
use crate::intent::{Age, Keeper, rows};

/// The property of a list in a blob.
const IN_BLOB: BlobSchema = BlobSchema { properties: &[PIECE], above: None };

/// Room that who joins a list leaves in its row: for the keys of others that found the same room, and come after. They
/// may be thirty of the longest keys, or a thousand usual ones.
const RESERVE_BYTES: usize = 64 * 1024;
/// The token that each write puts on a row, as the service counts it: its name, and sixteen bytes.
const TOKEN_BYTES: usize = 8 + 2 * "RowToken".len() + 16;

/// Where the rows and blobs of lists are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shelf<'a> {
    pub(super) table: &'a Table,
    pub(super) blobs: Option<&'a ListBlobs>,
    pub(super) keeper: Option<&'a Keeper>,
    pub(super) scope: &'a str,
    /// The name of the type whose keys they hold.
    pub(super) entity: &'static str,
    pub(super) options: &'a UpdateOptions,
}

/// A list as it was read: its keys, the version of its row, and the blob that it was in.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    pub(super) keys: KeyList,
    pub(super) etag: Option<ETag>,
    references: References,
}

/// Blobs that were put before a row refers to them, and the message that names them.
#[derive(Debug)]
pub(super) struct Uploaded {
    receipt: MessageReceipt,
    paths: Vec<Path>,
    /// Whether the write leaves blobs behind.
    drops: bool,
}

/// What the keys of a list are put into.
enum Form {
    /// The row that holds them.
    Row(DynamicEntity),
    /// The row whose property is to go to a blob.
    Blob(DynamicEntity),
}

impl Held {
    /// What was there: nothing, or a row that only kept its place.
    fn empty(etag: Option<ETag>) -> Self {
        Self { etag, ..Self::default() }
    }
}

impl Shelf<'_> {
    /// Reads a list, from its row or from the blob that the row refers to. Where the row was replaced so long ago
    /// that the blob is gone, it is read again.
    pub(super) async fn read<E>(&self, list: &List<E>, spot: &Spot) -> Result<Held> {
        let mut attempts = self.options.begin();
        let mut before: Option<ETag> = None;
        loop {
            let Some(row) = self.table.store().get(&spot.table, &spot.key, &Selection::All).await? else {
                return Ok(Held::default());
            };
            if rows::is_of_kind(&row, reserved::TOMBSTONE_KIND) {
                return Ok(Held::empty(row.etag));
            }
            let references = references(&row)?;
            let mut keys = KeyList::from_row(&row, list.lines()).map_err(|error| spot.at(error))?;
            let Some((property, reference)) = references.first() else {
                return Ok(Held { keys, etag: row.etag, references });
            };
            let blobs = self.blobs.ok_or_else(|| spot.at(without_blobs(&spot.list)))?;
            // Several writers may each have found room for one more key.
            if reference.bytes > blobs.most_bytes().saturating_mul(2) {
                return Err(keys.too_large(&spot.list, &spot.key, reference.bytes, blobs.most_bytes(), MORE_BYTES));
            }
            if let Some(payload) = fetch(&blobs.store, &spot.key, property, reference).await? {
                let text =
                    String::from_utf8(payload.bytes.into()).map_err(|_| crate::blobs::altered(&spot.key, property))?;
                keys = KeyList::from_text(&text, list.lines(), &spot.key)?;
                return Ok(Held { keys, etag: row.etag, references });
            }
            // A row that has not changed refers to a blob that is not there.
            if before.is_some() && before == row.etag {
                return Err(dangling(row.key, property));
            }
            before = row.etag;
            attempts
                .after(spot.at(Error::precondition_failed("the list was replaced while it was read")), true)
                .await?;
        }
    }

    /// Refuses a list that would get too large, before anything of a change is written: whoever is to follow it to a
    /// list elsewhere could do nothing about it. A list beside its entities is written with them or not at all; one
    /// elsewhere is to have room also for those who look at the same time.
    pub(super) fn check<E>(&self, list: &List<E>, spot: &Spot, held: &Held, keys: &KeyList) -> Result<()> {
        let too_large = |bytes, most, advice| Err(keys.too_large(&spot.list, &spot.key, bytes, most, advice));
        match (self.form(list, spot, held, keys)?, self.blobs) {
            (Form::Row(row), None) if list.is_elsewhere() => {
                let (bytes, most) = (written_bytes(&row), limits::ENTITY_BYTES - RESERVE_BYTES);
                if bytes > most { too_large(bytes as u64, most as u64, FEWER_KEYS) } else { Ok(()) }
            }
            (Form::Blob(row), Some(blobs)) => {
                let bytes = row.get(PIECE).and_then(Value::as_str).map_or(0, |text| text.len() as u64);
                let most = blobs.most_bytes();
                if bytes > most { too_large(bytes, most, MORE_BYTES) } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    /// Whether the keys of a list go into its row or into a blob.
    fn form<E>(&self, list: &List<E>, spot: &Spot, held: &Held, keys: &KeyList) -> Result<Form> {
        let row = keys.to_row(&spot.list, spot.key.clone(), list.lines())?;
        let bytes = written_bytes(&row);
        let Some(blobs) = self.blobs else {
            if bytes > limits::ENTITY_BYTES {
                let most = limits::ENTITY_BYTES as u64;
                return Err(keys.too_large(&spot.list, &spot.key, bytes as u64, most, FEWER_KEYS));
            }
            return Ok(Form::Row(row));
        };
        // It comes back well below the size at which it went, so that it does not move with every change.
        let most = if held.references.is_empty() { blobs.above_bytes() } else { blobs.above_bytes() / 2 };
        if bytes <= most && !list.place.always_in_blob {
            return Ok(Form::Row(row));
        }
        keys.to_blob_row(&spot.list, spot.key.clone(), list.lines()).map(Form::Blob)
    }

    /// The row of a list, and the blobs that come and go with it.
    pub(super) async fn draft<E>(&self, list: &List<E>, spot: &Spot, held: &Held, keys: &KeyList) -> Result<Draft> {
        match (self.form(list, spot, held, keys)?, self.blobs) {
            (Form::Blob(row), Some(blobs)) => {
                let folder = folder(&blobs.prefix(self.table, self.entity), &spot.key);
                Draft::of(row, &IN_BLOB, &folder, &Keeper::new_id(), &held.references).await
            }
            (Form::Row(row) | Form::Blob(row), _) => Ok(Self::without_blob(row, held)),
        }
    }

    /// The draft of a row that refers to no blob.
    pub(super) fn without_blob(row: DynamicEntity, held: &Held) -> Draft {
        Draft { row, uploads: Vec::new(), drops: dropped(&held.references, &Vec::new()) }
    }

    /// Puts the blobs of drafts, after a message that names those that come and those that go. Nothing where there
    /// are none.
    pub(super) async fn upload(&self, drafts: &mut [(&Spot, Draft)]) -> Result<Option<Uploaded>> {
        let named = drafts.iter().filter(|(_, draft)| !draft.uploads.is_empty() || !draft.drops.is_empty());
        let lists: Vec<Replaced> = named
            .map(|(spot, draft)| Replaced {
                table: spot.table.clone(),
                key: spot.key.clone(),
                blobs: draft.names().iter().map(ToString::to_string).collect(),
            })
            .collect();
        let (Some(blobs), Some(keeper)) = (self.blobs, self.keeper) else { return Ok(None) };
        if lists.is_empty() {
            return Ok(None);
        }
        let collect = Outgoing::of(&CollectBlobs { scope: self.scope.to_owned(), lists })?;
        let receipt = keeper.mover.send_later(&collect, keeper.options.grace).await.map_err(not_yet)?;
        let uploads: Vec<_> = drafts.iter_mut().flat_map(|(_, draft)| std::mem::take(&mut draft.uploads)).collect();
        let paths = uploads.iter().map(|(path, _)| path.clone()).collect();
        // Where a put fails the message stays: a request that was sent may still arrive.
        put_all(&blobs.store, uploads).await.map_err(not_yet)?;
        let drops = drafts.iter().any(|(_, draft)| !draft.drops.is_empty());
        Ok(Some(Uploaded { receipt, paths, drops }))
    }

    /// After the row was written: where nothing was left behind, there is nothing to collect.
    pub(super) async fn uploaded(&self, uploaded: Option<Uploaded>) {
        if let (Some(Uploaded { receipt, drops: false, .. }), Some(keeper)) = (uploaded, self.keeper) {
            left(keeper.mover.withdraw(&receipt).await);
        }
    }

    /// After a refusal: the blobs that were put are nobody's.
    pub(super) async fn take_back(&self, uploaded: Option<Uploaded>) {
        let (Some(uploaded), Some(blobs), Some(keeper)) = (uploaded, self.blobs, self.keeper) else { return };
        let work = async {
            for path in &uploaded.paths {
                remove(&blobs.store, path).await?;
            }
            keeper.mover.withdraw(&uploaded.receipt).await
        };
        left(work.await);
    }

    /// Writes a list elsewhere if it still is the version that was read, and answers the new version; none where
    /// somebody else was faster, or what was read is too old. An empty list stays as a tombstone.
    pub(super) async fn write<E>(
        &self,
        list: &List<E>,
        spot: &Spot,
        held: &Held,
        keys: &KeyList,
        (owner, age): (&str, Age),
    ) -> Result<Option<ETag>> {
        let draft = if keys.is_empty() {
            Self::without_blob(rows::tombstone(&spot.key, owner), held)
        } else {
            self.draft(list, spot, held, keys).await?
        };
        let mut drafts = [(spot, draft)];
        let uploaded = self.upload(&mut drafts).await?;
        let [(_, Draft { row, .. })] = drafts;
        let too_old = self.keeper.is_some_and(|keeper| age.is_too_old(keeper.options.grace));
        let written = if too_old {
            Ok(None)
        } else {
            crate::intent::put(self.table, &spot.table, crate::rows::marked(row), held.etag.as_ref()).await
        };
        match &written {
            Ok(Some(_)) => self.uploaded(uploaded).await,
            Ok(None) => self.take_back(uploaded).await,
            // It may have been written; the message tells, in its time.
            Err(_) => {}
        }
        written
    }
}

const FEWER_KEYS: &str = "give the lists blobs with `with_blobs`, or list by a value that fewer entities share";
const MORE_BYTES: &str = "list by a value that fewer entities share, or raise `with_most_bytes`";

/// What a row takes once it is written, with the token of its write.
fn written_bytes(row: &DynamicEntity) -> usize {
    row.counted_bytes() + TOKEN_BYTES
}

/// The failure of a step before the row is written.
fn not_yet(error: Error) -> Error {
    error.with_outcome_unknown(false)
}

fn without_blobs(list: &str) -> Error {
    Error::unsupported(format!("the list {list} is in a blob; declare where its blobs are, with `with_blobs`"))
}

/// What the writer could not do itself, the collector does.
fn left(result: Result<()>) {
    if let Err(error) = result {
        tracing::debug!(%error, "blobs of a list are left to be collected");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_write_takes_is_counted_with_its_token() {
        let row = DynamicEntity::new(table_core::EntityKey::parse("p", "r").unwrap());
        assert_eq!(written_bytes(&row), crate::rows::marked(row).counted_bytes());
    }
}
