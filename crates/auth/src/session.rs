//! Sessions of browsers: a random ID in a cookie instead of credentials with every request.
//!
//! They live in memory and end with the process. A cookie is sent by a browser whoever made it send the request, so a
//! request that changes something must also carry a token in a header, which only pages of ours can read: the CSRF
//! token is in a second cookie and is a keyed hash of the session's ID, so one that was not made for it is worth nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::basic::Standing;
use crate::clock::Clock;
use crate::principal::{Identity, Principal};
use crate::secret::{Digest, ProcessKey, random_id};

/// The cookie with the CSRF token; pages read it and send its value in [`CSRF_HEADER`].
const CSRF_COOKIE: &str = "X-CSRF-TOKEN";
/// The header with the CSRF token.
pub const CSRF_HEADER: &str = "x-csrf-token";
/// The cookie with the ID, where requests come without TLS.
const COOKIE: &str = "baton-session";
/// The same with TLS: browsers take the prefix only from us, over TLS, for this host (RFC 6265bis §4.1.3.2).
const COOKIE_SECURE: &str = "__Host-baton-session";

/// How long sessions last and how many there may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSettings {
    /// A session that is not used for this long ends.
    pub idle: Duration,
    /// No session lasts longer than this.
    pub absolute: Duration,
    /// More than this many push out the one that was not used for longest.
    pub count_max: usize,
    /// Whether browsers reach the server over TLS; cookies are then never sent without.
    pub secure: bool,
    /// Whether requests that change something need the CSRF token.
    pub csrf: bool,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(30 * 60),
            absolute: Duration::from_secs(12 * 60 * 60),
            count_max: 10_000,
            secure: true,
            csrf: true,
        }
    }
}

#[derive(Debug)]
struct Session {
    principal: Arc<Principal>,
    /// What its password was checked against; none for sessions that began with a token.
    standing: Option<Standing>,
    used_ms: u64,
    ends_ms: u64,
}

/// The sessions of this process.
#[derive(Debug)]
pub struct Sessions {
    settings: SessionSettings,
    /// By the keyed hash of the ID, so that looking for one tells nothing about another.
    by_digest: Mutex<HashMap<Digest, Session>>,
    key: ProcessKey,
    clock: Clock,
}

impl Sessions {
    /// No sessions yet.
    pub fn new(settings: SessionSettings, clock: Clock) -> Self {
        Self { settings, by_digest: Mutex::default(), key: ProcessKey::random(), clock }
    }

    /// Begins a session and gives its ID. It ends at `ends_ms` at the latest.
    pub(crate) fn begin(
        &self,
        principal: Arc<Principal>,
        standing: Option<Standing>,
        ends_ms: Option<u64>,
    ) -> String {
        let id = random_id();
        let now_ms = self.clock.now_ms();
        let longest = now_ms.saturating_add(self.settings.absolute.as_millis() as u64);
        let session = Session {
            principal,
            standing,
            used_ms: now_ms,
            ends_ms: ends_ms.map_or(longest, |ends_ms| ends_ms.min(longest)),
        };
        let mut sessions = self.by_digest.lock();
        if sessions.len() >= self.settings.count_max.max(1) {
            sessions.retain(|_, session| !self.has_ended(session, now_ms));
        }
        while sessions.len() >= self.settings.count_max.max(1) {
            let oldest =
                sessions.iter().min_by_key(|(_, session)| session.used_ms).map(|(digest, _)| *digest);
            sessions.remove(&oldest.expect("there is one"));
        }
        sessions.insert(self.digest(&id), session);
        id
    }

    /// Whose session it is, if it goes on. This counts as a use.
    pub(crate) fn find(&self, id: &str) -> Option<(Arc<Principal>, Option<Standing>)> {
        let digest = self.digest(id);
        let now_ms = self.clock.now_ms();
        let mut sessions = self.by_digest.lock();
        let session = sessions.get_mut(&digest)?;
        if self.has_ended(session, now_ms) {
            sessions.remove(&digest);
            return None;
        }
        session.used_ms = now_ms;
        Some((Arc::clone(&session.principal), session.standing.clone()))
    }

    /// Keeps what the store of users said last.
    pub(crate) fn confirm(&self, id: &str, standing: Standing) {
        if let Some(session) = self.by_digest.lock().get_mut(&self.digest(id)) {
            session.standing = Some(standing);
        }
    }

    /// Ends a session.
    pub(crate) fn end(&self, id: &str) {
        self.by_digest.lock().remove(&self.digest(id));
    }

    /// Ends all sessions of somebody, for example one who was removed. Gives how many there were.
    pub fn end_all_of(&self, identity: &Identity) -> usize {
        let mut sessions = self.by_digest.lock();
        let before = sessions.len();
        sessions.retain(|_, session| session.principal.identity != *identity);
        before - sessions.len()
    }

    /// How many sessions are kept, ended ones that nobody asked for included.
    pub fn count(&self) -> usize {
        self.by_digest.lock().len()
    }

    fn has_ended(&self, session: &Session, now_ms: u64) -> bool {
        let idle_ms = self.settings.idle.as_millis() as u64;
        now_ms >= session.ends_ms || now_ms.saturating_sub(session.used_ms) >= idle_ms
    }

    fn digest(&self, id: &str) -> Digest {
        self.key.digest(&[b"session", id.as_bytes()])
    }

    /// Whether `token` is the CSRF token of a session; always, if none is asked for.
    pub(crate) fn is_csrf_token(&self, id: &str, token: Option<&str>) -> bool {
        let parts: [&[u8]; 2] = [b"csrf", id.as_bytes()];
        !self.settings.csrf || token.is_some_and(|token| self.key.is_sealed(&parts, token))
    }

    /// The CSRF token of a session.
    pub(crate) fn csrf_token(&self, id: &str) -> String {
        self.key.seal(&[b"csrf", id.as_bytes()])
    }

    /// The name of the cookie with the ID.
    pub(crate) fn cookie_name(&self) -> &'static str {
        if self.settings.secure { COOKIE_SECURE } else { COOKIE }
    }

    /// Values of `Set-Cookie` that begin a session in the browser.
    pub(crate) fn cookies(&self, id: &str) -> [String; 2] {
        [
            self.cookie(self.cookie_name(), id, "; HttpOnly"),
            self.cookie(CSRF_COOKIE, &self.csrf_token(id), ""),
        ]
    }

    /// Values of `Set-Cookie` that end it there.
    pub(crate) fn ending_cookies(&self) -> [String; 2] {
        [
            self.cookie(self.cookie_name(), "", "; HttpOnly; Max-Age=0"),
            self.cookie(CSRF_COOKIE, "", "; Max-Age=0"),
        ]
    }

    fn cookie(&self, name: &str, value: &str, more: &str) -> String {
        let secure = if self.settings.secure { "; Secure" } else { "" };
        format!("{name}={value}; Path=/; SameSite=Lax{secure}{more}")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    struct Fixture {
        sessions: Sessions,
        now_ms: Arc<AtomicU64>,
    }

    fn fixture(settings: SessionSettings) -> Fixture {
        let now_ms = Arc::new(AtomicU64::new(1_000_000));
        let of_clock = Arc::clone(&now_ms);
        let clock = Clock::from_fn(move || of_clock.load(Ordering::Relaxed));
        Fixture { sessions: Sessions::new(settings, clock), now_ms }
    }

    impl Fixture {
        fn begin(&self, user: &str) -> String {
            self.sessions.begin(Arc::new(Principal::user(user)), None, None)
        }

        fn pass(&self, minutes: u64) {
            self.now_ms.fetch_add(minutes * 60_000, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_session_ends_when_it_is_not_used() {
        let fixture = fixture(SessionSettings::default());
        let id = fixture.begin("ann");
        for _ in 0..3 {
            fixture.pass(29);
            assert!(fixture.sessions.find(&id).is_some(), "each use lets it go on");
        }
        fixture.pass(30);
        assert!(fixture.sessions.find(&id).is_none());
        assert_eq!(fixture.sessions.count(), 0);
    }

    #[test]
    fn a_session_ends_however_much_it_is_used() {
        let fixture = fixture(SessionSettings { absolute: Duration::from_secs(3600), ..Default::default() });
        let id = fixture.begin("ann");
        for _ in 0..2 {
            fixture.pass(29);
            assert!(fixture.sessions.find(&id).is_some());
        }
        fixture.pass(2);
        assert!(fixture.sessions.find(&id).is_none());
    }

    #[test]
    fn a_session_ends_with_the_token_it_began_with() {
        let fixture = fixture(SessionSettings::default());
        let ends_ms = fixture.now_ms.load(Ordering::Relaxed) + 60_000;
        let id = fixture.sessions.begin(Arc::new(Principal::user("ann")), None, Some(ends_ms));
        assert!(fixture.sessions.find(&id).is_some());
        fixture.pass(1);
        assert!(fixture.sessions.find(&id).is_none());
    }

    #[test]
    fn the_one_not_used_for_longest_makes_room() {
        let fixture = fixture(SessionSettings { count_max: 2, ..Default::default() });
        let (ann, bob) = (fixture.begin("ann"), fixture.begin("bob"));
        fixture.pass(1);
        assert!(fixture.sessions.find(&ann).is_some());
        let cid = fixture.begin("cid");
        assert_eq!(fixture.sessions.count(), 2);
        assert!(fixture.sessions.find(&bob).is_none());
        assert!(fixture.sessions.find(&ann).is_some() && fixture.sessions.find(&cid).is_some());
    }

    #[test]
    fn ended_ones_make_room_first() {
        let fixture = fixture(SessionSettings { count_max: 2, ..Default::default() });
        let ends_ms = fixture.now_ms.load(Ordering::Relaxed) + 60_000;
        let ann = fixture.begin("ann");
        fixture.sessions.begin(Arc::new(Principal::user("bob")), None, Some(ends_ms));
        fixture.pass(1);
        fixture.begin("cid");
        assert!(fixture.sessions.find(&ann).is_some());
    }

    #[test]
    fn all_sessions_of_a_user_end_together() {
        let fixture = fixture(SessionSettings::default());
        let (first, second, other) = (fixture.begin("ann"), fixture.begin("ann"), fixture.begin("bob"));
        assert_eq!(fixture.sessions.end_all_of(&Identity::User("ann".into())), 2);
        assert!(fixture.sessions.find(&first).is_none() && fixture.sessions.find(&second).is_none());
        assert!(fixture.sessions.find(&other).is_some());
    }

    #[test]
    fn ids_have_256_bits_and_are_never_the_same() {
        let fixture = fixture(SessionSettings::default());
        let (one, two) = (fixture.begin("ann"), fixture.begin("ann"));
        assert_ne!(one, two);
        assert_eq!(one.len(), 43, "32 bytes in base64");
    }

    #[test]
    fn cookies_say_who_may_read_them() {
        let open = fixture(SessionSettings { secure: false, ..Default::default() }).sessions;
        let [session, csrf] = open.cookies("ID");
        assert_eq!(session, "baton-session=ID; Path=/; SameSite=Lax; HttpOnly");
        assert_eq!(csrf, format!("X-CSRF-TOKEN={}; Path=/; SameSite=Lax", open.csrf_token("ID")));
        let secure = fixture(SessionSettings::default()).sessions;
        assert_eq!(
            secure.cookies("ID")[0],
            "__Host-baton-session=ID; Path=/; SameSite=Lax; Secure; HttpOnly"
        );
        assert_eq!(secure.ending_cookies()[1], "X-CSRF-TOKEN=; Path=/; SameSite=Lax; Secure; Max-Age=0");
    }
}
