//! Ad-hoc sub-processes.

use expect_test::expect;

use crate::support::check;

const LISTED: &str = r#"process p
    start s
    adhoc pick elements=wanted collect=results gives=r {
    job a
    job b
    task after
    a -> after
    }
    end e
    s -> pick -> e"#;

#[test]
fn a_list_says_what_runs_at_the_beginning() {
    check(
        LISTED,
        r#"show elements jobs variables
           create p {"wanted": ["b", "a", "a"]}
           complete a@1 {"r": 1}
           complete b {"r": 2, "other": 3}
           complete a@2"#,
        expect![[r#"
              = deployed p v1
            > create p {"wanted": ["b", "a", "a"]}
              p activating
              p.wanted = ["b", "a", "a"] created
              p activated
              s activating, activated, completing, completed
              pick activating
              pick.adHocSubProcessElements = [{"elementId":"a"},{"elementId":"b"}] created
              pick.results = [] created
              pick activated
              pick#innerInstance activating
              pick#innerInstance.r = null created
              pick#innerInstance activated
              pick#innerInstance activating
              pick#innerInstance.r = null created
              pick#innerInstance activated
              pick#innerInstance activating
              pick#innerInstance.r = null created
              pick#innerInstance activated
              b activating
              job b created type b retries 3
              b activated
              a activating
              job a created type a retries 3
              a activated
              a activating
              job a created type a retries 3
              a activated
              = created p v1
            > complete a@1 {"r": 1}
              job a completed
              a completing
              pick#innerInstance.r = 1 updated
              a completed
              after activating, activated, completing, completed
              pick#innerInstance completing, completed
            > complete b {"r": 2, "other": 3}
              job b completed
              b completing
              pick#innerInstance.r = 2 updated
              p.other = 3 created
              b completed
              pick#innerInstance completing, completed
            > complete a@2
              job a completed
              a completing, completed
              after activating, activated, completing, completed
              pick#innerInstance completing, completed
              pick completing
              pick.results = [1,2,null] updated
              p.results = [1,2,null] created
              pick completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_list_of_what_is_not_there_is_an_incident() {
    check(
        LISTED,
        r#"show incidents jobs
           create p {"wanted": ["b", "x", "after"]}
           set #1 {"wanted": ["b", 1]}
           resolve pick
           set #1 {"wanted": "b"}
           resolve pick
           set #1 {"wanted": ["b"]}
           resolve pick
           set pick local {"results": "none"}
           complete b
           set pick local {"results": [ ]}
           resolve pick#innerInstance"#,
        expect![[r#"
              = deployed p v1
            > create p {"wanted": ["b", "x", "after"]}
              incident pick EXTRACT_VALUE_ERROR created: Failed to activate ad-hoc elements. No BPMN elements found with ids: 'x', 'after'.
              = created p v1
            > set #1 {"wanted": ["b", 1]}
            > resolve pick
              incident pick EXTRACT_VALUE_ERROR resolved
              incident pick EXTRACT_VALUE_ERROR created: Failed to activate ad-hoc elements. Expected result of the expression 'wanted' to be a list of strings, but it holds an item of type 'NUMBER'.
            > set #1 {"wanted": "b"}
            > resolve pick
              incident pick EXTRACT_VALUE_ERROR resolved
              incident pick EXTRACT_VALUE_ERROR created: Failed to activate ad-hoc elements. Expected result of the expression 'wanted' to be 'ARRAY', but was 'STRING'.
            > set #1 {"wanted": ["b"]}
            > resolve pick
              incident pick EXTRACT_VALUE_ERROR resolved
              job b created type b retries 3
            > set pick local {"results": "none"}
            > complete b
              job b completed
              incident pick#innerInstance EXTRACT_VALUE_ERROR created: The output collection 'results' has the wrong type. Expected ARRAY but was STRING.
            > set pick local {"results": [ ]}
            > resolve pick#innerInstance
              incident pick#innerInstance EXTRACT_VALUE_ERROR resolved
        "#]],
    );
}

#[test]
fn the_condition_ends_the_rest_or_waits_for_it() {
    for cancel in ["true", "false"] {
        let model = format!(
            r#"process p
               start s
               adhoc pick elements=wanted collect=results gives=r done="count(results) >= 2" cancel={cancel} {{
               job a
               }}
               end e
               s -> pick -> e"#
        );
        let script = r#"show elements jobs slices
           create p {"wanted": ["a", "a", "a"]}
           complete a@1 {"r": 1}
           complete a@2 {"r": 2}
           complete a@3 {"r": 3}"#;
        let expected = match cancel {
            "true" => expect![[r#"
                  = deployed p v1
                > create p {"wanted": ["a", "a", "a"]}
                  p activating, activated
                  s activating, activated, completing, completed
                  pick activating, activated
                  pick#innerInstance activating, activated
                  pick#innerInstance activating, activated
                  pick#innerInstance activating, activated
                  a activating
                  job a created type a retries 3
                  a activated
                  a activating
                  job a created type a retries 3
                  a activated
                  a activating
                  job a created type a retries 3
                  a activated
                  = created p v1
                > complete a@1 {"r": 1}
                  job a completed
                  a completing, completed
                  pick#innerInstance completing, completed
                > complete a@2 {"r": 2}
                  job a completed
                  a completing, completed
                  pick#innerInstance completing
                  instruction completed [] and cancel the rest
                  pick#innerInstance completed
                  batch of pick terminated
                  pick#innerInstance terminating
                  batch of pick#innerInstance terminated
                  a terminating
                  job a canceled
                  a terminated
                  pick#innerInstance terminated
                  pick completing, completed
                  e activating, activated, completing, completed
                  p completing, completed
                > complete a@3 {"r": 3}
                  = rejected NOT_FOUND: Expected to complete job with key '<key>', but no such job was found
            "#]],
            _ => expect![[r#"
                  = deployed p v1
                > create p {"wanted": ["a", "a", "a"]}
                  p activating, activated
                  s activating, activated, completing, completed
                  pick activating, activated
                  pick#innerInstance activating, activated
                  pick#innerInstance activating, activated
                  pick#innerInstance activating, activated
                  a activating
                  job a created type a retries 3
                  a activated
                  a activating
                  job a created type a retries 3
                  a activated
                  a activating
                  job a created type a retries 3
                  a activated
                  = created p v1
                > complete a@1 {"r": 1}
                  job a completed
                  a completing, completed
                  pick#innerInstance completing, completed
                > complete a@2 {"r": 2}
                  job a completed
                  a completing, completed
                  pick#innerInstance completing
                  instruction completed []
                  pick#innerInstance completed
                > complete a@3 {"r": 3}
                  job a completed
                  a completing, completed
                  pick#innerInstance completing, completed
                  pick completing, completed
                  e activating, activated, completing, completed
                  p completing, completed
            "#]],
        };
        check(&model, script, expected);
    }
}

#[test]
fn elements_are_activated_from_outside() {
    check(
        r#"process p
           start s
           adhoc pick {
           job a in:x="=y + 1"
           job b
           }
           end e
           s -> pick -> e"#,
        r#"show elements jobs variables slices
           create p {"y": 1}
           instruct pick elements=x,a,z
           instruct s elements=a
           instruct pick elements=a {"y": 5}
           instruct pick elements=b cancel=true
           complete b {"out": 1}
           instruct pick elements=a"#,
        expect![[r#"
              = deployed p v1
            > create p {"y": 1}
              p activating
              p.y = 1 created
              p activated
              s activating, activated, completing, completed
              pick activating
              pick.adHocSubProcessElements = [{"elementId":"a"},{"elementId":"b"}] created
              pick activated
              = created p v1
            > instruct pick elements=x,a,z
              = rejected NOT_FOUND: Expected to activate activities for ad-hoc sub-process with key '<key>', but the given elements [x, z] do not exist.
            > instruct s elements=a
              = rejected NOT_FOUND: Expected to activate activities for ad-hoc sub-process but no ad-hoc sub-process instance found with key '<key>'.
            > instruct pick elements=a {"y": 5}
              instruction activated [a]
              pick#innerInstance activating
              pick#innerInstance.y = 5 created
              pick#innerInstance activated
              a activating
              a.x = 6 created
              job a created type a retries 3
              a activated
            > instruct pick elements=b cancel=true
              instruction activated [b] and cancel the rest
              batch of pick terminated
              pick#innerInstance activating, activated
              pick#innerInstance terminating
              b activating
              job b created type b retries 3
              b activated
              batch of pick#innerInstance terminated
              a terminating
              job a canceled
              a terminated
              pick#innerInstance terminated
            > complete b {"out": 1}
              job b completed
              b completing
              p.out = 1 created
              b completed
              pick#innerInstance completing, completed
              pick completing, completed
              e activating, activated, completing, completed
              p completing, completed
            > instruct pick elements=a
              = rejected NOT_FOUND: Expected to activate activities for ad-hoc sub-process but no ad-hoc sub-process instance found with key '<key>'.
        "#]],
    );
}

#[test]
fn a_worker_decides_what_is_next() {
    check(
        r#"process p
           start s
           adhoc agent job=think collect=results gives=r {
           job a
           job b
           }
           end e
           s -> agent -> e"#,
        r#"create p
           activate think
           complete agent activate=x
           complete agent activate=a fulfilled=true
           complete agent activate=a,b,a {"q": 1}
           complete a@1 {"r": "one"}
           activate think
           complete b {"r": "two"}
           complete agent@2
           activate think
           complete agent {"memory": [1]}
           complete a@2 {"r": "three"}
           activate think
           fail agent
           update agent retries=1
           resolve agent
           complete agent fulfilled=true"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_agent
              agent activating
              agent.adHocSubProcessElements = [{"elementId":"a"},{"elementId":"b"}] created
              agent.results = [] created
              job agent created type think retries 1 ad hoc sub process unspecified
              agent activated
              = created p v1
            > activate think
              job agent activated
              < job agent AD_HOC_SUB_PROCESS UNSPECIFIED retries 1 deadline 600000 variables {"adHocSubProcessElements":[{"elementId":"a"},{"elementId":"b"}],"results":[]}
            > complete agent activate=x
              = rejected NOT_FOUND: Expected to activate activities for ad-hoc sub-process with key '<key>', but the given elements [x] do not exist.
            > complete agent activate=a fulfilled=true
              = rejected INVALID_ARGUMENT: Expected to complete job with key '<key>', but its result both fulfills the completion condition and activates elements
            > complete agent activate=a,b,a {"q": 1}
              job agent completed
              agent#innerInstance activating
              agent#innerInstance.q = 1 created
              agent#innerInstance.r = null created
              agent#innerInstance activated
              agent#innerInstance activating
              agent#innerInstance.q = 1 created
              agent#innerInstance.r = null created
              agent#innerInstance activated
              agent#innerInstance activating
              agent#innerInstance.q = 1 created
              agent#innerInstance.r = null created
              agent#innerInstance activated
              a activating
              job a created type a retries 3
              a activated
              b activating
              job b created type b retries 3
              b activated
              a activating
              job a created type a retries 3
              a activated
            > complete a@1 {"r": "one"}
              job a completed
              a completing
              agent#innerInstance.r = "one" updated
              a completed
              agent#innerInstance completing, completed
              job agent created type think retries 1 ad hoc sub process unspecified
            > activate think
              job agent activated
              < job agent AD_HOC_SUB_PROCESS UNSPECIFIED retries 1 deadline 600000 variables {"adHocSubProcessElements":[{"elementId":"a"},{"elementId":"b"}],"results":["one"]}
            > complete b {"r": "two"}
              job b completed
              b completing
              agent#innerInstance.r = "two" updated
              b completed
              agent#innerInstance completing, completed
              job agent canceled
              job agent created type think retries 1 ad hoc sub process unspecified
            > complete agent@2
              = rejected NOT_FOUND: Expected to complete job with key '<key>', but no such job was found
            > activate think
              job agent activated
              < job agent AD_HOC_SUB_PROCESS UNSPECIFIED retries 1 deadline 600000 variables {"adHocSubProcessElements":[{"elementId":"a"},{"elementId":"b"}],"results":["one","two"]}
            > complete agent {"memory": [1]}
              job agent completed
              p.memory = [1] created
            > complete a@2 {"r": "three"}
              job a completed
              a completing
              agent#innerInstance.r = "three" updated
              a completed
              agent#innerInstance completing, completed
              job agent created type think retries 1 ad hoc sub process unspecified
            > activate think
              job agent activated
              < job agent AD_HOC_SUB_PROCESS UNSPECIFIED retries 1 deadline 600000 variables {"adHocSubProcessElements":[{"elementId":"a"},{"elementId":"b"}],"results":["one","two","three"],"memory":[1]}
            > fail agent
              job agent failed retries 0
              incident agent AD_HOC_SUB_PROCESS_NO_RETRIES created: No more retries left.
            > update agent retries=1
              job agent retries updated retries 1
            > resolve agent
              incident agent AD_HOC_SUB_PROCESS_NO_RETRIES resolved
            > complete agent fulfilled=true
              job agent completed
              agent completing
              agent.results = ["one","two","three"] updated
              p.results = ["one","two","three"] created
              agent completed
              -- agent_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_worker_ends_it_with_what_still_runs_or_waits_for_that() {
    for how in ["fulfilled=true cancel=true", "fulfilled=true"] {
        let script = format!(
            "show elements jobs slices
             create p
             complete agent activate=a,a
             complete a@1
             complete agent {how}
             instruct agent elements=a
             complete a@2"
        );
        let expected = if how.contains("cancel") {
            expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              agent activating
              job agent created type think retries 1 ad hoc sub process unspecified
              agent activated
              = created p v1
            > complete agent activate=a,a
              job agent completed
              instruction activated [a, a]
              agent#innerInstance activating, activated
              agent#innerInstance activating, activated
              a activating
              job a created type a retries 3
              a activated
              a activating
              job a created type a retries 3
              a activated
            > complete a@1
              job a completed
              a completing, completed
              agent#innerInstance completing, completed
              job agent created type think retries 1 ad hoc sub process unspecified
            > complete agent fulfilled=true cancel=true
              job agent completed
              instruction completed [] and cancel the rest
              batch of agent terminated
              agent#innerInstance terminating
              batch of agent#innerInstance terminated
              a terminating
              job a canceled
              a terminated
              agent#innerInstance terminated
              agent completing, completed
              e activating, activated, completing, completed
              p completing, completed
            > instruct agent elements=a
              = rejected NOT_FOUND: Expected to activate activities for ad-hoc sub-process but no ad-hoc sub-process instance found with key '<key>'.
            > complete a@2
              = rejected NOT_FOUND: Expected to complete job with key '<key>', but no such job was found
        "#]]
        } else {
            expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              agent activating
              job agent created type think retries 1 ad hoc sub process unspecified
              agent activated
              = created p v1
            > complete agent activate=a,a
              job agent completed
              instruction activated [a, a]
              agent#innerInstance activating, activated
              agent#innerInstance activating, activated
              a activating
              job a created type a retries 3
              a activated
              a activating
              job a created type a retries 3
              a activated
            > complete a@1
              job a completed
              a completing, completed
              agent#innerInstance completing, completed
              job agent created type think retries 1 ad hoc sub process unspecified
            > complete agent fulfilled=true
              job agent completed
              instruction completed []
            > instruct agent elements=a
              = rejected INVALID_STATE: Expected to activate activities for ad-hoc sub-process with key '<key>', but it is not active.
            > complete a@2
              job a completed
              a completing, completed
              agent#innerInstance completing, completed
              agent completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]]
        };
        check(
            "process p
             start s
             adhoc agent job=think {
             job a
             }
             end e
             s -> agent -> e",
            &script,
            expected,
        );
    }
}

#[test]
fn cancelling_takes_everything_along() {
    check(
        "process p
         start s
         adhoc agent job=think {
         job a
         }
         boundary late on=agent timer=PT1S
         end e
         end e2
         s -> agent -> e
         late -> e2",
        "show elements jobs timers
         create p
         complete agent activate=a
         complete a
         advance 1s
         create p
         complete agent activate=a
         cancel #2",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              agent activating
              timer late created due 1000
              job agent created type think retries 1 ad hoc sub process unspecified
              agent activated
              = created p v1
            > complete agent activate=a
              job agent completed
              agent#innerInstance activating, activated
              a activating
              job a created type a retries 3
              a activated
            > complete a
              job a completed
              a completing, completed
              agent#innerInstance completing, completed
              job agent created type think retries 1 ad hoc sub process unspecified
            > advance 1s
              timer late triggered
              agent terminating
              job agent canceled
              agent terminated
              late activating, activated, completing, completed
              e2 activating, activated, completing, completed
              p completing, completed
            > create p
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.agent activating
              timer late created due 2000
              job #2.agent created type think retries 1 ad hoc sub process unspecified
              #2.agent activated
              = created p v1
            > complete agent activate=a
              job #2.agent completed
              #2.agent#innerInstance activating, activated
              #2.a activating
              job #2.a created type a retries 3
              #2.a activated
            > cancel #2
              #2.p terminating
              #2.agent terminating
              timer late canceled
              #2.agent#innerInstance terminating
              #2.a terminating
              job #2.a canceled
              #2.a terminated
              #2.agent#innerInstance terminated
              #2.agent terminated
              #2.p terminated
        "#]],
    );
}

#[test]
fn an_interrupting_event_inside_ends_it_without_the_worker() {
    for how in ["true", "false"] {
        let model = format!(
            "process p
             start s
             adhoc agent job=think {{
             job a
             on ring {{
             start bell message=ring key=k interrupting={how}
             job c
             bell -> c
             }}
             }}
             end e
             s -> agent -> e"
        );
        let expected = if how == "true" {
            expect![[r#"
              = deployed p v1
            > create p {"k": 1}
              p activating, activated
              s activating, activated, completing, completed
              agent activating
              job agent created type think retries 1 ad hoc sub process unspecified
              agent activated
              = created p v1
            > complete agent activate=a
              job agent completed
              agent#innerInstance activating, activated
              a activating
              job a created type a retries 3
              a activated
            > publish ring 1
              agent#innerInstance terminating
              a terminating
              job a canceled
              a terminated
              agent#innerInstance terminated
              ring activating, activated
              bell activating, activated, completing, completed
              c activating
              job c created type c retries 3
              c activated
            > complete c
              job c completed
              c completing, completed
              ring completing, completed
              agent completing, completed
              e activating, activated, completing, completed
              p completing, completed
            > complete a
              = rejected NOT_FOUND: Expected to complete job with key '<key>', but no such job was found
            > complete agent fulfilled=true
              = rejected NOT_FOUND: Expected to complete job with key '<key>', but no such job was found
        "#]]
        } else {
            expect![[r#"
              = deployed p v1
            > create p {"k": 1}
              p activating, activated
              s activating, activated, completing, completed
              agent activating
              job agent created type think retries 1 ad hoc sub process unspecified
              agent activated
              = created p v1
            > complete agent activate=a
              job agent completed
              agent#innerInstance activating, activated
              a activating
              job a created type a retries 3
              a activated
            > publish ring 1
              ring activating, activated
              bell activating, activated, completing, completed
              c activating
              job c created type c retries 3
              c activated
            > complete c
              job c completed
              c completing, completed
              ring completing, completed
              job agent created type think retries 1 ad hoc sub process unspecified
            > complete a
              job a completed
              a completing, completed
              agent#innerInstance completing, completed
              job agent canceled
              job agent created type think retries 1 ad hoc sub process unspecified
            > complete agent fulfilled=true
              job agent completed
              agent completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]]
        };
        check(
            &model,
            r#"show elements jobs
             create p {"k": 1}
             complete agent activate=a
             publish ring 1
             complete c
             complete a
             complete agent fulfilled=true"#,
            expected,
        );
    }
}

#[test]
fn without_anything_to_run_it_stays_until_something_is_activated() {
    check(
        r#"process p
           start s
           adhoc empty elements="[]" {
           job a
           }
           adhoc open {
           job b
           }
           end e
           s -> empty -> open -> e"#,
        "show elements incidents
         create p
         instruct empty elements=a
         complete a
         instruct open elements=b
         complete b",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              empty activating, activated
              = created p v1
            > instruct empty elements=a
              empty#innerInstance activating, activated
              a activating, activated
            > complete a
              a completing, completed
              empty#innerInstance completing, completed
              empty completing, completed
              open activating, activated
            > instruct open elements=b
              open#innerInstance activating, activated
              b activating, activated
            > complete b
              b completing, completed
              open#innerInstance completing, completed
              open completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
