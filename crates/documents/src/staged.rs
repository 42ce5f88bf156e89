//! A document in two steps: its content first, while nobody knows yet what is to be told about it, then its
//! description.
//!
//! Until the second step there is no document, and what was stored goes with the [`Staged`]. In a directory the
//! content waits below `uploads`, under a name that tells its ID; what a crash leaves there is removed when the
//! directory is opened.

use bytes::Bytes;
use futures::stream::{BoxStream, StreamExt as _};
use object_store::path::Path as Place;
use object_store::{Attributes, ObjectStoreExt as _};
use sha2::{Digest as _, Sha256};

use crate::upload::Upload;
use crate::{CONTENTS, Document, Documents, Error, Metadata, ROOM_STEP_BYTES, UPLOADS, hexadecimal, link};

/// A content that is in its store as a whole, and no document yet. Dropped, it is removed.
#[derive(Debug)]
pub struct Staged {
    documents: Documents,
    id: String,
    /// Name of the content.
    pub(crate) content: String,
    /// Where it is until it belongs to a document.
    pub(crate) place: Place,
    /// Where the description will be.
    description: Place,
    content_hash: String,
    size_bytes: u64,
    /// Whether dropping this removes the content.
    is_ours: bool,
}

impl Documents {
    /// Stores the content of a document, piece by piece, for an ID or a new one. A bucket tells those that follow a
    /// link what `told` says of the content; the description is for [`Staged::commit`].
    pub async fn stage<E: std::fmt::Display>(
        &self,
        id: Option<String>,
        told: &Metadata,
        mut pieces: BoxStream<'_, Result<Bytes, E>>,
    ) -> Result<Staged, Error> {
        let id = id.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        let description = self.description(&id)?;
        self.is_there()?;
        self.has_room(0)?;
        match self.store.head(&description).await {
            Ok(_) => return Err(Error::AlreadyExists(id)),
            Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let content = uuid::Uuid::new_v4().to_string();
        let place = match self.directory {
            Some(_) => self.place([UPLOADS, &format!("{content}_{id}")]),
            None => self.place([CONTENTS, &content]),
        };
        let told = told.clone().named(&id);
        let attributes = self.signer.as_ref().map_or_else(Attributes::new, |_| link::attributes(&told));
        let mut upload = Upload::new(&*self.store, &place, attributes, self.part_bytes());
        let (mut hash, mut size_bytes, mut room_for) = (Sha256::new(), 0, 0);
        while let Some(piece) = pieces.next().await {
            let put = async {
                let piece = piece.map_err(|error| Error::Invalid(error.to_string()))?;
                size_bytes += piece.len() as u64;
                if size_bytes > self.max_bytes {
                    return Err(Error::TooLarge(self.max_bytes));
                }
                if size_bytes > room_for {
                    self.has_room(ROOM_STEP_BYTES)?;
                    room_for = size_bytes + ROOM_STEP_BYTES;
                }
                hash.update(&piece);
                Ok(upload.put(piece).await?)
            };
            if let Err(problem) = put.await {
                // An upload that cannot be aborted is left to the store's own rules.
                let _ = upload.abort().await;
                return Err(problem);
            }
        }
        upload.finish().await?;
        let content_hash = hexadecimal(&hash.finalize());
        let documents = self.clone();
        let staged =
            Staged { documents, id, content, place, description, content_hash, size_bytes, is_ours: true };
        self.sync(&staged.place).await?;
        Ok(staged)
    }
}

impl Staged {
    /// Makes a document of it, which is durable then.
    pub async fn commit(mut self, metadata: Metadata) -> Result<Document, Error> {
        let documents = self.documents.clone();
        let place = documents.place([CONTENTS, &self.content]);
        match &documents.directory {
            Some(directory) => directory.link(&self.place, &place).await?,
            // It stays where it is, and whether it stays is known once the description was tried.
            None => self.is_ours = false,
        }
        let document = Document {
            id: self.id.clone(),
            content_hash: self.content_hash.clone(),
            size_bytes: self.size_bytes,
            metadata: metadata.named(&self.id),
            content: self.content.clone(),
        };
        match documents.describe(&self.description, &document).await {
            Ok(()) => Ok(document),
            Err(error) => documents.resolve_failure(document, &place, error).await,
        }
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.is_ours {
            return;
        }
        if let Some(directory) = &self.documents.directory {
            directory.remove_now(&self.place);
        } else if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (store, place) = (self.documents.store.clone(), self.place.clone());
            // An object that cannot be removed is left to the store's own rules.
            runtime.spawn(async move { store.delete(&place).await });
        }
    }
}
