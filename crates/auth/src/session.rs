//! Sessions of browsers: a random ID in a cookie instead of credentials with every request.
//!
//! They live in memory and end with the process. A cookie is sent by a browser whoever made it send the request, so
//! a request that changes something must also carry a token in a header, which only pages of ours can read: the
//! CSRF token is in a second cookie and is a keyed hash of the session's ID, so one that was not made for it is
//! worth nothing.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::basic::CachedUser;
use crate::clock::Clock;
use crate::oidc::{Grant, Granted};
use crate::principal::{Identity, Principal};
use crate::secret::{Digest, ProcessKey, random_id};

/// The cookie with the CSRF token; pages read it and send its value in [`crate::CSRF_HEADER`].
const CSRF_COOKIE: &str = "X-CSRF-TOKEN";
/// The cookie with the ID, where requests come without TLS.
const COOKIE: &str = "baton-session";
/// The cookie with the ID, with TLS: browsers take the prefix only from us, over TLS, for this host (RFC 6265bis
/// §4.1.3.2).
const COOKIE_SECURE: &str = "__Host-baton-session";
/// The cookie with the ID, with TLS and below a path, which `__Host-` does not go with.
const COOKIE_BELOW: &str = "__Secure-baton-session";

/// The cookie of a login that is under way at the issuer.
const DEPARTURE: &str = "baton-sign-in";
const DEPARTURE_SECURE: &str = "__Host-baton-sign-in";
const DEPARTURE_BELOW: &str = "__Secure-baton-sign-in";
/// Tokens are renewed this long before they end.
const RENEWED_BEFORE_MS: u64 = 30_000;

/// How long sessions last and how many there may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSettings {
    /// Idle time after which a session ends.
    pub idle: Duration,
    /// Longest life of a session.
    pub absolute: Duration,
    /// Sessions at a time. A further one ends the least recently used session of the user with the most.
    pub count_max: usize,
    /// Sessions of one user at a time. A further one ends the user's least recently used session.
    pub per_user_max: usize,
    /// Whether browsers reach the server over TLS; cookies are then never sent without.
    pub secure: bool,
    /// Whether requests that change something need the CSRF token.
    pub csrf: bool,
    /// The path that browsers send cookies to, and to all below.
    pub path: String,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(30 * 60),
            absolute: Duration::from_secs(12 * 60 * 60),
            count_max: 10_000,
            per_user_max: 64,
            secure: true,
            csrf: true,
            path: "/".to_owned(),
        }
    }
}

#[derive(Debug)]
struct Session {
    principal: Arc<Principal>,
    /// Hash that its password was checked against; none for sessions that began with a token.
    standing: Option<CachedUser>,
    /// Both by the clock that is never set.
    used_ms: u64,
    ends_ms: u64,
    /// When the token ends that it began with, by the time of day.
    token_ends_ms: Option<u64>,
    /// Tokens of the issuer, if the session began with a login there.
    grant: Option<Arc<Grant>>,
}

impl Session {
    /// Its tokens, if they can be renewed.
    fn renewable(&self) -> Option<&Arc<Grant>> {
        self.grant.as_ref().filter(|grant| grant.refresh_token.is_some())
    }
}

/// A session that is valid.
pub(crate) struct ValidSession {
    pub principal: Arc<Principal>,
    pub standing: Option<CachedUser>,
    /// Tokens that end soon, or have ended.
    pub due: Option<Due>,
}

/// Tokens to be renewed.
pub(crate) struct Due {
    pub grant: Arc<Grant>,
    pub have_ended: bool,
}

/// Sessions, and whose they are.
#[derive(Debug, Default)]
struct Table {
    /// By the keyed hash of the ID, so that looking for one tells nothing about another.
    by_digest: HashMap<Digest, Session>,
    by_owner: HashMap<Identity, HashSet<Digest>>,
}

impl Table {
    fn insert(&mut self, digest: Digest, session: Session) {
        self.by_owner.entry(session.principal.identity.clone()).or_default().insert(digest);
        self.by_digest.insert(digest, session);
    }

    fn remove(&mut self, digest: &Digest) {
        let Some(session) = self.by_digest.remove(digest) else { return };
        let owner = &session.principal.identity;
        if let Some(owned) = self.by_owner.get_mut(owner) {
            owned.remove(digest);
            if owned.is_empty() {
                self.by_owner.remove(owner);
            }
        }
    }

    fn remove_those(&mut self, is_gone: impl Fn(&Session) -> bool) {
        let gone = self.by_digest.iter().filter(|(_, session)| is_gone(session));
        for digest in gone.map(|(digest, _)| *digest).collect::<Vec<_>>() {
            self.remove(&digest);
        }
        debug_assert_eq!(self.by_owner.values().map(HashSet::len).sum::<usize>(), self.by_digest.len());
    }

    fn count_of(&self, owner: &Identity) -> usize {
        self.by_owner.get(owner).map_or(0, HashSet::len)
    }

    /// The one of `digests` that was not used for longest, and when it was.
    fn oldest<'a>(&self, digests: impl IntoIterator<Item = &'a Digest>) -> Option<(u64, Digest)> {
        digests.into_iter().filter_map(|one| Some((self.by_digest.get(one)?.used_ms, *one))).min()
    }

    fn oldest_of(&self, owner: &Identity) -> Option<Digest> {
        self.oldest(self.by_owner.get(owner)?).map(|(_, digest)| digest)
    }

    /// The oldest of whoever has the most; of several such, that which is the oldest of all.
    fn next_to_go(&self) -> Option<Digest> {
        let most = self.by_owner.values().map(HashSet::len).max()?;
        let of_those = self.by_owner.values().filter(|owned| owned.len() == most);
        of_those.filter_map(|owned| self.oldest(owned)).min().map(|(_, digest)| digest)
    }
}

/// The sessions of this process.
#[derive(Debug)]
pub struct Sessions {
    settings: SessionSettings,
    table: Mutex<Table>,
    key: ProcessKey,
    clock: Clock,
    /// Told whenever a session is ended.
    ends: watch::Sender<()>,
}

impl Sessions {
    /// No sessions yet.
    pub fn new(settings: SessionSettings, clock: Clock) -> Self {
        let ends = watch::Sender::new(());
        Self { settings, table: Mutex::default(), key: ProcessKey::random(), clock, ends }
    }

    /// News of sessions that are ended before their time, whosever they are.
    pub(crate) fn ends(&self) -> watch::Receiver<()> {
        self.ends.subscribe()
    }

    /// Begins a session and gives its ID. It ends at `ends_ms` at the latest, by the time of day.
    pub(crate) fn begin(
        &self,
        principal: Arc<Principal>,
        standing: Option<CachedUser>,
        ends_ms: Option<u64>,
    ) -> String {
        self.insert(self.session(principal, standing, ends_ms, None))
    }

    /// Begins a session of a user whom the issuer has signed in. If its tokens can be renewed, it outlives them.
    pub(crate) fn begin_granted(&self, granted: Granted) -> String {
        let Granted { principal, ends_ms, grant } = granted;
        self.insert(self.session(principal, None, Some(ends_ms), Some(grant)))
    }

    fn session(
        &self,
        principal: Arc<Principal>,
        standing: Option<CachedUser>,
        token_ends_ms: Option<u64>,
        grant: Option<Arc<Grant>>,
    ) -> Session {
        let now_ms = self.clock.steady_ms();
        let longest_ms = self.settings.absolute.as_millis() as u64;
        let mut session = Session { principal, standing, used_ms: now_ms, ends_ms: 0, token_ends_ms, grant };
        let ends_ms = token_ends_ms.filter(|_| session.renewable().is_none());
        // The rest of the token's time, too, should the time of day be set back.
        let left_ms = ends_ms.map_or(longest_ms, |ends_ms| ends_ms.saturating_sub(self.clock.now_ms()));
        session.ends_ms = now_ms.saturating_add(left_ms.min(longest_ms));
        session
    }

    fn insert(&self, session: Session) -> String {
        let id = random_id();
        let (count_max, own_max) = (self.settings.count_max.max(1), self.settings.per_user_max.max(1));
        let mut table = self.table.lock();
        let owner = session.principal.identity.clone();
        if table.by_digest.len() >= count_max || table.count_of(&owner) >= own_max {
            table.remove_those(|session| self.has_ended(session));
        }
        while table.count_of(&owner) >= own_max {
            let oldest = table.oldest_of(&owner).expect("whoever has some has an oldest one");
            table.remove(&oldest);
        }
        while table.by_digest.len() >= count_max {
            let oldest = table.next_to_go().expect("there is one");
            table.remove(&oldest);
        }
        table.insert(self.digest(&id), session);
        id
    }

    /// A session, if it is valid. The call counts as a use.
    pub(crate) fn find(&self, id: &str) -> Option<ValidSession> {
        let digest = self.digest(id);
        let mut table = self.table.lock();
        let session = table.by_digest.get_mut(&digest)?;
        if self.has_ended(session) {
            table.remove(&digest);
            return None;
        }
        session.used_ms = self.clock.steady_ms();
        Some(ValidSession {
            principal: Arc::clone(&session.principal),
            standing: session.standing.clone(),
            due: self.due(session),
        })
    }

    fn due(&self, session: &Session) -> Option<Due> {
        let (grant, ends_ms, now_ms) = (session.renewable()?, session.token_ends_ms?, self.clock.now_ms());
        let is_due = now_ms.saturating_add(RENEWED_BEFORE_MS) >= ends_ms;
        is_due.then(|| Due { grant: Arc::clone(grant), have_ended: now_ms >= ends_ms })
    }

    /// Whether a session has other tokens than these.
    pub(crate) fn is_renewed(&self, id: &str, grant: &Arc<Grant>) -> bool {
        let table = self.table.lock();
        let session = table.by_digest.get(&self.digest(id));
        session.is_none_or(|it| it.grant.as_ref().is_none_or(|now| !Arc::ptr_eq(now, grant)))
    }

    /// Keeps newer tokens of the same principal.
    pub(crate) fn renew(&self, id: &str, granted: Granted) {
        if let Some(session) = self.table.lock().by_digest.get_mut(&self.digest(id)) {
            debug_assert_eq!(
                session.principal.identity, granted.principal.identity,
                "it belongs to somebody"
            );
            session.principal = granted.principal;
            session.token_ends_ms = Some(granted.ends_ms);
            session.grant = Some(granted.grant);
        }
    }

    /// Tokens of the issuer for a session.
    pub(crate) fn grant(&self, id: &str) -> Option<Arc<Grant>> {
        self.table.lock().by_digest.get(&self.digest(id))?.grant.clone()
    }

    /// Keeps what the store of users said last.
    pub(crate) fn confirm(&self, id: &str, standing: CachedUser) {
        if let Some(session) = self.table.lock().by_digest.get_mut(&self.digest(id)) {
            session.standing = Some(standing);
        }
    }

    pub(crate) fn end(&self, id: &str) {
        self.table.lock().remove(&self.digest(id));
        self.ends.send_replace(());
    }

    /// Ends all sessions of somebody, for example one who was removed. Gives how many there were.
    pub fn end_all_of(&self, identity: &Identity) -> usize {
        let mut table = self.table.lock();
        let before = table.by_digest.len();
        table.remove_those(|session| session.principal.identity == *identity);
        self.ends.send_replace(());
        before - table.by_digest.len()
    }

    /// How many sessions are kept, ended ones that nobody asked for included.
    pub fn count(&self) -> usize {
        self.table.lock().by_digest.len()
    }

    fn has_ended(&self, session: &Session) -> bool {
        let (now_ms, idle_ms) = (self.clock.steady_ms(), self.settings.idle.as_millis() as u64);
        now_ms >= session.ends_ms
            || now_ms.saturating_sub(session.used_ms) >= idle_ms
            || (session.renewable().is_none()
                && session.token_ends_ms.is_some_and(|ends_ms| self.clock.now_ms() >= ends_ms))
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
        self.name_of([COOKIE, COOKIE_SECURE, COOKIE_BELOW])
    }

    fn name_of(&self, [open, secure, below]: [&'static str; 3]) -> &'static str {
        match (self.settings.secure, &*self.settings.path) {
            (false, _) => open,
            (true, "/") => secure,
            (true, _) => below,
        }
    }

    /// Values of `Set-Cookie` that begin a session in the browser.
    pub(crate) fn cookies(&self, id: &str) -> [String; 2] {
        [
            self.cookie(self.cookie_name(), id, "; HttpOnly"),
            self.cookie(CSRF_COOKIE, &self.csrf_token(id), ""),
        ]
    }

    /// The name of the cookie of logins that are under way at the issuer.
    pub(crate) fn departure_name(&self) -> &'static str {
        self.name_of([DEPARTURE, DEPARTURE_SECURE, DEPARTURE_BELOW])
    }

    /// Values of `Set-Cookie` that end it there.
    pub(crate) fn ending_cookies(&self) -> [String; 2] {
        [
            self.cookie(self.cookie_name(), "", "; HttpOnly; Max-Age=0"),
            self.cookie(CSRF_COOKIE, "", "; Max-Age=0"),
        ]
    }

    pub(crate) fn cookie(&self, name: &str, value: &str, more: &str) -> String {
        let secure = if self.settings.secure { "; Secure" } else { "" };
        format!("{name}={value}; Path={}; SameSite=Lax{secure}{more}", self.settings.path)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    struct Fixture {
        sessions: Sessions,
        now_ms: Arc<AtomicU64>,
        /// By how much the time of day is ahead of the clock that is never set.
        ahead_ms: Arc<AtomicU64>,
    }

    fn fixture(settings: SessionSettings) -> Fixture {
        let now_ms = Arc::new(AtomicU64::new(1_000_000));
        let ahead_ms = Arc::new(AtomicU64::new(1_700_000_000_000));
        let (steady, wall, ahead) = (Arc::clone(&now_ms), Arc::clone(&now_ms), Arc::clone(&ahead_ms));
        let clock = Clock::from_fns(
            move || wall.load(Ordering::Relaxed) + ahead.load(Ordering::Relaxed),
            move || steady.load(Ordering::Relaxed),
        );
        Fixture { sessions: Sessions::new(settings, clock), now_ms, ahead_ms }
    }

    impl Fixture {
        fn begin(&self, user: &str) -> String {
            self.sessions.begin(Arc::new(Principal::user(user)), None, None)
        }

        fn wall_ms(&self) -> u64 {
            self.sessions.clock.now_ms()
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
        let ends_ms = fixture.wall_ms() + 60_000;
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
    fn nobody_pushes_out_sessions_of_others() {
        let settings = SessionSettings { count_max: 6, per_user_max: 4, ..Default::default() };
        let fixture = fixture(settings);
        let (ann, bob) = (fixture.begin("ann"), fixture.begin("bob"));
        let mut flood = vec![];
        for _ in 0..20 {
            fixture.pass(1);
            flood.push(fixture.begin("eve"));
        }
        assert!(fixture.sessions.find(&ann).is_some() && fixture.sessions.find(&bob).is_some());
        let alive = |id: &&String| fixture.sessions.find(id).is_some();
        let left: Vec<_> = flood.iter().filter(alive).collect();
        assert_eq!(left, flood[16..].iter().collect::<Vec<_>>(), "the oldest of the same user goes first");
        // There is no room at all: whoever has the most gives way, though these were used last.
        let cid = fixture.begin("cid");
        assert_eq!(fixture.sessions.count(), 6);
        assert_eq!(flood.iter().filter(alive).count(), 3);
        for id in [&ann, &bob, &cid] {
            assert!(fixture.sessions.find(id).is_some());
        }
    }

    #[test]
    fn no_session_ends_or_goes_on_because_the_time_of_day_is_set() {
        let settings = SessionSettings { absolute: Duration::from_secs(3600), ..Default::default() };
        let fixture = fixture(settings);
        let id = fixture.begin("ann");
        for ahead_ms in [1_800_000_000_000, 0, 1_700_000_000_000] {
            fixture.ahead_ms.store(ahead_ms, Ordering::Relaxed);
            assert!(fixture.sessions.find(&id).is_some(), "{ahead_ms}");
        }
        fixture.pass(29);
        assert!(fixture.sessions.find(&id).is_some());
        fixture.ahead_ms.store(0, Ordering::Relaxed);
        fixture.pass(29);
        assert!(fixture.sessions.find(&id).is_some());
        fixture.pass(2);
        assert!(fixture.sessions.find(&id).is_none(), "it is an hour old");
    }

    #[test]
    fn a_token_that_a_session_began_with_is_dated_by_the_time_of_day() {
        let fixture = fixture(SessionSettings::default());
        let of_token = |minutes: u64| {
            let ends_ms = fixture.wall_ms() + minutes * 60_000;
            fixture.sessions.begin(Arc::new(Principal::user("ann")), None, Some(ends_ms))
        };
        let id = of_token(10);
        fixture.ahead_ms.fetch_add(10 * 60_000, Ordering::Relaxed);
        assert!(fixture.sessions.find(&id).is_none(), "the time of day was wrong before");
        // A time of day that is set back makes no token last longer than it had to last.
        let id = of_token(10);
        fixture.ahead_ms.fetch_sub(60 * 60_000, Ordering::Relaxed);
        fixture.pass(9);
        assert!(fixture.sessions.find(&id).is_some());
        fixture.pass(1);
        assert!(fixture.sessions.find(&id).is_none());
    }

    #[test]
    fn ended_ones_make_room_first() {
        let fixture = fixture(SessionSettings { count_max: 2, ..Default::default() });
        let ends_ms = fixture.wall_ms() + 60_000;
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
        let below = SessionSettings { path: "/tools/baton".to_owned(), ..Default::default() };
        let below = fixture(below).sessions;
        let [session, csrf] = below.ending_cookies();
        assert!(session.starts_with("__Secure-baton-session=; Path=/tools/baton; "), "{session}");
        assert!(csrf.starts_with("X-CSRF-TOKEN=; Path=/tools/baton; "), "{csrf}");
        assert_eq!(below.departure_name(), "__Secure-baton-sign-in");
    }
}
