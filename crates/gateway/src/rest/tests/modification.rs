//! Modification: every form of its instructions.

use bytes::Bytes;
use protocol::{
    ActivationInstruction, AncestorScope, Command, Document, ElementSource, ModifyInstance, MoveElement,
    ScopeVariables,
};

use super::super::contract::Operation;
use super::operations::{bad, succeed};

const PATH: &str = "/v2/process-instances/5/modification";

fn modified(body: &str) -> ModifyInstance {
    match succeed(Operation::ModifyProcessInstance, PATH, body) {
        (answer, Command::ModifyInstance(modify)) if answer.is_empty() => modify,
        other => panic!("{other:?}"),
    }
}

fn variables(scope_id: &str, json: &'static str) -> ScopeVariables {
    let variables = Document::parse(Bytes::from_static(json.as_bytes())).unwrap();
    ScopeVariables { scope_id: scope_id.into(), variables }
}

#[test]
fn instructions_reach_the_broker() {
    let activate = |id: &str, ancestor_key, variables| ActivationInstruction {
        element_id: id.into(),
        ancestor_key,
        variables,
    };
    let modify = modified(
        r#"{"activateInstructions":[
            {"elementId":"a"},
            {"elementId":"b","ancestorElementInstanceKey":"-1","variableInstructions":[]},
            {"elementId":"c\u00e4","ancestorElementInstanceKey":"7","variableInstructions":[
                {"variables":{"x":1.50}},{"variables":{},"scopeId":"s"}]}],
        "moveInstructions":[],
        "terminateInstructions":[{"elementInstanceKey":"8"},{"elementId":"d"}],
        "operationReference":9}"#,
    );
    let expected = ModifyInstance {
        activate: vec![
            activate("a", None, vec![]),
            activate("b", None, vec![]),
            activate("c\u{e4}", Some(7), vec![variables("", r#"{"x":1.50}"#), variables("s", "{}")]),
        ],
        terminate: vec![ElementSource::Key(8), ElementSource::Id("d".into())],
        operation_reference: Some(9),
        ..ModifyInstance::of(5)
    };
    assert_eq!(modify, expected);
    assert_eq!(modified("{}"), ModifyInstance::of(5));
}

#[test]
fn moves_reach_the_broker() {
    let by_id =
        r#""sourceElementInstruction":{"sourceType":"byId","sourceElementId":"a"},"targetElementId":"b""#;
    let by_key = r#""sourceElementInstruction":{"sourceType":"byKey","sourceElementInstanceKey":"6"},"targetElementId":"b""#;
    let body = format!(
        r#"{{"moveInstructions":[
            {{{by_id}}},
            {{{by_id},"ancestorScopeInstruction":{{"ancestorScopeType":"inferred"}}}},
            {{{by_id},"ancestorScopeInstruction":{{"ancestorScopeType":"sourceParent"}}}},
            {{{by_key},"ancestorScopeInstruction":{{"ancestorScopeType":"direct","ancestorElementInstanceKey":"7"}},
                "variableInstructions":[{{"variables":{{"y":2}},"scopeId":"b"}}]}}]}}"#
    );
    let step = |source, ancestor| MoveElement { source, target_id: "b".into(), ancestor, variables: vec![] };
    let id = || ElementSource::Id("a".into());
    let expected = vec![
        step(id(), AncestorScope::Only),
        step(id(), AncestorScope::Inferred),
        step(id(), AncestorScope::SourceParent),
        MoveElement {
            variables: vec![variables("b", r#"{"y":2}"#)],
            ..step(ElementSource::Key(6), AncestorScope::Direct(7))
        },
    ];
    assert_eq!(modified(&body).moves, expected);
}

#[test]
fn what_is_wrong_is_named() {
    for (body, detail) in [
        (r#"{"activateInstructions":[{}]}"#, "activateInstructions[0].elementId: is required, but missing"),
        (
            r#"{"activateInstructions":[{"elementId":"a","variableInstructions":[{}]}]}"#,
            "activateInstructions[0].variableInstructions[0].variables: is required, but missing",
        ),
        (
            r#"{"terminateInstructions":[{"elementId":"a","elementInstanceKey":"1"}]}"#,
            "terminateInstructions[0]: expected exactly one of elementId, elementInstanceKey, but found elementId, elementInstanceKey together",
        ),
        (
            r#"{"moveInstructions":[{"targetElementId":"a","sourceElementInstruction":{"sourceType":"byName"}}]}"#,
            r#"moveInstructions[0].sourceElementInstruction.sourceType: expected one of byId, byKey, but found "byName"; moveInstructions[0].sourceElementInstruction: expected exactly one of sourceElementId, sourceElementInstanceKey, but found none"#,
        ),
        (
            r#"{"terminateInstructions":[{"elementInstanceKey":"9223372036854775808"}]}"#,
            "elementInstanceKey: a key has at most 64 bits",
        ),
    ] {
        bad("POST", PATH, body, detail);
    }
}
