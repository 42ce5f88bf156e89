//! Content on its way into a store: with one request if it is short, in parts if not; there as a whole or not at all.

use bytes::Bytes;
use object_store::path::Path as Place;
use object_store::{
    Attributes, ObjectStore, PutMultipartOptions, PutOptions, PutPayloadMut, Result, WriteMultipart,
};

/// The size of a part. Clouds refuse parts below 5 MiB, and more than 10 000 of them.
const PART_BYTES: usize = 8 << 20;
/// Parts that are sent at a time.
const PARTS_MAX: usize = 2;

/// One content.
pub(crate) struct Upload<'a> {
    store: &'a dyn ObjectStore,
    place: &'a Place,
    attributes: Attributes,
    short: PutPayloadMut,
    long: Option<WriteMultipart>,
}

impl<'a> Upload<'a> {
    pub(crate) fn new(store: &'a dyn ObjectStore, place: &'a Place, attributes: Attributes) -> Self {
        Self { store, place, attributes, short: PutPayloadMut::new(), long: None }
    }

    /// The next piece.
    pub(crate) async fn put(&mut self, piece: Bytes) -> Result<()> {
        if let Some(long) = &mut self.long {
            long.wait_for_capacity(PARTS_MAX).await?;
            long.put(piece);
            return Ok(());
        }
        self.short.push(piece);
        if self.short.content_length() > PART_BYTES {
            let attributes = std::mem::take(&mut self.attributes);
            let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
            let upload = self.store.put_multipart_opts(self.place, options).await?;
            let mut long = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
            for piece in std::mem::take(&mut self.short).freeze() {
                long.put(piece);
            }
            self.long = Some(long);
        }
        Ok(())
    }

    /// Makes it be there.
    pub(crate) async fn finish(self) -> Result<()> {
        if let Some(long) = self.long {
            return long.finish().await.map(drop);
        }
        let options = PutOptions { attributes: self.attributes, ..PutOptions::default() };
        self.store.put_opts(self.place, self.short.freeze(), options).await.map(drop)
    }

    /// Takes back what has been sent.
    pub(crate) async fn abort(self) -> Result<()> {
        match self.long {
            Some(long) => long.abort().await,
            None => Ok(()),
        }
    }
}
