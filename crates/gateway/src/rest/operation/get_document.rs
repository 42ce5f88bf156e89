//! `GET /v2/documents/{documentId}`: the content.

use futures::{StreamExt as _, stream};

use super::{Call, document};
use crate::rest::download::Download;
use crate::rest::problem::Failure;
use crate::rest::reply::{Pieces, Reply};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let store = document::store(call)?;
    let hash = call.query_parameter("contentHash")?;
    let found = document::find(call, store, hash.as_deref()).await?;
    // The first piece tells whether there is anything to send. A document of one piece is checked as a whole by then.
    let mut pieces = store.read(&found);
    let first = document::told(call, store, pieces.next().await.transpose())?;
    let pieces = stream::iter(first.map(Ok)).chain(pieces).boxed();
    let download = Download::named(&found.metadata.content_type, &found.metadata.file_name);
    Ok(Reply::document(Pieces::new(pieces, found.size_bytes), download))
}
