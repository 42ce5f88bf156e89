//! Signing in at the issuer with a browser, and sessions that outlive their tokens.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use auth::{
    Authenticator, CodeFlowSettings, Departed, Method, Oidc, OidcSettings, Presented, Principal, Reason,
    SessionSettings, SignInFailure, SignInWay,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::join_all;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::fixture::Hand;
use crate::issuer::{Issuer, SigningKey, encode};

const HERE: &str = "http://localhost:8080/sso-callback";

struct Server {
    authenticator: Authenticator,
    hand: Hand,
    issuer: Issuer,
    key: SigningKey,
}

/// A browser at the issuer.
struct Away {
    cookie: String,
    fields: HashMap<String, String>,
}

/// The pair of a cookie that a browser sends.
fn pair(cookie: &str) -> String {
    cookie.split(';').next().unwrap().to_owned()
}

fn fields(query: &str) -> HashMap<String, String> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap());
    let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8().unwrap().into_owned();
    pairs.map(|(name, value)| (name.to_owned(), decode(value))).collect()
}

impl Server {
    async fn start() -> Self {
        Self::with(|_| {}).await
    }

    async fn with(change: impl FnOnce(&mut CodeFlowSettings)) -> Self {
        let (issuer, key, hand) = (Issuer::start().await, SigningKey::p256("first"), Hand::new());
        issuer.publish(&[&key]);
        let mut settings = OidcSettings::new(issuer.url());
        settings.audiences = vec!["baton-api".to_owned()];
        let mut flow = CodeFlowSettings::new("baton");
        change(&mut flow);
        settings.code_flow = Some(flow);
        let oidc = Arc::new(Oidc::new(settings, hand.clock()).unwrap());
        let sessions =
            Some(SessionSettings { idle: Duration::from_secs(7200), ..SessionSettings::default() });
        let authenticator = Authenticator::new(Method::Oidc(oidc), sessions, hand.clock());
        Self { authenticator, hand, issuer, key }
    }

    async fn depart(&self, next: &str) -> Away {
        let departed = self.authenticator.depart(next, HERE.to_owned()).await.unwrap();
        let start = format!("{}/authorize?", self.issuer.url());
        let query = departed.location.strip_prefix(&*start).unwrap();
        let [cookie] = &departed.cookies[..] else { panic!("{departed:?}") };
        assert!(cookie.starts_with("__Host-baton-sign-in="), "{cookie}");
        assert!(cookie.contains("HttpOnly") && cookie.contains("Secure") && cookie.contains("Max-Age=600"));
        Away { cookie: pair(cookie), fields: fields(query) }
    }

    async fn arrive(
        &self,
        cookie: &str,
        query: &[(&str, &str)],
    ) -> Result<Departed, (SignInFailure, Departed)> {
        let presented = Presented { cookies: vec![cookie], ..Presented::default() };
        let field = |name: &str| query.iter().find(|(key, _)| *key == name).map(|(_, it)| (*it).to_owned());
        self.authenticator.arrive(&presented, field).await
    }

    /// The answer of the token endpoint, with changed claims of the ID token; without those that are null.
    fn tokens(&self, nonce: Option<&str>, changes: &Value) -> Value {
        let ends_s = self.hand.now_s() + 300;
        let mut claims =
            json!({"iss": self.issuer.url(), "aud": "baton", "sub": "ann", "exp": ends_s, "nonce": nonce});
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let access = json!({
            "iss": self.issuer.url(), "aud": ["baton-api"], "sub": claims["sub"], "exp": ends_s, "groups": ["staff"],
        });
        json!({
            "access_token": self.key.token("ES256", &access), "id_token": self.key.token("ES256", &claims),
            "refresh_token": "refresh-1", "token_type": "Bearer", "expires_in": 300,
        })
    }

    /// Signs ann in and gives the cookies of her browser.
    async fn sign_in(&self) -> String {
        let away = self.depart("/operate").await;
        self.issuer.give(200, self.tokens(Some(&away.fields["nonce"]), &json!({})));
        let back =
            self.arrive(&away.cookie, &[("state", &away.fields["state"]), ("code", "c")]).await.unwrap();
        self.issuer.take_forms();
        let pairs: Vec<_> = back.cookies.iter().map(|cookie| pair(cookie)).collect();
        pairs.join("; ")
    }

    async fn ask(&self, cookies: &str) -> Result<Arc<Principal>, Reason> {
        let presented = Presented { cookies: vec![cookies], ..Presented::default() };
        self.authenticator.authenticate(&presented).await.map_err(|refusal| refusal.reason)
    }
}

#[tokio::test]
async fn a_browser_signs_in_at_the_issuer() {
    let server = Server::start().await;
    assert_eq!(server.authenticator.entry(), SignInWay::Redirect);
    let away = server.depart("/operate/processes?active=true").await;
    let sent = &away.fields;
    let plain = ["response_type", "client_id", "redirect_uri", "scope", "code_challenge_method"];
    assert_eq!(plain.map(|name| &*sent[name]), ["code", "baton", HERE, "openid", "S256"]);
    server.issuer.give(200, server.tokens(Some(&sent["nonce"]), &json!({})));
    let query = [("state", &*sent["state"]), ("code", "a b"), ("iss", server.issuer.url())];
    let back = server.arrive(&away.cookie, &query).await.unwrap();
    assert_eq!(back.location, "/operate/processes?active=true");
    let [session, csrf, forgotten] = &back.cookies[..] else { panic!("{back:?}") };
    assert!(session.starts_with("__Host-baton-session=") && csrf.starts_with("X-CSRF-TOKEN="));
    assert!(forgotten.starts_with("__Host-baton-sign-in=;") && forgotten.contains("Max-Age=0"));
    let principal = server.ask(&pair(session)).await.unwrap();
    assert_eq!(principal.user_name(), Some("ann"));
    assert_eq!(principal.claims["groups"], json!(["staff"]), "the access token counts");

    let [(form, authorization)] = &server.issuer.take_forms()[..] else { panic!("one form") };
    let form = fields(form);
    assert_eq!(
        (&*form["grant_type"], &*form["code"], &*form["client_id"]),
        ("authorization_code", "a b", "baton")
    );
    assert_eq!(form["redirect_uri"], HERE);
    let challenge = encode(digest(&SHA256, form["code_verifier"].as_bytes()));
    assert_eq!(sent["code_challenge"], challenge, "the code is of no use to whoever saw the address");
    assert_eq!(authorization, "", "a client without a secret");
}

#[tokio::test]
async fn a_client_with_a_secret_proves_it() {
    let server = Server::with(|flow| {
        flow.client_secret = Some("s:1 ".to_owned());
        flow.redirect_uri = Some("https://baton.example.com/sso-callback".to_owned());
        flow.scopes = vec!["profile".to_owned(), "openid".to_owned()];
    })
    .await;
    let away = server.depart("/").await;
    assert_eq!(away.fields["redirect_uri"], "https://baton.example.com/sso-callback");
    assert_eq!(away.fields["scope"], "profile openid");
    server.issuer.give(200, server.tokens(Some(&away.fields["nonce"]), &json!({})));
    server.arrive(&away.cookie, &[("state", &away.fields["state"]), ("code", "c")]).await.unwrap();
    let [(form, authorization)] = &server.issuer.take_forms()[..] else { panic!("one form") };
    assert!(!form.contains("client_id"), "{form}");
    assert_eq!(authorization, &format!("Basic {}", STANDARD.encode("baton:s%3A1%20")));
}

#[tokio::test]
async fn answers_of_others_begin_nothing() {
    let server = Server::start().await;
    let (away, other) = (server.depart("/a").await, server.depart("/b").await);
    let (state, nonce) = (&*away.fields["state"], &*away.fields["nonce"]);
    let arrive = async |cookie: &str, query: &[(&str, &str)]| {
        let (failure, departed) = server.arrive(cookie, query).await.unwrap_err();
        assert!(departed.cookies.iter().all(|cookie| cookie.contains("Max-Age=0")), "{departed:?}");
        (failure, departed.location)
    };
    use SignInFailure::{Denied, Expired, Refused};
    let code = ("code", "c");
    // Another browser, no browser of ours, a cookie that somebody made, an answer without a state.
    assert_eq!(arrive(&other.cookie, &[("state", state), code]).await, (Expired, "/b".to_owned()));
    assert_eq!(arrive("", &[("state", state), code]).await, (Expired, "/".to_owned()));
    let forged = format!("{}A", away.cookie);
    assert_eq!(arrive(&forged, &[("state", state), code]).await, (Expired, "/".to_owned()));
    assert_eq!(arrive(&away.cookie, &[code]).await, (Expired, "/a".to_owned()));
    assert_eq!(arrive(&away.cookie, &[("state", state), code, ("iss", "https://evil")]).await.0, Refused);
    let denied = [("state", state), ("error", "access_denied")];
    assert_eq!(arrive(&away.cookie, &denied).await, (Denied, "/a".to_owned()));
    assert_eq!(arrive(&away.cookie, &[("state", state)]).await.0, Denied);
    assert!(server.issuer.take_forms().is_empty(), "no code was tried");

    // ID tokens of another login, for another client, of another issuer, that have ended, of another key.
    let ended = server.hand.now_s() - 90;
    for changes in [
        json!({"nonce": "other"}),
        json!({"nonce": null}),
        json!({"aud": "other"}),
        json!({"aud": ["baton", "other"], "azp": "other"}),
        json!({"iss": "https://evil"}),
        json!({"exp": ended}),
    ] {
        server.issuer.give(200, server.tokens(Some(nonce), &changes));
        assert_eq!(arrive(&away.cookie, &[("state", state), code]).await.0, Refused, "{changes}");
    }
    let mut tokens = server.tokens(Some(nonce), &json!({}));
    let claims = json!({
        "iss": server.issuer.url(), "aud": "baton", "sub": "ann", "exp": server.hand.now_s() + 300, "nonce": nonce,
    });
    tokens["id_token"] = json!(SigningKey::p256("first").token("ES256", &claims));
    server.issuer.give(200, tokens.clone());
    assert_eq!(arrive(&away.cookie, &[("state", state), code]).await.0, Refused);
    tokens["id_token"] = Value::Null;
    server.issuer.give(200, tokens);
    assert_eq!(arrive(&away.cookie, &[("state", state), code]).await.0, Refused);
    for (status, expected) in [(400, Refused), (401, Refused), (500, SignInFailure::Unavailable)] {
        server.issuer.give(status, json!({"error": "invalid_grant"}));
        assert_eq!(arrive(&away.cookie, &[("state", state), code]).await.0, expected, "{status}");
    }
    server.hand.pass_s(601);
    assert_eq!(arrive(&away.cookie, &[("state", state), code]).await.0, Expired);
    assert_eq!(server.authenticator.sessions().unwrap().count(), 0);
}

#[tokio::test]
async fn an_answer_says_whose_it_is_if_the_issuer_promises_that() {
    let server = Server::start().await;
    server.issuer.name_itself();
    let away = server.depart("/").await;
    let mut query = vec![("state", &*away.fields["state"]), ("code", "c")];
    let (failure, _) = server.arrive(&away.cookie, &query).await.unwrap_err();
    assert_eq!(failure, SignInFailure::Refused);
    assert!(server.issuer.take_forms().is_empty(), "no code was tried");
    server.issuer.give(200, server.tokens(Some(&away.fields["nonce"]), &json!({})));
    query.push(("iss", server.issuer.url()));
    server.arrive(&away.cookie, &query).await.unwrap();
}

#[tokio::test]
async fn a_page_of_another_site_ends_no_login_that_is_under_way() {
    let server = Server::start().await;
    let away = server.depart("/a").await;
    for query in [&[][..], &[("state", "made up"), ("error", "access_denied")]] {
        let (failure, departed) = server.arrive(&away.cookie, query).await.unwrap_err();
        assert_eq!((failure, departed.cookies), (SignInFailure::Expired, vec![]));
    }
    server.issuer.give(200, server.tokens(Some(&away.fields["nonce"]), &json!({})));
    server.arrive(&away.cookie, &[("state", &away.fields["state"]), ("code", "c")]).await.unwrap();
}

#[tokio::test]
async fn what_a_browser_brings_back_counts_once() {
    let server = Server::start().await;
    let away = server.depart("/").await;
    let query = [("state", &*away.fields["state"]), ("code", "c")];
    for _ in 0..2 {
        // An issuer that takes a code twice, which it must not.
        server.issuer.give(200, server.tokens(Some(&away.fields["nonce"]), &json!({})));
    }
    server.arrive(&away.cookie, &query).await.unwrap();
    server.issuer.take_forms();
    let (failure, departed) = server.arrive(&away.cookie, &query).await.unwrap_err();
    assert_eq!(failure, SignInFailure::Expired);
    assert!(departed.cookies.iter().all(|cookie| cookie.contains("Max-Age=0")), "{departed:?}");
    assert!(server.issuer.take_forms().is_empty(), "no code was tried");
    assert_eq!(server.authenticator.sessions().unwrap().count(), 1);
}

#[tokio::test]
async fn tokens_of_two_users_sign_nobody_in() {
    let server = Server::start().await;
    for id in [json!({"sub": null}), json!({"sub": "bob"})] {
        let away = server.depart("/").await;
        let nonce = Some(&*away.fields["nonce"]);
        let mut tokens = server.tokens(nonce, &json!({}));
        tokens["id_token"] = server.tokens(nonce, &id)["id_token"].clone();
        server.issuer.give(200, tokens);
        let query = [("state", &*away.fields["state"]), ("code", "c")];
        let (failure, _) = server.arrive(&away.cookie, &query).await.unwrap_err();
        assert_eq!(failure, SignInFailure::Refused, "{id}");
    }
    assert_eq!(server.authenticator.sessions().unwrap().count(), 0);
}

#[tokio::test]
async fn without_an_access_token_for_us_the_id_token_counts() {
    let server = Server::start().await;
    let away = server.depart("//evil.example").await;
    let mut tokens = server.tokens(Some(&away.fields["nonce"]), &json!({"groups": ["others"]}));
    tokens["access_token"] = json!("opaque");
    server.issuer.give(200, tokens);
    let query = [("state", &*away.fields["state"]), ("code", "c")];
    let back = server.arrive(&away.cookie, &query).await.unwrap();
    assert_eq!(back.location, "/", "nobody is led to another site");
    let principal = server.ask(&pair(&back.cookies[0])).await.unwrap();
    assert_eq!(principal.claims["groups"], json!(["others"]));
}

#[tokio::test]
async fn tokens_are_renewed_while_somebody_works() {
    let server = Server::start().await;
    let cookies = server.sign_in().await;
    server.hand.pass_s(250);
    server.ask(&cookies).await.unwrap();
    assert!(server.issuer.take_forms().is_empty(), "they are good for a while");
    // They end at 300 s and 60 s of skew.
    server.hand.pass_s(85);
    let mut renewed = server.tokens(None, &json!({}));
    renewed["refresh_token"] = json!("refresh-2");
    server.issuer.give(200, renewed);
    let asked = join_all((0..8).map(|_| server.ask(&cookies))).await;
    assert!(asked.iter().all(Result::is_ok), "{asked:?}");
    let [(form, _)] = &server.issuer.take_forms()[..] else { panic!("once for all") };
    assert_eq!(fields(form)["refresh_token"], "refresh-1");
    server.hand.pass_s(400);
    let mut renewed = server.tokens(None, &json!({}));
    renewed.as_object_mut().unwrap().retain(|name, _| name == "access_token");
    server.issuer.give(200, renewed);
    server.ask(&cookies).await.unwrap();
    assert_eq!(fields(&server.issuer.take_forms()[0].0)["refresh_token"], "refresh-2");
    // Tokens of another subject do not take the place of these.
    server.hand.pass_s(400);
    server.issuer.give(200, server.tokens(None, &json!({"sub": "eve"})));
    assert_eq!(server.ask(&cookies).await.unwrap_err(), Reason::Session);
    assert_eq!(server.ask(&cookies).await.unwrap_err(), Reason::Session);
    assert_eq!(server.issuer.take_forms().len(), 1);
}

#[tokio::test]
async fn a_session_ends_when_the_issuer_says_so_and_waits_while_it_is_away() {
    let server = Server::start().await;
    let cookies = server.sign_in().await;
    server.issuer.be_away(true);
    server.hand.pass_s(340);
    server.ask(&cookies).await.unwrap();
    let connections = server.issuer.connections();
    server.ask(&cookies).await.unwrap();
    assert_eq!(server.issuer.connections(), connections, "it is not asked with every request");
    server.hand.pass_s(60);
    assert_eq!(server.ask(&cookies).await.unwrap_err(), Reason::IssuerUnavailable);
    server.issuer.be_away(false);
    server.hand.pass_s(10);
    server.issuer.give(200, server.tokens(None, &json!({})));
    server.ask(&cookies).await.unwrap();
    server.hand.pass_s(400);
    server.issuer.give(400, json!({"error": "invalid_grant"}));
    assert_eq!(server.ask(&cookies).await.unwrap_err(), Reason::Session);
    assert_eq!(server.authenticator.sessions().unwrap().count(), 0);
    // However often they are renewed, a session has an end.
    let cookies = server.sign_in().await;
    server.hand.pass_s(12 * 3600);
    assert_eq!(server.ask(&cookies).await.unwrap_err(), Reason::Session);
}

#[tokio::test]
async fn signing_out_leads_to_the_issuer() {
    let server =
        Server::with(|flow| flow.post_logout_redirect_uri = Some("https://b/login".to_owned())).await;
    let cookies = server.sign_in().await;
    let csrf = fields(&cookies.replace("; ", "&"))["X-CSRF-TOKEN"].clone();
    let presented =
        Presented { cookies: vec![&cookies], changes: true, csrf_token: Some(&csrf), ..Presented::default() };
    let out = server.authenticator.sign_out(&presented).unwrap();
    let start = format!("{}/logout?", server.issuer.url());
    let sent = fields(out.location.as_deref().unwrap().strip_prefix(&*start).unwrap());
    assert_eq!((&*sent["client_id"], &*sent["post_logout_redirect_uri"]), ("baton", "https://b/login"));
    assert_eq!(sent["id_token_hint"].split('.').count(), 3);
    assert_eq!(server.ask(&cookies).await.unwrap_err(), Reason::Session);
    assert_eq!(
        server.authenticator.sign_out(&presented).unwrap().location,
        None,
        "there is nothing more to end"
    );
}

#[tokio::test]
async fn an_issuer_that_is_away_lets_nobody_in() {
    let server = Server::start().await;
    server.issuer.be_away(true);
    let failure = server.authenticator.depart("/", HERE.to_owned()).await.unwrap_err();
    assert_eq!(failure, SignInFailure::Unavailable);
    server.issuer.be_away(false);
    server.depart("/").await;
}
