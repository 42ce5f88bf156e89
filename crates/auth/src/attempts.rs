//! Passwords that nobody has seen before: how many are looked at, from where, and of whom.
//!
//! Each costs a hash, and hashes are few at a time. An address has some places of its own among those that wait, so
//! that a flood from there leaves room for others. A user name that wrong passwords were tried for rests, longer
//! each time, for every address that tried one; from elsewhere its owner still comes in. Names that nobody has are
//! treated alike, so that neither answers nor times tell which there are.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use parking_lot::Mutex;
use quick_cache::sync::Cache;

use crate::clock::Clock;
use crate::refusal::Reason;
use crate::secret::Digest;

/// User names that wrong passwords were tried for lately. Those beyond begin anew, at the cost of a hash each.
const NAMES_MAX: usize = 10_000;
/// Addresses that are remembered of one name.
const ADDRESSES_MAX: usize = 64;
/// Wrong passwords before a name rests: people mistype.
const FREE_ATTEMPTS: u32 = 5;
/// The first rest; each is twice the one before.
const REST_MIN_MS: u64 = 1_000;
const REST_MAX_MS: u64 = 30_000;
/// A name that was left alone for this long begins anew.
const FORGET_AFTER_MS: u64 = 15 * 60 * 1000;
const _: () = assert!(REST_MIN_MS <= REST_MAX_MS && REST_MAX_MS < FORGET_AFTER_MS);

/// Bounds of what may be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptLimits {
    /// Passwords of one address that are looked at or wait for that.
    pub per_address: usize,
}

impl Default for AttemptLimits {
    fn default() -> Self {
        Self { per_address: 16 }
    }
}

/// Where attempts come from: an address, or the network that one household or host of IPv6 has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Place(Option<IpAddr>);

impl Place {
    fn of(address: Option<IpAddr>) -> Self {
        Self(address.map(|address| match address.to_canonical() {
            IpAddr::V6(long) => {
                let [a, b, c, d, ..] = long.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
            short @ IpAddr::V4(_) => short,
        }))
    }
}

/// Wrong passwords of one user name.
#[derive(Debug, Default)]
struct Tried {
    /// Checks under way count until they turn out to be right.
    attempts: u32,
    rests_until_ms: u64,
    last_ms: u64,
    /// From where, the latest last.
    places: VecDeque<Place>,
}

/// Attempts of now and of lately.
#[derive(Debug)]
pub(crate) struct Attempts {
    limits: AttemptLimits,
    in_work: Mutex<HashMap<Place, usize>>,
    /// By the keyed hash of the user name.
    tried: Cache<Digest, Arc<Mutex<Tried>>>,
    clock: Clock,
}

/// One password that is being looked at. Without [`Self::was_right`] or [`Self::was_not_looked_at`] it was wrong.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    attempts: &'a Attempts,
    place: Place,
    name: Digest,
    tried: Arc<Mutex<Tried>>,
}

impl Attempts {
    pub fn new(limits: AttemptLimits, clock: Clock) -> Self {
        Self { limits, in_work: Mutex::default(), tried: Cache::new(NAMES_MAX), clock }
    }

    /// Lets a password of a user be looked at. `name` is the digest of the user name.
    ///
    /// # Errors
    /// [`Reason::Resting`] and [`Reason::Busy`].
    pub fn begin(&self, name: Digest, address: Option<IpAddr>) -> Result<Attempt<'_>, Reason> {
        let place = Place::of(address);
        let now_ms = self.clock.steady_ms();
        {
            let mut in_work = self.in_work.lock();
            let count = in_work.entry(place).or_default();
            if *count >= self.limits.per_address.max(1) {
                return Err(Reason::Busy);
            }
            *count += 1;
        }
        let tried = self.tried.get_or_insert_with(&name, || Ok::<_, ()>(Arc::default()));
        let tried = tried.unwrap_or_default();
        let attempt = Attempt { attempts: self, place, name, tried };
        let mut state = attempt.tried.lock();
        if now_ms.saturating_sub(state.last_ms) >= FORGET_AFTER_MS {
            *state = Tried::default();
        }
        let rest_ms = state.rests_until_ms.saturating_sub(now_ms);
        if rest_ms > 0 && state.places.contains(&place) {
            let seconds = rest_ms.div_ceil(1000) as u32;
            return Err(Reason::Resting { seconds });
        }
        state.attempts = state.attempts.saturating_add(1);
        state.last_ms = now_ms;
        if let Some(excess) = state.attempts.checked_sub(FREE_ATTEMPTS) {
            let doubled = 1_u64.checked_shl(excess).unwrap_or(u64::MAX);
            let rest_ms = REST_MIN_MS.saturating_mul(doubled).min(REST_MAX_MS);
            state.rests_until_ms = now_ms + rest_ms;
        }
        if !state.places.contains(&place) {
            if state.places.len() == ADDRESSES_MAX {
                state.places.pop_front();
            }
            state.places.push_back(place);
        }
        drop(state);
        Ok(attempt)
    }
}

impl Attempt<'_> {
    /// Forgets what was tried for this name: it was its owner who mistyped, or is in by now.
    pub fn was_right(self) {
        self.attempts.tried.remove(&self.name);
    }

    /// Takes it back: nothing is known about the password.
    pub fn was_not_looked_at(self) {
        let mut tried = self.tried.lock();
        tried.attempts = tried.attempts.saturating_sub(1);
        if tried.attempts < FREE_ATTEMPTS {
            tried.rests_until_ms = 0;
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut in_work = self.attempts.in_work.lock();
        match in_work.get_mut(&self.place) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                in_work.remove(&self.place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::secret::ProcessKey;

    struct Fixture {
        attempts: Attempts,
        now_ms: Arc<AtomicU64>,
        key: ProcessKey,
    }

    fn fixture() -> Fixture {
        let now_ms = Arc::new(AtomicU64::new(1_000_000));
        let of_clock = Arc::clone(&now_ms);
        let clock = Clock::from_fn(move || of_clock.load(Ordering::Relaxed));
        Fixture {
            attempts: Attempts::new(AttemptLimits { per_address: 2 }, clock),
            now_ms,
            key: ProcessKey::random(),
        }
    }

    impl Fixture {
        fn begin(&self, user: &str, address: &str) -> Result<Attempt<'_>, Reason> {
            self.attempts.begin(self.key.digest(&[user.as_bytes()]), Some(address.parse().unwrap()))
        }

        /// Wrong passwords until the name rests.
        fn exhaust(&self, user: &str, address: &str) {
            for _ in 0..FREE_ATTEMPTS {
                self.begin(user, address).unwrap();
            }
        }
    }

    #[test]
    fn an_address_has_some_places_and_leaves_the_others() {
        let fixture = fixture();
        let first = fixture.begin("a", "10.0.0.1").unwrap();
        let _second = fixture.begin("b", "10.0.0.1").unwrap();
        assert_eq!(fixture.begin("c", "10.0.0.1").unwrap_err(), Reason::Busy);
        let _other = fixture.begin("c", "10.0.0.2").unwrap();
        drop(first);
        fixture.begin("c", "10.0.0.1").unwrap();
        // One network of IPv6 has more addresses than could ever be counted one by one.
        let _long =
            [fixture.begin("d", "2001:db8::1").unwrap(), fixture.begin("e", "2001:db8::2:1").unwrap()];
        assert_eq!(fixture.begin("f", "2001:db8::3").unwrap_err(), Reason::Busy);
        fixture.begin("f", "2001:db8:0:1::3").unwrap();
        fixture.begin("f", "::ffff:10.0.0.3").unwrap();
        assert_eq!(fixture.attempts.in_work.lock().len(), 3, "places that nobody uses are forgotten");
    }

    #[test]
    fn a_name_rests_longer_with_each_wrong_password() {
        let fixture = fixture();
        fixture.exhaust("ann", "10.0.0.1");
        for seconds in [1, 2, 4, 8, 16, 30, 30, 30] {
            assert_eq!(fixture.begin("ann", "10.0.0.1").unwrap_err(), Reason::Resting { seconds });
            fixture.now_ms.fetch_add(u64::from(seconds) * 1000 - 1, Ordering::Relaxed);
            assert_eq!(fixture.begin("ann", "10.0.0.1").unwrap_err(), Reason::Resting { seconds: 1 });
            fixture.now_ms.fetch_add(1, Ordering::Relaxed);
            fixture.begin("ann", "10.0.0.1").unwrap();
        }
        fixture.begin("bob", "10.0.0.1").expect("others do not rest with it");
        fixture.now_ms.fetch_add(FORGET_AFTER_MS, Ordering::Relaxed);
        fixture.exhaust("ann", "10.0.0.1");
    }

    #[test]
    fn a_flood_at_once_is_no_way_around() {
        let fixture = fixture();
        let mut open = vec![];
        for address in 0..FREE_ATTEMPTS {
            open.push(fixture.begin("ann", &format!("10.0.1.{address}")).unwrap());
        }
        assert_eq!(fixture.begin("ann", "10.0.1.0").unwrap_err(), Reason::Resting { seconds: 1 });
    }

    #[test]
    fn the_owner_comes_in_from_elsewhere_and_ends_the_rest() {
        let fixture = fixture();
        for _ in 0..10 {
            let _ = fixture.begin("ann", "10.0.0.1");
        }
        fixture.begin("ann", "10.0.0.2").unwrap().was_right();
        fixture.begin("ann", "10.0.0.1").expect("begins anew");
    }

    #[test]
    fn what_was_not_looked_at_does_not_count() {
        let fixture = fixture();
        for _ in 0..3 * FREE_ATTEMPTS {
            fixture.begin("ann", "10.0.0.1").unwrap().was_not_looked_at();
        }
        fixture.exhaust("ann", "10.0.0.1");
        assert!(fixture.begin("ann", "10.0.0.1").is_err());
    }
}
