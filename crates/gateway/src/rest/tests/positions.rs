//! Reading what one wrote: the position that a command tells, and requests that wait for one.

use std::sync::Arc;

use ::http::HeaderValue;
use serde_json::Value;

use super::fake::FakeBroker;
use super::fake_storage::FakeStorage;
use super::{Gateway, block_on, gateway, request, stored_gateway, text};

const SEARCH: &str = "/v2/process-instances/search";

/// A search that waits for a position, and what it is answered with.
async fn await_position(gateway: &Gateway, position: &'static str) -> (u16, String) {
    let mut request = request("POST", SEARCH, "{}");
    request.headers_mut().insert("Baton-Await-Position", HeaderValue::from_static(position));
    let (status, answer) = text(gateway.answer(request).await).await;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    (status, answer["detail"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn commands_tell_a_position_and_questions_none() {
    let storage = Arc::new(FakeStorage::default());
    let gateway = stored_gateway(&Arc::<FakeBroker>::default(), &storage);
    let position = |path, body: &'static str| {
        let answer = block_on(gateway.answer(request("POST", path, body)));
        assert!(answer.status().is_success(), "{path}: {answer:?}");
        answer.headers().get("baton-position").map(|value| value.to_str().unwrap().to_owned())
    };
    let told = Some("1:42".to_owned());
    assert_eq!(position("/v2/process-instances", r#"{"processDefinitionId":"order"}"#), told);
    assert_eq!(position("/v2/jobs/5/completion", "{}"), told);
    let activation = r#"{"type":"t","timeout":1000,"maxJobsToActivate":1}"#;
    assert_eq!(position("/v2/jobs/activation", activation), Some("1:42,3:7".to_owned()));
    assert_eq!(position(SEARCH, "{}"), None);
}

#[test]
fn a_search_waits_for_the_position_that_it_names_and_says_when_that_takes_too_long() {
    let storage = Arc::new(FakeStorage::default());
    let gateway = stored_gateway(&Arc::<FakeBroker>::default(), &storage);
    block_on(async {
        storage.progress.reached(1, 5);
        assert_eq!(await_position(&gateway, "1:5").await.0, 200);
        let (status, detail) = await_position(&gateway, "1:6").await;
        assert_eq!(status, 504, "{detail}");
        assert!(detail.contains("position 6 of partition 1 within 50 ms, but it is at 5"), "{detail}");
        let catches_up = async {
            tokio::task::yield_now().await;
            storage.progress.reached(1, 6);
        };
        let ((status, detail), ()) = tokio::join!(await_position(&gateway, "1:6"), catches_up);
        assert_eq!(status, 200, "{detail}");
        // Several together: the farthest counts.
        assert_eq!(await_position(&gateway, "1:6,1:2").await.0, 200);
        let (status, detail) = await_position(&gateway, "1:2, 1:7").await;
        assert_eq!(status, 504, "{detail}");
        assert!(detail.contains("position 7 of partition 1"), "{detail}");
    });
}

#[test]
fn a_position_that_can_never_be_is_refused_at_once() {
    let storage = Arc::new(FakeStorage::default());
    let gateway = stored_gateway(&Arc::<FakeBroker>::default(), &storage);
    for (wrong, reason) in [
        ("3:1", "there is no partition 3"),
        ("1:1,3:1", "there is no partition 3"),
        ("1:1,", "several of these with commas between them"),
        ("7", "expected a partition, a colon and a position"),
        ("1:-1", "expected a partition"),
        ("1:18446744073709551616", "expected a partition"),
    ] {
        let (status, detail) = block_on(await_position(&gateway, wrong));
        assert_eq!(status, 400, "{wrong}: {detail}");
        assert!(detail.contains("baton-await-position") && detail.contains(reason), "{wrong}: {detail}");
    }
}

#[test]
fn without_secondary_storage_the_engine_answers_for_what_lives_and_nobody_waits() {
    let gateway = gateway(&Arc::default());
    let mut living = request("GET", "/v2/process-instances/5", "");
    living.headers_mut().insert("Baton-Await-Position", HeaderValue::from_static("1:99"));
    assert_eq!(block_on(gateway.answer(living)).status(), 200);
    assert_eq!(block_on(await_position(&gateway, "1:99")).0, 403);
}
