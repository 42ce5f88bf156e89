//! User name and password, checked against a store of users that others keep.
//!
//! A password is hashed once; then a keyed hash of name and password stands for the answer, as long as the store holds
//! the same hash for that user. The store says by a number that something changed; only then, and now and then, it is
//! asked again. A change of somebody else's password therefore costs a look-up, never a hash.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use futures::future::BoxFuture;
use quick_cache::sync::Cache;

use crate::attempts::{AttemptLimits, Attempts};
use crate::clock::Clock;
use crate::password::{HashError, Hasher};
use crate::presented::check_lengths;
use crate::principal::Principal;
use crate::refusal::Reason;
use crate::secret::{Digest, ProcessKey};

/// Cached answers, wrong passwords included. Repeated credentials outlive those tried once.
const VERDICTS_MAX: usize = 10_000;
/// After this the store is asked again even if it says that nothing changed.
const LOOK_UP_AFTER_MS: u64 = 10 * 60 * 1000;
/// Idle time after which credentials are hashed again.
const FORGET_AFTER_MS: u64 = 60 * 60 * 1000;
/// How often an answer may turn out to be outdated while it is awaited, before the request is refused.
const ATTEMPTS_MAX: usize = 3;

/// The store of users does not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the user store cannot be read: {0}")]
pub struct Unavailable(pub String);

/// Where users are kept.
pub trait Users: Send + Sync + 'static {
    /// A number that is another one after every change of any user's password, or of which users there are. It is asked
    /// for with every request and should cost no more than reading an atomic.
    fn generation(&self) -> u64;

    /// The hash of a user's password as [`Hasher::hash`] made it; none, if there is no such user.
    fn password_hash<'a>(&'a self, user: &'a str) -> BoxFuture<'a, Result<Option<Arc<str>>, Unavailable>>;
}

/// The store's answer about a user, and its time.
#[derive(Debug, Clone)]
pub(crate) struct CachedUser {
    hash: Option<Arc<str>>,
    generation: u64,
    looked_up_ms: u64,
}

/// State of a [`CachedUser`] session.
pub(crate) enum Recheck {
    /// It is as it was.
    Same,
    /// Looked up again, with the same result.
    Confirmed(CachedUser),
    /// The user has another password, or is gone.
    Changed,
}

/// Whether a user with a password is let in.
#[derive(Debug)]
struct Verdict {
    cached: CachedUser,
    principal: Option<Arc<Principal>>,
}

/// Authentication by user name and password (RFC 7617).
pub struct Basic {
    users: Arc<dyn Users>,
    hasher: Hasher,
    attempts: Attempts,
    verdicts: Cache<Digest, Arc<Verdict>>,
    key: ProcessKey,
    clock: Clock,
}

impl fmt::Debug for Basic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Basic").field("cached", &self.verdicts.len()).finish_non_exhaustive()
    }
}

impl Basic {
    /// Checks passwords of `users` with `hasher`.
    pub fn new(users: Arc<dyn Users>, hasher: Hasher, clock: Clock) -> Self {
        let attempts = Attempts::new(AttemptLimits::default(), clock.clone());
        Self { users, hasher, attempts, verdicts: Cache::new(VERDICTS_MAX), key: ProcessKey::random(), clock }
    }

    /// With other bounds of what may be tried.
    #[must_use]
    pub fn with_limits(self, limits: AttemptLimits) -> Self {
        Self { attempts: Attempts::new(limits, self.clock.clone()), ..self }
    }

    /// Lets a user in, or not.
    pub(crate) async fn verify(
        &self,
        user: &str,
        password: &str,
        address: Option<IpAddr>,
    ) -> Result<(Arc<Principal>, CachedUser), Reason> {
        check_lengths(user, password)?;
        let digest = self.key.digest(&[user.as_bytes(), password.as_bytes()]);
        for _ in 0..ATTEMPTS_MAX {
            // Concurrent requests with the same credentials wait for the first to hash them.
            let verdict = match self.verdicts.get_value_or_guard_async(&digest).await {
                Ok(verdict) => verdict,
                Err(guard) => {
                    let verdict = Arc::new(self.decide(user, password, address).await?);
                    let _ = guard.insert(Arc::clone(&verdict));
                    verdict
                }
            };
            let unused_ms = self.clock.steady_ms().saturating_sub(verdict.cached.looked_up_ms);
            let recheck = if unused_ms >= FORGET_AFTER_MS {
                Recheck::Changed
            } else {
                self.standing_of(user, &verdict.cached).await?
            };
            let cached = match recheck {
                Recheck::Same => verdict.cached.clone(),
                Recheck::Confirmed(cached) => {
                    let renewed = Verdict { cached: cached.clone(), principal: verdict.principal.clone() };
                    self.verdicts.insert(digest, Arc::new(renewed));
                    cached
                }
                Recheck::Changed => {
                    self.verdicts.remove_if(&digest, |found| Arc::ptr_eq(found, &verdict));
                    continue;
                }
            };
            let principal = verdict.principal.clone().ok_or(Reason::Credentials)?;
            return Ok((principal, cached));
        }
        Err(Reason::UsersUnavailable)
    }

    async fn decide(&self, user: &str, password: &str, address: Option<IpAddr>) -> Result<Verdict, Reason> {
        let attempt = self.attempts.begin(self.key.digest(&[user.as_bytes()]), address)?;
        let (cached, allowed) = match self.check_password(user, password).await {
            Ok(found) => found,
            Err(reason) => {
                attempt.was_not_looked_at();
                return Err(reason);
            }
        };
        if allowed {
            attempt.was_right();
        }
        Ok(Verdict { cached, principal: allowed.then(|| Arc::new(Principal::user(user))) })
    }

    /// The known user, and whether the password is right.
    async fn check_password(&self, user: &str, password: &str) -> Result<(CachedUser, bool), Reason> {
        let cached = self.read_user(user).await.map_err(|error| unavailable(&error))?;
        match self.hasher.is_password(password, cached.hash.as_deref()).await {
            Ok(is_password) => Ok((cached, is_password)),
            Err(HashError::Busy) => Err(Reason::Busy),
            Err(error) => {
                tracing::error!(%error, "a password could not be checked");
                Err(Reason::Busy)
            }
        }
    }

    async fn read_user(&self, user: &str) -> Result<CachedUser, Unavailable> {
        // Read before the look-up: a change in between makes the number differ and the next one look again.
        let generation = self.users.generation();
        let hash = self.users.password_hash(user).await?;
        Ok(CachedUser { hash, generation, looked_up_ms: self.clock.steady_ms() })
    }

    /// Whether what the store said about a user still holds.
    pub(crate) async fn standing_of(&self, user: &str, before: &CachedUser) -> Result<Recheck, Reason> {
        let age_ms = self.clock.steady_ms().saturating_sub(before.looked_up_ms);
        let is_same_generation = before.generation == self.users.generation();
        if is_same_generation && age_ms < LOOK_UP_AFTER_MS {
            return Ok(Recheck::Same);
        }
        match self.read_user(user).await {
            Ok(now) if now.hash == before.hash => Ok(Recheck::Confirmed(now)),
            Ok(_) => Ok(Recheck::Changed),
            // Nothing is known to have changed: the answer may become a little older.
            Err(_) if is_same_generation => Ok(Recheck::Same),
            Err(error) => Err(unavailable(&error)),
        }
    }
}

fn unavailable(error: &Unavailable) -> Reason {
    tracing::debug!(%error, "a request could not be authenticated");
    Reason::UsersUnavailable
}
