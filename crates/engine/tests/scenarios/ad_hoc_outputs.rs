//! Output collection of an ad-hoc sub-process: outputs of activations are appended, and the list can be read and set
//! meanwhile.

use expect_test::expect;
use protocol::{
    Command, CreateInstance, DefinitionRef, Intent, Key, Name, Query, QueryReply, RecordValue, SetVariables,
};

use crate::support::{Harness, check, document};

const LISTED: &str = r#"process p
    start s
    adhoc pick elements=wanted collect=results gives=r {
    job a
    }
    job after
    end e
    s -> pick -> after -> e"#;

/// Creates an instance of [`LISTED`] with a number of activations. Returns its key.
fn begin(harness: &mut Harness, activations: usize) -> Key {
    harness.deploy(&[("p.bpmn", LISTED)]).unwrap();
    let wanted = vec![r#""a""#; activations].join(",");
    harness.command(Command::CreateInstance(CreateInstance {
        variables: document(&format!(r#"{{"wanted":[{wanted}]}}"#)),
        ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
    }));
    harness.go_on();
    harness.engine().tables().instances.keys(.., 1).unwrap()[0]
}

/// Completes as many jobs inside, which give these numbers.
fn complete(harness: &mut Harness, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let jobs = harness.activate("a", 1);
        harness.command(Command::CompleteJob(protocol::CompleteJob::of(
            jobs[0].key,
            document(&format!(r#"{{"r":{number}}}"#)),
        )));
    }
}

/// Key and scope of the list.
fn list(harness: &Harness) -> (Key, Key) {
    let rows = harness.engine().tables().variables.scan(.., usize::MAX).unwrap();
    let (place, row) = rows.iter().find(|((_, name), _)| **name == *"results").unwrap();
    (row.key, place.0)
}

fn read(harness: &mut Harness, key: Key) -> String {
    match harness.read(&Query::Variable { key }).unwrap() {
        QueryReply::Variable(variable) => variable.value.as_str().to_owned(),
        other => panic!("{other:?}"),
    }
}

fn numbers(range: std::ops::Range<usize>) -> String {
    range.map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}

#[test]
fn each_output_is_written_once() {
    let mut harness = Harness::new();
    begin(&mut harness, 200);
    let (key, scope_key) = list(&harness);
    let mut so_far = 0;
    for done in [0, 1, 63, 64, 65, 128, 199] {
        complete(&mut harness, so_far..done);
        so_far = done;
        assert_eq!(read(&mut harness, key), format!("[{}]", numbers(0..done)));
        let tables = harness.engine().tables();
        let row = tables.variables.get(&(scope_key, "results".into())).unwrap().unwrap();
        assert_eq!(row.value.as_str(), "[]", "the variable itself is not written again");
        assert_eq!(tables.loop_chunks.len().unwrap(), done as u64 / 64);
        assert_eq!(tables.loop_outputs.len().unwrap(), done as u64 % 64);
        harness.flush_and_reopen();
    }
    complete(&mut harness, 199..200);
    let all = format!("[{}]", numbers(0..200));
    let jobs = harness.activate("after", 1);
    assert_eq!(jobs[0].variables.get("results").unwrap().as_str(), all);
    let told: Vec<_> = harness
        .records()
        .filter_map(|record| match &record.value {
            RecordValue::Variable(variable) if *variable.name == *"results" => {
                Some((record.intent, variable.value.as_str().to_owned()))
            }
            _ => None,
        })
        .collect();
    let told: Vec<_> = told.iter().map(|(intent, value)| (*intent, value.as_str())).collect();
    assert_eq!(told, [(Intent::Created, "[]"), (Intent::Updated, &*all), (Intent::Created, &*all)]);
    harness.command(Command::CompleteJob(protocol::CompleteJob::of(jobs[0].key, document("{}"))));
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(1);
}

#[test]
fn a_list_that_is_set_goes_on_from_there() {
    let mut harness = Harness::new();
    begin(&mut harness, 500);
    let (key, scope_key) = list(&harness);
    let set = |harness: &mut Harness, json: &str| {
        harness.command(Command::SetVariables(SetVariables {
            element_instance_key: scope_key,
            variables: document(json),
            local: true,
            operation_reference: None,
            request_id: None,
        }));
    };
    complete(&mut harness, 0..70);
    set(&mut harness, r#"{"results": [ "x" , 1 ]}"#);
    assert_eq!(read(&mut harness, key), r#"[ "x" , 1 ]"#);
    complete(&mut harness, 70..71);
    assert_eq!(read(&mut harness, key), r#"["x" , 1,70]"#);
    // The old list is gone and does not count.
    assert_eq!(harness.engine().tables().loop_outputs.len().unwrap(), 1);
    assert_eq!(harness.engine().tables().loop_chunks.len().unwrap(), 0);
    set(&mut harness, r#"{"results": []}"#);
    // The same value again: nothing happens.
    set(&mut harness, r#"{"results": []}"#);
    complete(&mut harness, 71..71 + 130);
    let expected = format!("[{}]", numbers(71..201));
    assert_eq!(read(&mut harness, key), expected);
    set(&mut harness, &format!(r#"{{"results":{expected}}}"#));
    assert_eq!(harness.engine().tables().loop_chunks.len().unwrap(), 2);
    complete(&mut harness, 201..500);
    let jobs = harness.activate("after", 1);
    assert_eq!(jobs[0].variables.get("results").unwrap().as_str(), format!("[{}]", numbers(71..500)));
    let process_instance_key = jobs[0].process_instance_key;
    harness.command(Command::CancelInstance { process_instance_key, operation_reference: None });
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(1);
}

#[test]
fn a_cancelled_list_leaves_nothing() {
    let mut harness = Harness::new();
    let process_instance_key = begin(&mut harness, 400);
    complete(&mut harness, 0..350);
    harness.command(Command::CancelInstance { process_instance_key, operation_reference: None });
    harness.go_on();
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
}

#[test]
fn the_list_is_seen_by_the_worker_and_by_what_runs_inside() {
    check(
        r#"process p
           start s
           adhoc agent job=think collect=results gives=r {
           job a in:before=="count(results)"
           }
           boundary full on=agent condition="count(results) = 2" interrupting=false
           end told
           full -> told
           end e
           s -> agent -> e"#,
        r#"show variables jobs elements
           create p
           complete agent activate=a,a,a
           complete a@1 {"r": 1}
           complete a@2 {"r": 2}
           activate think
           complete agent {"results": []}
           complete a@3 {"r": 3}
           activate think
           complete agent fulfilled=true"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              agent activating
              agent.adHocSubProcessElements = [{"elementId":"a"}] created
              agent.results = [] created
              job agent created type think retries 1 ad hoc sub process unspecified
              agent activated
              = created p v1
            > complete agent activate=a,a,a
              job agent completed
              agent#innerInstance activating
              agent#innerInstance.r = null created
              agent#innerInstance activated
              agent#innerInstance activating
              agent#innerInstance.r = null created
              agent#innerInstance activated
              agent#innerInstance activating
              agent#innerInstance.r = null created
              agent#innerInstance activated
              a activating
              a.before = 0 created
              job a created type a retries 3
              a activated
              a activating
              a.before = 0 created
              job a created type a retries 3
              a activated
              a activating
              a.before = 0 created
              job a created type a retries 3
              a activated
            > complete a@1 {"r": 1}
              job a completed
              a completing
              agent#innerInstance.r = 1 updated
              a completed
              agent#innerInstance completing, completed
              job agent created type think retries 1 ad hoc sub process unspecified
            > complete a@2 {"r": 2}
              job a completed
              a completing
              agent#innerInstance.r = 2 updated
              a completed
              agent#innerInstance completing, completed
              job agent canceled
              job agent created type think retries 1 ad hoc sub process unspecified
              full activating, activated, completing, completed
              told activating, activated, completing, completed
            > activate think
              job agent activated
              < job agent AD_HOC_SUB_PROCESS UNSPECIFIED retries 1 deadline 600000 variables {"adHocSubProcessElements":[{"elementId":"a"}],"results":[1,2]}
            > complete agent {"results": []}
              job agent completed
              agent.results = [] updated
            > complete a@3 {"r": 3}
              job a completed
              a completing
              agent#innerInstance.r = 3 updated
              a completed
              agent#innerInstance completing, completed
              job agent created type think retries 1 ad hoc sub process unspecified
            > activate think
              job agent activated
              < job agent AD_HOC_SUB_PROCESS UNSPECIFIED retries 1 deadline 600000 variables {"adHocSubProcessElements":[{"elementId":"a"}],"results":[3]}
            > complete agent fulfilled=true
              job agent completed
              agent completing
              agent.results = [3] updated
              p.results = [3] created
              agent completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn variables_of_the_worker_go_to_the_scope_that_owns_them() {
    check(
        r#"process p
           start s
           adhoc agent job=think in:local="=0" {
           job a
           }
           end e
           s -> agent -> e"#,
        r#"show variables
           create p {"known": 1}
           complete agent {"known": 2, "local": 2, "new": 2}
           complete a"#,
        expect![[r#"
              = deployed p v1
            > create p {"known": 1}
              p.known = 1 created
              agent.adHocSubProcessElements = [{"elementId":"a"}] created
              agent.local = 0 created
              = created p v1
            > complete agent {"known": 2, "local": 2, "new": 2}
              p.known = 2 updated
              agent.local = 2 updated
              p.new = 2 created
            > complete a
              = rejected NOT_FOUND: Expected to complete job with key '1', but no such job was found
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 4, loops 1
        "#]],
    );
}

#[test]
fn a_variable_outside_is_no_output_and_an_event_sub_process_gives_one() {
    for how in ["false", "true"] {
        let model = format!(
            r#"process p
               start s
               adhoc agent job=think collect=results gives=r {{
               job a
               on ring {{
               start bell message=ring key=k interrupting={how} out:r="=said"
               end f
               bell -> f
               }}
               }}
               end e
               s -> agent -> e"#
        );
        let expected = match how {
            "false" => expect![[r#"
                  = deployed p v1
                > create p {"k": 1, "r": "outside"}
                  p.k = 1 created
                  p.r = "outside" created
                  agent.adHocSubProcessElements = [{"elementId":"a"}] created
                  agent.results = [] created
                  job agent created type think retries 1 ad hoc sub process unspecified
                  = created p v1
                > complete agent activate=a
                  job agent completed
                  agent#innerInstance.r = null created
                  job a created type a retries 3
                > complete a
                  job a completed
                  job agent created type think retries 1 ad hoc sub process unspecified
                > publish ring 1 {"said": "hello"}
                  bell.said = "hello" created
                  p.r = "hello" updated
                  job agent canceled
                  job agent created type think retries 1 ad hoc sub process unspecified
                > activate think
                  job agent activated
                  < job agent AD_HOC_SUB_PROCESS UNSPECIFIED retries 1 deadline 600000 variables {"adHocSubProcessElements":[{"elementId":"a"}],"results":[null,"hello"],"k":1,"r":"hello"}
                > complete agent fulfilled=true
                  job agent completed
                  agent.results = [null,"hello"] updated
                  p.results = [null,"hello"] created
            "#]],
            _ => expect![[r#"
                  = deployed p v1
                > create p {"k": 1, "r": "outside"}
                  p.k = 1 created
                  p.r = "outside" created
                  agent.adHocSubProcessElements = [{"elementId":"a"}] created
                  agent.results = [] created
                  job agent created type think retries 1 ad hoc sub process unspecified
                  = created p v1
                > complete agent activate=a
                  job agent completed
                  agent#innerInstance.r = null created
                  job a created type a retries 3
                > complete a
                  job a completed
                  job agent created type think retries 1 ad hoc sub process unspecified
                > publish ring 1 {"said": "hello"}
                  job agent canceled
                  bell.said = "hello" created
                  p.r = "hello" updated
                  agent.results = [null,"hello"] updated
                  p.results = [null,"hello"] created
                > activate think
                  < no job
                > complete agent fulfilled=true
                  = rejected NOT_FOUND: Expected to complete job with key '<key>', but no such job was found
            "#]],
        };
        check(
            &model,
            r#"show variables jobs
               create p {"k": 1, "r": "outside"}
               complete agent activate=a
               complete a
               publish ring 1 {"said": "hello"}
               activate think
               complete agent fulfilled=true"#,
            expected,
        );
    }
}

#[test]
fn input_mappings_see_what_may_run_and_say_what_the_list_begins_with() {
    check(
        r#"process p
           start s
           adhoc pick elements=ids collect=results gives=r in:ids="=for e in adHocSubProcessElements return e.elementId" in:results="=['first']" out:results="=append(results, 'last')" {
           script a expr=1 result=r
           script b expr=2 result=r
           }
           end e
           s -> pick -> e"#,
        r#"show variables
           create p"#,
        expect![[r#"
              = deployed p v1
            > create p
              pick.adHocSubProcessElements = [{"elementId":"a"},{"elementId":"b"}] created
              pick.results = [] created
              pick.ids = ["a","b"] created
              pick.results = ["first"] updated
              pick#innerInstance.r = null created
              pick#innerInstance.r = null created
              pick#innerInstance.r = 1 updated
              pick#innerInstance.r = 2 updated
              pick.results = ["first",1,2] updated
              p.results = ["first",1,2] created
              p.results = ["first",1,2,"last"] updated
              = created p v1
        "#]],
    );
}

#[test]
fn what_ends_it_is_told_apart_from_what_begins_it() {
    check(
        r#"process p
           start s
           adhoc pick elements=ids done=enough {
           job a
           }
           end e
           s -> pick -> e"#,
        r#"show incidents
           create p {"ids": 1}
           set #1 {"ids": ["a"], "enough": "no"}
           resolve pick
           complete a
           set #1 {"enough": true}
           resolve pick#innerInstance"#,
        expect![[r#"
              = deployed p v1
            > create p {"ids": 1}
              incident pick EXTRACT_VALUE_ERROR created: Failed to activate ad-hoc elements. Expected result of the expression 'ids' to be 'ARRAY', but was 'NUMBER'.
              = created p v1
            > set #1 {"ids": ["a"], "enough": "no"}
            > resolve pick
              incident pick EXTRACT_VALUE_ERROR resolved
            > complete a
              incident pick#innerInstance EXTRACT_VALUE_ERROR created: Failed to evaluate completion condition. Expected result of the expression 'enough' to be 'BOOLEAN', but was 'STRING'.
            > set #1 {"enough": true}
            > resolve pick#innerInstance
              incident pick#innerInstance EXTRACT_VALUE_ERROR resolved
        "#]],
    );
}
