//! Variables of the cluster and of tenants in expressions.

use expect_test::expect;
use protocol::{
    ClusterVariable, ClusterVariableAction, Command, DecisionRef, Deploy, Document, EvaluateDecision, Json,
    Name, PublishMessage, Query, QueryReply, RejectionType, Resource, Response,
};

use crate::support::{Harness, check, document};

#[test]
fn expressions_see_the_tenants_variable_before_that_of_all() {
    check(
        r#"process p
           start s
           job t in:a="=camunda.vars.env.x" in:b="=camunda.vars.cluster.x" in:c="=camunda.vars.tenant.x" in:d="=camunda.vars.env.y.url"
           end e
           s -> t -> e"#,
        r#"show variables
           vars create x {"of":"all"}
           vars create y {"url":"u"}
           vars create x tenant=<default> {"of":"tenant"}
           vars create x tenant=other {"of":"other"}
           create p
           vars delete x tenant=<default>
           vars update y {"url":"v"}
           create p
           vars create x {}
           vars update z {}
           vars delete z"#,
        expect![[r#"
              = deployed p v1
            > vars create x {"of":"all"}
              x of all = {"of":"all"} created
            > vars create y {"url":"u"}
              y of all = {"url":"u"} created
            > vars create x tenant=<default> {"of":"tenant"}
              x of <default> = {"of":"tenant"} created
            > vars create x tenant=other {"of":"other"}
              x of other = {"of":"other"} created
            > create p
              t.a = {"of":"tenant"} created
              t.b = {"of":"all"} created
              t.c = {"of":"tenant"} created
              t.d = "u" created
              = created p v1
            > vars delete x tenant=<default>
              x of <default> = {"of":"tenant"} deleted
            > vars update y {"url":"v"}
              y of all = {"url":"v"} updated
            > create p
              #2.t.a = {"of":"all"} created
              #2.t.b = {"of":"all"} created
              #2.t.c = null created
              #2.t.d = "v" created
              = created p v1
            > vars create x {}
              = rejected ALREADY_EXISTS: Expected to create cluster variable 'x' in global scope, but it exists already
            > vars update z {}
              = rejected NOT_FOUND: Expected to update cluster variable 'z' in global scope, but there is none
            > vars delete z
              = rejected NOT_FOUND: Expected to delete cluster variable 'z' in global scope, but there is none
            left: running_instances 1, instances 2, element_instances 4, children 2, variables 8, jobs 2, job_queue 2
        "#]],
    );
}

#[test]
fn a_process_variable_hides_them() {
    check(
        r#"process p
           start s
           job t in:a="=camunda.vars.env.x"
           end e
           s -> t -> e"#,
        r#"show variables
           vars create x {"of":"all"}
           create p {"camunda":{"vars":{"env":{"x":7}}}}"#,
        expect![[r#"
              = deployed p v1
            > vars create x {"of":"all"}
              x of all = {"of":"all"} created
            > create p {"camunda":{"vars":{"env":{"x":7}}}}
              p.camunda = {"vars":{"env":{"x":7}}} created
              t.a = 7 created
              = created p v1
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 2, jobs 1, job_queue 1
        "#]],
    );
}

#[test]
fn start_events_see_them() {
    let mut harness = Harness::new();
    harness.command(change(ClusterVariableAction::Create, "m", r#"{"name":"go"}"#)).unwrap().unwrap();
    let model = "process p\nstart s message=\"=camunda.vars.env.m.name\"\njob t\nend e\ns -> t -> e";
    harness.deploy(&[("p.bpmn", model)]).unwrap();
    let publish = PublishMessage {
        name: "go".into(),
        correlation_key: Name::default(),
        time_to_live_ms: 0,
        message_id: Name::default(),
        variables: Document::empty(),
        tenant_id: Name::default_tenant(),
        business_id: None,
    };
    harness.command(Command::PublishMessage(publish)).unwrap().unwrap();
    assert_eq!(harness.activate("t", 1).len(), 1);
}

#[test]
fn decisions_see_them() {
    let mut harness = Harness::new();
    let model = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="g" name="g" namespace="n"><decision id="d" name="d"><literalExpression><text>camunda.vars.env.x</text></literalExpression></decision></definitions>"#;
    let resources = vec![Resource { name: "d.dmn".into(), content: model.as_bytes().to_vec() }];
    harness.command(Command::Deploy(Deploy { resources, tenant_id: "t".into() })).unwrap().unwrap();
    let evaluate = |harness: &mut Harness, json| {
        let command = Command::EvaluateDecision(EvaluateDecision {
            decision: DecisionRef::Id("d".into()),
            variables: document(json),
            tenant_id: "t".into(),
        });
        match harness.command(command).unwrap().unwrap() {
            Response::DecisionEvaluated { evaluation, .. } => evaluation.decision_output.as_str().to_owned(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(evaluate(&mut harness, "{}"), "null");
    harness.command(change(ClusterVariableAction::Create, "x", "1")).unwrap().unwrap();
    assert_eq!(evaluate(&mut harness, "{}"), "1");
    let of_tenant = ClusterVariable {
        action: ClusterVariableAction::Create,
        tenant_id: Some("t".into()),
        name: "x".into(),
        value: Json::from_valid("2"),
        metadata: None,
        kind: None,
    };
    harness.command(Command::ClusterVariable(of_tenant)).unwrap().unwrap();
    assert_eq!(evaluate(&mut harness, "{}"), "2");
    assert_eq!(evaluate(&mut harness, r#"{"camunda":{"vars":{"env":{"x":3}}}}"#), "3");
}

fn change(action: ClusterVariableAction, name: &str, value: &str) -> Command {
    Command::ClusterVariable(ClusterVariable {
        action,
        tenant_id: None,
        name: Name::from(name),
        value: Json::from_valid(value.to_owned()),
        metadata: None,
        kind: None,
    })
}

#[test]
fn names_and_values_have_limits() {
    let mut harness = Harness::new();
    let long = "n".repeat(257);
    let refused: fn(&mut Harness, &str) = |harness, name| {
        let create = change(ClusterVariableAction::Create, name, "{}");
        let rejection = harness.command(create).unwrap().unwrap_err();
        assert_eq!(rejection.kind, RejectionType::InvalidArgument, "{name}");
    };
    for name in ["", " ", "\t\u{a0}", &long] {
        refused(&mut harness, name);
    }
    // As the reference takes them; expressions say them in backticks.
    for name in ["a b", "1a", "feature-flag", "a.b"] {
        harness.command(change(ClusterVariableAction::Create, name, "{}")).unwrap().unwrap();
    }
    let large = format!("\"{}\"", "x".repeat(8 * 1024));
    let rejection = harness.command(change(ClusterVariableAction::Create, "a", &large)).unwrap().unwrap_err();
    assert_eq!(rejection.kind, RejectionType::InvalidArgument);
    harness.command(change(ClusterVariableAction::Create, "_ä1", "{}")).unwrap().unwrap();
    let rejection =
        harness.command(change(ClusterVariableAction::Update, "_ä1", &large)).unwrap().unwrap_err();
    assert_eq!(rejection.kind, RejectionType::InvalidArgument);
}

#[test]
fn they_are_read_by_name_and_outlive_restarts() {
    let mut harness = Harness::new();
    harness.command(change(ClusterVariableAction::Create, "a", r#"{"b":1}"#)).unwrap().unwrap();
    harness.flush_and_reopen();
    let QueryReply::ClusterVariable(view) =
        harness.read(&Query::ClusterVariable { tenant_id: None, name: "a".into() }).unwrap()
    else {
        panic!("a variable")
    };
    assert_eq!((view.tenant_id, view.value.as_str()), (None, r#"{"b":1}"#));
    let QueryReply::ClusterContext(context) =
        harness.read(&Query::ClusterContext { tenant_id: Name::default_tenant() }).unwrap()
    else {
        panic!("a context")
    };
    assert_eq!(context.as_str(), r#"{"vars":{"env":{"a":{"b":1}},"cluster":{"a":{"b":1}},"tenant":{}}}"#);
    assert!(harness.read(&Query::ClusterVariable { tenant_id: None, name: "b".into() }).is_err());
    let of_tenant = Query::ClusterVariable { tenant_id: Some("t".into()), name: "a".into() };
    assert!(harness.read(&of_tenant).is_err());
}

#[test]
fn all_of_them_are_listed() {
    let mut harness = Harness::new();
    let listed =
        |harness: &mut Harness, limit| match harness.read(&Query::ClusterVariables { limit }).unwrap() {
            QueryReply::ClusterVariables { variables, has_more } => {
                let texts = variables.iter().map(|it| {
                    format!("{}/{}={}", it.tenant_id.as_deref().unwrap_or("-"), it.name, it.value.as_str())
                });
                (texts.collect::<Vec<_>>(), has_more)
            }
            other => panic!("{other:?}"),
        };
    assert_eq!(listed(&mut harness, 2), (vec![], false));
    harness.command(change(ClusterVariableAction::Create, "b", "[1]")).unwrap().unwrap();
    let of_tenant = ClusterVariable {
        action: ClusterVariableAction::Create,
        tenant_id: Some("t".into()),
        name: "a".into(),
        value: Json::from_valid("7"),
        metadata: None,
        kind: None,
    };
    harness.command(Command::ClusterVariable(of_tenant)).unwrap().unwrap();
    assert_eq!(listed(&mut harness, 2), (vec!["-/b=[1]".to_owned(), "t/a=7".to_owned()], false));
    assert_eq!(listed(&mut harness, 1), (vec!["-/b=[1]".to_owned()], true));
    // More than one slice.
    for number in 0..1100 {
        harness.command(change(ClusterVariableAction::Create, &format!("n{number}"), "0")).unwrap().unwrap();
    }
    let (all, has_more) = listed(&mut harness, 5000);
    assert_eq!((all.len(), has_more), (1102, false));
}

#[test]
fn metadata_and_a_kind_stand_beside_the_value() {
    check(
        r#"process p
           start s
           job t in:a="=camunda.vars.env.x"
           end e
           s -> t -> e"#,
        r#"show variables
           vars create x metadata=kind:CREDENTIAL,version:2.5 kind=SECRET_REFERENCE {"of":"all"}
           create p
           vars update x metadata=version:3 {}
           vars update x {}
           vars create y kind=JSON {}
           vars delete x"#,
        expect![[r#"
              = deployed p v1
            > vars create x metadata=kind:CREDENTIAL,version:2.5 kind=SECRET_REFERENCE {"of":"all"}
              x of all = {"of":"all"} created, SECRET_REFERENCE with {"kind":"CREDENTIAL","version":2.5}
            > create p
              t.a = {"of":"all"} created
              = created p v1
            > vars update x metadata=version:3 {}
              x of all = {} updated, SECRET_REFERENCE with {"version":3}
            > vars update x {}
              x of all = {} updated, SECRET_REFERENCE with {}
            > vars create y kind=JSON {}
              y of all = {} created
            > vars delete x
              x of all = {} deleted, SECRET_REFERENCE with {}
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 1, jobs 1, job_queue 1
        "#]],
    );
}

#[test]
fn metadata_have_limits() {
    let mut harness = Harness::new();
    let mut refusal = |json: String| {
        let change = change(ClusterVariableAction::Create, "x", "1");
        let Command::ClusterVariable(change) = change else { panic!("a change") };
        let change = ClusterVariable { metadata: Some(document(&json)), ..change };
        harness.command(Command::ClusterVariable(change)).unwrap().unwrap_err().reason
    };
    for wrong in ["true", "null", "[1]", r#"{"a":1}"#] {
        let reason = refusal(format!(r#"{{"ok":1,"it":{wrong}}}"#));
        assert_eq!(
            reason,
            "Expected the metadata of cluster variable 'x' to be texts and numbers, but 'it' is neither"
        );
    }
    let entries = |count: usize, value: &str| {
        let all: Vec<_> = (0..count).map(|number| format!(r#""{number}":"{value}""#)).collect();
        format!("{{{}}}", all.join(","))
    };
    assert!(refusal(entries(101, "")).ends_with("to have at most 100 entries, but it has 101"));
    assert!(refusal(entries(100, &"v".repeat(700))).contains("to have at most 65536 bytes"));
    assert!(refusal(entries(1, &"v".repeat(8191))).ends_with("at most 8192 characters, but '0' is longer"));
    assert!(refusal(format!(r#"{{"{}":1}}"#, "n".repeat(257))).contains("names of 1 to 256 characters"));
    assert!(refusal(r#"{"":1}"#.to_owned()).contains("names of 1 to 256 characters"));
    let change = ClusterVariable {
        action: ClusterVariableAction::Create,
        tenant_id: None,
        name: "x".into(),
        value: Json::from_valid("1"),
        metadata: Some(document(&entries(100, "v"))),
        kind: None,
    };
    harness.command(Command::ClusterVariable(change)).unwrap().unwrap();
}
