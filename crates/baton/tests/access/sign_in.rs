//! Browsers that sign in at the issuer, over HTTP.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::issuer::{Issuer, SigningKey};
use crate::server::{Answer, Server};

pub(crate) fn settings(issuer: &Issuer, more: &[&str]) -> Vec<String> {
    let mut settings = vec![
        "security.authentication.method=oidc".to_owned(),
        format!("security.authentication.oidc.issuer={}", issuer.url()),
    ];
    settings.extend(more.iter().map(ToString::to_string));
    settings
}

pub(crate) fn cookies(answer: &Answer) -> String {
    let cookies = answer.headers.iter().filter(|(name, _)| name == "set-cookie");
    let pairs: Vec<_> = cookies.map(|(_, value)| value.split(';').next().unwrap()).collect();
    pairs.join("; ")
}

pub(crate) fn fields(query: &str) -> HashMap<&str, &str> {
    query.split('&').filter_map(|pair| pair.split_once('=')).collect()
}

/// An ID token of Ann, for five minutes.
pub(crate) fn id_token(issuer: &Issuer, key: &SigningKey, nonce: &str) -> String {
    let ends_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 300;
    let claims = json!({"iss": issuer.url(), "aud": "baton", "sub": "ann", "exp": ends_s, "nonce": nonce});
    key.token("ES256", &claims)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_goes_to_the_issuer_and_comes_back_with_a_session() {
    let issuer = Issuer::start().await;
    let key = SigningKey::p256("a");
    issuer.publish(&[&key]);
    let server = Server::start(&settings(&issuer, &["security.authentication.oidc.client_id=baton"]));
    let boot = server.get("/baton/v1/boot").send().await.expect(200).json();
    assert_eq!((&boot["authentication"], &boot["signIn"]), (&json!("oidc"), &json!("REDIRECT")));

    let there = server.get("/oauth2/login?next=%2Foperate%3Factive%3Dtrue").send().await.expect(302);
    assert_eq!(there.header("cache-control"), Some("no-store"));
    let location = there.header("location").unwrap();
    let (start, query) = location.split_once('?').unwrap();
    assert_eq!(start, format!("{}/authorize", issuer.url()));
    let sent = fields(query);
    assert!(
        sent["redirect_uri"].starts_with("http%3A%2F%2F")
            && sent["redirect_uri"].ends_with("%2Fsso-callback")
    );
    let token = id_token(&issuer, &key, sent["nonce"]);
    issuer.give(200, json!({"access_token": token, "id_token": token, "refresh_token": "r"}));
    let callback = format!("/sso-callback?code=c&state={}", sent["state"]);

    // Another browser gets nothing.
    let lost = server.get(&callback).send().await.expect(303);
    assert_eq!(lost.header("location"), Some("/login?error=expired&next=%2F"));
    let back = server.get(&callback).header("cookie", cookies(&there)).send().await.expect(303);
    assert_eq!(back.header("location"), Some("/operate?active=true"));
    let session = cookies(&back);
    let me = server.get("/v2/authentication/me").header("cookie", &*session).send().await.expect(200).json();
    assert_eq!(me["username"], "ann");

    let csrf = fields(&session.replace("; ", "&"))["X-CSRF-TOKEN"].to_owned();
    server.ask("POST", "/logout").header("cookie", &*session).send().await.expect(403);
    let out = server.ask("POST", "/logout").header("cookie", &*session).header("x-csrf-token", csrf);
    let out = out.send().await.expect(204);
    assert!(out.header("baton-logout-location").unwrap().starts_with(&format!("{}/logout?", issuer.url())));
    server.get("/v2/authentication/me").header("cookie", &*session).send().await.expect(401);
    let failed: Vec<String> =
        server.log().lines().filter(|line| line.contains("a sign-in failed")).map(str::to_owned).collect();
    assert!(
        failed.len() == 1 && failed[0].contains("the login has expired") && failed[0].contains("127.0.0.1"),
        "{failed:?}"
    );
    for secret in [&token, "r\"", sent["state"]] {
        assert!(!server.log().contains(secret), "nothing of it is logged");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_client_nobody_is_sent_anywhere() {
    let issuer = Issuer::start().await;
    let server = Server::start(&settings(&issuer, &[]));
    let boot = server.get("/baton/v1/boot").send().await.expect(200).json();
    assert_eq!(boot["signIn"], "TOKEN");
    server.get("/oauth2/login").send().await.expect(404);
    server.get("/sso-callback?code=c&state=s").send().await.expect(404);
}
