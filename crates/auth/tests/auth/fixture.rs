//! A clock that stands still, a store of users, and what requests present.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use auth::{
    Authenticator, Basic, Clock, Cost, HashLimits, Hasher, Method, Presented, Principal, Reason,
    SessionSettings, Unavailable, Users,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;

/// Tests must not wait for a hash that is meant to be slow.
pub const CHEAP: Cost = Cost { memory_kib: 8, passes: 1, lanes: 1 };

/// Some day in 2027.
pub const START_S: u64 = 1_800_000_000;

/// A clock that the test turns.
#[derive(Clone)]
pub struct Hand(Arc<AtomicU64>, Arc<AtomicI64>);

impl Hand {
    pub fn new() -> Self {
        Self(Arc::new(AtomicU64::new(START_S * 1000)), Arc::default())
    }

    pub fn clock(&self) -> Clock {
        let (steady, wall, set_by) = (Arc::clone(&self.0), Arc::clone(&self.0), Arc::clone(&self.1));
        Clock::from_fns(
            move || wall.load(Ordering::Relaxed).saturating_add_signed(set_by.load(Ordering::Relaxed)),
            move || steady.load(Ordering::Relaxed),
        )
    }

    /// Sets the time of day, and nothing passes.
    pub fn set_by_s(&self, seconds: i64) {
        self.1.fetch_add(seconds * 1000, Ordering::Relaxed);
    }

    pub fn pass(&self, time: Duration) {
        self.0.fetch_add(time.as_millis() as u64, Ordering::Relaxed);
    }

    pub fn pass_s(&self, seconds: u64) {
        self.pass(Duration::from_secs(seconds));
    }

    pub fn now_s(&self) -> u64 {
        self.0.load(Ordering::Relaxed) / 1000
    }
}

/// Users in memory.
#[derive(Default)]
pub struct Store {
    hashes: Mutex<HashMap<String, Arc<str>>>,
    generation: AtomicU64,
    away: AtomicBool,
    pub look_ups: AtomicU64,
}

impl Store {
    pub fn set_silently(&self, user: &str, hash: &str) {
        self.hashes.lock().insert(user.to_owned(), hash.into());
    }

    pub fn set(&self, user: &str, hash: &str) {
        self.set_silently(user, hash);
        self.generation.fetch_add(1, Ordering::Relaxed);
    }

    pub fn remove(&self, user: &str) {
        self.hashes.lock().remove(user);
        self.generation.fetch_add(1, Ordering::Relaxed);
    }

    pub fn be_away(&self) {
        self.away.store(true, Ordering::Relaxed);
    }
}

impl Users for Store {
    fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    fn password_hash<'a>(&'a self, user: &'a str) -> BoxFuture<'a, Result<Option<Arc<str>>, Unavailable>> {
        Box::pin(async move {
            // Others get their turn meanwhile, as when the store is elsewhere.
            tokio::task::yield_now().await;
            self.look_ups.fetch_add(1, Ordering::Relaxed);
            if self.away.load(Ordering::Relaxed) {
                return Err(Unavailable("no leader".to_owned()));
            }
            Ok(self.hashes.lock().get(user).cloned())
        })
    }
}

/// A server with Basic authentication and the user ann, whose password is "secret".
pub struct Server {
    pub authenticator: Authenticator,
    pub users: Arc<Store>,
    pub hasher: Hasher,
    pub hand: Hand,
    /// Hashes before the first request.
    before: u64,
}

impl Server {
    pub async fn start() -> Self {
        Self::with(CHEAP, HashLimits::default(), None).await
    }

    pub async fn with(cost: Cost, limits: HashLimits, sessions: Option<SessionSettings>) -> Self {
        let hasher = Hasher::new(cost, limits).unwrap();
        let users = Arc::new(Store::default());
        users.set("ann", &hasher.hash("secret").await.unwrap());
        let hand = Hand::new();
        let basic = Basic::new(Arc::<Store>::clone(&users), hasher.clone(), hand.clock());
        let authenticator = Authenticator::new(Method::Basic(Arc::new(basic)), sessions, hand.clock());
        let before = hasher.computed();
        Self { authenticator, users, hasher, hand, before }
    }

    pub async fn ask(&self, user: &str, password: &str) -> Result<Arc<Principal>, Reason> {
        ask(&self.authenticator, &basic(user, password)).await
    }

    /// Hashes that requests cost.
    pub fn hashes(&self) -> u64 {
        self.hasher.computed() - self.before
    }
}

pub async fn ask(authenticator: &Authenticator, header: &str) -> Result<Arc<Principal>, Reason> {
    ask_from(authenticator, None, header).await
}

/// Authenticates a request with the header `Authorization` that comes from an address.
pub async fn ask_from(
    authenticator: &Authenticator,
    address: Option<IpAddr>,
    header: &str,
) -> Result<Arc<Principal>, Reason> {
    let presented = Presented { authorization: Some(header), address, ..Default::default() };
    authenticator.authenticate(&presented).await.map_err(|refusal| refusal.reason)
}

pub fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}
