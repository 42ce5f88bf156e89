//! Content on its way into a store: with one request if it is short, in parts if not; there as a whole or not at all.

use bytes::Bytes;
use object_store::path::Path as Place;
use object_store::{
    Attributes, ObjectStore, PutMultipartOptions, PutOptions, PutPayloadMut, Result, WriteMultipart,
};

/// The size of a part, if that is enough. Clouds refuse parts below 5 MiB.
const PART_BYTES: u64 = 5 << 20;
/// Parts of one content. Clouds refuse more than 10 000.
const PARTS_MAX: u64 = 9000;
/// Parts under way at a time, while the next one is gathered: with it, what an upload takes in memory.
const PARTS_AT_ONCE: usize = 1;

/// One content.
pub(crate) struct Upload<'a> {
    store: &'a dyn ObjectStore,
    place: &'a Place,
    attributes: Attributes,
    short: PutPayloadMut,
    long: Option<WriteMultipart>,
    part_bytes: usize,
}

impl<'a> Upload<'a> {
    /// One of a content of so many bytes at the most.
    pub(crate) fn new(
        store: &'a dyn ObjectStore,
        place: &'a Place,
        attributes: Attributes,
        max_bytes: u64,
    ) -> Self {
        let part_bytes = PART_BYTES.max(max_bytes.div_ceil(PARTS_MAX)) as usize;
        Self { store, place, attributes, short: PutPayloadMut::new(), long: None, part_bytes }
    }

    /// The next piece.
    pub(crate) async fn put(&mut self, piece: Bytes) -> Result<()> {
        if let Some(long) = &mut self.long {
            long.wait_for_capacity(PARTS_AT_ONCE).await?;
            long.put(piece);
            return Ok(());
        }
        self.short.push(piece);
        if self.short.content_length() > self.part_bytes {
            let attributes = std::mem::take(&mut self.attributes);
            let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
            let upload = self.store.put_multipart_opts(self.place, options).await?;
            let mut long = WriteMultipart::new_with_chunk_size(upload, self.part_bytes);
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
