//! Names and passwords: who comes in, and what is not to be learned by trying.

use grpc::TopologyRequest;
use tonic::Code;

use crate::server::{Server, basic, call, file, with_users};

const ANY: &str = "/v2/topology";
const HASHES: &str = "baton_auth_password_hashes_total";

fn start() -> (Server, tempfile::NamedTempFile) {
    let users = file("users: [{username: ann, password: right}]");
    (Server::start(&with_users(users.path(), &[])), users)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_password_and_an_unknown_user_are_told_apart_by_nothing() {
    let (server, _users) = start();
    server.get(ANY).by(&basic("ann", "right")).send().await.expect(200);
    let mut told = vec![];
    for (user, password) in [("ann", "wrong"), ("bob", "right"), ("bob", "")] {
        let before = server.metric(HASHES).await;
        let answer = server.get(ANY).by(&basic(user, password)).send().await.expect(401);
        let work = server.metric(HASHES).await - before;
        let status = server.grpc().await.topology(call(TopologyRequest {}, &basic(user, password))).await;
        let status = status.unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated);
        let challenge = answer.header("www-authenticate").map(str::to_owned);
        told.push((answer.text, challenge, status.message().to_owned(), work));
    }
    assert!(told.windows(2).all(|pair| pair[0] == pair[1]), "{told:#?}");
    let (text, challenge, _, work) = &told[0];
    assert!(text.contains("user name or password is wrong"), "{text}");
    assert_eq!((challenge.as_deref(), *work), (Some(r#"Basic realm="Baton", charset="UTF-8""#), 1));
    // Names are letters, not patterns, and their case counts.
    for user in ["", "Ann", "ann ", "ann\0", "*", "ann' or '1'='1"] {
        server.get(ANY).by(&basic(user, "right")).send().await.expect(401);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credentials_that_cannot_be_read_are_refused_without_work() {
    let (server, _users) = start();
    server.get(ANY).by(&basic("ann", "right")).send().await.expect(200);
    let before = server.metric(HASHES).await;
    let long_password = basic("ann", &"x".repeat(2000));
    let long_name = basic(&"x".repeat(2000), "right");
    let huge = format!("Basic {}", "A".repeat(60_000));
    for wrong in [
        "",
        "Basic",
        "Basic ",
        "Basic ***",
        "Basic YW5u",
        "Digest YW5uOnJpZ2h0",
        "Bearer YW5uOnJpZ2h0",
        &long_password,
        &long_name,
        &huge,
    ] {
        let answer = server.get(ANY).by(wrong).send().await.expect(401);
        assert!(answer.header("www-authenticate").unwrap().starts_with("Basic realm="), "{answer:?}");
        assert!(answer.text.len() < 400, "{answer:?}");
    }
    for wrong in ["Basic", "Basic ***", "Basic YW5u", "Bearer YW5uOnJpZ2h0", &long_password] {
        let status = server.grpc().await.topology(call(TopologyRequest {}, wrong)).await.unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated, "{wrong}: {status}");
    }
    // No head of a request is read without end.
    let endless = format!("Basic {}", "A".repeat(4 << 20));
    if let Ok(answer) = server.get(ANY).by(&endless).try_send().await {
        assert_eq!(answer.status, 431, "{answer:?}");
    }
    let status = server.grpc().await.topology(call(TopologyRequest {}, &huge)).await.unwrap_err();
    assert_ne!(status.code(), Code::Unavailable, "{status}");
    assert_eq!(server.metric(HASHES).await, before);
    server.get(ANY).by(&basic("ann", "right")).send().await.expect(200);
}
