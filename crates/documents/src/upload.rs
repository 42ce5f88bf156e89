//! Content on its way into a store: with one request if it is short, in parts if not; there as a whole or not at all.

use bytes::Bytes;
use object_store::path::Path as Place;
use object_store::{
    Attributes, ObjectStore, PutMultipartOptions, PutOptions, PutPayloadMut, Result, WriteMultipart,
};

/// Parts under way at a time, while the next one is gathered: with it, what an upload takes in memory.
const PARTS_AT_ONCE: usize = 1;

pub(crate) struct Upload<'a> {
    store: &'a dyn ObjectStore,
    place: &'a Place,
    attributes: Attributes,
    short: PutPayloadMut,
    long: Option<WriteMultipart>,
    part_bytes: usize,
}

impl<'a> Upload<'a> {
    /// One that is sent in parts of so many bytes.
    pub(crate) fn new(
        store: &'a dyn ObjectStore,
        place: &'a Place,
        attributes: Attributes,
        part_bytes: u64,
    ) -> Self {
        let part_bytes = part_bytes as usize;
        Self { store, place, attributes, short: PutPayloadMut::new(), long: None, part_bytes }
    }

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
