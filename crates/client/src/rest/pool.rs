//! Keep-alive connections, bounded in number; who finds none free waits.

use parking_lot::Mutex;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, timeout_at},
};

use super::connection::{Answer, BrokenExchange, Connection};
use crate::stream::Connector;
use crate::{Address, ConnectFault, Error};

/// Requests that wait at the server (long polls, awaited results) have connections of their own, so that they can never
/// keep the short requests waiting.
const LONG_CONNECTIONS_MAX: usize = 1024;

/// How long a request may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Answered as soon as the server has done it.
    Short,
    /// The server may hold it back.
    Long,
}

/// The connections to one address.
pub(crate) struct Pool {
    connector: Connector,
    idle: Mutex<Vec<Connection>>,
    short: Semaphore,
    long: Semaphore,
}

impl Pool {
    pub(crate) fn new(connector: Connector, connections: usize) -> Self {
        Self {
            connector,
            idle: Mutex::new(Vec::new()),
            short: Semaphore::new(connections.clamp(1, Semaphore::MAX_PERMITS)),
            long: Semaphore::new(LONG_CONNECTIONS_MAX),
        }
    }

    pub(crate) fn address(&self) -> &Address {
        self.connector.address()
    }

    /// Sends `request` on a free connection and returns the whole answer.
    ///
    /// Waiting for a connection does not count towards `time_limit`: the window waits, it never refuses.
    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
        class: Class,
        time_limit: std::time::Duration,
    ) -> Result<Answer, Error> {
        let _permit = self.enter(class).await;
        let deadline = Instant::now() + time_limit;
        let work = async {
            let mut connection = match self.take_idle() {
                Some(connection) => connection,
                None => self.open(deadline, time_limit).await?,
            };
            let answer = connection.exchange(request).await.map_err(|BrokenExchange { fault, reason }| {
                Error::Broken { address: self.address().authority(), fault, reason }
            })?;
            if connection.is_usable() {
                self.idle().push(connection);
            }
            Ok(answer)
        };
        match timeout_at(deadline, work).await {
            Ok(answer) => answer,
            Err(_) => Err(Error::Timeout { address: self.address().authority(), after: time_limit }),
        }
    }

    /// Nothing was sent yet when this takes too long.
    async fn open(&self, deadline: Instant, time_limit: std::time::Duration) -> Result<Connection, Error> {
        match timeout_at(deadline, Connection::open(&self.connector)).await {
            Ok(connection) => connection,
            Err(_) => Err(Error::Connect {
                address: self.address().authority(),
                fault: ConnectFault::NothingAnswers,
                reason: format!("no answer within {} ms", time_limit.as_millis()),
            }),
        }
    }

    async fn enter(&self, class: Class) -> SemaphorePermit<'_> {
        let semaphore = match class {
            Class::Short => &self.short,
            Class::Long => &self.long,
        };
        semaphore.acquire().await.expect("the semaphore is never closed")
    }

    /// The most recently used connection that the server has not closed meanwhile.
    fn take_idle(&self) -> Option<Connection> {
        loop {
            let mut connection = self.idle().pop()?;
            if connection.is_usable() {
                return Some(connection);
            }
        }
    }

    fn idle(&self) -> parking_lot::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock()
    }
}
