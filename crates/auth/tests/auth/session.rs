//! Browsers: sessions, and requests that another site makes them send.

use auth::{
    Authenticator, Clock, HashLimits, Identity, Method, Presented, Reason, SessionSettings, SignIn, SignedIn,
};

use crate::fixture::{CHEAP, Server, basic};

const PASSWORD: SignIn<'_> = SignIn::Password { user: "ann", password: "secret" };

async fn server() -> Server {
    Server::with(CHEAP, HashLimits::default(), Some(SessionSettings::default())).await
}

/// The `Cookie` header of a browser after an answer.
fn jar(signed_in: &SignedIn) -> String {
    let pairs: Vec<_> = signed_in.cookies.iter().map(|cookie| cookie.split(';').next().unwrap()).collect();
    pairs.join("; ")
}

async fn sign_in(server: &Server) -> SignedIn {
    server.authenticator.sign_in(&Presented::default(), PASSWORD).await.unwrap()
}

async fn reason(server: &Server, presented: &Presented<'_>) -> Option<Reason> {
    server.authenticator.authenticate(presented).await.err().map(|refusal| refusal.reason)
}

#[tokio::test]
async fn a_session_stands_for_the_password() {
    let server = server().await;
    let signed_in = sign_in(&server).await;
    let cookies = jar(&signed_in);
    let presented = Presented { cookies: vec![&cookies], ..Default::default() };
    for _ in 0..3 {
        let principal = server.authenticator.authenticate(&presented).await.unwrap();
        assert_eq!(principal.user_name(), Some("ann"));
    }
    assert_eq!(server.hashes(), 1);
    assert_eq!(reason(&server, &Presented::default()).await, Some(Reason::Missing));
    let forged = Presented { cookies: vec!["__Host-baton-session=guess"], ..Default::default() };
    assert_eq!(reason(&server, &forged).await, Some(Reason::Session));
}

#[tokio::test]
async fn what_changes_something_needs_the_token_of_its_session() {
    let server = server().await;
    let (signed_in, other) = (sign_in(&server).await, sign_in(&server).await);
    let cookies = jar(&signed_in);
    let mut presented = Presented { cookies: vec![&cookies], changes: true, ..Default::default() };
    assert_eq!(reason(&server, &presented).await, Some(Reason::CsrfToken));
    assert_eq!(Reason::CsrfToken.status(), 403);
    presented.csrf_token = Some(&other.csrf_token);
    assert_eq!(reason(&server, &presented).await, Some(Reason::CsrfToken), "of another session");
    presented.csrf_token = Some("");
    assert_eq!(reason(&server, &presented).await, Some(Reason::CsrfToken));
    presented.csrf_token = Some(&signed_in.csrf_token);
    assert_eq!(reason(&server, &presented).await, None);
    presented.fetch_site = Some("cross-site");
    assert_eq!(reason(&server, &presented).await, Some(Reason::CrossSite));
    presented.changes = false;
    assert_eq!(reason(&server, &presented).await, None, "links from elsewhere may lead here");
}

#[tokio::test]
async fn the_token_can_be_turned_off() {
    let settings = SessionSettings { csrf: false, ..Default::default() };
    let server = Server::with(CHEAP, HashLimits::default(), Some(settings)).await;
    let cookies = jar(&sign_in(&server).await);
    let presented = Presented { cookies: vec![&cookies], changes: true, ..Default::default() };
    assert_eq!(reason(&server, &presented).await, None);
}

#[tokio::test]
async fn signing_out_ends_it() {
    let server = server().await;
    let signed_in = sign_in(&server).await;
    let cookies = jar(&signed_in);
    let mut presented = Presented { cookies: vec![&cookies], changes: true, ..Default::default() };
    let refusal = server.authenticator.sign_out(&presented).unwrap_err();
    assert_eq!(refusal.reason, Reason::CsrfToken, "nobody else may");
    // A browser keeps the cookies to itself where another site sends it here, but would forget them if it were told to.
    for (fetch_site, origin) in [(Some("cross-site"), None), (None, Some("http://evil.example"))] {
        let foreign =
            Presented { fetch_site, origin, host: Some("baton"), changes: true, ..Default::default() };
        assert_eq!(server.authenticator.sign_out(&foreign).unwrap_err().reason, Reason::CrossSite);
    }
    presented.csrf_token = Some(&signed_in.csrf_token);
    let cleared = server.authenticator.sign_out(&presented).unwrap().cookies;
    assert!(cleared.len() == 2 && cleared.iter().all(|cookie| cookie.contains("Max-Age=0")), "{cleared:?}");
    assert_eq!(reason(&server, &presented).await, Some(Reason::Session));
    assert_eq!(server.authenticator.sessions().unwrap().count(), 0);
}

#[tokio::test]
async fn signing_in_again_gives_a_new_session() {
    let server = server().await;
    let first = jar(&sign_in(&server).await);
    let presented = Presented { cookies: vec![&first], ..Default::default() };
    let second = server.authenticator.sign_in(&presented, PASSWORD).await.unwrap();
    assert_ne!(first, jar(&second));
    assert_eq!(reason(&server, &presented).await, Some(Reason::Session));
}

#[tokio::test]
async fn a_wrong_password_begins_nothing() {
    let server = server().await;
    let with = SignIn::Password { user: "ann", password: "wrong" };
    let refusal = server.authenticator.sign_in(&Presented::default(), with).await.unwrap_err();
    assert_eq!(refusal.reason, Reason::Credentials);
    let elsewhere = Presented { fetch_site: Some("cross-site"), ..Default::default() };
    let refusal = server.authenticator.sign_in(&elsewhere, PASSWORD).await.unwrap_err();
    assert_eq!(refusal.reason, Reason::CrossSite);
    let refusal = server.authenticator.sign_in(&Presented::default(), SignIn::Token("a")).await.unwrap_err();
    assert_eq!(refusal.reason, Reason::Scheme("Basic"));
    assert_eq!(server.authenticator.sessions().unwrap().count(), 0);
}

#[tokio::test]
async fn a_changed_password_ends_the_sessions_it_began() {
    let server = server().await;
    let cookies = jar(&sign_in(&server).await);
    let presented = Presented { cookies: vec![&cookies], ..Default::default() };
    server.users.set("bob", "whatever");
    assert_eq!(reason(&server, &presented).await, None);
    server.users.set("ann", &server.hasher.hash("better").await.unwrap());
    assert_eq!(reason(&server, &presented).await, Some(Reason::Session));
    assert_eq!(server.authenticator.sessions().unwrap().count(), 0);
}

#[tokio::test]
async fn a_long_session_outlives_the_cache_of_passwords() {
    let settings = SessionSettings { idle: std::time::Duration::from_secs(10 * 3600), ..Default::default() };
    let server = Server::with(CHEAP, HashLimits::default(), Some(settings)).await;
    let cookies = jar(&sign_in(&server).await);
    server.hand.pass_s(5 * 3600);
    let presented = Presented { cookies: vec![&cookies], ..Default::default() };
    assert_eq!(reason(&server, &presented).await, None);
}

#[tokio::test]
async fn a_browser_that_remembers_the_password_is_no_tool_of_others() {
    let server = server().await;
    let header = basic("ann", "secret");
    let mut presented = Presented { authorization: Some(&header), changes: true, ..Default::default() };
    assert_eq!(reason(&server, &presented).await, None, "a program has no Sec-Fetch-Site");
    presented.fetch_site = Some("same-origin");
    assert_eq!(reason(&server, &presented).await, None);
    presented.fetch_site = Some("cross-site");
    assert_eq!(reason(&server, &presented).await, Some(Reason::CrossSite));
}

#[tokio::test]
async fn without_authentication_everybody_is_anonymous_and_other_sites_change_nothing() {
    let authenticator = Authenticator::new(Method::None, None, Clock::system());
    let mut presented = Presented { authorization: Some("Basic ???"), changes: true, ..Default::default() };
    let principal = authenticator.authenticate(&presented).await.unwrap();
    assert_eq!(principal.identity, Identity::Anonymous);
    presented.fetch_site = Some("cross-site");
    let refusal = authenticator.authenticate(&presented).await.unwrap_err();
    assert_eq!((refusal.reason, refusal.challenge), (Reason::CrossSite, None));
    presented.changes = false;
    authenticator.authenticate(&presented).await.unwrap();
}
