//! Random requests get a 4xx or better, and never a panic.

use proptest::prelude::*;

use super::super::contract::OPERATIONS;
use super::super::operation::served;
use super::{block_on, gateway, request, text};

/// JSON made of the names that the contract uses, so that it gets past the first check now and then.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        "-?[0-9]{1,30}(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,4})?",
        "\"[a-z0-9<>_.:-]{0,8}\"",
        "\"(\\\\[nt\"u0-9a-d]){0,4}\"",
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        let names = [
            "type",
            "timeout",
            "maxJobsToActivate",
            "variables",
            "tenantId",
            "tags",
            "processDefinitionId",
            "name",
            "processDefinitionKey",
            "awaitCompletion",
            "changeset",
            "retries",
            "expression",
            "result",
            "a",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|list| format!("[{}]", list.join(","))),
            prop::collection::vec((prop::sample::select(names.to_vec()), inner), 0..6).prop_map(|members| {
                let members: Vec<_> =
                    members.into_iter().map(|(name, value)| format!("{name:?}: {value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

fn path() -> impl Strategy<Value = (&'static str, String)> {
    let known = prop::sample::select((0..served().len()).collect::<Vec<_>>()).prop_flat_map(|at| {
        let spec = served()[at].spec();
        "-?[0-9]{1,26}|[a-z%.]{1,5}".prop_map(move |value| {
            let path: Vec<_> =
                spec.path.split('/').map(|s| if s.starts_with('{') { &value } else { s }).collect();
            (spec.method, path.join("/"))
        })
    });
    let any = (prop::sample::select((0..OPERATIONS.len()).collect::<Vec<_>>()), "(/[a-z0-9%-]{0,9}){0,6}")
        .prop_map(|(at, path)| (OPERATIONS[at].method, format!("/v2{path}")));
    prop_oneof![4 => known, 1 => any]
}

fn check(method: &str, path: &str, body: Vec<u8>) -> Result<(), TestCaseError> {
    let gateway = gateway(&std::sync::Arc::default());
    let Ok(uri) = path.parse::<::http::Uri>() else { return Ok(()) };
    let (status, answer) =
        block_on(async { text(gateway.answer(request(method, &uri.to_string(), body)).await).await });
    prop_assert!(status < 500 || status == 501, "{} {}: {} {}", method, path, status, answer);
    if status >= 400 {
        prop_assert!(serde_json::from_str::<serde_json::Value>(&answer).unwrap()["detail"].is_string());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn random_json_is_answered((method, path) in path(), body in json()) {
        check(method, &path, body.into_bytes())?;
    }

    #[test]
    fn random_bytes_are_answered((method, path) in path(), body in prop::collection::vec(any::<u8>(), 0..200)) {
        check(method, &path, body)?;
    }

    #[test]
    fn damaged_json_is_answered(
        (method, path) in path(), body in json(), at in any::<prop::sample::Index>(), byte in any::<u8>()
    ) {
        let mut body = body.into_bytes();
        let at = at.index(body.len());
        body[at] = byte;
        check(method, &path, body)?;
    }

    #[test]
    fn random_forms_are_answered(body in "(--x(--)?\r\n([A-Za-z-]{1,20}: ?[a-z; =\"]{0,40}\r\n){0,3}\r\n.{0,20}\r\n){0,4}") {
        let gateway = gateway(&std::sync::Arc::default());
        let request = ::http::Request::post("/v2/deployments")
            .header("content-type", "multipart/form-data; boundary=x")
            .body(http_body_util::Full::new(bytes::Bytes::from(body)))
            .unwrap();
        let (status, _) = block_on(async { text(gateway.answer(request).await).await });
        prop_assert_eq!(status, 400);
    }
}
