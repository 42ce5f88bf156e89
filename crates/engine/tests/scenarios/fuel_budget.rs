//! All expressions of a command share one budget of fuel; the expressions of one step have a limit, which an incident
//! names.

use engine::{Options, WorkLimits};
use expect_test::{Expect, expect};
use protocol::{Command, CreateInstance, DefinitionRef, EvaluateConditionals, Name, RecordValue};

use crate::support::harness::START_MS;
use crate::support::model::assert_valid;
use crate::support::{Harness, check_with, document};

/// An expression that takes about three units for each round.
fn rounds(count: u64) -> String {
    format!("count(for i in 1..{count} return 1)")
}

/// Little fuel, so that a test is quick.
fn options() -> Options {
    let work = WorkLimits { max_fuel_per_step: 10_000, max_fuel_per_command: 1600, ..WorkLimits::default() };
    Options { work, ..Options::default() }
}

#[track_caller]
fn check_small(model: &str, script: &str, expected: Expect) {
    assert_valid(model);
    check_with(&[("test", model)], options(), &format!("deploy test\n{script}"), expected);
}

fn create(process_id: &str) -> Command {
    Command::CreateInstance(CreateInstance::of(DefinitionRef::Id {
        id: Name::from(process_id),
        version: None,
    }))
}

fn script(process_id: &str, count: u64) -> String {
    format!("process {process_id}\nstart s\nscript t expr=\"{}\" result=n\nend e\ns -> t -> e", rounds(count))
}

#[test]
fn mappings_that_take_too_much_together_end_in_one_incident() {
    check_small(
        r#"process p
           start s
           job t in:a="=count(for i in 1..n return 1)" in:b="=count(for i in 1..n return 1)" in:c="=count(for i in 1..n return 1)"
           end e
           s -> t -> e"#,
        r#"show incidents jobs variables
           create p {"n":1500}
           set #1 {"n":50}
           resolve t"#,
        expect![[r#"
              = deployed p v1
            > create p {"n":1500}
              p.n = 1500 created
              incident t IO_MAPPING_ERROR created: failed to evaluate expression 'count(for i in 1..n return 1)': the expressions of this step take more than 10000 units of fuel (limits.max_fuel_per_step)
              = created p v1
            > set #1 {"n":50}
              p.n = 50 updated
            > resolve t
              incident t IO_MAPPING_ERROR resolved
              t.a = 50 created
              t.b = 50 created
              t.c = 50 created
              job t created type t retries 3
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 4, jobs 1, job_queue 1
        "#]],
    );
}

#[test]
fn a_decision_that_takes_too_much_is_an_incident() {
    let table = format!(
        r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="d" namespace="d">
             <decision id="heavy" name="heavy"><literalExpression><text>{}</text></literalExpression></decision>
           </definitions>"#,
        rounds(5000)
    );
    let model = "process p
        start s
        decide t decision=heavy result=n
        end e
        s -> t -> e";
    check_with(
        &[("test", model), ("heavy.dmn", &table)],
        options(),
        "deploy test heavy.dmn
         show incidents variables
         create p
         evaluate heavy",
        expect![[r#"
              = deployed p v1 decisions:d v1 decision:heavy v1
            > create p
              incident t DECISION_EVALUATION_ERROR created: Expected to evaluate decision 'heavy', but the expressions of this step take more than 10000 units of fuel (limits.max_fuel_per_step)
              = created p v1
            > evaluate heavy
              = heavy v1 -> null failed in heavy: Expected to evaluate decision 'heavy', but the expressions of this step take more than 10000 units of fuel (limits.max_fuel_per_step)|  heavy v1 -> null
            left: running_instances 1, instances 1, element_instances 2, children 1, incidents 1, incident_by_owner 1, incident_counts 2, instances_with_incidents 1
        "#]],
    );
}

#[test]
fn heavy_instances_of_a_body_yield_one_after_the_other() {
    let model = format!(
        "process p\nstart s\nscript t each=\"for i in 1..20 return i\" expr=\"{}\" result=n\nend e\ns -> t -> e",
        rounds(300)
    );
    let mut harness = Harness::with_options(options());
    harness.deploy(&[("p.bpmn", &model), ("light.bpmn", &script("light", 1))]).unwrap();
    let mut used = harness.engine().fuel_used();
    let mut batches = 0;
    let mut commands = vec![create("p"), create("light")];
    loop {
        let effects = harness.apply(commands, vec![]);
        if batches == 0 {
            assert_eq!(effects.ended_instances.len(), 1, "the light one is through at once");
        }
        batches += 1;
        let goes_on = effects.has_pending_steps;
        let now = harness.engine().fuel_used();
        assert!(now - used <= 1600 + 1000, "a budget and a step: {}", now - used);
        used = now;
        if !goes_on {
            break;
        }
        commands = vec![Command::GO_ON];
    }
    assert!((10..=12).contains(&batches), "two instances a command: {batches}");
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(6);
}

#[test]
fn of_heavy_commands_in_a_batch_one_is_done_at_once() {
    let mut harness = Harness::with_options(options());
    harness.deploy(&[("heavy.bpmn", &script("heavy", 3000)), ("light.bpmn", &script("light", 1))]).unwrap();
    let ended = |harness: &Harness| harness.history().last().unwrap().ended_instances.len();
    let before = harness.engine().fuel_used();
    let commands = vec![create("heavy"), create("heavy"), create("heavy"), create("light")];
    let effects = harness.apply(commands, vec![]);
    assert!(effects.responses.iter().all(|response| matches!(response, Some(Ok(_)))));
    assert!(effects.has_pending_steps);
    assert_eq!(ended(&harness), 1, "the light one");
    let used = harness.engine().fuel_used() - before;
    assert!(used <= 10_000 + 3 * 1600, "{used}");
    // Each gets its turn under any load.
    let mut heavy = 0;
    for _ in 0..6 {
        harness.apply(vec![create("heavy"), create("light"), Command::GO_ON], vec![]);
        heavy += ended(&harness) - 1;
    }
    assert!(heavy >= 2, "{heavy} have ended");
    harness.go_on();
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(7);
}

#[test]
fn a_tick_triggers_the_rest_later() {
    let model = format!(
        "process p\nstart s\ncatch c timer=PT1S\nscript t expr=\"{}\" result=n\nend e\ns -> c -> t -> e",
        rounds(300)
    );
    let mut harness = Harness::with_options(options());
    harness.deploy(&[("p.bpmn", &model)]).unwrap();
    for _ in 0..10 {
        harness.command(create("p"));
    }
    harness.now_ms += 1000;
    let before = harness.engine().fuel_used();
    let effects = harness.apply(vec![Command::Tick], vec![]);
    assert!(effects.next_due_ms.is_some_and(|due| due <= START_MS + 1000), "some are still due");
    assert!(effects.has_pending_steps);
    let used = harness.engine().fuel_used() - before;
    assert!(used <= 1600 + 1000, "{used}");
    harness.advance(0);
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(8);
}

#[test]
fn conditional_starts_that_take_too_much_are_refused_by_the_limit() {
    let model =
        |number: u64| format!("process p{number}\nstart s condition=\"{} > x\"\nend e\ns -> e", rounds(2000));
    let mut harness = Harness::with_options(options());
    harness.deploy(&[("a.bpmn", &model(1)), ("b.bpmn", &model(2))]).unwrap();
    let outcome = harness.command(Command::EvaluateConditionals(EvaluateConditionals {
        variables: document(r#"{"x":1}"#),
        tenant_id: Name::default_tenant(),
        definition_key: None,
    }));
    let Some(Err(rejection)) = outcome else { panic!("{outcome:?}") };
    assert!(rejection.reason.contains("limits.max_fuel_per_step"), "{}", rejection.reason);
    assert!(harness.is_empty(), "none has started");
}

/// Models that once stopped a partition for 40 s, and for 40 s at each restart.
#[test]
fn the_worst_models_are_bounded() {
    let mut mappings = String::from("process deep\nstart s\njob t");
    for number in 0..350 {
        mappings.push_str(&format!(" in:v{number}=\"=count(for i in 1..2400000 return 1)\""));
    }
    mappings.push_str("\nend e\ns -> t -> e");
    let wide = "process wide
        start s
        script t each=\"for i in 1..2000 return i\" expr=\"count(for i in 1..50000 return 1)\" result=n
        end e
        s -> t -> e";
    let mut harness = Harness::new();
    harness
        .deploy(&[("deep.bpmn", &mappings), ("wide.bpmn", wide), ("light.bpmn", &script("light", 1))])
        .unwrap();
    let limits = WorkLimits::default();
    for process in ["deep", "wide"] {
        let before = harness.engine().fuel_used();
        let effects = harness.apply(vec![create(process), create(process), create("light")], vec![]);
        assert!(!effects.ended_instances.is_empty(), "the light one is through");
        let used = harness.engine().fuel_used() - before;
        assert!(used <= limits.max_fuel_per_step + 2 * limits.max_fuel_per_command, "{process}: {used}");
    }
    let messages: Vec<_> = harness
        .records()
        .filter_map(|record| match &record.value {
            RecordValue::Incident(incident) => Some(incident.error_message.to_string()),
            _ => None,
        })
        .collect();
    assert!(messages.iter().any(|message| message.contains("limits.max_fuel_per_step")), "{messages:?}");
}
