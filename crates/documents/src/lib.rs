//! Documents: files that processes refer to and that are no part of the engine's state.
//!
//! A document is two objects in a store: its content under a name of its own, and its description under the ID,
//! which names the content. The description is written last and once, so a document is there as a whole or not at
//! all, and an ID is given once. The backend of the store (a directory, memory, a bucket of a cloud) is known only
//! where one is opened.
//!
//! Start reading at [`Documents`]. Nothing here knows the REST API.

#[cfg(feature = "buckets")]
mod azure;
mod bucket;
mod directory;
mod durable;
mod error;
#[cfg(feature = "buckets")]
mod gcs;
mod layout;
mod link;
#[cfg(feature = "buckets")]
mod s3;
#[cfg(not(feature = "buckets"))]
mod signer;
mod staged;
mod stores;
mod upload;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future;
use futures::stream::{BoxStream, Stream, StreamExt as _, TryStreamExt as _};
use object_store::memory::InMemory;
use object_store::path::Path as Place;
#[cfg(feature = "buckets")]
use object_store::signer::Signer;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

#[cfg(feature = "buckets")]
pub use azure::AzureOptions;
pub use bucket::BucketOptions;
use directory::Directory;
pub use error::Error;
#[cfg(feature = "buckets")]
pub use gcs::GcsOptions;
use layout::{CONTENTS, DESCRIPTIONS, EXPIRIES, UPLOADS};
pub use link::{LINK_LIFE_MAX, Link};
#[cfg(feature = "buckets")]
pub use s3::S3Options;
#[cfg(not(feature = "buckets"))]
use signer::Signer;
pub use staged::Staged;
pub use stores::Stores;

/// The longest ID, in bytes; with the ending of the description it is a file name everywhere.
const ID_BYTES_MAX: usize = 200;
/// The longest description, in bytes.
const METADATA_BYTES_MAX: usize = 64 * 1024;
/// After so many bytes of a content the room on the disk is looked at again.
const ROOM_STEP_BYTES: u64 = 4 << 20;
/// Bytes of a content written to a disk at once.
const PART_BYTES: u64 = 256 << 10;
/// Bytes of a content written to a cloud at once, unless it needs more than [`PARTS_MAX`]. Clouds refuse smaller parts.
const PART_BYTES_OF_CLOUDS: u64 = 5 << 20;
/// Parts of one content. Clouds refuse more than 10 000.
const PARTS_MAX: u64 = 9000;
/// Bytes of a content that are read from a disk at once. For blocks above 84 KiB the allocator takes 4 MiB for each
/// thread that reads.
const READ_BYTES: u64 = 64 << 10;
/// Bytes of a content that are read from a cloud at once; asking takes longer there than on a disk.
const READ_BYTES_OF_CLOUDS: u64 = 2 << 20;

/// Metadata of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// Media type.
    pub content_type: String,
    /// Name of the file.
    pub file_name: String,
    /// When it is gone, Unix milliseconds.
    pub expires_at_ms: Option<i64>,
    /// The process it belongs to.
    pub process_definition_id: Option<String>,
    /// The process instance it belongs to.
    pub process_instance_key: Option<u64>,
    /// A JSON object of the client's own.
    pub custom_properties: Option<String>,
    /// Tenants whose members may have it; those of whoever stored it. `None` where tenants do not count.
    #[serde(default)]
    pub tenant_ids: Option<Vec<String>>,
    /// The kind and name of whoever stored it, if known.
    #[serde(default)]
    pub owner: Option<String>,
}

impl Metadata {
    /// A document whose file has no name is called by its ID.
    fn named(mut self, id: &str) -> Self {
        if self.file_name.is_empty() {
            id.clone_into(&mut self.file_name);
        }
        self
    }
}

/// A document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Its ID.
    pub id: String,
    /// SHA-256 of the content, in hexadecimal digits.
    pub content_hash: String,
    /// Size of the content.
    pub size_bytes: u64,
    /// Its metadata.
    pub metadata: Metadata,
    /// Name of the content in the store.
    content: String,
}

/// A store of documents.
#[derive(Debug, Clone)]
pub struct Documents {
    id: Arc<str>,
    store: Arc<dyn ObjectStore>,
    /// Prefix of all names.
    root: Place,
    /// Makes links. Only clouds have one; they also list objects in the order of their names, and keep attributes.
    signer: Option<Arc<dyn Signer>>,
    /// The directory, if that is what is behind it.
    directory: Option<Arc<Directory>>,
    max_bytes: u64,
    /// How long those are kept that do not say.
    life: Option<Duration>,
}

impl Documents {
    /// A store in memory, gone with the process.
    pub fn in_memory(id: &str, max_bytes: u64) -> Self {
        Self::over(id, Arc::new(InMemory::new()), max_bytes)
    }

    /// A store in a directory, which is made if it is not there. Nothing is stored when the disk has less room than
    /// this.
    pub fn in_directory(
        id: &str,
        directory: &Path,
        max_bytes: u64,
        min_free_bytes: u64,
    ) -> Result<Self, Error> {
        let opened = Directory::open(directory, min_free_bytes)?;
        let store = Arc::new(object_store::local::LocalFileSystem::new_with_prefix(directory)?);
        Ok(Self { directory: Some(Arc::new(opened)), ..Self::over(id, store, max_bytes) })
    }

    fn over(id: &str, store: Arc<dyn ObjectStore>, max_bytes: u64) -> Self {
        Self { id: id.into(), store, root: Place::ROOT, signer: None, directory: None, max_bytes, life: None }
    }

    /// Fails if there is a directory behind the store and it has gone.
    fn is_there(&self) -> Result<(), Error> {
        self.directory.as_ref().map_or(Ok(()), |directory| directory.is_there())
    }

    /// Fails if there is a directory behind the store and its disk has no room for so many bytes.
    fn has_room(&self, bytes: u64) -> Result<(), Error> {
        self.directory.as_ref().map_or(Ok(()), |directory| directory.has_room(bytes))
    }

    /// Makes an object durable, where that is a step of its own.
    async fn sync(&self, place: &Place) -> Result<(), Error> {
        match &self.directory {
            Some(directory) => directory.sync(place).await,
            None => Ok(()),
        }
    }

    /// Gives the store another ID.
    #[must_use]
    pub fn called(self, id: &str) -> Self {
        Self { id: id.into(), ..self }
    }

    /// Documents of which nobody says how long they are kept are kept this long; for ever if it is zero.
    #[must_use]
    pub fn kept_for(self, life: Duration) -> Self {
        Self { life: (!life.is_zero()).then_some(life), ..self }
    }

    /// When a document that is made now is gone, if nobody says.
    pub fn default_expiry(&self, now_ms: i64) -> Option<i64> {
        let life_ms = i64::try_from(self.life?.as_millis()).unwrap_or(i64::MAX);
        Some(now_ms.saturating_add(life_ms))
    }

    /// ID of the store.
    pub fn store_id(&self) -> &str {
        &self.id
    }

    /// The largest document.
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Bytes of a content written at once.
    fn part_bytes(&self) -> u64 {
        if self.signer.is_some() {
            return PART_BYTES_OF_CLOUDS.max(self.max_bytes.div_ceil(PARTS_MAX));
        }
        PART_BYTES
    }

    /// Bytes of a content read at once.
    fn read_bytes(&self) -> u64 {
        if self.signer.is_some() { READ_BYTES_OF_CLOUDS } else { READ_BYTES }
    }

    /// Stores a document, piece by piece, under an ID or a new one.
    pub async fn create<E: std::fmt::Display>(
        &self,
        id: Option<String>,
        metadata: Metadata,
        pieces: BoxStream<'_, Result<Bytes, E>>,
    ) -> Result<Document, Error> {
        self.stage(id, &metadata, pieces).await?.commit(metadata).await
    }

    /// A description that could not be written may be there all the same, when only the answer was lost.
    async fn resolve_failure(
        &self,
        document: Document,
        content: &Place,
        error: Error,
    ) -> Result<Document, Error> {
        if matches!(error, Error::Store(_) | Error::Full(_) | Error::AlreadyExists(_)) {
            match self.find(&document.id, None, i64::MIN).await {
                Ok(found) if found == document => return Ok(document),
                Ok(_) | Err(Error::NotFound(_)) => {}
                // The outcome is unknown, and a description without content is worse than the opposite.
                Err(_) => return Err(error),
            }
        }
        // Why there is no document is told, whatever becomes of its content.
        let _ = self.store.delete(content).await;
        Err(error)
    }

    async fn describe(&self, description: &Place, document: &Document) -> Result<(), Error> {
        let text = serde_json::to_vec(document).map_err(|error| Error::Invalid(error.to_string()))?;
        if text.len() > METADATA_BYTES_MAX {
            return Err(Error::Invalid(format!("the metadata is larger than {METADATA_BYTES_MAX} bytes")));
        }
        if let Some(expiry) = self.expiry(document) {
            // Before the description: one too many is found and removed, one too few is not.
            self.store.put(&expiry, PutPayload::new()).await?;
            self.sync(&expiry).await?;
        }
        if let Some(directory) = &self.directory {
            let is_new = directory.write_once(description, text).await?;
            return if is_new { Ok(()) } else { Err(Error::AlreadyExists(document.id.clone())) };
        }
        let once = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match self.store.put_opts(description, PutPayload::from(text), once).await {
            Ok(_) => Ok(()),
            Err(object_store::Error::AlreadyExists { .. }) => Err(Error::AlreadyExists(document.id.clone())),
            Err(error) => Err(error.into()),
        }
    }

    /// Metadata of a document that exists at this time, and has this hash if one is given.
    pub async fn find(&self, id: &str, hash: Option<&str>, now_ms: i64) -> Result<Document, Error> {
        let description = self.description(id).map_err(|_| Error::NotFound(id.to_owned()))?;
        let text = match self.store.get(&description).await {
            Ok(found) => found.bytes().await?,
            Err(object_store::Error::NotFound { .. }) => {
                self.is_there()?;
                return Err(Error::NotFound(id.to_owned()));
            }
            Err(error) => return Err(error.into()),
        };
        let document: Document = serde_json::from_slice(&text)
            .map_err(|error| Error::Garbled(id.to_owned(), error.to_string()))?;
        if document.id != id {
            return Err(Error::Garbled(id.to_owned(), format!("it is that of '{}'", document.id)));
        }
        if document.metadata.expires_at_ms.is_some_and(|at| at <= now_ms) {
            self.remove(&description, &document).await?;
            return Err(Error::NotFound(id.to_owned()));
        }
        match hash {
            Some(hash) if !hash.eq_ignore_ascii_case(&document.content_hash) => {
                Err(Error::Invalid(format!("the content of document '{id}' has another hash than '{hash}'")))
            }
            _ => Ok(document),
        }
    }

    /// The content of a document, piece by piece. It ends with an error before its last piece if it is not what was
    /// stored.
    pub fn read(&self, document: &Document) -> BoxStream<'static, Result<Bytes, Error>> {
        // Each piece is asked for by itself, so a slow reader keeps no connection to a cloud waiting.
        let beginning = (Arc::clone(&self.store), self.place([CONTENTS, &document.content]), 0);
        let (id, size, step) = (document.id.clone(), document.size_bytes, self.read_bytes());
        let pieces = futures::stream::try_unfold(beginning, move |(store, place, at)| {
            let id = id.clone();
            async move {
                if at >= size {
                    return Ok(None);
                }
                match store.get_range(&place, at..size.min(at + step)).await {
                    Ok(piece) if piece.is_empty() => Err(Error::Damaged(id)),
                    Ok(piece) => {
                        let next = at + piece.len() as u64;
                        Ok(Some((piece, (store, place, next))))
                    }
                    Err(object_store::Error::NotFound { .. }) => Err(Error::NotFound(id)),
                    Err(error) => Err(error.into()),
                }
            }
        });
        checked(pieces.boxed(), document.id.clone(), document.content_hash.clone()).boxed()
    }

    /// Removes a document.
    pub async fn delete(&self, id: &str, now_ms: i64) -> Result<(), Error> {
        let document = self.find(id, None, now_ms).await?;
        self.remove(&self.description(id)?, &document).await
    }

    /// Removes documents that have expired, so many at the most. Returns how many it looked at.
    pub async fn sweep(&self, now_ms: i64, limit: usize) -> Result<usize, Error> {
        let is_ordered = self.signer.is_some();
        let list = self.store.list(Some(&self.place([EXPIRIES])));
        // Those of a bucket come by time, so what is not due is not listed page by page.
        let list = list.try_take_while(|object| {
            let is_early = parse_expiry(object).is_none_or(|(time, _)| time <= now_ms);
            future::ready(Ok(is_early || !is_ordered))
        });
        let due = list.try_filter_map(async |object| {
            let due = parse_expiry(&object).filter(|(time, _)| *time <= now_ms);
            Ok(due.map(|(_, id)| (object.location, id)))
        });
        let due: Vec<(Place, String)> = due.take(limit).try_collect().await?;
        for (place, id) in &due {
            // Expired documents are removed when they are found.
            match self.find(id, None, now_ms).await {
                Ok(_) | Err(Error::NotFound(_) | Error::Garbled(..)) => self.remove_object(place).await?,
                Err(error) => return Err(error),
            }
        }
        Ok(due.len())
    }

    /// Removes all documents. Returns how many there were.
    pub async fn clear(&self) -> Result<usize, Error> {
        let mut documents = 0;
        // Descriptions go first: without one, a document is gone.
        for part in [DESCRIPTIONS, CONTENTS, EXPIRIES] {
            let list = self.store.list(Some(&self.place([part])));
            let places: Vec<Place> = list.map_ok(|object| object.location).try_collect().await?;
            for place in &places {
                self.remove_object(place).await?;
            }
            if part == DESCRIPTIONS {
                documents = places.len();
            }
        }
        Ok(documents)
    }

    /// The description goes first: without it the document is gone.
    async fn remove(&self, description: &Place, document: &Document) -> Result<(), Error> {
        self.remove_object(description).await?;
        self.remove_object(&self.place([CONTENTS, &document.content])).await?;
        match self.expiry(document) {
            Some(expiry) => self.remove_object(&expiry).await,
            None => Ok(()),
        }
    }

    /// Removes an object that may be gone already.
    async fn remove_object(&self, place: &Place) -> Result<(), Error> {
        match self.store.delete(place).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Where the description of a document is. An ID is one part of a path and cannot lead anywhere else.
    fn description(&self, id: &str) -> Result<Place, Error> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        if id.is_empty() || id.len() > ID_BYTES_MAX || id.starts_with('.') || !id.bytes().all(is_plain) {
            return Err(Error::Invalid(format!(
                "a document ID has 1 to {ID_BYTES_MAX} of A-Z a-z 0-9 - _ . ~ and does not begin with a dot"
            )));
        }
        Ok(self.place([DESCRIPTIONS, &format!("{id}.json")]))
    }

    /// The object that tells when a document expires. Its name has zeros in front, so that names are ordered by time.
    fn expiry(&self, document: &Document) -> Option<Place> {
        let at = document.metadata.expires_at_ms?.max(0);
        Some(self.place([EXPIRIES, &format!("{at:019}_{}", document.id)]))
    }

    fn place<const N: usize>(&self, parts: [&str; N]) -> Place {
        parts.into_iter().fold(self.root.clone(), Place::join)
    }
}

/// Passes the pieces on, with an error in place of the last one if the hash of all is not `wanted`.
fn checked(
    pieces: BoxStream<'static, Result<Bytes, Error>>,
    id: String,
    wanted: String,
) -> impl Stream<Item = Result<Bytes, Error>> + Send + 'static {
    let beginning = (Some(pieces), Sha256::new(), None::<Bytes>, id, wanted);
    futures::stream::try_unfold(beginning, async |(pieces, mut hash, mut held, id, wanted)| {
        let Some(mut pieces) = pieces else { return Ok(None) };
        loop {
            if let Some(piece) = pieces.try_next().await? {
                hash.update(&piece);
                if let Some(before) = held.replace(piece) {
                    return Ok(Some((before, (Some(pieces), hash, held, id, wanted))));
                }
            } else if hexadecimal(&hash.finalize_reset()) == wanted {
                return Ok(held.map(|last| (last, (None, hash, None, id, wanted))));
            } else {
                return Err(Error::Damaged(id));
            }
        }
    })
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// Which document expires, and when.
fn parse_expiry(object: &ObjectMeta) -> Option<(i64, String)> {
    let (time, id) = object.location.filename()?.split_once('_')?;
    // The only one of an ID's characters that is written otherwise in the names of objects.
    Some((time.parse().ok()?, id.replace("%7E", "~")))
}

#[cfg(test)]
mod tests;
