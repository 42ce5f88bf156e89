//! Sessions of browsers: cookies, tokens against forged requests, and their end.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::server::{Answer, Ask, Server, basic, eventually, file, with_users};

/// Cookies of the answer to a login.
struct Browser {
    cookies: String,
    csrf: String,
}

impl Browser {
    async fn login(server: &Server, form: &str) -> Result<(Self, Answer), Answer> {
        let answer =
            server.ask("POST", "/login").body("application/x-www-form-urlencoded", form).send().await;
        if answer.status != 204 {
            return Err(answer);
        }
        let cookies = cookies(&answer).into_iter().map(|cookie| cookie.split(';').next().unwrap().to_owned());
        let csrf = answer.header("x-csrf-token").unwrap().to_owned();
        Ok((Self { cookies: cookies.collect::<Vec<_>>().join("; "), csrf }, answer))
    }

    fn send<'a>(&self, ask: Ask<'a>) -> Ask<'a> {
        ask.header("cookie", &*self.cookies)
    }
}

fn cookies(answer: &Answer) -> Vec<&str> {
    let cookies = answer.headers.iter().filter(|(name, _)| name == "set-cookie");
    cookies.map(|(_, value)| value.as_str()).collect()
}

const USERS: &str = "
users: [{username: ann, password: right}, {username: bob, password: right}]
roles: [{id: admin, users: [ann]}]
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_for_its_browser_and_for_pages_of_ours() {
    let users = file(USERS);
    let server = Server::start(&with_users(users.path(), &[]));
    let (browser, answer) = Browser::login(&server, "username=ann&password=right")
        .await
        .unwrap_or_else(|answer| panic!("{answer:?}"));
    let [session, csrf] = cookies(&answer)[..] else { panic!("{answer:?}") };
    let flags = |cookie: &str| cookie.split("; ").skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert!(session.starts_with("__Host-baton-session="), "{session}");
    assert_eq!(flags(session), ["Path=/", "SameSite=Lax", "Secure", "HttpOnly"]);
    assert_eq!(flags(csrf), ["Path=/", "SameSite=Lax", "Secure"]);
    assert!(answer.text.is_empty(), "{answer:?}");

    let me = browser.send(server.get("/v2/authentication/me")).send().await.expect(200).json();
    assert_eq!(me["username"], "ann");
    let create = |id: &str| browser.send(server.post("/v2/roles", &json!({"roleId": id, "name": id})));
    let refused = |answer: Answer| {
        assert!(answer.header("www-authenticate").is_none());
        assert_eq!(answer.expect(403).json()["detail"], "the CSRF token is missing or wrong");
    };
    refused(create("a").send().await);
    refused(create("a").header("x-csrf-token", "guess").send().await);
    refused(create("a").header("x-csrf-token", "").send().await);
    // One of another session is as good as none.
    let (other, _) = Browser::login(&server, "username=bob&password=right")
        .await
        .unwrap_or_else(|answer| panic!("{answer:?}"));
    refused(create("a").header("x-csrf-token", &*other.csrf).send().await);
    let foreign = create("a").header("x-csrf-token", &*browser.csrf).header("sec-fetch-site", "cross-site");
    foreign.send().await.expect(403);
    let nothing = server.post("/v2/roles/search", &json!({"filter": {"roleId": "a"}}));
    let found = nothing.by(&basic("ann", "right")).send().await.expect(200).json();
    assert_eq!(found["items"], json!([]), "refused means not done");
    create("a").header("x-csrf-token", &*browser.csrf).send().await.expect(201);

    // No other browser can end it; its end is the end. Its end is the end.
    refused(browser.send(server.ask("POST", "/logout")).send().await);
    let out = browser
        .send(server.ask("POST", "/logout"))
        .header("x-csrf-token", &*browser.csrf)
        .send()
        .await
        .expect(204);
    assert!(cookies(&out).iter().all(|cookie| cookie.contains("Max-Age=0")), "{out:?}");
    browser.send(server.get("/v2/authentication/me")).send().await.expect(401);
    create("b").header("x-csrf-token", &*browser.csrf).send().await.expect(401);
    let me = other.send(server.get("/v2/authentication/me")).send().await.expect(200).json();
    assert_eq!(me["username"], "bob");
    // A session is nothing over gRPC, nor one that somebody made up.
    server
        .get("/v2/authentication/me")
        .header("cookie", "__Host-baton-session=made-up")
        .send()
        .await
        .expect(401);
    for form in ["username=ann&password=wrong", "username=bo%62&password=", "username=none&password=right"] {
        let Err(answer) = Browser::login(&server, form).await else { panic!("{form}") };
        assert!(cookies(&answer.expect(401)).is_empty());
    }
    server.ask("POST", "/login").body("application/json", "{}").send().await.expect(415);
    let long = format!("username=ann&password={}", "x".repeat(1 << 20));
    let Err(answer) = Browser::login(&server, &long).await else { panic!("a password of a mebibyte") };
    answer.expect(413);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_ends_with_its_user() {
    let users = file(USERS);
    let server = Server::start(&with_users(users.path(), &["security.sessions.idle_timeout=1s"]));
    let admin = basic("ann", "right");
    let me = |browser: &Browser| browser.send(server.get("/v2/authentication/me"));
    let (gone, _) = Browser::login(&server, "username=bob&password=right")
        .await
        .unwrap_or_else(|answer| panic!("{answer:?}"));
    server.ask("DELETE", "/v2/users/bob").by(&admin).send().await.expect(204);
    me(&gone).send().await.expect(401);
    let (idle, _) = Browser::login(&server, "username=ann&password=right")
        .await
        .unwrap_or_else(|answer| panic!("{answer:?}"));
    // Asked more seldom than it takes to fall asleep.
    let mut pause = tokio::time::interval(std::time::Duration::from_millis(1500));
    pause.tick().await;
    eventually("the end of the session", async || {
        pause.tick().await;
        (me(&idle).send().await.status == 401).then_some(())
    })
    .await;
    let (changed, _) = Browser::login(&server, "username=ann&password=right")
        .await
        .unwrap_or_else(|answer| panic!("{answer:?}"));
    let password = json!({"name": "Ann", "email": "ann@example.com", "password": "another"});
    server.ask("PUT", "/v2/users/ann").json(&password).by(&admin).send().await.expect(200);
    me(&changed).send().await.expect(401);
    server.get("/v2/topology").by(&admin).send().await.expect(401);
    server.get("/v2/topology").by(&basic("ann", "another")).send().await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_change_their_own_password_by_the_present_one() {
    let users = file(USERS);
    let settings = ["security.authorizations=true", "security.authentication.min_password_length=8"];
    let server = Server::start(&with_users(users.path(), &settings));
    let me = |browser: &Browser| browser.send(server.get("/v2/authentication/me"));
    let login = async |form: &str| Browser::login(&server, form).await.map(|(browser, _)| browser);
    let before = login("username=bob&password=right").await.unwrap_or_else(|answer| panic!("{answer:?}"));
    // Bob may not change users, himself among them.
    let plain = json!({"password": "long enough"});
    let asked =
        before.send(server.ask("PUT", "/v2/users/bob").json(&plain)).header("x-csrf-token", &*before.csrf);
    asked.send().await.expect(403);
    for (form, status, names) in [
        ("username=bob&password=wrong&newPassword=long+enough", 401, ""),
        (
            "username=bob&password=right&newPassword=short",
            400,
            "newPassword: must have at least 8 characters",
        ),
        ("username=bob&password=right&newPassword=++++++++++", 400, "not all of them spaces"),
    ] {
        let refused = login(form).await.err().unwrap_or_else(|| panic!("{form}"));
        assert!(refused.status == status && refused.text.contains(names), "{form}: {refused:?}");
    }
    me(&before).send().await.expect(200);
    let form = "username=bob&password=right&newPassword=long+enough";
    let after = login(form).await.unwrap_or_else(|answer| panic!("{answer:?}"));
    me(&after).send().await.expect(200);
    me(&before).send().await.expect(401);
    login("username=bob&password=right").await.err().expect("the old one is none any more").expect(401);
    login("username=bob&password=long+enough").await.unwrap_or_else(|answer| panic!("{answer:?}"));
    let admin = basic("ann", "right");
    let short = json!({"username": "carl", "password": "short"});
    let refused = server.ask("POST", "/v2/users").json(&short).by(&admin).send().await.expect(400).json();
    assert_eq!(refused["detail"], "password: must have at least 8 characters, not all of them spaces");
    let boot = server.get("/baton/v1/boot").send().await.expect(200).json();
    assert_eq!(boot["passwordLengthMin"], 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_for_changes_is_told_that_the_session_has_ended() {
    let users = file(USERS);
    let server = Server::start(&with_users(users.path(), &[]));
    let login = async |form: &str| {
        let begun = Browser::login(&server, form).await;
        begun.unwrap_or_else(|answer| panic!("{answer:?}")).0
    };
    let (ann, bob) = (login("username=ann&password=right").await, login("username=bob&password=right").await);
    let wait = async |browser: &Browser, timeout_ms: u64| {
        let ask = |body: &serde_json::Value| {
            browser.send(server.post("/baton/v1/changes", body)).header("x-csrf-token", &*browser.csrf).send()
        };
        let topics = json!(["batch-operation:1"]);
        let mut told = ask(&json!({"topics": topics})).await.expect(200).json();
        let began = Instant::now();
        loop {
            let answer =
                ask(&json!({"topics": topics, "after": told["after"], "timeoutMs": timeout_ms})).await;
            // A server that has just started may tell once that anything has changed.
            if answer.status != 200 || answer.json()["changed"] == json!([]) {
                return (answer.status, began.elapsed());
            }
            told = answer.json();
        }
    };
    let out = async |browser: &Browser| {
        some_time().await;
        let out = browser.send(server.ask("POST", "/logout")).header("x-csrf-token", &*browser.csrf);
        out.send().await.expect(204);
    };
    let ((of_bob, after), (of_ann, _), ()) = tokio::join!(wait(&bob, 25_000), wait(&ann, 2_000), out(&bob));
    assert_eq!((of_bob, of_ann), (401, 200));
    assert!(after < Duration::from_secs(10), "{after:?}");
    // A user who is removed is no user any more.
    let bob = login("username=bob&password=right").await;
    let remove = async || {
        some_time().await;
        let removed = server.ask("DELETE", "/v2/users/bob").by(&basic("ann", "right"));
        removed.send().await.expect(204);
    };
    let ((of_bob, after), ()) = tokio::join!(wait(&bob, 25_000), remove());
    assert_eq!(of_bob, 401);
    assert!(after < Duration::from_secs(20), "{after:?}");
}

/// Long enough for a request that waits to have begun.
async fn some_time() {
    let began = Instant::now();
    eventually("some time", async || (began.elapsed() >= Duration::from_millis(500)).then_some(())).await;
}
