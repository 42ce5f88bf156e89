//! Connections of other brokers.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::io::AsyncRead;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::call::{PartSender, Partial, Parts};
use crate::complaints::Complaints;
use crate::frame::{FIRST_FRAME, Frame, FrameKind, Lane};
use crate::handshake::{Agreed, BrokerIdentity, HANDSHAKE_TIMEOUT, HandshakeError, Refusal, Rules, accept};
use crate::secret::demand;
use crate::writer::{Outgoing, queues};
use crate::{Duplex, Listener, PeerService, Shared, TransportOptions};

/// Calls of a connection that are worked on at once.
const CALLS_MAX: usize = 4096;
/// Connections of one broker at most: it has one, and one more for each list or number that it asks for.
const CONNECTIONS_PER_BROKER_MAX: usize = 16;
/// The reason that stands for all strangers.
const STRANGER: &str = "a stranger";
/// Uploads of a connection at once.
const UPLOADS_MAX: usize = 4;

/// The brokers that are connected.
#[derive(Default)]
pub struct Served(Mutex<HashMap<u32, Vec<Connected>>>);

struct Connected {
    identity: BrokerIdentity,
    stop: CancellationToken,
}

impl Served {
    /// The brokers that are connected now, by their numbers.
    pub fn brokers(&self) -> Vec<BrokerIdentity> {
        let connected = self.0.lock();
        let mut brokers: Vec<_> =
            connected.values().filter_map(|of| Some(of.first()?.identity.clone())).collect();
        brokers.sort_by_key(|identity| identity.broker);
        brokers
    }

    /// Lets a broker in, if no other has its number. An earlier life of the same one is not there any more.
    fn enter(&self, identity: &BrokerIdentity, stop: &CancellationToken, max: usize) -> Result<(), Refusal> {
        let mut connected = self.0.lock();
        if connected.values().map(Vec::len).sum::<usize>() >= max {
            return Err(Refusal::Full);
        }
        let of_number = connected.entry(identity.broker).or_default();
        if of_number.len() >= CONNECTIONS_PER_BROKER_MAX {
            return Err(Refusal::Full);
        }
        if of_number.iter().any(|other| other.identity.directory != identity.directory) {
            return Err(Refusal::DuplicateNumber { broker: identity.broker });
        }
        if of_number.iter().any(|other| other.identity.life > identity.life) {
            return Err(Refusal::Stale("a later start of the same broker is connected".to_owned()));
        }
        for earlier in of_number.extract_if(.., |other| other.identity.life < identity.life) {
            earlier.stop.cancel();
        }
        of_number.push(Connected { identity: identity.clone(), stop: stop.clone() });
        Ok(())
    }

    fn leave(&self, stop: &CancellationToken) {
        stop.cancel();
        self.0.lock().retain(|_, of_number| {
            of_number.retain(|connected| !connected.stop.is_cancelled());
            !of_number.is_empty()
        });
    }
}

/// Serves other brokers until `stop`.
pub async fn serve(
    listener: impl Listener,
    identity: BrokerIdentity,
    service: Arc<dyn PeerService>,
    options: TransportOptions,
    served: Arc<Served>,
    stop: CancellationToken,
) {
    let max_handshakes = options.max_handshakes;
    let mut handshakes = VecDeque::new();
    let door = Arc::new(Door {
        identity,
        service,
        options,
        served,
        complaints: Complaints::default(),
        complaints_of_strangers: Complaints::default(),
    });
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return,
        };
        let Ok(stream) = accepted else {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            continue;
        };
        let (door, stop) = (Arc::clone(&door), stop.child_token());
        let shaking = begin_handshake(&mut handshakes, max_handshakes);
        tokio::spawn(async move {
            let entered = tokio::select! {
                entered = door.enter(stream, &stop) => entered,
                () = shaking.cancelled() => Err(HandshakeError::Io(std::io::ErrorKind::TimedOut.into())),
            };
            shaking.cancel();
            match entered {
                Ok((stream, agreed)) => door.work(stream, agreed, &stop).await,
                Err(error) => door.complain(&error),
            }
            door.served.leave(&stop);
        });
    }
}

/// Makes room for one more handshake, cancelled when it is over: a broker needs some milliseconds for it, so whoever
/// has been at it for the longest time is a stranger.
fn begin_handshake(handshakes: &mut VecDeque<CancellationToken>, max: usize) -> CancellationToken {
    if handshakes.len() >= max {
        handshakes.retain(|shaking| !shaking.is_cancelled());
    }
    if handshakes.len() >= max
        && let Some(oldest) = handshakes.pop_front()
    {
        oldest.cancel();
    }
    let shaking = CancellationToken::new();
    handshakes.push_back(shaking.clone());
    shaking
}

/// The side of a connection that is connected to.
struct Door {
    identity: BrokerIdentity,
    service: Arc<dyn PeerService>,
    options: TransportOptions,
    served: Arc<Served>,
    complaints: Complaints,
    /// Apart, so that they drown out no reason that a broker of the cluster is refused for.
    complaints_of_strangers: Complaints,
}

/// Requests of a connection.
#[derive(Default)]
struct Requests {
    /// Requests that have not come whole.
    partial: HashMap<u64, Partial>,
    partial_bytes: usize,
    uploads: HashMap<u64, PartSender>,
    /// Requests that are worked on.
    running: Shared<HashMap<u64, AbortHandle>>,
}

impl Door {
    /// Says why a connection was closed: a reason of each kind once a while, of strangers one.
    fn complain(&self, error: &HandshakeError) {
        let refusal = match error {
            HandshakeError::Refuses(refusal) => refusal.to_string(),
            HandshakeError::Tls(_) | HandshakeError::Unproven => error.to_string(),
            _ => return tracing::debug!(%error, "a connection to the port for brokers is closed"),
        };
        let is_proven = self.options.has_proof() && matches!(error, HandshakeError::Refuses(_));
        if is_proven && self.complaints.admit(&refusal) {
            tracing::warn!(reason = refusal, "a broker is refused");
        }
        if !is_proven && self.complaints_of_strangers.admit(STRANGER) {
            tracing::warn!(
                reason = refusal,
                "a broker is refused; further strangers are not told of for a minute"
            );
        }
    }

    async fn enter(
        &self,
        stream: Box<dyn Duplex>,
        stop: &CancellationToken,
    ) -> Result<(Box<dyn Duplex>, Agreed), HandshakeError> {
        let secured = timeout(HANDSHAKE_TIMEOUT, self.secured(stream));
        let mut stream = secured.await.map_err(|_| std::io::Error::from(std::io::ErrorKind::TimedOut))??;
        let rules = Rules {
            is_proven: self.options.has_proof(),
            compresses: self.options.compresses,
            knows: |peer: &BrokerIdentity| self.service.check(peer),
            enter: |peer: &BrokerIdentity| self.served.enter(peer, stop, self.options.max_connections),
        };
        let agreed = accept(&mut stream, &self.identity, rules).await?;
        Ok((stream, agreed))
    }

    /// Has the other side prove that it is of the cluster, by what is configured, and proves it in turn.
    async fn secured(&self, mut stream: Box<dyn Duplex>) -> Result<Box<dyn Duplex>, HandshakeError> {
        if let Some(certificates) = &self.options.certificates {
            let accepted = certificates.acceptor().accept(stream).await;
            stream = Box::new(accepted.map_err(HandshakeError::of_tls)?);
        }
        if let Some(secret) = &self.options.secret {
            stream = demand(stream, secret).await?;
        }
        Ok(stream)
    }

    async fn work(&self, stream: Box<dyn Duplex>, agreed: Agreed, stop: &CancellationToken) {
        let (mut reading, writing) = tokio::io::split(stream);
        let (outgoing, queues) = queues();
        let mut requests = Requests::default();
        let reason = tokio::select! {
            written = queues.write_to(writing, agreed.compresses, self.options.write_timeout) => written.err().map(|error| error.to_string()),
            reason = self.read(&mut reading, &agreed.peer, &outgoing, &mut requests) => reason,
            () = stop.cancelled() => None,
        };
        for (_, running) in requests.running.lock().drain() {
            running.abort();
        }
        if let Some(reason) = reason {
            tracing::warn!(peer = agreed.peer.broker, reason, "the connection of a broker has ended");
        }
    }

    /// Reads until the end of the connection, and tells the reason if there is one.
    async fn read(
        &self,
        stream: &mut (impl AsyncRead + Unpin),
        peer: &BrokerIdentity,
        outgoing: &Outgoing,
        requests: &mut Requests,
    ) -> Option<String> {
        for number in FIRST_FRAME.. {
            let frame = match timeout(self.options.silence, Frame::read(stream, number)).await {
                Ok(Ok(Some(frame))) => frame,
                Ok(Ok(None)) => return None,
                Ok(Err(error)) => return Some(error.to_string()),
                Err(_) => return Some("the other side is silent".to_owned()),
            };
            if let Err(reason) = self.take(frame, peer, outgoing, requests) {
                return Some(reason);
            }
        }
        unreachable!("numbers of frames do not end")
    }

    fn take(
        &self,
        frame: Frame,
        peer: &BrokerIdentity,
        outgoing: &Outgoing,
        requests: &mut Requests,
    ) -> Result<(), String> {
        let (call, lane) = (frame.call, frame.lane);
        match frame.kind {
            FrameKind::Ping => Ok(()),
            FrameKind::Request => {
                let Some(request) = self.gather(&frame, requests)? else { return Ok(()) };
                let answer = self.service.call(peer, lane, request);
                run(&requests.running, outgoing, lane, call, answer)
            }
            FrameKind::Upload => {
                requests.uploads.retain(|_, sender| !sender.is_closed());
                if requests.uploads.len() >= UPLOADS_MAX {
                    return Err(format!("more than {UPLOADS_MAX} uploads at once"));
                }
                let (sender, parts) = Parts::new(outgoing.clone(), call);
                requests.uploads.insert(call, sender);
                let answer = self.service.upload(peer, frame.payload, parts);
                run(&requests.running, outgoing, lane, call, answer)
            }
            FrameKind::Part => {
                let Some(sender) = requests.uploads.get(&call) else { return Ok(()) };
                match sender.try_send((frame.payload, frame.is_last)) {
                    Err(tokio::sync::mpsc::error::TrySendError::Full(_)) => {
                        return Err("parts of an upload without room for them".to_owned());
                    }
                    // The service has seen enough.
                    Err(_) => drop(requests.uploads.remove(&call)),
                    Ok(()) if frame.is_last => drop(requests.uploads.remove(&call)),
                    Ok(()) => {}
                }
                Ok(())
            }
            FrameKind::Cancel => {
                if let Some(partial) = requests.partial.remove(&call) {
                    requests.partial_bytes -= partial.len();
                }
                requests.uploads.remove(&call);
                let running = requests.running.lock().remove(&call);
                if let Some(running) = running {
                    running.abort();
                }
                Ok(())
            }
            kind => Err(format!("a frame of kind {kind:?} instead of a request")),
        }
    }

    /// Adds a frame to its request. Gives the request if it has come whole.
    fn gather(&self, frame: &Frame, requests: &mut Requests) -> Result<Option<Bytes>, String> {
        let limit = self.options.max_message_bytes;
        let partial = requests.partial.entry(frame.call).or_default();
        let before = partial.len();
        let message = partial.add(frame, limit)?;
        requests.partial_bytes += partial.len();
        requests.partial_bytes -= before;
        if message.is_some() {
            requests.partial.remove(&frame.call);
        } else if requests.partial_bytes > 2 * limit || requests.partial.len() > CALLS_MAX {
            return Err("more requests at once than there is room for".to_owned());
        }
        Ok(message)
    }
}

/// Works on a request beside others, and sends its answer.
fn run(
    running: &Shared<HashMap<u64, AbortHandle>>,
    outgoing: &Outgoing,
    lane: Lane,
    call: u64,
    answer: crate::Reply,
) -> Result<(), String> {
    let mut known = running.lock();
    if known.contains_key(&call) {
        return Err(format!("two requests with the number {call}"));
    }
    let is_full = known.len() >= CALLS_MAX;
    let (outgoing, ended) = (outgoing.clone(), Arc::clone(running));
    let task = tokio::spawn(async move {
        let answer = if is_full { Err("too many requests at once".to_owned()) } else { answer.await };
        let (kind, message) = match answer {
            Ok(response) => (FrameKind::Response, response),
            Err(reason) => (FrameKind::Failure, Bytes::from(reason)),
        };
        // Without a connection, nobody waits.
        let _ = outgoing.send_message(kind, lane, call, &message).await;
        ended.lock().remove(&call);
    });
    known.insert(call, task.abort_handle());
    Ok(())
}
