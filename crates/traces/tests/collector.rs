//! Against a collector that takes OTLP over gRPC.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use traces::RequestTrace;
use traces::testing::{Collector, Span};

async fn told(ratio: f64, traceparent: Option<&str>) -> Vec<Span> {
    let collector = Collector::start().await.unwrap();
    let traces = collector.traces(ratio).unwrap();
    if let Some(traced) = traces.choose(traceparent) {
        tokio::time::sleep(Duration::from_millis(20)).await;
        traces.report(
            traced,
            &RequestTrace {
                name: "createProcessInstance",
                attributes: &[("http.response.status_code", "200")],
                failed: true,
                stages: &[
                    ("queue", Duration::from_millis(3)),
                    ("commit", Duration::from_millis(5)),
                    ("apply", Duration::ZERO),
                ],
            },
        );
    }
    collector.spans(traces).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_and_its_stages_reach_the_collector() {
    let parent = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let spans = told(0.0, parent).await;
    let of = |name: &str| spans.iter().find(|span| span.name == name);
    let request = of("createProcessInstance").unwrap();
    assert_eq!(request.trace_id[..2], [0x0a, 0xf7]);
    assert_eq!(request.parent_span_id[..2], [0xb7, 0xad]);
    assert!(request.end_time_unix_nano - request.start_time_unix_nano >= 20_000_000);
    assert_eq!(request.attributes[0].key, "http.response.status_code");
    assert!(request.status.is_some());
    let (queue, commit) = (of("queue").unwrap(), of("commit").unwrap());
    assert_eq!(commit.parent_span_id, request.span_id);
    assert_eq!(commit.start_time_unix_nano, queue.end_time_unix_nano);
    assert_eq!(commit.end_time_unix_nano - commit.start_time_unix_nano, 5_000_000);
    assert_eq!(commit.end_time_unix_nano, request.end_time_unix_nano);
    assert!(of("apply").is_none(), "what takes no time is no stage");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_not_chosen_are_not_told_of() {
    assert!(told(0.0, None).await.is_empty());
    let parent = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
    assert!(told(1.0, parent).await.is_empty());
    assert_eq!(told(1.0, None).await.len(), 3);
}
