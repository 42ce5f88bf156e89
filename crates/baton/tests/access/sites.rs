//! Pages of other sites, in browsers that reach the server: by its own address, or by a name that leads here.

use serde_json::json;

use crate::server::{Answer, Server, basic, file, with_users};

const CHANGE: &str = "/v2/documents";

async fn upload(server: &Server, headers: &[(&str, &str)]) -> u16 {
    // A form needs no leave of the server to be sent by a page of another site.
    let mut ask = server.ask("POST", CHANGE).file("file", "a.txt", "a");
    for (name, value) in headers {
        ask = ask.header(name, *value);
    }
    ask.send().await.status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_other_sites_change_nothing() {
    let server = Server::start(&["security.allowed_origins=https://desk.example.com".to_owned()]);
    for (headers, expected) in [
        (&[][..], 201),
        (&[("origin", "http://localhost")], 201),
        (&[("origin", "https://desk.example.com")], 201),
        (&[("origin", "http://evil.example")], 403),
        (&[("origin", "null")], 403),
        (&[("origin", "http://localhost:3000")], 403),
        (&[("origin", "http://evil.example"), ("sec-fetch-site", "same-origin")], 201),
        (&[("origin", "http://localhost"), ("sec-fetch-site", "cross-site")], 403),
    ] {
        assert_eq!(upload(&server, headers).await, expected, "{headers:?}");
    }
    // Reading gives pages of other sites nothing, since they cannot look at the answer.
    server.get("/v2/topology").header("origin", "http://evil.example").send().await.expect(200);
    // The same holds for what operators change.
    let manage = async |origin: &str| {
        let head = format!(
            "POST /actuator/exporting/pause HTTP/1.1\r\nhost: localhost\r\norigin: {origin}\r\n\
             content-length: 0\r\nconnection: close\r\n\r\n"
        );
        server.raw_to("management", head.as_bytes()).await.unwrap().status
    };
    assert_eq!(manage("http://evil.example").await, 403);
    assert_ne!(manage("http://localhost").await, 403);
}

async fn by_name(server: &Server, port: &str, path: &str, host: &str) -> Answer {
    let head = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    server.raw_to(port, head.as_bytes()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_leads_here_is_not_ours() {
    let ports = [("rest", "/v2/topology"), ("management", "/actuator/health/readiness")];
    let server = Server::start(&["security.allowed_hosts=baton.example.com".to_owned()]);
    let bare = Server::start(&[]);
    for (port, path) in ports {
        for host in ["127.0.0.1", "localhost:8080", "[::1]", "10.0.0.7:9600"] {
            by_name(&bare, port, path, host).await.expect(200);
            by_name(&server, port, path, host).await.expect(200);
        }
        for host in ["evil.example", "localhost.evil.example:80"] {
            let answer = by_name(&bare, port, path, host).await.expect(403);
            assert!(answer.text.contains("security.allowed_hosts"), "{answer:?}");
            by_name(&server, port, path, host).await.expect(403);
        }
        by_name(&server, port, path, "Baton.example.com:8080").await.expect(200);
        by_name(&bare, port, path, "baton.example.com").await.expect(403);
    }
    // Where credentials are asked for, a page of another name has none.
    let identities = file("users: [{username: ann, password: right}]");
    let guarded = Server::start(&with_users(identities.path(), &[]));
    by_name(&guarded, "rest", "/v2/topology", "evil.example").await.expect(401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_passwords_are_guessed_for_rests() {
    let identities = file("users: [{username: ann, password: right}, {username: bob, password: right}]");
    let server = Server::start(&with_users(identities.path(), &[]));
    for name in ["ann", "nobody"] {
        let mut statuses = vec![];
        for guess in 0..7 {
            let answer = server.get("/v2/topology").by(&basic(name, &format!("guess {guess}"))).send().await;
            if answer.status == 429 {
                assert!(answer.header("retry-after").is_some(), "{answer:?}");
                assert_eq!(answer.json()["title"], json!("RESOURCE_EXHAUSTED"));
            }
            statuses.push(answer.status);
        }
        // Slow machines may have the rest over before the last ones.
        assert_eq!(statuses[..5], [401; 5], "{name}");
        assert!(statuses[5..].contains(&429), "{name}: {statuses:?}");
    }
    server.get("/v2/topology").by(&basic("bob", "right")).send().await.expect(200);
}
