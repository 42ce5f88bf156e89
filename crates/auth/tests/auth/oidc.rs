//! Bearer tokens.

use std::sync::Arc;
use std::time::Duration;

use auth::{
    Authenticator, ClaimPath, Identity, Method, Oidc, OidcSettings, Presented, Principal, Reason,
    SessionSettings, SettingsError, SignIn, TokenFault,
};
use futures::future::join_all;
use ring::hmac;
use serde_json::{Value, json};

use crate::fixture::{Hand, ask, basic};
use crate::issuer::{Issuer, Pair, SigningKey, encode};

struct Server {
    authenticator: Authenticator,
    oidc: Arc<Oidc>,
    hand: Hand,
    issuer: Issuer,
    key: SigningKey,
}

impl Server {
    async fn start() -> Self {
        Self::with(|_| {}).await
    }

    async fn with(change: impl FnOnce(&mut OidcSettings)) -> Self {
        let (issuer, key, hand) = (Issuer::start().await, SigningKey::p256("first"), Hand::new());
        issuer.publish(&[&key]);
        let mut settings = OidcSettings::new(issuer.url());
        settings.audiences = vec!["baton".to_owned(), "baton-api".to_owned()];
        change(&mut settings);
        let oidc = Arc::new(Oidc::new(settings, hand.clock()).unwrap());
        let sessions = Some(SessionSettings::default());
        let authenticator = Authenticator::new(Method::Oidc(Arc::clone(&oidc)), sessions, hand.clock());
        Self { authenticator, oidc, hand, issuer, key }
    }

    /// Claims that are accepted for five minutes, with some replaced; null removes.
    fn claims(&self, changes: Value) -> Value {
        let mut claims = json!({
            "iss": self.issuer.url(),
            "aud": ["account", "baton"],
            "sub": "ann",
            "exp": self.hand.now_s() + 300,
        });
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        claims
    }

    fn token(&self, changes: Value) -> String {
        self.key.token("ES256", &self.claims(changes))
    }

    async fn ask(&self, token: &str) -> Result<Arc<Principal>, Reason> {
        ask(&self.authenticator, &format!("Bearer {token}")).await
    }

    async fn fault(&self, token: &str) -> TokenFault {
        match self.ask(token).await {
            Err(Reason::Token(fault)) => fault,
            other => panic!("{other:?}"),
        }
    }

    async fn check(&self, changes: Value) -> Result<Arc<Principal>, Reason> {
        self.ask(&self.token(changes)).await
    }
}

#[tokio::test]
async fn every_algorithm_with_a_key_pair_is_accepted() {
    let server = Server::start().await;
    let (rsa, p256, p384, ed25519) = (
        SigningKey::rsa("rsa"),
        SigningKey::p256("p256"),
        SigningKey::p384("p384"),
        SigningKey::ed25519("ed25519"),
    );
    server.issuer.publish(&[&rsa, &p256, &p384, &ed25519]);
    for (key, algorithms) in [
        (&rsa, &["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"][..]),
        (&p256, &["ES256"]),
        (&p384, &["ES384"]),
        (&ed25519, &["EdDSA", "Ed25519"]),
    ] {
        for algorithm in algorithms {
            let token = key.token(algorithm, &server.claims(json!({})));
            let principal = server.ask(&token).await.unwrap_or_else(|reason| panic!("{algorithm}: {reason}"));
            assert_eq!(principal.user_name(), Some("ann"));
        }
    }
    assert_eq!(server.issuer.key_requests(), 1);
}

#[tokio::test]
async fn a_token_ends_with_its_time_and_the_skew() {
    let server = Server::start().await;
    let token = server.token(json!({}));
    server.hand.pass(Duration::from_millis(359_999));
    server.ask(&token).await.unwrap();
    server.ask(&token).await.unwrap();
    server.hand.pass(Duration::from_millis(1));
    assert_eq!(server.fault(&token).await, TokenFault::Expired, "although it was accepted before");
    let fresh = server.token(json!({"exp": server.hand.now_s() - 60}));
    assert_eq!(server.fault(&fresh).await, TokenFault::Expired);
}

#[tokio::test]
async fn a_token_must_end() {
    let server = Server::start().await;
    assert_eq!(
        server.check(json!({"exp": null})).await.unwrap_err(),
        TokenFault::Malformed("exp is missing").into()
    );
    for nonsense in [json!("never"), json!(-1), json!({})] {
        assert_eq!(
            server.check(json!({"exp": nonsense})).await.unwrap_err(),
            TokenFault::Malformed("exp is no time").into()
        );
    }
    server.check(json!({"exp": 1e300})).await.unwrap();
    server.check(json!({"exp": server.hand.now_s() as f64 + 0.5})).await.unwrap();
}

#[tokio::test]
async fn a_token_begins_with_its_time_less_the_skew() {
    let server = Server::start().await;
    let token = server.token(json!({"nbf": server.hand.now_s() + 61}));
    assert_eq!(server.fault(&token).await, TokenFault::NotYetValid);
    server.hand.pass_s(1);
    server.ask(&token).await.unwrap();
}

#[tokio::test]
async fn the_skew_can_be_set() {
    let server = Server::with(|settings| settings.clock_skew = Duration::ZERO).await;
    let token = server.token(json!({"nbf": server.hand.now_s()}));
    server.ask(&token).await.unwrap();
    server.hand.pass_s(300);
    assert_eq!(server.fault(&token).await, TokenFault::Expired);
}

#[tokio::test]
async fn tokens_of_or_for_others_are_refused() {
    let server = Server::start().await;
    let refused = async |changes| server.check(changes).await.unwrap_err();
    for issuer in [json!(null), json!("http://127.0.0.1/other"), json!(format!("{}/", server.issuer.url()))] {
        assert_eq!(refused(json!({"iss": issuer})).await, TokenFault::Issuer.into());
    }
    for audience in
        [json!(null), json!("account"), json!([]), json!(["account", "Baton"]), json!({"baton": 1})]
    {
        assert_eq!(refused(json!({"aud": audience})).await, TokenFault::Audience.into(), "{audience}");
    }
    server.check(json!({"aud": "baton-api"})).await.unwrap();
    assert_eq!(server.issuer.key_requests(), 1, "nobody asks for keys because of them");
}

#[tokio::test]
async fn only_parties_that_are_named_may_use_their_tokens() {
    let server = Server::with(|settings| settings.authorized_parties = vec!["ui".to_owned()]).await;
    server.check(json!({"azp": "ui"})).await.unwrap();
    for party in [json!(null), json!("another")] {
        let reason = server.check(json!({"azp": party})).await.unwrap_err();
        assert_eq!(reason, TokenFault::AuthorizedParty.into());
    }
}

#[tokio::test]
async fn unsigned_tokens_are_refused() {
    let server = Server::start().await;
    server.check(json!({})).await.unwrap();
    let claims = encode(server.claims(json!({})).to_string());
    for algorithm in ["none", "None", "NONE", "nOnE"] {
        let header = encode(json!({"alg": algorithm, "kid": "first"}).to_string());
        assert_eq!(server.fault(&format!("{header}.{claims}.")).await, TokenFault::Algorithm);
        assert_eq!(server.fault(&format!("{header}.{claims}.AAAA")).await, TokenFault::Algorithm);
    }
    let header = encode(json!({"alg": "ES256", "kid": "first"}).to_string());
    assert_eq!(server.fault(&format!("{header}.{claims}.")).await, TokenFault::Signature);
    let zeros = encode([0; 64]);
    assert_eq!(server.fault(&format!("{header}.{claims}.{zeros}")).await, TokenFault::Signature);
}

/// The public key must not be taken for a shared secret.
#[tokio::test]
async fn the_public_key_is_no_secret() {
    let server = Server::start().await;
    let key = SigningKey::rsa("first");
    server.issuer.publish(&[&key]);
    let Pair::Rsa(pair) = &key.pair else { panic!() };
    let public = key.public();
    let modulus = public["n"].as_str().unwrap().to_owned();
    let secrets = [pair.public().as_ref().to_vec(), modulus.into_bytes(), public.to_string().into_bytes()];
    for secret in secrets {
        for (name, algorithm) in
            [("HS256", hmac::HMAC_SHA256), ("HS384", hmac::HMAC_SHA384), ("HS512", hmac::HMAC_SHA512)]
        {
            let header = encode(json!({"alg": name, "kid": "first", "typ": "JWT"}).to_string());
            let message = format!("{header}.{}", encode(server.claims(json!({})).to_string()));
            let tag = hmac::sign(&hmac::Key::new(algorithm, &secret), message.as_bytes());
            assert_eq!(server.fault(&format!("{message}.{}", encode(tag))).await, TokenFault::Algorithm);
            // The same tag under a name that is accepted.
            let message = message.replacen(&header, &encode(r#"{"alg":"RS256","kid":"first"}"#), 1);
            let tag = hmac::sign(&hmac::Key::new(algorithm, &secret), message.as_bytes());
            assert_eq!(server.fault(&format!("{message}.{}", encode(tag))).await, TokenFault::Signature);
        }
    }
    let token = key.token("RS256", &server.claims(json!({})));
    server.ask(&token).await.unwrap();
}

#[tokio::test]
async fn what_was_tampered_with_is_refused() {
    let server = Server::start().await;
    let token = server.token(json!({}));
    server.ask(&token).await.unwrap();
    let parts: Vec<_> = token.split('.').collect();
    let promoted = encode(server.claims(json!({"sub": "admin"})).to_string());
    assert_eq!(server.fault(&format!("{}.{promoted}.{}", parts[0], parts[2])).await, TokenFault::Signature);
    let header = encode(r#"{"alg":"ES256","kid":"first","typ":"at+jwt"}"#);
    assert_eq!(server.fault(&format!("{header}.{}.{}", parts[1], parts[2])).await, TokenFault::Signature);
    let cut = &token[..token.len() - 2];
    assert_eq!(server.fault(cut).await, TokenFault::Signature);
    // The signature of another token of the same key.
    let other = server.token(json!({"sub": "bob"}));
    let stolen = other.rsplit('.').next().unwrap();
    assert_eq!(server.fault(&format!("{}.{}.{stolen}", parts[0], parts[1])).await, TokenFault::Signature);
    // A key of somebody else under the same ID.
    let forged = SigningKey::p256("first").token("ES256", &server.claims(json!({})));
    assert_eq!(server.fault(&forged).await, TokenFault::Signature);
}

#[tokio::test]
async fn an_algorithm_goes_with_its_own_kind_of_key() {
    let server = Server::start().await;
    let rsa = SigningKey::rsa("rsa");
    server.issuer.publish(&[&rsa, &server.key]);
    let message = |algorithm: &str, key: &str| {
        let header = encode(json!({"alg": algorithm, "kid": key}).to_string());
        format!("{header}.{}", encode(server.claims(json!({})).to_string()))
    };
    let of_rsa = rsa.token("RS256", &server.claims(json!({})));
    let signature = of_rsa.rsplit('.').next().unwrap();
    for (algorithm, key) in [("PS256", "rsa"), ("ES256", "rsa"), ("EdDSA", "rsa"), ("RS256", "first")] {
        let token = format!("{}.{signature}", message(algorithm, key));
        assert_eq!(server.fault(&token).await, TokenFault::Signature, "{algorithm} with {key}");
    }
}

#[tokio::test]
async fn what_is_no_token_is_refused() {
    let server = Server::start().await;
    for text in ["abc", "a.b.c", "..", "e30.e30.e30"] {
        assert!(matches!(server.fault(text).await, TokenFault::Malformed(_)), "{text}");
    }
    assert_eq!(
        ask(&server.authenticator, &basic("ann", "secret")).await.unwrap_err(),
        Reason::Scheme("Bearer")
    );
    assert!(matches!(server.ask(&"a".repeat(16_380)).await.unwrap_err(), Reason::Malformed(_)));
    assert_eq!(server.issuer.key_requests(), 0);
    let expired = format!("bearer {}", server.token(json!({"exp": 1})));
    let presented = Presented { authorization: Some(&expired), ..Default::default() };
    let refusal = server.authenticator.authenticate(&presented).await.unwrap_err();
    assert!(refusal.challenge.unwrap().contains("error=\"invalid_token\""));
}

#[tokio::test]
async fn new_keys_are_found_when_they_are_first_used() {
    let server = Server::start().await;
    let old = server.token(json!({}));
    server.ask(&old).await.unwrap();
    server.hand.pass_s(10);
    let second = SigningKey::ed25519("second");
    server.issuer.publish(&[&server.key, &second]);
    let new = second.token("EdDSA", &server.claims(json!({})));
    server.ask(&new).await.unwrap();
    server.ask(&old).await.unwrap();
    assert_eq!(server.issuer.key_requests(), 2);
}

#[tokio::test]
async fn a_key_that_was_withdrawn_is_worth_nothing_even_for_tokens_seen_before() {
    let server = Server::start().await;
    let old = server.token(json!({}));
    server.ask(&old).await.unwrap();
    server.hand.pass_s(10);
    let second = SigningKey::p256("second");
    server.issuer.publish(&[&second]);
    server.ask(&second.token("ES256", &server.claims(json!({})))).await.unwrap();
    assert_eq!(server.fault(&old).await, TokenFault::UnknownKey);
}

#[tokio::test]
async fn made_up_key_ids_do_not_make_the_issuer_be_asked_again_and_again() {
    let server = Server::start().await;
    server.check(json!({})).await.unwrap();
    server.hand.pass_s(10);
    let made_up: Vec<_> = (0..50).map(|n| SigningKey::p256(&format!("made up {n}"))).collect();
    let tokens = made_up.iter().map(|key| key.token("ES256", &server.claims(json!({}))));
    let tokens: Vec<_> = tokens.collect();
    let faults = join_all(tokens.iter().map(|token| server.fault(token))).await;
    assert!(faults.iter().all(|fault| *fault == TokenFault::UnknownKey), "{faults:?}");
    assert_eq!(server.issuer.key_requests(), 2);
    server.hand.pass_s(9);
    server.fault(&tokens[0]).await;
    assert_eq!(server.issuer.key_requests(), 2);
    server.hand.pass_s(1);
    server.fault(&tokens[0]).await;
    assert_eq!(server.issuer.key_requests(), 3);
}

#[tokio::test]
async fn keys_without_ids_are_tried_one_after_the_other() {
    let server = Server::start().await;
    let (one, two) = (SigningKey::p256("x").without_id(), SigningKey::p256("x").without_id());
    server.issuer.publish(&[&one, &two]);
    server.ask(&two.token("ES256", &server.claims(json!({})))).await.unwrap();
    let stranger = SigningKey::p256("x").without_id();
    let token = stranger.token("ES256", &server.claims(json!({})));
    assert_eq!(server.fault(&token).await, TokenFault::UnknownKey);
}

#[tokio::test]
async fn old_keys_are_fetched_again_in_the_background() {
    let server = Server::start().await;
    let token = server.token(json!({"exp": server.hand.now_s() + 10_000}));
    server.ask(&token).await.unwrap();
    // Keys are as old as they are, whatever becomes of the time of day.
    server.hand.set_by_s(3600);
    server.ask(&token).await.unwrap();
    server.hand.set_by_s(-7200);
    server.issuer.publish(&[&SigningKey::p256("second")]);
    server.hand.pass_s(299);
    server.ask(&token).await.unwrap();
    assert_eq!(server.issuer.key_requests(), 1);
    server.hand.pass_s(1);
    server.ask(&token).await.unwrap();
    let found = async {
        while server.ask(&token).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), found).await.expect("the withdrawn key is noticed");
    assert_eq!(server.fault(&token).await, TokenFault::UnknownKey);
    assert_eq!(server.issuer.key_requests(), 2);
}

#[tokio::test]
async fn keys_stay_when_the_issuer_goes_away() {
    let server = Server::start().await;
    server.check(json!({})).await.unwrap();
    server.issuer.be_away(true);
    for _ in 0..5 {
        server.hand.pass_s(3600);
        server.check(json!({"sub": "bob"})).await.unwrap();
    }
    let second = SigningKey::p256("second");
    server.issuer.publish(&[&second]);
    let token = second.token("ES256", &server.claims(json!({})));
    server.hand.pass_s(10);
    assert_eq!(server.fault(&token).await, TokenFault::UnknownKey);
    server.issuer.be_away(false);
    server.hand.pass_s(10);
    server.ask(&token).await.unwrap();
}

#[tokio::test]
async fn an_issuer_that_publishes_nonsense_does_not_take_the_keys_away() {
    let server = Server::start().await;
    server.check(json!({})).await.unwrap();
    server.issuer.publish(&[]);
    server.hand.pass_s(10);
    let stranger = SigningKey::p256("second").token("ES256", &server.claims(json!({})));
    assert_eq!(server.fault(&stranger).await, TokenFault::UnknownKey);
    assert_eq!(server.issuer.key_requests(), 2);
    server.check(json!({})).await.unwrap();
}

#[tokio::test]
async fn without_ever_having_had_keys_nobody_is_let_in_until_there_are() {
    let server = Server::start().await;
    server.issuer.be_away(true);
    let reason = server.check(json!({})).await.unwrap_err();
    assert_eq!((reason, reason.status()), (Reason::IssuerUnavailable, 503));
    server.issuer.be_away(false);
    assert_eq!(server.check(json!({})).await.unwrap_err(), Reason::IssuerUnavailable, "not asked at once");
    server.hand.pass_s(1);
    server.check(json!({})).await.unwrap();
}

#[tokio::test]
async fn many_first_requests_ask_the_issuer_once() {
    let server = Server::start().await;
    let tokens: Vec<_> = (0..40).map(|n| server.token(json!({"sub": format!("user {n}")}))).collect();
    let results = join_all(tokens.iter().map(|token| server.ask(token))).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(server.issuer.key_requests(), 1);
}

/// Each of them would otherwise wait for its own time-out, one after the other.
#[tokio::test]
async fn those_who_waited_for_an_issuer_that_is_silent_do_not_ask_again() {
    let server = Server::start().await;
    server.check(json!({})).await.unwrap();
    server.issuer.be_silent();
    server.hand.pass_s(10);
    let stranger = SigningKey::p256("stranger");
    let tokens: Vec<_> = (0..20)
        .map(|n| stranger.token("ES256", &server.claims(json!({"sub": format!("user {n}")}))))
        .collect();
    let before = server.issuer.connections();
    let waits = join_all(tokens.iter().map(|token| server.fault(token)));
    let is_asked = async {
        while server.issuer.connections() == before {
            tokio::task::yield_now().await;
        }
        server.hand.pass_s(60);
        tokio::time::pause();
    };
    let (faults, ()) = tokio::join!(waits, is_asked);
    assert!(faults.iter().all(|fault| *fault == TokenFault::UnknownKey), "{faults:?}");
    assert_eq!(server.oidc.keys_fetched(), 2);
    // Nor do those who need no newer keys wait, or have them asked for more than once at a time.
    server.hand.pass_s(600);
    for n in 0..20 {
        server.check(json!({"sub": format!("late user {n}")})).await.unwrap();
        server.hand.pass_s(60);
        tokio::task::yield_now().await;
    }
    assert_eq!(server.oidc.keys_fetched(), 3);
}

#[tokio::test]
async fn a_document_of_another_issuer_is_not_believed() {
    let server = Server::start().await;
    server.issuer.claim_to_be("https://issuer.example");
    assert_eq!(server.check(json!({})).await.unwrap_err(), Reason::IssuerUnavailable);
    assert_eq!(server.issuer.key_requests(), 0);
}

#[tokio::test]
async fn keys_may_be_elsewhere_than_the_document_says() {
    let issuer = Issuer::start().await;
    let keys_url = format!("{}/keys", issuer.url());
    let server = Server::with(|settings| settings.keys_url = Some(keys_url)).await;
    server.issuer.be_away(true);
    issuer.publish(&[&server.key]);
    server.check(json!({})).await.unwrap();
    assert_eq!(issuer.key_requests(), 1);
}

#[tokio::test]
async fn claims_become_users_clients_and_groups() {
    let server = Server::with(|settings| {
        settings.user_name = ClaimPath::parse("preferred_username").unwrap();
        settings.client_id = Some(ClaimPath::parse("client_id").unwrap());
        settings.groups = Some(ClaimPath::parse("realm_access.roles").unwrap());
    })
    .await;
    let both = json!({"preferred_username": "service-account-worker", "client_id": "worker"});
    let client = server.check(both).await.unwrap();
    assert_eq!(client.identity, Identity::Client("worker".into()));
    assert!(client.groups.is_empty());
    let user = json!({"preferred_username": "ann", "realm_access": {"roles": ["b", "a"]}, "team": ["x"]});
    let user = server.check(user).await.unwrap();
    assert_eq!(user.identity, Identity::User("ann".into()));
    assert_eq!(user.groups, ["a", "b"]);
    assert_eq!(user.claims["team"], json!(["x"]), "mapping rules see every claim");
    assert_eq!(server.check(json!({})).await.unwrap_err(), TokenFault::NoIdentity.into());
    let groups = json!({"preferred_username": "ann", "realm_access": {"roles": [1]}});
    assert_eq!(server.check(groups).await.unwrap_err(), TokenFault::Groups.into());
}

#[tokio::test]
async fn a_user_may_go_before_a_client() {
    let server = Server::with(|settings| {
        settings.client_id = Some(ClaimPath::parse("client_id").unwrap());
        settings.prefer_user_name = true;
    })
    .await;
    let principal = server.check(json!({"client_id": "ui"})).await.unwrap();
    assert_eq!(principal.user_name(), Some("ann"));
    let principal = server.check(json!({"client_id": "worker", "sub": null})).await.unwrap();
    assert_eq!(principal.client_id(), Some("worker"));
}

#[tokio::test]
async fn a_session_ends_with_the_token_it_began_with() {
    let server = Server::start().await;
    let token = server.token(json!({}));
    let with = SignIn::Token(&token);
    let signed_in = server.authenticator.sign_in(&Presented::default(), with).await.unwrap();
    let cookie = signed_in.cookies[0].split(';').next().unwrap();
    let presented = Presented { cookies: vec![cookie], ..Default::default() };
    server.hand.pass_s(359);
    assert_eq!(server.authenticator.authenticate(&presented).await.unwrap().user_name(), Some("ann"));
    server.hand.pass_s(1);
    let refusal = server.authenticator.authenticate(&presented).await.unwrap_err();
    assert_eq!(refusal.reason, Reason::Session);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let new = |settings| Oidc::new(settings, Hand::new().clock()).err();
    for issuer in ["", "issuer.example", "ftp://issuer.example", "https://"] {
        assert!(matches!(new(OidcSettings::new(issuer)), Some(SettingsError::Url { .. })), "{issuer}");
    }
    let mut settings = OidcSettings::new("https://issuer.example/");
    settings.keys_url = Some("http://issuer.example/keys".to_owned());
    assert!(matches!(new(settings), Some(SettingsError::Downgrade { .. })));
    assert_eq!(new(OidcSettings::new("https://issuer.example/")), None);
}
