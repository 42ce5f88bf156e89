//! The body of a call: it must arrive in time, and its bytes count as being received.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until};
use tonic::Status;

use crate::connection::budget::Held;

/// See the module.
pub(super) struct RequestBody {
    body: Incoming,
    held: Held,
    deadline: Instant,
    /// Made once there is something to wait for.
    overdue: Option<Pin<Box<Sleep>>>,
}

impl RequestBody {
    pub(super) fn new(body: Incoming, held: Held, timeout: Duration) -> Self {
        Self { body, held, deadline: Instant::now() + timeout, overdue: None }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                Poll::Ready(Some(if self.held.add(bytes) {
                    Ok(frame)
                } else {
                    Err(Status::resource_exhausted(
                        "Too much is being received at the moment; try again later",
                    ))
                }))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(Status::from_error(Box::new(error))))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => {
                let deadline = self.deadline;
                let overdue = self.overdue.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
                overdue.as_mut().poll(context).map(|()| {
                    Some(Err(Status::deadline_exceeded(
                        "Expected the whole request, but it did not arrive in time",
                    )))
                })
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
