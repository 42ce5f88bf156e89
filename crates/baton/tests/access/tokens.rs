//! Bearer tokens of an issuer: which are taken, which are not, and what is said about those.

use std::time::{SystemTime, UNIX_EPOCH};

use grpc::TopologyRequest;
use ring::hmac;
use serde_json::{Value, json};
use tonic::Code;

use crate::issuer::{Issuer, Pair, SigningKey, encode};
use crate::server::{Answer, Server, call, eventually, file};

/// Any operation that everybody may ask for who says who it is.
const ANY: &str = "/v2/topology";

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Claims of a valid token of ann, with changes.
fn claims(issuer: &Issuer, changes: Value) -> Value {
    let mut claims = json!({"iss": issuer.url(), "aud": "baton", "sub": "ann", "exp": now_s() + 600});
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims
}

fn settings(issuer: &Issuer, more: &[&str]) -> Vec<String> {
    let mut settings = vec![
        "security.authentication.method=oidc".to_owned(),
        format!("security.authentication.oidc.issuer={}", issuer.url()),
        "security.authentication.oidc.audiences=baton".to_owned(),
    ];
    settings.extend(more.iter().map(ToString::to_string));
    settings
}

async fn ask(server: &Server, token: &str) -> Answer {
    server.get(ANY).by(&format!("Bearer {token}")).send().await
}

/// Principal of a token, over both protocols.
async fn accepted(server: &Server, token: &str) -> String {
    let bearer = format!("Bearer {token}");
    server.grpc().await.topology(call(TopologyRequest {}, &bearer)).await.unwrap();
    let me = server.get("/v2/authentication/me").by(&bearer).send().await.expect(200).json();
    me["username"].as_str().unwrap().to_owned()
}

/// Asserts that a token is not taken over either protocol, for one reason, and that nothing else is told.
async fn refused(server: &Server, token: &str, reason: &str) {
    let answer = ask(server, token).await.expect(401);
    assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{answer:?}");
    let expected = json!({
        "type": "about:blank", "title": "Unauthorized", "status": 401, "detail": reason, "instance": ANY
    });
    assert_eq!(answer.json(), expected);
    let challenge = format!(r#"Bearer realm="Baton", error="invalid_token", error_description="{reason}""#);
    assert_eq!(answer.header("www-authenticate"), Some(&*challenge), "{answer:?}");
    let bearer = format!("Bearer {token}");
    let status = server.grpc().await.topology(call(TopologyRequest {}, &bearer)).await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::Unauthenticated, reason));
    assert!(status.details().is_empty(), "{status:?}");
}

/// A token whose header says what it wants to.
fn token(header: &Value, claims: &Value, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
    let signature = sign(message.as_bytes());
    format!("{message}.{}", encode(signature))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_that_are_not_for_us_are_refused_by_both_protocols() {
    let issuer = Issuer::start().await;
    let (rsa, curve) = (SigningKey::rsa("rsa"), SigningKey::p256("curve"));
    issuer.publish(&[&rsa, &curve]);
    let server = Server::start(&settings(&issuer, &[]));
    let good = claims(&issuer, json!({}));
    assert_eq!(accepted(&server, &rsa.token("RS256", &good)).await, "ann");
    assert_eq!(accepted(&server, &curve.token("ES256", &good)).await, "ann");

    let signed = |changes: Value| curve.token("ES256", &claims(&issuer, changes));
    let now_s = now_s();
    refused(&server, &signed(json!({"exp": now_s - 90})), "the token has expired").await;
    refused(&server, &signed(json!({"nbf": now_s + 120})), "the token is not valid yet").await;
    refused(&server, &signed(json!({"aud": "billing"})), "the token's audience is wrong").await;
    refused(&server, &signed(json!({"aud": null})), "the token's audience is wrong").await;
    let other = format!("{}/", issuer.url());
    refused(&server, &signed(json!({"iss": other})), "the token's issuer is wrong").await;
    let no_end = "the token is malformed: exp is no time";
    refused(&server, &signed(json!({"exp": "never"})), no_end).await;
    refused(&server, &signed(json!({"sub": 7})), "the token names neither a user nor a client").await;

    // A key of another issuer, under an ID that is not known, and under one that is.
    let unknown = SigningKey::p256("somebody's").token("ES256", &good);
    refused(&server, &unknown, "the token's key is unknown").await;
    refused(&server, &SigningKey::p256("curve").token("ES256", &good), "the token's signature is wrong")
        .await;
    let genuine = curve.token("ES256", &good);
    let (head, signature) = genuine.rsplit_once('.').unwrap();
    let (header, _) = head.split_once('.').unwrap();
    let forged =
        format!("{header}.{}.{signature}", encode(claims(&issuer, json!({"sub": "root"})).to_string()));
    refused(&server, &forged, "the token's signature is wrong").await;
    let first = if signature.starts_with('A') { "B" } else { "A" };
    let bent = format!("{head}.{first}{}", &signature[1..]);
    refused(&server, &bent, "the token's signature is wrong").await;

    // Tokens without a signature, or signed with a public secret.
    let algorithm = "the token's algorithm is not accepted";
    for none in ["none", "None", "NONE", ""] {
        let header = json!({"alg": none, "typ": "JWT", "kid": "rsa"});
        refused(&server, &token(&header, &good, |_| vec![]), algorithm).await;
    }
    let Pair::Rsa(pair) = &rsa.pair else { unreachable!() };
    let public = rsa.public();
    let modulus = public["n"].as_str().unwrap();
    for secret in [pair.public().as_ref(), modulus.as_bytes(), public.to_string().as_bytes()] {
        let header = json!({"alg": "HS256", "typ": "JWT", "kid": "rsa"});
        let sign = |message: &[u8]| {
            hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message).as_ref().to_vec()
        };
        refused(&server, &token(&header, &good, sign), algorithm).await;
    }
    // Signed rightly, but with the algorithm of another key.
    let header = json!({"alg": "ES256", "typ": "JWT", "kid": "rsa"});
    let (_, signature) = genuine.rsplit_once('.').unwrap();
    let mixed = token(&header, &good, |_| signature.as_bytes().to_vec());
    refused(&server, &mixed, "the token's signature is wrong").await;
    assert_eq!(accepted(&server, &genuine).await, "ann");
    assert!(!server.log().contains(&genuine), "tokens are not logged");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_bearer_token_is_refused_and_told_what_would_do() {
    let issuer = Issuer::start().await;
    let key = SigningKey::p256("a");
    issuer.publish(&[&key]);
    let server = Server::start(&settings(&issuer, &[]));
    let good = key.token("ES256", &claims(&issuer, json!({})));
    let plain = r#"Bearer realm="Baton""#;
    let nothing = server.get(ANY).send().await.expect(401);
    assert_eq!(nothing.header("www-authenticate"), Some(plain));
    for wrong in [
        "Basic YW5uOnNlY3JldA==",
        "bearer",
        "Bearer",
        "Bearer a b",
        "Bearer .",
        "Bearer a.b.c",
        "Bearer ....",
    ] {
        let answer = server.get(ANY).by(wrong).send().await.expect(401);
        assert!(answer.header("www-authenticate").unwrap().starts_with(plain), "{wrong}: {answer:?}");
        let status = server.grpc().await.topology(call(TopologyRequest {}, wrong)).await.unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated, "{wrong}");
    }
    let twice = format!("Bearer {good}");
    server.get(ANY).by(&twice).by(&twice).send().await.expect(401);
    // Everywhere where somebody must be somebody, and nowhere else.
    for path in ["/v2/process-instances/1", "/v2/users/ann", "/v2/authentication/me"] {
        server.get(path).send().await.expect(401);
    }
    server.get("/v2/status").send().await.expect(204);
    let bearer = format!("bEaReR {good}");
    server.get(ANY).by(&bearer).send().await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_change_while_the_server_runs() {
    let issuer = Issuer::start().await;
    let (old, new) = (SigningKey::p256("old"), SigningKey::p256("new"));
    issuer.publish(&[&old]);
    let server = Server::start(&settings(&issuer, &[]));
    let good = claims(&issuer, json!({}));
    let (of_old, of_new) = (old.token("ES256", &good), new.token("ES256", &good));
    assert_eq!(accepted(&server, &of_old).await, "ann");
    refused(&server, &of_new, "the token's key is unknown").await;
    issuer.publish(&[&new]);
    // The issuer is not asked more often than every ten seconds, whoever comes with whatever.
    let asked = issuer.key_requests();
    eventually("the new key", async || (ask(&server, &of_new).await.status == 200).then_some(())).await;
    assert!(issuer.key_requests() <= asked + 2, "{} requests", issuer.key_requests());
    assert_eq!(accepted(&server, &of_new).await, "ann");
    refused(&server, &of_old, "the token's key is unknown").await;
    // Without the issuer those go on whose key is known.
    issuer.be_away(true);
    assert_eq!(accepted(&server, &of_new).await, "ann");
    let bob = new.token("ES256", &claims(&issuer, json!({"sub": "bob"})));
    assert_eq!(accepted(&server, &bob).await, "bob");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_starts_without_its_issuer_and_lets_nobody_in_until_it_is_there() {
    let issuer = Issuer::start().await;
    let key = SigningKey::p256("a");
    issuer.publish(&[&key]);
    issuer.be_away(true);
    let server = Server::start(&settings(&issuer, &[]));
    let good = key.token("ES256", &claims(&issuer, json!({})));
    let answer = ask(&server, &good).await.expect(503);
    assert_eq!(answer.json()["detail"], "the keys of the token's issuer cannot be fetched at the moment");
    assert!(answer.header("www-authenticate").is_none() && !answer.text.contains(issuer.url()), "{answer:?}");
    let bearer = format!("Bearer {good}");
    let status = server.grpc().await.topology(call(TopologyRequest {}, &bearer)).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable, "{status}");
    issuer.be_away(false);
    eventually("the issuer", async || (ask(&server, &good).await.status == 200).then_some(())).await;
    assert_eq!(accepted(&server, &good).await, "ann");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clocks_may_be_apart_as_far_as_is_configured() {
    let issuer = Issuer::start().await;
    let key = SigningKey::p256("a");
    issuer.publish(&[&key]);
    let usual = Server::start(&settings(&issuer, &[]));
    let strict = Server::start(&settings(&issuer, &["security.authentication.oidc.clock_skew=0s"]));
    let now_s = now_s();
    let ended = key.token("ES256", &claims(&issuer, json!({"exp": now_s - 5})));
    let begins = key.token("ES256", &claims(&issuer, json!({"nbf": now_s + 45})));
    for early_or_late in [&ended, &begins] {
        assert_eq!(accepted(&usual, early_or_late).await, "ann");
    }
    refused(&strict, &ended, "the token has expired").await;
    refused(&strict, &begins, "the token is not valid yet").await;
}

/// A principal with the role of workers by its claims.
const RULES: &str = "
mapping_rules:
  - { id: staff, claim_name: \"$.access[?@.app == 'baton'].roles\", claim_value: staff }
roles:
  - { id: admin, users: [root] }
  - { id: workers, mapping_rules: [staff] }
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mapping_rules_find_claims_by_jsonpath() {
    let issuer = Issuer::start().await;
    let key = SigningKey::p256("a");
    issuer.publish(&[&key]);
    let rules = file(RULES);
    let initialization = format!("security.initialization={}", rules.path().display());
    let names = "security.authentication.oidc.username_claim=$.names[?@.kind == 'login'].value";
    let server = Server::start(&settings(&issuer, &["security.authorizations=true", &initialization, names]));
    let bearer = |name: &str, changes: Value| {
        let mut changes = changes;
        changes["names"] = json!([{"kind": "full", "value": "x"}, {"kind": "login", "value": name}]);
        format!("Bearer {}", key.token("ES256", &claims(&issuer, changes)))
    };
    let is_worker = async |bearer: &str| {
        let me = server.get("/v2/authentication/me").by(bearer).send().await.expect(200).json();
        assert_eq!(me["username"], "ann");
        me["roles"].as_array().unwrap().contains(&json!("workers"))
    };
    let access = |app: &str| {
        bearer(
            "ann",
            json!({"access": [{"app": "x", "roles": ["a"]}, {"app": app, "roles": ["b", "staff"]}]}),
        )
    };
    assert!(is_worker(&access("baton")).await);
    assert!(!is_worker(&access("other")).await);

    // A rule that is made later counts for tokens that were seen before.
    let root = bearer("root", json!({}));
    let level = bearer("ann", json!({"levels": [1, 3]}));
    assert!(!is_worker(&level).await);
    let rule = |claim: &str| json!({"mappingRuleId": "level", "name": "Level", "claimName": claim, "claimValue": "3"});
    let refused = server.post("/v2/mapping-rules", &rule("$.levels[")).by(&root).send().await.expect(400);
    assert!(refused.text.contains("claimName: '$.levels[' is no path to a claim"), "{refused:?}");
    server.post("/v2/mapping-rules", &rule("$.levels[-1]")).by(&root).send().await.expect(201);
    assert!(!is_worker(&level).await);
    server.ask("PUT", "/v2/roles/workers/mapping-rules/level").by(&root).send().await.expect(204);
    assert!(is_worker(&level).await);
    server
        .ask("PUT", "/v2/mapping-rules/level")
        .json(&json!({"name": "Level", "claimName": "$.levels[0]", "claimValue": "3"}))
        .by(&root)
        .send()
        .await
        .expect(200);
    assert!(!is_worker(&level).await);
}
