//! Forms with documents, whose files go to their store while they arrive.
//!
//! Each file has a task that stores it, fed through a short channel, so a client that goes away leaves a document
//! or nothing. Metadata may follow the file; so files are staged, and become documents when the
//! form has ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use documents::{Documents, Error, Metadata, Staged};
use futures::stream::{self, Stream, StreamExt as _};
use http::HeaderMap;
use http_body::Body;
use multer::{Field, Multipart};
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::timeout;

use super::call::Call;
use super::contract::{Operation, Schema};
use super::multipart::{self, Broken, File, Files, Form};
use super::operation::document::{content_metadata, store, told};
use super::problem::Failure;
use super::request_body::next_piece;
use crate::connection::unread::Meter;

/// Pieces of a file between the connection and the store.
const PIECES_MAX: usize = 2;
/// Bytes that a client must send within the time limit of a body.
const PROGRESS_BYTES: usize = 16 * 1024;
/// Most bytes between two parts: the head of the second, part of which is read already.
const HEAD_BYTES_MAX: usize = 256 * 1024;
/// Why a content does not come to its end, to its store.
const BROKEN_OFF: &str = "the request body ended early";

/// Limits of the reception of a form.
pub(super) struct Reception<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) schema: &'static Schema,
    /// How long a client may take to send [`PROGRESS_BYTES`].
    pub(super) timeout: Duration,
    /// Most bytes of all texts, and of all discarded files.
    pub(super) message_bytes_max: usize,
    pub(super) meter: Meter,
}

/// Reads a form while its files are stored. They are staged in the order of the form.
pub(super) async fn receive<B>(
    call: &Call<'_>,
    body: B,
    reception: Reception<'_>,
) -> Result<(Form, Vec<Result<Staged, Failure>>), Failure>
where
    B: Body<Data = Bytes> + Unpin + Send,
{
    let store = store(call)?;
    let is_batch = call.operation == Operation::CreateDocuments;
    let id = if is_batch { None } else { call.query_parameter("documentId")? };
    let limit = reception.message_bytes_max;
    let size = body.size_hint().lower();
    if !is_batch && size > store.max_bytes().saturating_add(limit as u64) {
        told(call, store, Err::<(), _>(Error::TooLarge(store.max_bytes())))?;
    }
    let boundary = multipart::boundary(reception.headers)?;
    let ahead = Arc::new(AtomicUsize::new(0));
    let parts = Multipart::new(pieces(body, reception.timeout, Arc::clone(&ahead)), boundary);
    let (meter, staged) = (reception.meter, Vec::new());
    let mut uploads =
        Uploads { call, store, id, is_batch, ahead, meter, skip_bytes_max: limit, skipped: 0, staged };
    let form = multipart::read(parts, reception.schema, limit, &mut uploads).await?;
    Ok((form, uploads.staged))
}

/// The pieces of a body, one for each look, as long as the client gets on with it and what it sends is taken.
fn pieces<B>(
    body: B,
    time: Duration,
    ahead: Arc<AtomicUsize>,
) -> impl Stream<Item = Result<Bytes, Broken>> + Send
where
    B: Body<Data = Bytes> + Unpin + Send,
{
    // Only the time counts that the client is waited for.
    let beginning = (body, ahead, Duration::ZERO, 0);
    stream::try_unfold(beginning, move |(mut body, ahead, mut waited, mut received)| async move {
        // The form would take all there is before it hands anything on.
        yield_now().await;
        let began = Instant::now();
        let piece = timeout(time.saturating_sub(waited), next_piece(&mut body)).await;
        let piece = piece.unwrap_or_else(|_| Err(Failure::late())).map_err(Broken)?;
        let Some(piece) = piece else { return Ok(None) };
        (waited, received) = (waited + began.elapsed(), received + piece.len());
        if received >= PROGRESS_BYTES {
            (waited, received) = (Duration::ZERO, 0);
        }
        if ahead.fetch_add(piece.len(), Ordering::AcqRel) > HEAD_BYTES_MAX {
            let detail =
                format!("malformed form: more than {HEAD_BYTES_MAX} bytes stand outside of its parts");
            return Err(Broken(Failure::invalid(detail)));
        }
        Ok(Some((piece, (body, ahead, waited, received))))
    })
}

/// The files of a form on their way.
struct Uploads<'a, 'c> {
    call: &'a Call<'c>,
    store: &'a Documents,
    id: Option<String>,
    is_batch: bool,
    /// Bytes since the last complete part.
    ahead: Arc<AtomicUsize>,
    meter: Meter,
    skip_bytes_max: usize,
    /// Bytes of files that are thrown away.
    skipped: usize,
    staged: Vec<Result<Staged, Failure>>,
}

impl Files for Uploads<'_, '_> {
    /// A document has the name of its metadata, or that of its ID.
    const NEED_NAMES: bool = false;

    async fn take(&mut self, form: &Form, file: &File, mut content: Field<'_>) -> Result<Bytes, Failure> {
        let (sender, receiver) = mpsc::channel(PIECES_MAX);
        let (store, id) = (self.store.clone(), self.id.clone());
        let metadata = content_metadata(file, form);
        let storing = tokio::spawn(keep(store, id, metadata, receiver));
        while let Some(piece) = self.next(&mut content).await? {
            let bytes = piece.len();
            if sender.send(Some(self.meter.piece(piece))).await.is_ok() {
                continue;
            }
            // Of a batch, the others are worth reading on for.
            self.skipped += bytes;
            if !self.is_batch || self.skipped > self.skip_bytes_max {
                break;
            }
        }
        // Fails if the store has refused it.
        let _ = sender.send(None).await;
        drop(sender);
        let staged = storing.await.map_err(|error| Failure::internal(error.to_string()))?;
        let staged = told(self.call, self.store, staged);
        if self.skipped > self.skip_bytes_max {
            return Err(staged.err().unwrap_or_else(|| Failure::too_large(None, self.skip_bytes_max)));
        }
        self.staged.push(if self.is_batch { staged } else { Ok(staged?) });
        Ok(Bytes::new())
    }
}

impl Uploads<'_, '_> {
    async fn next(&self, content: &mut Field<'_>) -> Result<Option<Bytes>, Failure> {
        let piece = content.chunk().await.map_err(multipart::malformed)?;
        self.ahead.store(0, Ordering::Release);
        Ok(piece)
    }
}

/// Stages what comes through a channel. It is whole once there was a `None`.
async fn keep(
    store: Documents,
    id: Option<String>,
    metadata: Metadata,
    receiver: mpsc::Receiver<Option<Bytes>>,
) -> Result<Staged, Error> {
    let pieces = stream::unfold(Some(receiver), async |receiver| {
        let mut receiver = receiver?;
        match receiver.recv().await {
            Some(Some(piece)) => Some((Ok(piece), Some(receiver))),
            Some(None) => None,
            None => Some((Err(BROKEN_OFF), None)),
        }
    });
    store.stage(id, &metadata, pieces.boxed()).await
}
