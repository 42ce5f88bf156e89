//! Incidents and what resolving them does.

use expect_test::expect;
use protocol::{Command, CreateInstance, DefinitionRef, Intent, RecordValue};

use crate::support::{Harness, check};

#[test]
fn a_failed_input_mapping_is_tried_again() {
    check(
        r#"process p
           start s
           job t in:x="=assert(a, a != null)"
           end e
           s -> t -> e"#,
        r#"show elements incidents jobs variables
           create p
           resolve t
           set #1 {"a":1}
           resolve t
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating
              incident t IO_MAPPING_ERROR created: failed to evaluate expression 'assert(a, a != null)': Assertion failure on evaluate the expression 'assert(a, a != null)': The condition is not fulfilled The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'a'|[NO_VARIABLE_FOUND] No variable found with name 'a'|[ASSERT_FAILURE] The condition is not fulfilled
              = created p v1
            > resolve t
              incident t IO_MAPPING_ERROR resolved
              incident t IO_MAPPING_ERROR created: failed to evaluate expression 'assert(a, a != null)': Assertion failure on evaluate the expression 'assert(a, a != null)': The condition is not fulfilled The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'a'|[NO_VARIABLE_FOUND] No variable found with name 'a'|[ASSERT_FAILURE] The condition is not fulfilled
            > set #1 {"a":1}
              p.a = 1 created
            > resolve t
              incident t IO_MAPPING_ERROR resolved
              t.x = 1 created
              job t created type t retries 3
              t activated
            > complete t
              job t completed
              t completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_failed_output_mapping_is_tried_again_with_the_result() {
    check(
        r#"process p
           start s
           job t out:y="=assert(b, b != null)"
           boundary late on=t timer=PT1M
           end e
           s -> t -> e
           late -> e"#,
        r#"show elements incidents jobs variables timers
           create p
           complete t {"x":1}
           set #1 {"b":2}
           resolve t"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating
              timer late created due 60000
              job t created type t retries 3
              t activated
              = created p v1
            > complete t {"x":1}
              job t completed
              t completing
              t.x = 1 created
              incident t IO_MAPPING_ERROR created: failed to evaluate expression 'assert(b, b != null)': Assertion failure on evaluate the expression 'assert(b, b != null)': The condition is not fulfilled The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'b'|[NO_VARIABLE_FOUND] No variable found with name 'b'|[ASSERT_FAILURE] The condition is not fulfilled
            > set #1 {"b":2}
              p.b = 2 created
            > resolve t
              incident t IO_MAPPING_ERROR resolved
              p.y = 2 created
              timer late canceled
              t completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_boundary_event_ends_an_element_that_waits_for_people() {
    check(
        r#"process p
           start s
           job t out:y="=assert(b, b != null)"
           boundary late on=t timer=PT1M
           end e
           end e2
           s -> t -> e
           late -> e2"#,
        r#"show elements incidents
           create p
           complete t {"x":1}
           advance 1m
           resolve t"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > complete t {"x":1}
              t completing
              incident t IO_MAPPING_ERROR created: failed to evaluate expression 'assert(b, b != null)': Assertion failure on evaluate the expression 'assert(b, b != null)': The condition is not fulfilled The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'b'|[NO_VARIABLE_FOUND] No variable found with name 'b'|[ASSERT_FAILURE] The condition is not fulfilled
            > advance 1m
              t terminating
              incident t IO_MAPPING_ERROR resolved
              t terminated
              late activating, activated, completing, completed
              e2 activating, activated, completing, completed
              p completing, completed
            > resolve t
              = rejected NOT_FOUND: Expected to resolve incident with key '<key>', but no such incident was found
        "#]],
    );
}

#[test]
fn job_type_and_retries_must_be_usable() {
    check(
        r#"process p
           start s
           job t type="=type" retries="=tries" in:n="=n + 1"
           end e
           s -> t -> e"#,
        r#"show incidents jobs variables
           create p {"type":1,"tries":1,"n":1}
           set #1 {"type":"work"}
           set #1 {"tries":"many"}
           resolve t
           set #1 {"tries":1.5}
           resolve t
           set #1 {"tries":4}
           resolve t
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p {"type":1,"tries":1,"n":1}
              p.type = 1 created
              p.tries = 1 created
              p.n = 1 created
              t.n = 2 created
              incident t EXTRACT_VALUE_ERROR created: Expected result of the expression 'type' to be 'STRING', but was 'NUMBER'.
              = created p v1
            > set #1 {"type":"work"}
              p.type = "work" updated
            > set #1 {"tries":"many"}
              p.tries = "many" updated
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              incident t EXTRACT_VALUE_ERROR created: Expected result of the expression 'tries' to be 'NUMBER', but was 'STRING'.
            > set #1 {"tries":1.5}
              p.tries = 1.5 updated
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              incident t EXTRACT_VALUE_ERROR created: Expected result of the expression 'tries' to be an integer, but was a decimal.
            > set #1 {"tries":4}
              p.tries = 4 updated
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              job t created type work retries 4
            > complete t
              job t completed
        "#]],
    );
}

#[test]
fn a_gateway_without_a_way_out_waits_for_people() {
    check(
        "process p
         start s
         xor g
         end a
         end b
         s -> g
         g -> a if x > 10
         g -> b if x < 5",
        r#"show elements flows incidents
           create p {"x":7}
           resolve g
           set #1 {"x":"text"}
           resolve g
           set #1 {"x":1}
           resolve g"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":7}
              p activating, activated
              s activating, activated, completing, completed
              -- s_g
              g activating, activated, completing
              incident g CONDITION_ERROR created: Expected at least one condition to evaluate to true, or to have a default flow
              = created p v1
            > resolve g
              incident g CONDITION_ERROR resolved
              incident g CONDITION_ERROR created: Expected at least one condition to evaluate to true, or to have a default flow
            > set #1 {"x":"text"}
            > resolve g
              incident g CONDITION_ERROR resolved
              incident g EXTRACT_VALUE_ERROR created: Expected result of the expression 'x < 5' to be 'BOOLEAN', but was 'NULL'. The evaluation reported the following warnings:|[NOT_COMPARABLE] Can't compare '"text"' with '5'
            > set #1 {"x":1}
            > resolve g
              incident g EXTRACT_VALUE_ERROR resolved
              g completed
              -- g_b
              b activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_failed_script_is_tried_again() {
    check(
        r#"process p
           start s
           script calc expr="assert(x, x > 0)" result=y
           end e
           s -> calc -> e"#,
        r#"show elements incidents variables
           create p {"x":0}
           set #1 {"x":3}
           resolve calc"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":0}
              p activating
              p.x = 0 created
              p activated
              s activating, activated, completing, completed
              calc activating
              incident calc EXTRACT_VALUE_ERROR created: failed to evaluate expression 'assert(x, x > 0)': Assertion failure on evaluate the expression 'assert(x, x > 0)': The condition is not fulfilled The evaluation reported the following warnings:|[ASSERT_FAILURE] The condition is not fulfilled
              = created p v1
            > set #1 {"x":3}
              p.x = 3 updated
            > resolve calc
              incident calc EXTRACT_VALUE_ERROR resolved
              calc activated, completing
              p.y = 3 created
              calc completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn resolving_without_retries_raises_a_new_incident() {
    check(
        "process p
         start s
         job t
         end e
         s -> t -> e",
        "show incidents jobs
         create p
         activate t
         fail t retries=0
         resolve t
         update t retries=1
         resolve t
         resolve t
         activate t
         fail t retries=0 message=again
         cancel #1",
        expect![[r#"
              = deployed p v1
            > create p
              job t created type t retries 3
              = created p v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {}
            > fail t retries=0
              job t failed retries 0
              incident t JOB_NO_RETRIES created: No more retries left.
            > resolve t
              = rejected INVALID_STATE: Expected to resolve incident with key '<key>', but its job with key '<key>' has no retries left; update the retries of the job before
            > update t retries=1
              job t retries updated retries 1
            > resolve t
              incident t JOB_NO_RETRIES resolved
            > resolve t
              = rejected NOT_FOUND: Expected to resolve incident with key '<key>', but no such incident was found
            > activate t
              job t activated
              < job t retries 1 deadline 600000 variables {}
            > fail t retries=0 message=again
              job t failed retries 0
              incident t JOB_NO_RETRIES created: again
            > cancel #1
              incident t JOB_NO_RETRIES resolved
              job t canceled
        "#]],
    );
}

#[test]
fn a_script_that_is_tried_again_takes_its_inputs_anew() {
    check(
        r#"process p
           start s
           script calc expr="assert(y, y > 0)" result=z in:y==x
           end e
           s -> calc -> e"#,
        r#"show incidents variables
           create p {"x":0}
           set #1 {"x":3}
           set calc local {"y":7}
           resolve calc"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":0}
              p.x = 0 created
              calc.y = 0 created
              incident calc EXTRACT_VALUE_ERROR created: failed to evaluate expression 'assert(y, y > 0)': Assertion failure on evaluate the expression 'assert(y, y > 0)': The condition is not fulfilled The evaluation reported the following warnings:|[ASSERT_FAILURE] The condition is not fulfilled
              = created p v1
            > set #1 {"x":3}
              p.x = 3 updated
            > set calc local {"y":7}
              calc.y = 7 updated
            > resolve calc
              incident calc EXTRACT_VALUE_ERROR resolved
              calc.y = 3 updated
              p.z = 3 created
        "#]],
    );
}

#[test]
fn an_incident_tells_the_way_down_to_it() {
    let mut harness = Harness::new();
    let bottom = r#"process bottom
        start s
        sub box {
        start i
        job a in:x="=assert(a, a != null)"
        end j
        i -> a -> j
        }
        end e
        s -> box -> e"#;
    let middle = "process middle\n start s\n call down process=bottom\n end e\n s -> down -> e";
    // The IDs of its call activities, sorted, are "another" and "down".
    let top = "process top\n start s\n call down process=middle\n call another process=none\n end e\n s -> down -> another -> e";
    harness.deploy(&[("bottom.bpmn", bottom), ("middle.bpmn", middle), ("top.bpmn", top)]).unwrap();
    let create = CreateInstance::of(DefinitionRef::Id { id: "top".into(), version: None });
    harness.command(Command::CreateInstance(create)).unwrap().unwrap();
    let (_, incident) = harness.engine().tables().incidents.first(..).unwrap().unwrap();
    let (root_key, lowest) = {
        let instances = harness.engine().tables().instances.scan(.., 9).unwrap();
        (instances[0].0, instances[2].0)
    };
    harness.command(Command::CancelInstance { process_instance_key: root_key, operation_reference: None });
    let told: Vec<_> = harness
        .records()
        .filter_map(|record| match &record.value {
            RecordValue::Incident(it) => Some((record.intent, it.clone())),
            _ => None,
        })
        .collect();
    let [(Intent::Created, created), (Intent::Resolved, resolved)] = &told[..] else { panic!("{told:?}") };
    assert_eq!(created.element_instance_path, resolved.element_instance_path);
    let path = &created.element_instance_path;
    assert_eq!(path.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 3]);
    assert_eq!((path[0][0], path[2][0], path[2][2]), (root_key, lowest, incident.element_instance_key));
    assert_eq!(created.calling_element_path, [1, 0]);
    assert_eq!(created.process_definition_path.len(), 3);
    assert_eq!(created.process_definition_path[2], created.process_definition_key);
    harness.verify_replay(1);
}
