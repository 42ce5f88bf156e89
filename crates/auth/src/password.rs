//! Password hashes: argon2id (RFC 9106) on threads that may block, few at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::available_parallelism;

use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, PasswordHasher as _, PasswordVerifier as _, Version};
use tokio::sync::Semaphore;

use crate::metric_definitions::hashed;
use crate::secret::random;

/// Cost of one hash. The default is what OWASP's cheat sheet on password storage asks for at least: 19 MiB, two
/// passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Memory, in KiB; at least 8 for each lane.
    pub memory_kib: u32,
    /// How often the memory is gone through.
    pub passes: u32,
    /// Independent parts of the memory.
    pub lanes: u32,
}

impl Default for Cost {
    fn default() -> Self {
        Self { memory_kib: 19 * 1024, passes: 2, lanes: 1 }
    }
}

/// How much hashing there may be at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashLimits {
    /// Hashes computed at a time; by default half of the processors.
    pub parallel: usize,
    /// Hashes that wait for being computed; more are refused.
    pub waiting: usize,
}

impl Default for HashLimits {
    fn default() -> Self {
        let processors = available_parallelism().map_or(1, usize::from);
        Self { parallel: (processors / 2).max(1), waiting: 64 }
    }
}

/// Why there is no hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HashError {
    /// The cost is out of range.
    #[error("cost of password hashes: {0}")]
    Cost(String),
    /// Too many wait already.
    #[error("too many passwords are being hashed")]
    Busy,
    /// The computation failed, for example for want of memory.
    #[error("the password could not be hashed: {0}")]
    Failed(String),
}

/// Computes and checks password hashes. Clones share their limits.
#[derive(Debug, Clone)]
pub struct Hasher(Arc<HasherState>);

#[derive(Debug)]
struct HasherState {
    argon: Argon2<'static>,
    /// One permit for each hash that is computed or waits.
    places: Arc<Semaphore>,
    /// One permit for each hash that is computed.
    turns: Arc<Semaphore>,
    computed: AtomicU64,
}

impl Hasher {
    /// A hasher for new passwords of this cost. Existing hashes keep the cost they were made with.
    ///
    /// # Errors
    /// [`HashError::Cost`], if argon2 cannot work with it.
    pub fn new(cost: Cost, limits: HashLimits) -> Result<Self, HashError> {
        let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, None)
            .map_err(|error| HashError::Cost(error.to_string()))?;
        let parallel = limits.parallel.max(1);
        Ok(Self(Arc::new(HasherState {
            argon: Argon2::new(Algorithm::Argon2id, Version::V0x13, params),
            places: Arc::new(Semaphore::new(parallel + limits.waiting)),
            turns: Arc::new(Semaphore::new(parallel)),
            computed: AtomicU64::new(0),
        })))
    }

    /// The hash of a new password, with a random salt, as a PHC string (`$argon2id$v=19$m=…`).
    pub async fn hash(&self, password: &str) -> Result<String, HashError> {
        let password = password.to_owned();
        let hash =
            self.compute(move |argon| argon.hash_password_with_salt(password.as_bytes(), &random::<16>()));
        match hash.await? {
            Ok(hash) => Ok(hash.to_string()),
            Err(error) => Err(HashError::Failed(error.to_string())),
        }
    }

    /// Whether `password` is that of `hash`. Without a hash the work is the same and the answer is no, so that nobody
    /// learns from the time which users there are.
    pub async fn is_password(&self, password: &str, hash: Option<&str>) -> Result<bool, HashError> {
        let password = password.to_owned();
        let hash = hash.map(ToOwned::to_owned);
        self.compute(move |argon| {
            let stored = hash.as_deref().map(PasswordHash::new);
            match stored {
                Some(Ok(stored)) if stored.algorithm == Algorithm::Argon2id.ident() => {
                    argon.verify_password(password.as_bytes(), &stored).is_ok()
                }
                unreadable => {
                    if unreadable.is_some() {
                        tracing::debug!(
                            "a stored password hash is not an argon2id hash, so its user cannot sign in"
                        );
                    }
                    let made = argon.hash_password_with_salt(password.as_bytes(), &random::<16>());
                    drop(std::hint::black_box(made));
                    false
                }
            }
        })
        .await
    }

    /// How many hashes were computed.
    pub fn computed(&self) -> u64 {
        self.0.computed.load(Ordering::Relaxed)
    }

    /// The permits go with the work, so that it counts to its end even if nobody waits for it any more.
    async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Argon2<'static>) -> T + Send + 'static,
    ) -> Result<T, HashError> {
        let place = Arc::clone(&self.0.places).try_acquire_owned().map_err(|_| HashError::Busy)?;
        let turn = Arc::clone(&self.0.turns).acquire_owned().await.expect("never closed");
        let inner = Arc::clone(&self.0);
        let result = tokio::task::spawn_blocking(move || {
            let result = work(&inner.argon);
            inner.computed.fetch_add(1, Ordering::Relaxed);
            hashed();
            drop((turn, place));
            result
        });
        result.await.map_err(|error| HashError::Failed(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHEAP: Cost = Cost { memory_kib: 8, passes: 1, lanes: 1 };

    #[tokio::test]
    async fn a_hash_is_of_its_password() {
        let hasher = Hasher::new(CHEAP, HashLimits::default()).unwrap();
        let hash = hasher.hash("secret").await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=8,t=1,p=1$"), "{hash}");
        assert_ne!(hash, hasher.hash("secret").await.unwrap(), "salted");
        assert!(hasher.is_password("secret", Some(&hash)).await.unwrap());
        assert!(!hasher.is_password("Secret", Some(&hash)).await.unwrap());
    }

    #[tokio::test]
    async fn a_hash_keeps_the_cost_it_was_made_with() {
        let before = Hasher::new(CHEAP, HashLimits::default()).unwrap().hash("secret").await.unwrap();
        let after = Hasher::new(Cost { passes: 3, ..CHEAP }, HashLimits::default()).unwrap();
        assert!(after.is_password("secret", Some(&before)).await.unwrap());
    }

    /// The command `argon2` of the reference implementation made it:
    /// `echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1` (test vector of its test suite).
    #[tokio::test]
    async fn hashes_of_other_implementations_are_read() {
        let hasher = Hasher::new(CHEAP, HashLimits::default()).unwrap();
        let hash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
        assert!(hasher.is_password("password", Some(hash)).await.unwrap());
    }

    #[tokio::test]
    async fn an_unknown_user_costs_a_hash_like_any_other() {
        let hasher = Hasher::new(CHEAP, HashLimits::default()).unwrap();
        assert!(!hasher.is_password("secret", None).await.unwrap());
        assert!(!hasher.is_password("secret", Some("plain")).await.unwrap());
        assert!(
            !hasher
                .is_password("secret", Some("$argon2d$v=19$m=8,t=1,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAA"))
                .await
                .unwrap()
        );
        assert_eq!(hasher.computed(), 3);
    }

    #[tokio::test]
    async fn more_than_may_wait_are_refused() {
        let hasher = Hasher::new(CHEAP, HashLimits { parallel: 1, waiting: 1 }).unwrap();
        let (release, blocked) = std::sync::mpsc::channel::<()>();
        let mut first = Box::pin(hasher.compute(move |_| blocked.recv()));
        let mut second = Box::pin(hasher.hash("waits"));
        assert!(futures::poll!(&mut first).is_pending());
        assert!(futures::poll!(&mut second).is_pending());
        assert_eq!(hasher.hash("too many").await, Err(HashError::Busy));
        // A cancelled check keeps its place until its work has ended.
        drop(first);
        assert!(futures::poll!(&mut second).is_pending(), "the first is still computed");
        release.send(()).unwrap();
        second.await.unwrap();
        hasher.hash("room again").await.unwrap();
    }

    #[test]
    fn a_cost_that_makes_no_sense_is_refused() {
        let error = Hasher::new(Cost { memory_kib: 1, ..CHEAP }, HashLimits::default()).unwrap_err();
        assert!(matches!(error, HashError::Cost(_)), "{error}");
    }
}
