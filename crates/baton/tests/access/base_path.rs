//! A proxy that shares one address between programs: all that is ours is below a path, which the proxy passes on or
//! takes off.

use serde_json::json;

use crate::issuer::{Issuer, SigningKey};
use crate::server::{Server, basic, file, with_users};
use crate::sign_in::{cookies, fields, id_token, settings};

const USERS: &str = "
users: [{username: root, password: right}]
roles: [{id: admin, users: [root]}]
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_holds_below_the_path_alone() {
    let users = file(USERS);
    let server = Server::start(&with_users(users.path(), &["web.base_path=/tools/baton/"]));
    let form = "username=root&password=right";
    for (login, api) in [("/tools/baton/login", "/tools/baton"), ("/login", "")] {
        let media = "application/x-www-form-urlencoded";
        let begun = server.ask("POST", login).body(media, form).send().await.expect(204);
        let set: Vec<_> = begun.headers.iter().filter(|(name, _)| name == "set-cookie").collect();
        assert_eq!(set.len(), 2, "{set:?}");
        assert!(set.iter().all(|(_, cookie)| cookie.contains("; Path=/tools/baton; ")), "{set:?}");
        assert!(set[0].1.starts_with("__Secure-baton-session="), "the other prefix is for the root: {set:?}");
        let session = cookies(&begun);
        let me = format!("{api}/v2/authentication/me");
        let me = server.get(&me).header("cookie", &*session).send().await.expect(200).json();
        assert_eq!(me["username"], "root");
        server.ask("POST", &format!("{api}/logout")).header("cookie", &*session).send().await.expect(403);
        let csrf = fields(&session.replace("; ", "&"))["X-CSRF-TOKEN"].to_owned();
        let out = server.ask("POST", &format!("{api}/logout")).header("cookie", &*session);
        let out = out.header("x-csrf-token", csrf).send().await.expect(204);
        assert!(
            out.headers
                .iter()
                .any(|(_, value)| value.contains("Path=/tools/baton; ") && value.contains("Max-Age=0"))
        );
    }
    // Clients that come by another way leave it out.
    for path in ["/v2/topology", "/tools/baton/v2/topology", "/tools/baton/baton/v1/boot"] {
        server.get(path).by(&basic("root", "right")).send().await.expect(200);
    }
    for path in ["/tools/v2/topology", "/tools/batonic/v2/topology", "/tools/baton/tools/baton/v2/topology"] {
        server.get(path).by(&basic("root", "right")).send().await.expect(404);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_comes_back_from_the_issuer_below_the_path() {
    let issuer = Issuer::start().await;
    let key = SigningKey::p256("a");
    issuer.publish(&[&key]);
    let more = ["security.authentication.oidc.client_id=baton", "web.base_path=/baton/"];
    let server = Server::start(&settings(&issuer, &more));
    let there = server.get("/baton/oauth2/login?next=%2Foperate%3Factive%3Dtrue").send().await.expect(302);
    let (_, query) = there.header("location").unwrap().split_once('?').unwrap();
    let sent = fields(query);
    assert!(sent["redirect_uri"].ends_with("%2Fbaton%2Fsso-callback"), "{}", sent["redirect_uri"]);
    let token = id_token(&issuer, &key, sent["nonce"]);
    issuer.give(200, json!({"access_token": token, "id_token": token}));
    let callback = format!("/baton/sso-callback?code=c&state={}", sent["state"]);
    let lost = server.get(&callback).send().await.expect(303);
    assert_eq!(lost.header("location"), Some("/baton/login?error=expired&next=%2F"));
    let back = server.get(&callback).header("cookie", cookies(&there)).send().await.expect(303);
    assert_eq!(back.header("location"), Some("/baton/operate?active=true"));
    let session = cookies(&back);
    let me = server.get("/baton/v2/authentication/me").header("cookie", &*session).send().await.expect(200);
    assert_eq!(me.json()["username"], "ann");
}

#[test]
fn what_is_no_such_path_is_refused_at_the_start() {
    for bad in ["baton", "/baton", "/a b/", "/v2/", "/operate/x/"] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_baton"))
            .args(["start", "--set", &format!("web.base_path={bad}")])
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{bad}");
        assert!(told.contains("web.base_path") && told.contains("begins and ends with '/'"), "{bad}: {told}");
    }
}
