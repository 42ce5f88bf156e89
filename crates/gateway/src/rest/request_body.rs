//! Bodies of requests, read within their limits.

use super::problem::Failure;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Body;
use std::time::Instant;
use tokio::time::timeout_at;

/// The memory reserved for a body before its first byte arrives, in bytes.
pub(super) const MAX_RESERVED_BODY: usize = 256 * 1024;

/// Reads the whole body, in one piece without a copy if it arrives so.
pub(super) async fn read_body<B>(mut body: B, limit: usize, deadline: Instant) -> Result<Bytes, Failure>
where
    B: Body<Data = Bytes> + Unpin + Send,
{
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    if body.size_hint().lower() > limit as u64 {
        return Err(Failure::too_large(Some(body.size_hint().lower()), limit));
    }
    let read = async {
        let Some(first) = next_piece(&mut body).await? else { return Ok(Bytes::new()) };
        if body.is_end_stream() && first.len() <= limit {
            return Ok(first);
        }
        let expected = first.len() + body.size_hint().lower() as usize;
        let mut whole = BytesMut::with_capacity(expected.min(MAX_RESERVED_BODY).max(first.len()));
        let mut piece = Some(first);
        while let Some(bytes) = piece {
            if whole.len() + bytes.len() > limit {
                return Err(Failure::too_large(None, limit));
            }
            whole.extend_from_slice(&bytes);
            piece = next_piece(&mut body).await?;
        }
        Ok(whole.freeze())
    };
    timeout_at(deadline.into(), read).await.unwrap_or_else(|_| Err(Failure::late()))
}

/// The next bytes of a body; trailers are skipped.
pub(super) async fn next_piece<B>(body: &mut B) -> Result<Option<Bytes>, Failure>
where
    B: Body<Data = Bytes> + Unpin + Send,
{
    while let Some(frame) = body.frame().await {
        match frame.map(http_body::Frame::into_data) {
            Ok(Ok(bytes)) if !bytes.is_empty() => return Ok(Some(bytes)),
            Ok(_) => {}
            Err(_) => return Err(Failure::invalid("the request body ended early")),
        }
    }
    Ok(None)
}
