//! Every store of values has a limit, which an incident or a refusal names.

use engine::{Options, WorkLimits};
use expect_test::{Expect, expect};
use protocol::{
    Command, CompleteJob, CreateInstance, DecisionRef, DefinitionRef, Document, EvaluateDecision, Key, Name,
    Response,
};

use crate::support::model::assert_valid;
use crate::support::{Harness, check_with, document};

const SMALL: WorkLimits = WorkLimits {
    max_fuel_per_command: 150_000,
    max_fuel_per_step: 1_500_000,
    max_bytes_per_step: 20_000,
    max_evaluation_bytes: 1_000_000,
    max_variable_bytes: 5_000,
    max_collection_bytes: 5_000,
    max_instance_variable_bytes: 10_000,
    max_record_bytes_per_command: 1_000_000,
    max_entries_per_command: 1_000,
    max_scope_variables: 1_000,
};

#[track_caller]
fn check_small(model: &str, script: &str, expected: Expect) {
    assert_valid(model);
    let options = Options { work: SMALL, ..Options::default() };
    check_with(&[("test", model)], options, &format!("deploy test\n{script}"), expected);
}

#[test]
fn a_text_that_doubles_ends_at_the_largest_variable() {
    check_small(
        r#"process p
           start s
           job t in:a="=string join(for i in 1..1000 return string(1))" in:b="=a + a" in:c="=b + b" in:d="=c + c"
           end e
           s -> t -> e"#,
        "show incidents jobs
         create p",
        expect![[r#"
              = deployed p v1
            > create p
              incident t IO_MAPPING_ERROR created: Expected to store variable 'd', but it is larger than 5000 bytes (limits.max_variable_bytes)
              = created p v1
            left: running_instances 1, instances 1, element_instances 2, children 1, incidents 1, incident_by_owner 1, incident_counts 2, instances_with_incidents 1
        "#]],
    );
}

#[test]
fn a_list_that_doubles_without_being_copied_ends_there_too() {
    check_small(
        r#"process p
           start s
           script t expr="for i in 1..20 return if i = 1 then [1,2,3] else [partial[-1], partial[-1]]" result=list
           end e
           s -> t -> e"#,
        "show incidents
         create p",
        expect![[r#"
              = deployed p v1
            > create p
              incident t EXTRACT_VALUE_ERROR created: Expected to store variable 'list', but it is larger than 5000 bytes (limits.max_variable_bytes)
              = created p v1
            left: running_instances 1, instances 1, element_instances 2, children 1, incidents 1, incident_by_owner 1, incident_counts 2, instances_with_incidents 1
        "#]],
    );
}

#[test]
fn a_path_that_grows_ends_there_too() {
    check_small(
        r#"process p
           start s
           job t out:all.b="=string join(for i in 1..4980 return string(1))"
           end e
           s -> t -> e"#,
        r#"show incidents
           create p
           set #1 {"all":{"a":"0123456789"}}
           complete t
           set #1 {"all":{"a":"0"}}
           resolve t"#,
        expect![[r#"
              = deployed p v1
            > create p
              = created p v1
            > set #1 {"all":{"a":"0123456789"}}
            > complete t
              incident t IO_MAPPING_ERROR created: Expected to store variable 'all', but it is larger than 5000 bytes (limits.max_variable_bytes)
            > set #1 {"all":{"a":"0"}}
            > resolve t
              incident t IO_MAPPING_ERROR resolved
        "#]],
    );
}

#[test]
fn values_of_one_step_have_a_limit_together() {
    check_small(
        r#"process p
           start s
           job t in:a="=string join(for i in 1..4800 return string(1))" in:a="=a" in:a="=a" in:a="=a" in:a="=a"
           end e
           s -> t -> e"#,
        "show incidents jobs
         create p",
        expect![[r#"
              = deployed p v1
            > create p
              incident t IO_MAPPING_ERROR created: Expected to store variable 'a', but the values of this step are larger than 20000 bytes (limits.max_bytes_per_step)
              = created p v1
            left: running_instances 1, instances 1, element_instances 2, children 1, incidents 1, incident_by_owner 1, incident_counts 2, instances_with_incidents 1
        "#]],
    );
}

#[test]
fn variables_of_an_instance_have_a_limit_and_make_room_when_they_go() {
    check_small(
        r#"process p
           start s
           and fork
           job a in:x="=text"
           job b in:x="=text"
           and join
           end e
           s -> fork
           fork -> a -> join
           fork -> b -> join
           join -> e"#,
        r#"show incidents jobs
           create p
           cancel #1
           rows variable_bytes"#,
        expect![[r#"
              = deployed p v1
            > create p
              job b created type b retries 3
              job a created type a retries 3
              = created p v1
            > cancel #1
              job b canceled
              job a canceled
            > rows variable_bytes
              variable_bytes 0
        "#]],
    );
    let mut harness = Harness::with_options(Options { work: SMALL, ..Options::default() });
    let model = r#"process p
        start s
        job t each="[1,2,3,4]" sequential in:x="=text"
        job u in:y="=text" in:z="=text"
        end e
        s -> t -> u -> e"#;
    harness.deploy(&[("p.bpmn", model)]).unwrap();
    let text = "x".repeat(4000);
    harness.command(Command::CreateInstance(CreateInstance {
        variables: document(&format!(r#"{{"text":"{text}"}}"#)),
        ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
    }));
    let bytes = |harness: &Harness| {
        let rows = harness.engine().tables().variable_bytes.scan(.., usize::MAX).unwrap();
        rows.iter().map(|(_, bytes)| **bytes).collect::<Vec<u64>>()
    };
    for _ in 0..4 {
        assert_eq!(bytes(&harness), [2 * 4002]);
        let job = harness.activate("t", 1).remove(0);
        harness.command(complete(job.key));
    }
    assert_eq!(bytes(&harness), [4002], "one that failed has stored nothing");
    let incidents = harness.engine().tables().incidents.scan(.., usize::MAX).unwrap();
    assert!(incidents[0].1.error_message.contains("limits.max_instance_variable_bytes"), "{incidents:?}");
    let key = harness.engine().tables().instances.keys(.., 1).unwrap()[0];
    harness.command(Command::CancelInstance { process_instance_key: key, operation_reference: None });
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(9);
}

fn complete(job_key: Key) -> Command {
    Command::CompleteJob(CompleteJob::of(job_key, Document::empty()))
}

#[test]
fn values_that_are_not_stored_have_a_limit_too() {
    check_small(
        r#"process p
           start s
           job t in:a="=count(for i in 1..10000 return i)" in:b="=count(for i in 1..10000 return i)" in:c="=count(for i in 1..10000 return [i, i])"
           end e
           s -> t -> e"#,
        "show incidents jobs
         create p",
        expect![[r#"
              = deployed p v1
            > create p
              incident t IO_MAPPING_ERROR created: failed to evaluate expression 'count(for i in 1..10000 return [i, i])': the values of the expressions of this step take more than 1000000 bytes of memory (limits.max_evaluation_bytes)
              = created p v1
            left: running_instances 1, instances 1, element_instances 2, children 1, incidents 1, incident_by_owner 1, incident_counts 2, instances_with_incidents 1
        "#]],
    );
}

#[test]
fn values_of_a_decision_have_the_same_limit() {
    const DMN: &str = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="d" namespace="d">
             <decision id="big" name="big"><literalExpression><text>count(for i in 1..50000 return [i])</text></literalExpression></decision>
           </definitions>"#;
    let mut harness = Harness::with_options(Options { work: SMALL, ..Options::default() });
    let process = "process p\nstart s\ndecide t decision=big result=v\nend e\ns -> t -> e";
    harness.deploy(&[("d.dmn", DMN), ("p.bpmn", process)]).unwrap();

    let evaluate = EvaluateDecision {
        decision: DecisionRef::Id(Name::from("big")),
        variables: Document::empty(),
        tenant_id: Name::from("<default>"),
    };
    let Some(Ok(Response::DecisionEvaluated { evaluation, .. })) =
        harness.command(Command::EvaluateDecision(evaluate))
    else {
        panic!("not answered")
    };
    let reason = "Expected to evaluate decision 'big', but the values of the expressions of this step take more than \
                  1000000 bytes of memory (limits.max_evaluation_bytes)";
    assert_eq!(&*evaluation.evaluation_failure_message, reason);

    let create = CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None });
    harness.command(Command::CreateInstance(create)).unwrap().unwrap();
    let tables = harness.engine().tables();
    let key = tables.incidents.keys(.., 2).unwrap()[0];
    let incident = tables.incidents.get(&key).unwrap().expect("it is there");
    assert_eq!(&*incident.error_message, reason);
    harness.verify_replay(3);
}

#[test]
fn an_output_collection_has_a_limit() {
    check_small(
        r#"process p
           start s
           script t each="[1,2,3]" as=n expr="string join(for i in 1..2000 return string(1))" result=r collect=all gives=r
           end e
           s -> t -> e"#,
        "show incidents
         create p",
        expect![[r#"
              = deployed p v1
            > create p
              incident t EXTRACT_VALUE_ERROR created: Expected to add to the output collection 'all', but it would be larger than 5000 bytes (limits.max_collection_bytes)
              = created p v1
            left: running_instances 1, instances 1, element_instances 3, children 2, variables 4, variable_bytes 1, incidents 1, incident_by_owner 1, loops 1, loop_chunks 1, loop_outputs 2, incident_counts 3, instances_with_incidents 1
        "#]],
    );
}

#[test]
fn the_items_of_a_body_have_a_limit() {
    check_small(
        r#"process p
           start s
           task t each="for i in 1..2000 return i"
           end e
           s -> t -> e"#,
        "show incidents
         create p",
        expect![[r#"
              = deployed p v1
            > create p
              incident t* EXTRACT_VALUE_ERROR created: Expected to store the items of the input collection, but they are larger than 5000 bytes (limits.max_collection_bytes)
              = created p v1
            left: running_instances 1, instances 1, element_instances 2, children 1, incidents 1, incident_by_owner 1, incident_counts 2, instances_with_incidents 1
        "#]],
    );
}

#[test]
fn a_command_with_a_large_variable_is_refused() {
    let mut harness = Harness::with_options(Options { work: SMALL, ..Options::default() });
    harness.deploy(&[("p.bpmn", "process p\nstart s\nend e\ns -> e")]).unwrap();
    let before = harness.content();
    let create = |bytes: usize| {
        let text = "x".repeat(bytes - 2);
        Command::CreateInstance(CreateInstance {
            variables: document(&format!(r#"{{"small":1,"big":"{text}"}}"#)),
            ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
        })
    };
    let Some(Err(rejection)) = harness.command(create(5001)) else { panic!("accepted") };
    expect!["Expected variables of at most 5000 bytes each (limits.max_variable_bytes), but 'variables.big' has 5001"]
        .assert_eq(&rejection.reason);
    assert_eq!(harness.content(), before);
    harness.command(create(5000)).unwrap().unwrap();
    assert!(harness.is_empty());
}

/// Each decision requires its predecessor twice: cheap to evaluate, immense as records.
#[test]
fn a_trail_is_told_as_far_as_it_fits() {
    let mut decisions = String::from(
        r#"<decision id="d0" name="d0"><literalExpression><text>[1, 2, 3]</text></literalExpression></decision>"#,
    );
    for number in 1..18 {
        let before = number - 1;
        decisions.push_str(&format!(
            r##"<decision id="d{number}" name="d{number}"><informationRequirement><requiredDecision href="#d{before}"/></informationRequirement><literalExpression><text>[d{before}, d{before}]</text></literalExpression></decision>"##
        ));
    }
    let dmn = format!(
        r##"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="d" namespace="d">{decisions}
             <decision id="last" name="last"><informationRequirement><requiredDecision href="#d17"/></informationRequirement><literalExpression><text>count(d17)</text></literalExpression></decision>
           </definitions>"##
    );
    let mut harness = Harness::with_options(Options { work: SMALL, ..Options::default() });
    harness.deploy(&[("d.dmn", &dmn)]).unwrap();
    let evaluate = EvaluateDecision {
        decision: DecisionRef::Id(Name::from("last")),
        variables: Document::empty(),
        tenant_id: Name::from("<default>"),
    };
    let Some(Ok(Response::DecisionEvaluated { evaluation, .. })) =
        harness.command(Command::EvaluateDecision(evaluate))
    else {
        panic!("not evaluated")
    };
    assert_eq!(evaluation.decision_output.as_str(), "2");
    let outputs: Vec<&str> =
        evaluation.evaluated_decisions.iter().map(|decision| decision.decision_output.as_str()).collect();
    assert_eq!(outputs[..2], ["[1,2,3]", "[[1,2,3],[1,2,3]]"]);
    assert_eq!(
        outputs[17],
        r#""omitted: the values of this evaluation are larger than 20000 bytes (limits.max_bytes_per_step)""#
    );
    assert_eq!(outputs[18], "2", "a small value still fits");
    assert!(outputs.iter().map(|output| output.len()).sum::<usize>() < 20_000 + 18 * 150);
    harness.verify_replay(3);
}

/// The rest of a command with large records continues later, after other waiting work.
#[test]
fn a_command_yields_after_its_records() {
    let steps: String = (0..20)
        .map(|number| format!("script t{number} expr=\"text\" result=r{number}\n"))
        .chain((0..19).map(|number| format!("t{number} -> t{}\n", number + 1)))
        .collect();
    let model = format!("process p\nstart s\n{steps}end e\ns -> t0\nt19 -> e");
    let work = WorkLimits { max_record_bytes_per_command: 100_000, ..WorkLimits::default() };
    let mut harness = Harness::with_options(Options { work, records: true, ..Options::default() });
    harness.deploy(&[("p.bpmn", &model)]).unwrap();
    let text = "x".repeat(20_000);
    let create = Command::CreateInstance(CreateInstance {
        variables: document(&format!(r#"{{"text":"{text}"}}"#)),
        ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
    });
    let mut most = 0;
    let mut batch = vec![create];
    for _ in 0..20 {
        let effects = harness.apply(batch, vec![]);
        let bytes = effects.records.iter().map(|record| match &record.value {
            protocol::RecordValue::Variable(variable) => variable.value.as_bytes().len(),
            _ => 0,
        });
        most = most.max(bytes.sum::<usize>());
        batch = vec![Command::Continue { max_records: None }];
    }
    assert!((60_000..140_000).contains(&most), "{most}");
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(11);
}

/// Records that are small are bounded by their number: each called instance has all variables of its caller.
#[test]
fn a_command_yields_after_many_small_records() {
    const VARIABLES: usize = 1_000;
    let mut harness = Harness::with_options(Options { records: true, ..Options::default() });
    let outer = "process p\nstart s\ncall c process=q each=\"for i in 1..20 return i\"\nend e\ns -> c -> e";
    harness
        .deploy(&[("q.bpmn", "process q\nstart s\njob t\nend e\ns -> t -> e"), ("p.bpmn", outer)])
        .unwrap();
    let members: Vec<_> = (0..VARIABLES).map(|at| format!("\"v{at}\":0")).collect();
    let create = Command::CreateInstance(CreateInstance {
        variables: document(&format!("{{{}}}", members.join(","))),
        ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
    });
    let (mut most, mut batches, mut batch) = (0, 0, vec![create]);
    loop {
        let effects = harness.apply(batch, vec![]);
        most = most.max(effects.records.len());
        batches += 1;
        if !effects.has_pending_steps {
            break;
        }
        batch = vec![Command::GO_ON];
    }
    // One step cannot be parted.
    assert!(most < 4096 + VARIABLES + 100 && batches >= 5, "{most} records in one of {batches} batches");
    let key = harness.engine().tables().instances.keys(.., 1).unwrap()[0];
    harness
        .command(Command::CancelInstance { process_instance_key: key, operation_reference: None })
        .unwrap()
        .unwrap();
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(7);
}

#[test]
fn a_value_that_is_written_in_vain_is_paid_for() {
    let doubling = "for i in 1..21 return if i = 1 then [1,2,3] else [partial[-1], partial[-1]]";
    let model = format!("process p\nstart s\nscript t expr=\"{doubling}\" result=list\nend e\ns -> t -> e");
    let mut harness = Harness::new();
    harness.deploy(&[("p.bpmn", &model)]).unwrap();
    let before = harness.engine().fuel_used();
    harness.command(Command::CreateInstance(CreateInstance::of(DefinitionRef::Id {
        id: Name::from("p"),
        version: None,
    })));
    assert_eq!(harness.engine().tables().incidents.keys(.., 2).unwrap().len(), 1, "it is too large");
    let used = harness.engine().fuel_used() - before;
    let most = WorkLimits::default().max_variable_bytes as u64;
    assert!(used >= most / 16, "{used} units of fuel for {most} bytes");
}
