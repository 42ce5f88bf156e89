//! Where the issuer's keys come from, and when they are asked for again.
//!
//! Keys that are too old are fetched in the background while the old ones still serve; when the issuer is away they go
//! on serving. A key nobody knows makes the issuer be asked at once, though not more often than every few seconds,
//! however many such tokens come.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::Uri;
use parking_lot::RwLock;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::discovery::{discover, discovery_url};
use super::fetch::fetch;
use super::keys::KeySet;
use super::settings::{OidcSettings, parse_endpoint};
use super::settings_error::SettingsError;
use crate::clock::Clock;
use crate::metric_definitions::keys_fetched;
use crate::refusal::Reason;
use crate::tls::ClientTls;

/// The issuer is asked at most this often while there are keys.
const PAUSE_MS: u64 = 10_000;
/// The issuer is asked at most this often while there are none.
const PAUSE_WITHOUT_KEYS_MS: u64 = 1_000;

/// Keys as they were at some time.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    pub set: Arc<KeySet>,
    /// Another number after every change of the set.
    pub generation: u64,
    /// The attempt that brought them or found them unchanged.
    attempt: u64,
}

#[derive(Debug, Default)]
struct State {
    keys: Option<Keys>,
    fetched_ms: u64,
    /// Attempts that came to their end, and when the last did.
    attempts: u64,
    attempted_ms: Option<u64>,
    /// Where the keys were, as the discovery document said last.
    discovered: Option<Uri>,
}

#[derive(Debug)]
pub(super) struct KeySource {
    issuer: String,
    discovery_url: Uri,
    keys_url: Option<Uri>,
    tls: ClientTls,
    age_max_ms: u64,
    clock: Clock,
    state: RwLock<State>,
    /// Held by who asks the issuer.
    asking: Arc<Mutex<()>>,
    fetches: AtomicU64,
}

impl KeySource {
    pub fn new(settings: &OidcSettings, clock: Clock) -> Result<Self, SettingsError> {
        let issuer = settings.issuer.clone();
        let source = Self {
            discovery_url: discovery_url(&issuer)?,
            keys_url: None,
            tls: settings.tls.clone(),
            age_max_ms: settings.keys_age_max.as_millis() as u64,
            clock,
            state: RwLock::default(),
            asking: Arc::default(),
            fetches: AtomicU64::new(0),
            issuer,
        };
        let keys_url = settings.keys_url.as_deref().map(|url| source.keys_url(url)).transpose()?;
        Ok(Self { keys_url, ..source })
    }

    fn keys_url(&self, url: &str) -> Result<Uri, SettingsError> {
        parse_endpoint("keys_url", url, &self.discovery_url)
    }

    pub fn fetches(&self) -> u64 {
        self.fetches.load(Ordering::Relaxed)
    }

    /// The keys there are. If they are old, newer ones are fetched meanwhile.
    pub fn tend(self: &Arc<Self>) -> Option<Keys> {
        let now_ms = self.clock.steady_ms();
        let (keys, is_due) = {
            let state = self.state.read();
            let keys = state.keys.clone()?;
            (keys, now_ms.saturating_sub(state.fetched_ms) >= self.age_max_ms && state.may_ask(now_ms))
        };
        // One fetch serves all waiting requests.
        if is_due && let Ok(asking) = Arc::clone(&self.asking).try_lock_owned() {
            let source = Arc::clone(self);
            tokio::spawn(async move { source.ask(asking).await });
        }
        Some(keys)
    }

    /// The keys; if there are none yet, the issuer is asked and waited for.
    pub async fn keys(self: &Arc<Self>) -> Result<Keys, Reason> {
        if let Some(keys) = self.tend() {
            return Ok(keys);
        }
        self.wait_for_attempt().await;
        self.state.read().keys.clone().ok_or(Reason::IssuerUnavailable)
    }

    /// Keys that the issuer was asked for after `keys`, if it may be asked.
    pub async fn newer_than(self: &Arc<Self>, keys: &Keys) -> Option<Keys> {
        self.wait_for_attempt().await;
        self.state.read().keys.clone().filter(|newer| newer.attempt != keys.attempt)
    }

    /// Asks the issuer, if it may be asked, or waits for the answer that somebody else waits for already. On a task of
    /// its own, since whoever began to ask may give up while others wait.
    async fn wait_for_attempt(self: &Arc<Self>) {
        let source = Arc::clone(self);
        let task = tokio::spawn(async move {
            let asking = Arc::clone(&source.asking).lock_owned().await;
            source.ask(asking).await;
        });
        if let Err(error) = task.await {
            tracing::error!(%error, "asking for keys failed");
        }
    }

    /// Asks the issuer, unless that was done too short a time ago.
    async fn ask(&self, _asking: OwnedMutexGuard<()>) {
        if !self.state.read().may_ask(self.clock.steady_ms()) {
            return;
        }
        self.fetches.fetch_add(1, Ordering::Relaxed);
        let result = self.fetch_keys().await;
        keys_fetched(result.is_ok());
        let now_ms = self.clock.steady_ms();
        let mut state = self.state.write();
        state.attempts += 1;
        state.attempted_ms = Some(now_ms);
        let attempt = state.attempts;
        match result {
            Ok(set) => {
                state.fetched_ms = now_ms;
                state.keys = Some(match state.keys.take() {
                    Some(before) if *before.set == set => Keys { attempt, ..before },
                    _ => Keys { set: Arc::new(set), generation: attempt, attempt },
                });
            }
            Err(error) => {
                let has_keys = state.keys.is_some();
                tracing::warn!(issuer = self.issuer, error, has_keys, "the issuer's keys cannot be fetched");
            }
        }
    }

    async fn fetch_keys(&self) -> Result<KeySet, String> {
        let url = match &self.keys_url {
            Some(url) => url.clone(),
            None => match self.discover().await {
                Ok(url) => {
                    self.state.write().discovered = Some(url.clone());
                    url
                }
                Err(error) => self.state.read().discovered.clone().ok_or(error)?,
            },
        };
        let json = fetch(&url, &self.tls).await.map_err(|error| format!("{url}: {error}"))?;
        KeySet::parse(&json).map_err(|error| format!("{url}: {error}"))
    }

    async fn discover(&self) -> Result<Uri, String> {
        let document = discover(&self.discovery_url, &self.issuer, &self.tls).await?;
        self.keys_url(&document.jwks_uri).map_err(|error| error.to_string())
    }
}

impl State {
    fn may_ask(&self, now_ms: u64) -> bool {
        let pause_ms = if self.keys.is_some() { PAUSE_MS } else { PAUSE_WITHOUT_KEYS_MS };
        self.attempted_ms.is_none_or(|at_ms| now_ms.saturating_sub(at_ms) >= pause_ms)
    }
}
