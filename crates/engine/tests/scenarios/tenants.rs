//! Tenants: the same IDs in several of them are independent.

use protocol::{
    BroadcastSignal, Command, CorrelateMessage, CreateInstance, DecisionRef, DefinitionRef, Demand, Deploy,
    DeployedProcess, Document, EvaluateConditionals, EvaluateDecision, Key, Name, PublishMessage,
    RejectionType, Resource, Response,
};

use crate::support::model::bpmn;
use crate::support::{Harness, document};

const TENANTS: [&str; 2] = ["a", "b"];

fn deploy(harness: &mut Harness, tenant: &str, text: &str) -> DeployedProcess {
    let resources = vec![Resource { name: "p.bpmn".into(), content: bpmn(text).into_bytes() }];
    let command = Command::Deploy(Deploy { resources, tenant_id: tenant.into() });
    match harness.command(command).unwrap().unwrap() {
        Response::Deployed(deployment) => {
            assert_eq!(&*deployment.tenant_id, tenant);
            deployment.processes[0].clone()
        }
        other => panic!("{other:?}"),
    }
}

fn create(harness: &mut Harness, tenant: &str, definition: DefinitionRef) -> Result<Key, String> {
    let command = CreateInstance {
        tenant_id: tenant.into(),
        variables: document(&format!(r#"{{"key":"k","tenant":"{tenant}"}}"#)),
        ..CreateInstance::of(definition)
    };
    match harness.command(Command::CreateInstance(command)).unwrap() {
        Ok(Response::InstanceCreated(created)) => Ok(created.process_instance_key),
        Ok(other) => panic!("{other:?}"),
        Err(rejection) => Err(rejection.to_string()),
    }
}

fn by_id(id: &str) -> DefinitionRef {
    DefinitionRef::Id { id: id.into(), version: None }
}

fn jobs(harness: &mut Harness, job_type: &str, tenants: &[&str]) -> Vec<(Key, Name, Document)> {
    let tenant_ids = tenants.iter().map(|tenant| Name::from(*tenant)).collect();
    let demand = Demand { tenant_ids, ..harness.demand(job_type, 10) };
    let jobs = harness.activate_with(demand);
    jobs.into_iter().map(|job| (job.process_instance_key, job.tenant_id, job.variables)).collect()
}

#[test]
fn versions_count_for_each_tenant() {
    let mut harness = Harness::new();
    let one = "process p\n start s\n end e\n s -> e";
    let two = "process p\n start s\n end f\n s -> f";
    assert_eq!(deploy(&mut harness, "a", one).version, 1);
    assert_eq!(deploy(&mut harness, "b", one).version, 1);
    let second = deploy(&mut harness, "a", two);
    assert_eq!(second.version, 2);
    // Known already, to this tenant only.
    assert_eq!(deploy(&mut harness, "b", one).version, 1);
    let of_b = deploy(&mut harness, "b", two);
    assert_eq!(of_b.version, 2);
    assert_ne!(second.process_definition_key, of_b.process_definition_key);
}

#[test]
fn a_definition_is_found_by_its_own_tenant_only() {
    let mut harness = Harness::new();
    let process = deploy(&mut harness, "a", "process p\n start s\n job t\n end e\n s -> t -> e");
    for reference in [by_id("p"), DefinitionRef::Key(process.process_definition_key)] {
        assert!(create(&mut harness, "a", reference.clone()).is_ok());
        for other in ["b", "<default>"] {
            let error = create(&mut harness, other, reference.clone()).unwrap_err();
            assert!(error.starts_with("NOT_FOUND: "), "{error}");
        }
    }
}

#[test]
fn jobs_go_to_workers_of_their_tenant() {
    let mut harness = Harness::new();
    let keys = TENANTS.map(|tenant| {
        deploy(&mut harness, tenant, "process p\n start s\n job t\n end e\n s -> t -> e");
        create(&mut harness, tenant, by_id("p")).unwrap()
    });
    assert_eq!(jobs(&mut harness, "t", &["<default>", "c"]), []);
    let [(key, tenant, _)] = &jobs(&mut harness, "t", &["b"])[..] else { panic!("one job") };
    assert_eq!((*key, &**tenant), (keys[1], "b"));
    let [(key, tenant, _)] = &jobs(&mut harness, "t", &["a", "b"])[..] else { panic!("one job") };
    assert_eq!((*key, &**tenant), (keys[0], "a"));
}

#[test]
fn calls_stay_in_their_tenant() {
    let mut harness = Harness::new();
    let caller = "process caller\n start s\n call c process=callee\n end e\n s -> c -> e";
    for tenant in TENANTS {
        deploy(&mut harness, tenant, caller);
    }
    deploy(&mut harness, "b", "process callee\n start s\n job of-b\n end e\n s -> of-b -> e");
    for tenant in TENANTS {
        create(&mut harness, tenant, by_id("caller")).unwrap();
    }
    let [(_, tenant, _)] = &jobs(&mut harness, "of-b", &TENANTS)[..] else { panic!("one job") };
    assert_eq!(&**tenant, "b");
    let incidents = harness.engine().tables().incidents.scan(.., 10).unwrap();
    let [(_, incident)] = &incidents[..] else { panic!("one incident") };
    assert_eq!(incident.error_type.as_str(), "CALLED_ELEMENT_ERROR");
}

#[test]
fn messages_stay_in_their_tenant() {
    let mut harness = Harness::new();
    let keys = TENANTS.map(|tenant| {
        let text = "process p\n start s\n catch c message=m key=key\n job t\n end e\n s -> c -> t -> e";
        deploy(&mut harness, tenant, text);
        create(&mut harness, tenant, by_id("p")).unwrap()
    });
    let publish = |tenant: &str| {
        Command::PublishMessage(PublishMessage {
            name: "m".into(),
            correlation_key: "k".into(),
            time_to_live_ms: 60_000,
            message_id: "once".into(),
            variables: Document::empty(),
            tenant_id: tenant.into(),
            business_id: None,
        })
    };
    // The same message ID in each tenant is no duplicate.
    for tenant in ["<default>", "b"] {
        harness.command(publish(tenant)).unwrap().unwrap();
    }
    harness.command(publish("b")).unwrap().unwrap_err();
    let [(key, ..)] = &jobs(&mut harness, "t", &TENANTS)[..] else { panic!("one job") };
    assert_eq!(*key, keys[1]);
    let correlate = |tenant: &str| {
        Command::CorrelateMessage(CorrelateMessage {
            name: "m".into(),
            correlation_key: "k".into(),
            variables: Document::empty(),
            tenant_id: tenant.into(),
            business_id: None,
            request_id: None,
        })
    };
    harness.command(correlate("<default>")).unwrap().unwrap_err();
    harness.command(correlate("a")).unwrap().unwrap();
    let [(key, ..)] = &jobs(&mut harness, "t", &TENANTS)[..] else { panic!("one job") };
    assert_eq!(*key, keys[0]);
}

#[test]
fn message_and_timer_starts_stay_in_their_tenant() {
    let mut harness = Harness::new();
    for tenant in TENANTS {
        let text = "process p\n start m message=go\n start later cycle=R1/PT1M\n job t\n end e\n m -> t -> e\n later -> t";
        deploy(&mut harness, tenant, text);
    }
    let publish = Command::PublishMessage(PublishMessage {
        name: "go".into(),
        correlation_key: "".into(),
        time_to_live_ms: 0,
        message_id: "".into(),
        variables: Document::empty(),
        tenant_id: "a".into(),
        business_id: None,
    });
    harness.command(publish).unwrap().unwrap();
    let [(_, tenant, _)] = &jobs(&mut harness, "t", &TENANTS)[..] else { panic!("one job") };
    assert_eq!(&**tenant, "a");
    harness.advance(60_000);
    let mut tenants: Vec<_> =
        jobs(&mut harness, "t", &TENANTS).into_iter().map(|(_, tenant, _)| tenant.to_string()).collect();
    tenants.sort();
    assert_eq!(tenants, TENANTS);
}

#[test]
fn signals_stay_in_their_tenant() {
    let mut harness = Harness::new();
    let model = "process p\n start s\n start alarm signal=alarm\n catch c signal=alarm\n job t\n end e\n s -> c -> t -> e\n alarm -> t";
    for tenant in TENANTS {
        deploy(&mut harness, tenant, model);
        create(&mut harness, tenant, by_id("p")).unwrap();
    }
    let broadcast = |tenant: &str| {
        Command::BroadcastSignal(BroadcastSignal {
            name: "alarm".into(),
            variables: Document::empty(),
            tenant_id: tenant.into(),
        })
    };
    harness.command(broadcast("<default>")).unwrap().unwrap();
    assert_eq!(jobs(&mut harness, "t", &TENANTS), []);
    // The instance that waits goes on, and a new one starts.
    harness.command(broadcast("b")).unwrap().unwrap();
    let tenants: Vec<_> =
        jobs(&mut harness, "t", &TENANTS).into_iter().map(|(_, tenant, _)| tenant).collect();
    assert_eq!(tenants, ["b".into(), "b".into()]);
}

#[test]
fn conditions_start_instances_of_their_tenant() {
    let mut harness = Harness::new();
    let model = "process p\n start hot condition=\"x > 30\"\n job t\n end e\n hot -> t -> e";
    let definitions = TENANTS.map(|tenant| deploy(&mut harness, tenant, model).process_definition_key);
    let evaluate = |tenant: &str, definition_key: Option<Key>| {
        Command::EvaluateConditionals(EvaluateConditionals {
            variables: document(r#"{"x":31}"#),
            tenant_id: tenant.into(),
            definition_key,
        })
    };
    let started = |harness: &mut Harness, command| match harness.command(command).unwrap() {
        Ok(Response::ConditionalsEvaluated { tenant_id, instances, .. }) => {
            (tenant_id, instances.into_iter().map(|(definition, _)| definition).collect::<Vec<_>>())
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(started(&mut harness, evaluate("<default>", None)), ("<default>".into(), vec![]));
    assert_eq!(started(&mut harness, evaluate("b", None)), ("b".into(), vec![definitions[1]]));
    let [(_, tenant, _)] = &jobs(&mut harness, "t", &TENANTS)[..] else { panic!("one job") };
    assert_eq!(&**tenant, "b");
    let of_another = harness.command(evaluate("b", Some(definitions[0]))).unwrap().unwrap_err();
    assert_eq!(of_another.kind, RejectionType::NotFound);
}

#[test]
fn decisions_are_found_by_their_own_tenant_only() {
    let mut harness = Harness::new();
    let key_of = |harness: &mut Harness, tenant: &str| {
        let content = format!(
            r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="g" name="g" namespace="n"><decision id="d" name="d"><variable name="d"/><literalExpression><text>"of {tenant}"</text></literalExpression></decision></definitions>"#
        );
        let resources = vec![Resource { name: "d.dmn".into(), content: content.into_bytes() }];
        let command = Command::Deploy(Deploy { resources, tenant_id: tenant.into() });
        match harness.command(command).unwrap().unwrap() {
            Response::Deployed(deployment) => deployment.decisions[0].key,
            other => panic!("{other:?}"),
        }
    };
    let keys = TENANTS.map(|tenant| key_of(&mut harness, tenant));
    let evaluate = |harness: &mut Harness, tenant: &str, decision| {
        let command = Command::EvaluateDecision(EvaluateDecision {
            decision,
            variables: Document::empty(),
            tenant_id: tenant.into(),
        });
        match harness.command(command).unwrap() {
            Ok(Response::DecisionEvaluated { evaluation, .. }) => {
                Ok((evaluation.tenant_id.to_string(), evaluation.decision_output.as_str().to_owned()))
            }
            Ok(other) => panic!("{other:?}"),
            Err(rejection) => Err(rejection.kind),
        }
    };
    for (tenant, key) in TENANTS.iter().zip(keys) {
        for decision in [DecisionRef::Id("d".into()), DecisionRef::Key(key)] {
            let (of, output) = evaluate(&mut harness, tenant, decision).unwrap();
            assert_eq!((&*of, output), (*tenant, format!("\"of {tenant}\"")));
        }
    }
    for decision in [DecisionRef::Id("d".into()), DecisionRef::Key(keys[0])] {
        assert_eq!(evaluate(&mut harness, "<default>", decision), Err(RejectionType::NotFound));
    }
    assert_eq!(evaluate(&mut harness, "b", DecisionRef::Key(keys[0])), Err(RejectionType::NotFound));

    // Business rule tasks use the tenant of their instance.
    for tenant in TENANTS {
        let text = "process p\n start s\n decide d decision=d result=r\n job t\n end e\n s -> d -> t -> e";
        deploy(&mut harness, tenant, text);
        create(&mut harness, tenant, by_id("p")).unwrap();
    }
    let told = jobs(&mut harness, "t", &TENANTS);
    let told: Vec<_> = told.iter().map(|(_, _, variables)| variables.get("r").unwrap().as_str()).collect();
    assert_eq!(told, ["\"of a\"", "\"of b\""]);
}
