//! The body of a call: it must arrive in time, and its bytes count as being received.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use h2::{Reason, RecvStream};
use http_body::{Body, Frame};
use tokio::time::{Instant, Sleep, sleep_until};
use tonic::Status;

use crate::connection::budget::Held;

pub(super) struct RequestBody {
    body: RecvStream,
    held: Held,
    deadline: Instant,
    /// Made once there is something to wait for.
    overdue: Option<Pin<Box<Sleep>>>,
}

impl RequestBody {
    pub(super) fn new(body: RecvStream, held: Held, timeout: Duration) -> Self {
        Self { body, held, deadline: Instant::now() + timeout, overdue: None }
    }

    /// The next bytes, for which the client may send others.
    fn poll_data(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, h2::Error>>> {
        match ready!(self.body.poll_data(context)) {
            Some(Ok(bytes)) => {
                // Fails once the call is over, and then there is nothing to release.
                let _ = self.body.flow_control().release_capacity(bytes.len());
                Poll::Ready(Some(Ok(bytes)))
            }
            // The client has all that it wants; the call's own end is seen elsewhere.
            Some(Err(error)) if matches!(error.reason(), Some(Reason::NO_ERROR | Reason::CANCEL)) => {
                Poll::Ready(None)
            }
            Some(Err(error)) => Poll::Ready(Some(Err(error))),
            // Trailers of a request say nothing here.
            None => Poll::Ready(None),
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        match self.poll_data(context) {
            Poll::Ready(Some(Ok(bytes))) => Poll::Ready(Some(if self.held.add(bytes.len()) {
                Ok(Frame::data(bytes))
            } else {
                Err(Status::resource_exhausted("Too much is being received at the moment; try again later"))
            })),
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
}
