//! Migration of ad-hoc sub-processes.

use expect_test::expect;

use crate::migration::migrate;

const LISTED: &str = "process order
    start s
    adhoc pick elements=wanted collect=results gives=r {
    job a
    job b
    task after
    a -> after
    }
    end e
    s -> pick -> e";

#[test]
fn what_runs_inside_goes_on_in_the_new_model() {
    migrate(
        LISTED,
        "process order
         start s
         adhoc choose elements=wanted collect=results gives=r {
         job x
         job b
         job later
         x -> later
         }
         job last
         end e
         s -> choose -> last -> e",
        r#"show elements jobs variables
           create order v=1 {"wanted":["a","b"]}
           complete b {"r":1}
           migrate #1 order v=2 pick:choose
           migrate #1 order v=2 a:x
           migrate #1 order v=2 pick:choose a:x
           complete x {"r":2}
           complete later
           complete last"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"wanted":["a","b"]}
              order activating
              order.wanted = ["a","b"] created
              order activated
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
              a activating
              job a created type a retries 3
              a activated
              b activating
              job b created type b retries 3
              b activated
              = created order v1
            > complete b {"r":1}
              job b completed
              b completing
              pick#innerInstance.r = 1 updated
              b completed
              pick#innerInstance completing, completed
            > migrate #1 order v=2 pick:choose
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but no mapping instruction is defined for the active element 'a'; elements cannot be migrated without a mapping.
            > migrate #1 order v=2 a:x
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but no mapping instruction is defined for the active element 'pick'; elements cannot be migrated without a mapping.
            > migrate #1 order v=2 pick:choose a:x
              order migrated
              order.wanted = ["a","b"] migrated
              pick becomes choose
              choose migrated
              choose.adHocSubProcessElements = [{"elementId":"a"},{"elementId":"b"}] migrated
              choose.results = [1] migrated
              pick#innerInstance becomes choose#innerInstance
              choose#innerInstance migrated
              choose#innerInstance.r = null migrated
              a becomes x
              x migrated
              job x migrated
              #1 migrated
            > complete x {"r":2}
              job x completed
              x completing
              choose#innerInstance.r = 2 updated
              x completed
              later activating
              job later created type later retries 3
              later activated
            > complete later
              job later completed
              later completing, completed
              choose#innerInstance completing, completed
              choose completing
              choose.results = [1,2] updated
              order.results = [1,2] created
              choose completed
              last activating
              job last created type last retries 3
              last activated
            > complete last
              job last completed
              last completing, completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn what_was_collected_goes_on_under_its_new_name() {
    migrate(
        LISTED,
        &LISTED.replace("collect=results gives=r", "collect=found gives=r+1"),
        r#"show elements variables
           create order v=1 {"wanted":["a","b"]}
           complete b {"r":1}
           migrate #1 order v=2 pick a
           complete a {"r":2}"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"wanted":["a","b"]}
              order activating
              order.wanted = ["a","b"] created
              order activated
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
              a activating, activated
              b activating, activated
              = created order v1
            > complete b {"r":1}
              b completing
              pick#innerInstance.r = 1 updated
              b completed
              pick#innerInstance completing, completed
            > migrate #1 order v=2 pick a
              order migrated
              order.wanted = ["a","b"] migrated
              pick migrated
              pick.adHocSubProcessElements = [{"elementId":"a"},{"elementId":"b"}] migrated
              pick.results = [1] migrated
              pick.results = [1] updated
              pick.found = [1] created
              pick#innerInstance migrated
              pick#innerInstance.r = null migrated
              a migrated
              #1 migrated
            > complete a {"r":2}
              a completing
              pick#innerInstance.r = 2 updated
              a completed
              after activating, activated, completing, completed
              pick#innerInstance completing, completed
              pick completing
              pick.found = [1,3] updated
              order.found = [1,3] created
              pick completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn a_list_begins_where_there_was_none() {
    migrate(
        &LISTED.replace(" collect=results gives=r", ""),
        LISTED,
        r#"show elements variables
           create order v=1 {"wanted":["a"]}
           migrate #1 order v=2 pick a
           complete a {"r":2}"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"wanted":["a"]}
              order activating
              order.wanted = ["a"] created
              order activated
              s activating, activated, completing, completed
              pick activating
              pick.adHocSubProcessElements = [{"elementId":"a"},{"elementId":"b"}] created
              pick activated
              pick#innerInstance activating, activated
              a activating, activated
              = created order v1
            > migrate #1 order v=2 pick a
              order migrated
              order.wanted = ["a"] migrated
              pick migrated
              pick.adHocSubProcessElements = [{"elementId":"a"},{"elementId":"b"}] migrated
              pick.results = [] created
              pick#innerInstance migrated
              a migrated
              #1 migrated
            > complete a {"r":2}
              a completing
              order.r = 2 created
              a completed
              after activating, activated, completing, completed
              pick#innerInstance completing, completed
              pick completing
              pick.results = [2] updated
              order.results = [2] created
              pick completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

const DECIDED: &str = "process order
    start s
    adhoc pick job=decide {
    job a
    job b
    }
    boundary late on=pick timer=PT1H
    on odd {
    start o message=odd key=k interrupting=false
    }
    end e
    s -> pick -> e
    late -> e";

#[test]
fn its_worker_decides_by_the_new_model() {
    migrate(
        DECIDED,
        &DECIDED.replace("job b", "job c").replace("timer=PT1H", "timer=PT5M"),
        r#"show elements jobs timers incidents
           create order v=1 {"k":"1"}
           activate decide
           complete pick activate=a,a
           complete a@1
           migrate #1 order v=2 pick a
           activate decide
           complete pick activate=b
           complete pick activate=c
           complete a@2
           complete c
           complete pick fulfilled=true"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"k":"1"}
              order activating, activated
              s activating, activated, completing, completed
              pick activating
              timer late created due 3600000
              job pick created type decide retries 1 ad hoc sub process unspecified
              pick activated
              = created order v1
            > activate decide
              job pick activated
              < job pick AD_HOC_SUB_PROCESS UNSPECIFIED retries 1 deadline 600000 variables {"adHocSubProcessElements":[{"elementId":"a"},{"elementId":"b"}],"k":"1"}
            > complete pick activate=a,a
              job pick completed
              pick#innerInstance activating, activated
              pick#innerInstance activating, activated
              a activating
              job a created type a retries 3
              a activated
              a activating
              job a created type a retries 3
              a activated
            > complete a@1
              job a completed
              a completing, completed
              pick#innerInstance completing, completed
              job pick created type decide retries 1 ad hoc sub process unspecified
            > migrate #1 order v=2 pick a
              order migrated
              pick migrated
              job pick migrated
              timer late canceled
              timer late created due 300000
              pick#innerInstance migrated
              a migrated
              job a migrated
              #1 migrated
            > activate decide
              job pick activated
              < job pick AD_HOC_SUB_PROCESS UNSPECIFIED retries 1 deadline 600000 variables {"adHocSubProcessElements":[{"elementId":"a"},{"elementId":"b"}],"k":"1"}
            > complete pick activate=b
              = rejected NOT_FOUND: Expected to activate activities for ad-hoc sub-process with key '<key>', but the given elements [b] do not exist.
            > complete pick activate=c
              job pick completed
              pick#innerInstance activating, activated
              c activating
              job c created type c retries 3
              c activated
            > complete a@2
              job a completed
              a completing, completed
              pick#innerInstance completing, completed
              job pick created type decide retries 1 ad hoc sub process unspecified
            > complete c
              job c completed
              c completing, completed
              pick#innerInstance completing, completed
              job pick canceled
              job pick created type decide retries 1 ad hoc sub process unspecified
            > complete pick fulfilled=true
              job pick completed
              pick completing
              timer late canceled
              pick completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn who_decides_stays() {
    for (before, after) in [(LISTED, DECIDED), (DECIDED, LISTED)] {
        let expected = if before == LISTED {
            expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"wanted":["a"],"k":"1"}
              = created order v1
            > migrate #1 order v=2 pick a
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active element 'pick' is mapped to 'pick', which is not implemented in the same way (by a job worker or not).
            > cancel #1
        "#]]
        } else {
            expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"wanted":["a"],"k":"1"}
              = created order v1
            > migrate #1 order v=2 pick a
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active element 'pick' is mapped to 'pick', which is not implemented in the same way (by a job worker or not).
            > cancel #1
        "#]]
        };
        migrate(
            before,
            after,
            r#"show errors
               create order v=1 {"wanted":["a"],"k":"1"}
               migrate #1 order v=2 pick a
               cancel #1"#,
            expected,
        );
    }
}

#[test]
fn an_ad_hoc_sub_process_is_mapped_to_one() {
    migrate(
        LISTED,
        "process order
         start s
         sub pick {
         start i
         job a
         end j
         i -> a -> j
         }
         adhoc other {
         job b
         }
         end e
         s -> pick -> other -> e",
        r#"show errors
           create order v=1 {"wanted":["a"]}
           migrate #1 order v=2 pick a
           migrate #1 order v=2 pick:other a
           migrate #1 order v=2 pick:other a:b
           cancel #1"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"wanted":["a"]}
              = created order v1
            > migrate #1 order v=2 pick a
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active element 'pick' of type 'AD_HOC_SUB_PROCESS' is mapped to 'pick' of type 'SUB_PROCESS'; the type must not change.
            > migrate #1 order v=2 pick:other a
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the flow scope of the active element 'a' is changed: as 'pick#innerInstance' is mapped to 'other#innerInstance', 'a' would have to stand there, but it stands in 'pick'.
            > migrate #1 order v=2 pick:other a:b
            > cancel #1
        "#]],
    );
}

#[test]
fn an_incident_of_its_list_is_resolved_in_the_new_model() {
    migrate(
        LISTED,
        &LISTED.replace("elements=wanted", "elements=chosen"),
        r#"show elements jobs incidents variables
           create order v=1 {"wanted":["x"],"chosen":["b"]}
           migrate #1 order v=2 pick
           resolve pick
           complete b {"r":5}"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"wanted":["x"],"chosen":["b"]}
              order activating
              order.wanted = ["x"] created
              order.chosen = ["b"] created
              order activated
              s activating, activated, completing, completed
              pick activating
              pick.adHocSubProcessElements = [{"elementId":"a"},{"elementId":"b"}] created
              pick.results = [] created
              incident pick EXTRACT_VALUE_ERROR created: Failed to activate ad-hoc elements. No BPMN elements found with ids: 'x'.
              = created order v1
            > migrate #1 order v=2 pick
              order migrated
              order.chosen = ["b"] migrated
              order.wanted = ["x"] migrated
              pick migrated
              incident pick EXTRACT_VALUE_ERROR migrated
              pick.adHocSubProcessElements = [{"elementId":"a"},{"elementId":"b"}] migrated
              pick.results = [] migrated
              #1 migrated
            > resolve pick
              incident pick EXTRACT_VALUE_ERROR resolved
              pick activated
              pick#innerInstance activating
              pick#innerInstance.r = null created
              pick#innerInstance activated
              b activating
              job b created type b retries 3
              b activated
            > complete b {"r":5}
              job b completed
              b completing
              pick#innerInstance.r = 5 updated
              b completed
              pick#innerInstance completing, completed
              pick completing
              pick.results = [5] updated
              order.results = [5] created
              pick completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn each_ad_hoc_instance_of_a_list_moves() {
    let model = LISTED.replace(
        "adhoc pick elements=wanted collect=results gives=r",
        "adhoc pick each=items as=item elements=item",
    );
    migrate(
        &model,
        &model.replace("job a", "job a retries=9").replace("task after", "job after"),
        r#"show elements jobs
           create order v=1 {"items":[["a"],["b","a"]]}
           complete b
           migrate #1 order v=2 pick a
           complete a@1
           complete a@2
           complete after@1
           complete after@2"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"items":[["a"],["b","a"]]}
              order activating, activated
              s activating, activated, completing, completed
              pick* activating, activated
              pick activating, activated
              pick activating, activated
              pick#innerInstance activating, activated
              pick#innerInstance activating, activated
              pick#innerInstance activating, activated
              a activating
              job a created type a retries 3
              a activated
              b activating
              job b created type b retries 3
              b activated
              a activating
              job a created type a retries 3
              a activated
              = created order v1
            > complete b
              job b completed
              b completing, completed
              pick#innerInstance completing, completed
            > migrate #1 order v=2 pick a
              order migrated
              pick* migrated
              pick migrated
              pick migrated
              pick#innerInstance migrated
              pick#innerInstance migrated
              a migrated
              job a migrated
              a migrated
              job a migrated
              #1 migrated
            > complete a@1
              job a completed
              a completing, completed
              after activating
              job after created type after retries 3
              after activated
            > complete a@2
              job a completed
              a completing, completed
              after activating
              job after created type after retries 3
              after activated
            > complete after@1
              job after completed
              after completing, completed
              pick#innerInstance completing, completed
              pick completing, completed
            > complete after@2
              job after completed
              after completing, completed
              pick#innerInstance completing, completed
              pick completing, completed
              pick* completing, completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}
