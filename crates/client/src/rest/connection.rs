//! One HTTP/1.1 connection, driven by the task that uses it.
//!
//! The usual way is to spawn a task per connection and talk to it through channels, which costs two thread
//! hand-overs per request. Here the request's own future polls the connection, so a request on a warm connection
//! never leaves its task.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
    time::Duration,
};

use crate::Error;
use crate::error::PROBLEM_CODE;
use crate::fault::{ConnectFault, fault_in, whole};
use crate::stream::{Connector, Stream};
use bytes::{Bytes, BytesMut};
use http::{HeaderName, HeaderValue, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

/// The largest answer that is read, bytes. An activation of many jobs with large documents stays far below.
const RESPONSE_BYTES_MAX: usize = 256 * 1024 * 1024;

type Driver = http1::Connection<TokioIo<Stream>, Full<Bytes>>;

/// An open connection; carries one request at a time.
pub(crate) struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    driver: Pin<Box<Driver>>,
    ended: bool,
}

/// The answer of a server to a request.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// How far a search is behind, if it told so.
    pub(crate) lag: Option<Duration>,
    /// The stable name of the reason of a refusal, if it has one.
    pub(crate) problem: Option<String>,
    pub(crate) body: Bytes,
}

/// The end of an exchange without an answer.
pub(crate) struct BrokenExchange {
    pub(crate) fault: ConnectFault,
    pub(crate) reason: String,
}

impl BrokenExchange {
    #[cold]
    fn of(error: &hyper::Error) -> Self {
        Self { fault: fault_in(error), reason: whole(error) }
    }

    fn closed() -> Self {
        Self { fault: ConnectFault::Other, reason: "closed by the server".to_owned() }
    }
}

/// Milliseconds by which the answer of a search is behind.
const LAG: HeaderName = HeaderName::from_static("baton-lag");

fn lag(value: &HeaderValue) -> Option<Duration> {
    value.to_str().ok()?.parse().ok().map(Duration::from_millis)
}

impl Connection {
    pub(crate) async fn open(connector: &Connector) -> Result<Self, Error> {
        let failed = |fault: ConnectFault, reason: String| Error::Connect {
            address: connector.address().authority(),
            fault,
            reason,
        };
        let stream = connector.open().await.map_err(|error| failed(fault_in(&error), error.to_string()))?;
        let (sender, driver) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| failed(fault_in(&error), error.to_string()))?;
        Ok(Self { sender, driver: Box::pin(driver), ended: false })
    }

    /// Whether another request can be sent. Notices that the server closed the connection while it was idle.
    pub(crate) fn is_usable(&mut self) -> bool {
        if !self.ended {
            let mut context = Context::from_waker(Waker::noop());
            self.ended = self.driver.as_mut().poll(&mut context).is_ready();
        }
        !self.ended && !self.sender.is_closed()
    }

    /// Sends `request` and reads the whole answer. After an error the connection must not be used again.
    pub(crate) async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, BrokenExchange> {
        let Self { sender, driver, ended } = self;
        drive(driver, ended, async move {
            sender.ready().await.map_err(|error| BrokenExchange::of(&error))?;
            let response = sender.send_request(request).await.map_err(|error| BrokenExchange::of(&error))?;
            let status = response.status();
            let lag = response.headers().get(LAG).and_then(lag);
            let problem = response.headers().get(PROBLEM_CODE);
            let problem = problem.and_then(|code| code.to_str().ok()).map(str::to_owned);
            let body = read_body(response.into_body()).await?;
            Ok(Answer { status, lag, problem, body })
        })
        .await
    }
}

/// Polls `work` and the connection that it waits for, in one task.
async fn drive<T>(
    driver: &mut Pin<Box<Driver>>,
    ended: &mut bool,
    work: impl Future<Output = Result<T, BrokenExchange>>,
) -> Result<T, BrokenExchange> {
    let mut work = pin!(work);
    poll_fn(|context| {
        if let Poll::Ready(output) = work.as_mut().poll(context) {
            return Poll::Ready(output);
        }
        if *ended {
            return Poll::Ready(Err(BrokenExchange::closed()));
        }
        let driven = driver.as_mut().poll(context);
        *ended = driven.is_ready();
        // Bytes just read can finish the work at once.
        if let Poll::Ready(output) = work.as_mut().poll(context) {
            return Poll::Ready(output);
        }
        match driven {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(())) => Poll::Ready(Err(BrokenExchange::closed())),
            Poll::Ready(Err(error)) => Poll::Ready(Err(BrokenExchange::of(&error))),
        }
    })
    .await
}

async fn read_body(mut body: hyper::body::Incoming) -> Result<Bytes, BrokenExchange> {
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| BrokenExchange::of(&error))?.into_data() else { continue };
        if first.is_empty() {
            first = data;
            continue;
        }
        if rest.is_empty() {
            rest.extend_from_slice(&first);
        }
        if rest.len() + data.len() > RESPONSE_BYTES_MAX {
            return Err(BrokenExchange {
                fault: ConnectFault::Other,
                reason: format!("the answer is larger than {RESPONSE_BYTES_MAX} bytes"),
            });
        }
        rest.extend_from_slice(&data);
    }
    Ok(if rest.is_empty() { first } else { rest.freeze() })
}
