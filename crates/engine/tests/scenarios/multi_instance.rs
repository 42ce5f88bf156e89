//! Multi-instance activities.

use expect_test::expect;

use crate::support::check;

const JOBS: &str = r#"process p
    start s
    job t each=items as=item collect=results gives="item * 10 + r" until="numberOfCompletedInstances >= 3"
    end e
    s -> t -> e"#;

#[test]
fn instances_run_side_by_side_and_their_outputs_stand_in_the_order_of_the_items() {
    check(
        r#"process p
           start s
           job t each=items as=item collect=results gives=result
           end e
           s -> t -> e"#,
        r#"create p {"items": [1, "two", {"three": 3}]}
           activate t max=3
           complete t@3 {"result": "c", "other": 1}
           complete t@1 {"result": "a"}
           complete t@2"#,
        expect![[r#"
              = deployed p v1
            > create p {"items": [1, "two", {"three": 3}]}
              p activating
              p.items = [1, "two", {"three": 3}] created
              p activated
              s activating, activated, completing, completed
              -- s_t
              t* activating
              t*.results = [null,null,null] created
              t* activated
              t activating
              t.result = null created
              t.item = 1 created
              t.loopCounter = 1 created
              job t created type t retries 3
              t activated
              t activating
              t.result = null created
              t.item = "two" created
              t.loopCounter = 2 created
              job t created type t retries 3
              t activated
              t activating
              t.result = null created
              t.item = {"three": 3} created
              t.loopCounter = 3 created
              job t created type t retries 3
              t activated
              = created p v1
            > activate t max=3
              job t activated
              job t activated
              job t activated
              < job t retries 3 deadline 600000 variables {"item":1,"loopCounter":1,"result":null,"results":[null,null,null],"items":[1, "two", {"three": 3}]}
              < job t retries 3 deadline 600000 variables {"item":"two","loopCounter":2,"result":null,"results":[null,null,null],"items":[1, "two", {"three": 3}]}
              < job t retries 3 deadline 600000 variables {"item":{"three": 3},"loopCounter":3,"result":null,"results":[null,null,null],"items":[1, "two", {"three": 3}]}
            > complete t@3 {"result": "c", "other": 1}
              job t completed
              t completing
              t.result = "c" updated
              p.other = 1 created
              t*.results = [null,null,"c"] updated
              t completed
            > complete t@1 {"result": "a"}
              job t completed
              t completing
              t.result = "a" updated
              t*.results = ["a",null,"c"] updated
              t completed
            > complete t@2
              job t completed
              t completing, completed
              t* completing
              p.results = ["a",null,"c"] created
              t* completed
              -- t_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_sequence_runs_one_after_the_other() {
    check(
        r#"process p
           start s
           job t sequential each=items as=item collect=results gives="item + 1"
           end e
           s -> t -> e"#,
        r#"create p {"items": [1, 2]}
           complete t
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p {"items": [1, 2]}
              p activating
              p.items = [1, 2] created
              p activated
              s activating, activated, completing, completed
              -- s_t
              t* activating
              t*.results = [null,null] created
              t* activated
              t activating
              t.item = 1 created
              t.loopCounter = 1 created
              job t created type t retries 3
              t activated
              = created p v1
            > complete t
              job t completed
              t completing
              t*.results = [2,null] updated
              t completed
              t activating
              t.item = 2 created
              t.loopCounter = 2 created
              job t created type t retries 3
              t activated
            > complete t
              job t completed
              t completing
              t*.results = [2,3] updated
              t completed
              t* completing
              p.results = [2,3] created
              t* completed
              -- t_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn an_empty_collection_gives_an_empty_list() {
    check(
        r#"process p
           start s
           job t each=items as=item collect=results gives="item + 1"
           end e
           s -> t -> e"#,
        r#"create p {"items": []}"#,
        expect![[r#"
              = deployed p v1
            > create p {"items": []}
              p activating
              p.items = [] created
              p activated
              s activating, activated, completing, completed
              -- s_t
              t* activating
              t*.results = [] created
              t* activated, completing
              p.results = [] created
              t* completed
              -- t_e
              e activating, activated, completing, completed
              p completing, completed
              = created p v1
        "#]],
    );
}

#[test]
fn the_completion_condition_ends_the_rest() {
    check(
        JOBS,
        r#"create p {"items": [1, 2, 3, 4, 5], "r": 1}
           complete t@2
           complete t@4
           complete t@5"#,
        expect![[r#"
              = deployed p v1
            > create p {"items": [1, 2, 3, 4, 5], "r": 1}
              p activating
              p.items = [1, 2, 3, 4, 5] created
              p.r = 1 created
              p activated
              s activating, activated, completing, completed
              -- s_t
              t* activating
              t*.results = [null,null,null,null,null] created
              t* activated
              t activating
              t.item = 1 created
              t.loopCounter = 1 created
              job t created type t retries 3
              t activated
              t activating
              t.item = 2 created
              t.loopCounter = 2 created
              job t created type t retries 3
              t activated
              t activating
              t.item = 3 created
              t.loopCounter = 3 created
              job t created type t retries 3
              t activated
              t activating
              t.item = 4 created
              t.loopCounter = 4 created
              job t created type t retries 3
              t activated
              t activating
              t.item = 5 created
              t.loopCounter = 5 created
              job t created type t retries 3
              t activated
              = created p v1
            > complete t@2
              job t completed
              t completing
              t*.results = [null,21,null,null,null] updated
              t completed
            > complete t@4
              job t completed
              t completing
              t*.results = [null,21,null,41,null] updated
              t completed
            > complete t@5
              job t completed
              t completing
              t*.results = [null,21,null,41,51] updated
              t completed
              t terminating
              job t canceled
              t terminated
              t terminating
              job t canceled
              t terminated
              t* completing
              p.results = [null,21,null,41,51] created
              t* completed
              -- t_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn what_is_no_list_is_an_incident() {
    check(
        r#"process p
           start s
           job t each=items as=item collect=results gives="item + x"
           end e
           s -> t -> e"#,
        r#"show incidents jobs variables
           create p {"items": 1}
           resolve t
           set #1 {"items": [1]}
           resolve t
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p {"items": 1}
              p.items = 1 created
              incident t* EXTRACT_VALUE_ERROR created: Expected result of the expression 'items' to be 'ARRAY', but was 'NUMBER'.
              = created p v1
            > resolve t
              incident t* EXTRACT_VALUE_ERROR resolved
              incident t* EXTRACT_VALUE_ERROR created: Expected result of the expression 'items' to be 'ARRAY', but was 'NUMBER'.
            > set #1 {"items": [1]}
              p.items = [1] updated
            > resolve t
              incident t* EXTRACT_VALUE_ERROR resolved
              t*.results = [null] created
              t.item = 1 created
              t.loopCounter = 1 created
              job t created type t retries 3
            > complete t
              job t completed
              p.results = [null] created
        "#]],
    );
}

#[test]
fn what_an_instance_gives_or_decides_may_fail() {
    check(
        r#"process p
           start s
           job t each=items as=item collect=results gives="assert(item, ok)" until="done" out:n="=n + 1"
           end e
           s -> t -> e"#,
        r#"show incidents jobs variables
           create p {"items": [1, 2], "n": 0, "ok": false, "done": null}
           complete t@1
           set #1 {"ok": true}
           resolve t
           set #1 {"done": false}
           resolve t
           complete t@2"#,
        expect![[r#"
              = deployed p v1
            > create p {"items": [1, 2], "n": 0, "ok": false, "done": null}
              p.items = [1, 2] created
              p.n = 0 created
              p.ok = false created
              p.done = null created
              t*.results = [null,null] created
              t.item = 1 created
              t.loopCounter = 1 created
              job t created type t retries 3
              t.item = 2 created
              t.loopCounter = 2 created
              job t created type t retries 3
              = created p v1
            > complete t@1
              job t completed
              p.n = 1 updated
              incident t EXTRACT_VALUE_ERROR created: failed to evaluate expression 'assert(item, ok)': Assertion failure on evaluate the expression 'assert(item, ok)': The condition is not fulfilled The evaluation reported the following warnings:|[ASSERT_FAILURE] The condition is not fulfilled
            > set #1 {"ok": true}
              p.ok = true updated
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              t*.results = [1,null] updated
              incident t EXTRACT_VALUE_ERROR created: Expected result of the expression 'done' to be 'BOOLEAN', but was 'NULL'.
            > set #1 {"done": false}
              p.done = false updated
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
            > complete t@2
              job t completed
              p.n = 2 updated
              t*.results = [1,2] updated
              p.results = [1,2] created
        "#]],
    );
}

#[test]
fn the_condition_sees_how_many_there_are_and_what_they_gave() {
    check(
        r#"process p
           start s
           job t each=items as=item collect=results gives=item until="[numberOfInstances, numberOfActiveInstances, numberOfCompletedInstances, numberOfTerminatedInstances, results, item, loopCounter] = wanted"
           end e
           s -> t -> e"#,
        r#"show variables
           create p {"items": ["a", "b", "c"], "wanted": [3, 1, 2, 0, [null, "b", "c"], "c", 3]}
           complete t@2
           complete t@3"#,
        expect![[r#"
              = deployed p v1
            > create p {"items": ["a", "b", "c"], "wanted": [3, 1, 2, 0, [null, "b", "c"], "c", 3]}
              p.items = ["a", "b", "c"] created
              p.wanted = [3, 1, 2, 0, [null, "b", "c"], "c", 3] created
              t*.results = [null,null,null] created
              t.item = "a" created
              t.loopCounter = 1 created
              t.item = "b" created
              t.loopCounter = 2 created
              t.item = "c" created
              t.loopCounter = 3 created
              = created p v1
            > complete t@2
              t*.results = [null,"b",null] updated
            > complete t@3
              t*.results = [null,"b","c"] updated
              p.results = [null,"b","c"] created
        "#]],
    );
}

#[test]
fn the_item_is_seen_by_input_mappings_however_often_they_are_tried() {
    check(
        r#"process p
           start s
           job t type==kind each=items as=item in:item="=item.x + loopCounter"
           end e
           s -> t -> e"#,
        r#"show variables incidents jobs
           create p {"items": [{"x": 10}]}
           set #1 {"kind": "k"}
           resolve t
           activate k
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p {"items": [{"x": 10}]}
              p.items = [{"x": 10}] created
              t.item = {"x": 10} created
              t.loopCounter = 1 created
              t.item = 11 updated
              incident t EXTRACT_VALUE_ERROR created: Expected result of the expression 'kind' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'kind'
              = created p v1
            > set #1 {"kind": "k"}
              p.kind = "k" created
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              job t created type k retries 3
            > activate k
              job t activated
              < job t retries 3 deadline 600000 variables {"item":11,"loopCounter":1,"items":[{"x": 10}],"kind":"k"}
            > complete t
              job t completed
        "#]],
    );
}

#[test]
fn every_kind_of_activity_may_be_multi_instance() {
    check(
        r#"process p
           start s
           receive r each=items as=item message=m key=item
           script x each=items as=item expr=item+1 result=y collect=ys gives=y
           task n each=items
           call c each=items as=item process=q collect=zs gives=z
           sub outer sequential each=items as=outer collect=sums gives=pair {
           start i
           script in1 each=items as=inner expr=outer*10+inner result=one collect=pair gives=one
           end j
           i -> in1 -> j
           }
           adhoc free each=items as=item elements="['a']" {
           script a expr=item result=b
           }
           end e
           s -> r -> x -> n -> c -> outer -> free -> e
           process q
           start qs
           script qt expr=item*100 result=z
           end qe
           qs -> qt -> qe"#,
        r#"show variables incidents
           create p {"items": [1, 2]}
           hide variables
           publish m 2
           show incidents variables
           publish m 1"#,
        expect![[r#"
              = deployed p v1 q v1
            > create p {"items": [1, 2]}
              p.items = [1, 2] created
              r.item = 1 created
              r.loopCounter = 1 created
              r.item = 2 created
              r.loopCounter = 2 created
              = created p v1
            > publish m 2
            > publish m 1
              x*.ys = [null,null] created
              x.y = null created
              x.item = 1 created
              x.loopCounter = 1 created
              x.y = 2 updated
              x*.ys = [2,null] updated
              x.y = null created
              x.item = 2 created
              x.loopCounter = 2 created
              x.y = 3 updated
              x*.ys = [2,3] updated
              p.ys = [2,3] created
              n.loopCounter = 1 created
              n.loopCounter = 2 created
              c*.zs = [null,null] created
              c.z = null created
              c.item = 1 created
              c.loopCounter = 1 created
              #2.q.item = 1 created
              #2.q.loopCounter = 1 created
              #2.q.z = null created
              #2.q.items = [1, 2] created
              #2.q.ys = [2,3] created
              c.z = null created
              c.item = 2 created
              c.loopCounter = 2 created
              #3.q.item = 2 created
              #3.q.loopCounter = 2 created
              #3.q.z = null created
              #3.q.items = [1, 2] created
              #3.q.ys = [2,3] created
              #2.q.z = 100 updated
              #3.q.z = 200 updated
              c.z = 100 updated
              c*.zs = [100,null] updated
              c.z = 200 updated
              c*.zs = [100,200] updated
              p.zs = [100,200] created
              outer*.sums = [null,null] created
              outer.pair = null created
              outer.outer = 1 created
              outer.loopCounter = 1 created
              in1*.pair = [null,null] created
              in1.one = null created
              in1.inner = 1 created
              in1.loopCounter = 1 created
              in1.one = 11 updated
              in1*.pair = [11,null] updated
              in1.one = null created
              in1.inner = 2 created
              in1.loopCounter = 2 created
              in1.one = 12 updated
              in1*.pair = [11,12] updated
              outer.pair = [11,12] updated
              outer*.sums = [[11,12],null] updated
              outer.pair = null created
              outer.outer = 2 created
              outer.loopCounter = 2 created
              in1*.pair = [null,null] created
              in1.one = null created
              in1.inner = 1 created
              in1.loopCounter = 1 created
              in1.one = 21 updated
              in1*.pair = [21,null] updated
              in1.one = null created
              in1.inner = 2 created
              in1.loopCounter = 2 created
              in1.one = 22 updated
              in1*.pair = [21,22] updated
              outer.pair = [21,22] updated
              outer*.sums = [[11,12],[21,22]] updated
              p.sums = [[11,12],[21,22]] created
              free.item = 1 created
              free.loopCounter = 1 created
              free.adHocSubProcessElements = [{"elementId":"a"}] created
              free.item = 2 created
              free.loopCounter = 2 created
              free.adHocSubProcessElements = [{"elementId":"a"}] created
              p.b = 1 created
              p.b = 2 updated
        "#]],
    );
}

/// A task that is repeated, with more on how.
fn loop_marker(how: &str) -> String {
    format!(
        r#"process p
           start s
           job t while="loopCounter < n" {how} in:round="=loopCounter"
           end e
           s -> t -> e"#
    )
}

#[test]
fn a_loop_marker_repeats_the_activity_while_its_condition_is_true() {
    for how in ["", "before=true"] {
        check(
            &loop_marker(how),
            r#"show elements jobs incidents
               create p {"n": 3}
               complete t
               complete t
               set #1 {"n": null}
               complete t
               set #1 {"n": 1}
               resolve t"#,
            expect![[r#"
                  = deployed p v1
                > create p {"n": 3}
                  p activating, activated
                  s activating, activated, completing, completed
                  t* activating, activated
                  t activating
                  job t created type t retries 3
                  t activated
                  = created p v1
                > complete t
                  job t completed
                  t completing, completed
                  t activating
                  job t created type t retries 3
                  t activated
                > complete t
                  job t completed
                  t completing, completed
                  t activating
                  job t created type t retries 3
                  t activated
                > set #1 {"n": null}
                > complete t
                  job t completed
                  t completing
                  incident t EXTRACT_VALUE_ERROR created: Expected result of the expression 'loopCounter < n' to be 'BOOLEAN', but was 'NULL'. The evaluation reported the following warnings:|[NOT_COMPARABLE] Can't compare '3' with 'null'
                > set #1 {"n": 1}
                > resolve t
                  incident t EXTRACT_VALUE_ERROR resolved
                  t completed
                  t* completing, completed
                  e activating, activated, completing, completed
                  p completing, completed
            "#]],
        );
    }
}

#[test]
fn a_loop_marker_may_be_looked_at_before_the_first_time() {
    let script = r#"show elements jobs
        create p {"n": 1}
        cancel #1"#;
    check(
        &loop_marker(""),
        script,
        expect![[r#"
              = deployed p v1
            > create p {"n": 1}
              p activating, activated
              s activating, activated, completing, completed
              t* activating, activated
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > cancel #1
              p terminating
              t* terminating
              t terminating
              job t canceled
              t terminated
              t* terminated
              p terminated
        "#]],
    );
    check(
        &loop_marker("before=true"),
        script,
        expect![[r#"
              = deployed p v1
            > create p {"n": 1}
              p activating, activated
              s activating, activated, completing, completed
              t* activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing, completed
              = created p v1
            > cancel #1
              = rejected NOT_FOUND: Expected to cancel a process instance with key '<key>', but no such process was found
        "#]],
    );
}

#[test]
fn a_loop_marker_repeats_the_activity_no_more_often_than_it_says() {
    check(
        &loop_marker("most=2"),
        r#"show elements jobs
           create p {"n": 3}
           complete t
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p {"n": 3}
              p activating, activated
              s activating, activated, completing, completed
              t* activating, activated
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > complete t
              job t completed
              t completing, completed
              t activating
              job t created type t retries 3
              t activated
            > complete t
              job t completed
              t completing, completed
              t* completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn the_number_of_instances_of_a_sequence_is_that_of_its_items() {
    check(
        r#"process p
           start s
           job t each=items as=item sequential collect=results gives=item until="[numberOfInstances, numberOfActiveInstances, numberOfCompletedInstances, numberOfTerminatedInstances] = wanted"
           end e
           s -> t -> e"#,
        r#"show variables
           create p {"items": ["a", "b", "c"], "wanted": [3, 0, 2, 0]}
           complete t
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p {"items": ["a", "b", "c"], "wanted": [3, 0, 2, 0]}
              p.items = ["a", "b", "c"] created
              p.wanted = [3, 0, 2, 0] created
              t*.results = [null,null,null] created
              t.item = "a" created
              t.loopCounter = 1 created
              = created p v1
            > complete t
              t*.results = ["a",null,null] updated
              t.item = "b" created
              t.loopCounter = 2 created
            > complete t
              t*.results = ["a","b",null] updated
              p.results = ["a","b",null] created
        "#]],
    );
}

#[test]
fn user_tasks_are_finished_in_any_order() {
    check(
        r#"process p
           start s
           user t each=items as=item collect=results gives=answer assignee==item.who until="numberOfCompletedInstances = 2"
           end e
           s -> t -> e"#,
        r#"hide flows
           create p {"items": [{"who": "ann"}, {"who": "bob"}, {"who": "cid"}]}
           finish t@3 {"answer": 3}
           finish t@1 {"answer": 1}"#,
        expect![[r#"
              = deployed p v1
            > create p {"items": [{"who": "ann"}, {"who": "bob"}, {"who": "cid"}]}
              p activating
              p.items = [{"who": "ann"}, {"who": "bob"}, {"who": "cid"}] created
              p activated
              s activating, activated, completing, completed
              t* activating
              t*.results = [null,null,null] created
              t* activated
              t activating
              t.answer = null created
              t.item = {"who": "ann"} created
              t.loopCounter = 1 created
              task t creating
              task t created
              task t assigning assignee=ann changed=assignee
              task t assigned assignee=ann changed=assignee
              t activated
              t activating
              t.answer = null created
              t.item = {"who": "bob"} created
              t.loopCounter = 2 created
              task t creating
              task t created
              task t assigning assignee=bob changed=assignee
              task t assigned assignee=bob changed=assignee
              t activated
              t activating
              t.answer = null created
              t.item = {"who": "cid"} created
              t.loopCounter = 3 created
              task t creating
              task t created
              task t assigning assignee=cid changed=assignee
              task t assigned assignee=cid changed=assignee
              t activated
              = created p v1
            > finish t@3 {"answer": 3}
              task t completing assignee=cid action=complete {"answer":3}
              task t completed assignee=cid action=complete {"answer":3}
              t completing
              t.answer = 3 updated
              t*.results = [null,null,3] updated
              t completed
            > finish t@1 {"answer": 1}
              task t completing assignee=ann action=complete {"answer":1}
              task t completed assignee=ann action=complete {"answer":1}
              t completing
              t.answer = 1 updated
              t*.results = [1,null,3] updated
              t completed
              t terminating
              task t canceling assignee=bob action=cancel
              task t canceled assignee=bob action=cancel
              t terminated
              t* completing
              p.results = [1,null,3] created
              t* completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn user_tasks_come_one_after_the_other() {
    check(
        r#"process p
           start s
           user t each=items as=item sequential collect=results gives=answer assignee==item
           end e
           s -> t -> e"#,
        r#"show tasks variables
           create p {"items": ["ann", "bob"]}
           finish t {"answer": 1}
           cancel #1"#,
        expect![[r#"
              = deployed p v1
            > create p {"items": ["ann", "bob"]}
              p.items = ["ann", "bob"] created
              t*.results = [null,null] created
              t.answer = null created
              t.item = "ann" created
              t.loopCounter = 1 created
              task t creating
              task t created
              task t assigning assignee=ann changed=assignee
              task t assigned assignee=ann changed=assignee
              = created p v1
            > finish t {"answer": 1}
              task t completing assignee=ann action=complete {"answer":1}
              task t completed assignee=ann action=complete {"answer":1}
              t.answer = 1 updated
              t*.results = [1,null] updated
              t.answer = null created
              t.item = "bob" created
              t.loopCounter = 2 created
              task t creating
              task t created
              task t assigning assignee=bob changed=assignee
              task t assigned assignee=bob changed=assignee
            > cancel #1
              task t canceling assignee=bob action=cancel
              task t canceled assignee=bob action=cancel
        "#]],
    );
}
