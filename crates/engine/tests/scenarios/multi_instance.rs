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
              t* activating, activated
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
              < job t retries 3 deadline 600000 variables {"item":1,"loopCounter":1,"result":null,"items":[1, "two", {"three": 3}]}
              < job t retries 3 deadline 600000 variables {"item":"two","loopCounter":2,"result":null,"items":[1, "two", {"three": 3}]}
              < job t retries 3 deadline 600000 variables {"item":{"three": 3},"loopCounter":3,"result":null,"items":[1, "two", {"three": 3}]}
            > complete t@3 {"result": "c", "other": 1}
              job t completed
              t completing
              t.result = "c" updated
              p.other = 1 created
              t completed
            > complete t@1 {"result": "a"}
              job t completed
              t completing
              t.result = "a" updated
              t completed
            > complete t@2
              job t completed
              t completing, completed
              t* completing
              t*.results = ["a",null,"c"] created
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
              t* activating, activated
              t activating
              t.item = 1 created
              t.loopCounter = 1 created
              job t created type t retries 3
              t activated
              = created p v1
            > complete t
              job t completed
              t completing, completed
              t activating
              t.item = 2 created
              t.loopCounter = 2 created
              job t created type t retries 3
              t activated
            > complete t
              job t completed
              t completing, completed
              t* completing
              t*.results = [2,3] created
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
              t* activating, activated, completing
              t*.results = [] created
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
              t* activating, activated
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
              t completing, completed
            > complete t@4
              job t completed
              t completing, completed
            > complete t@5
              job t completed
              t completing, completed
              t terminating
              job t canceled
              t terminated
              t terminating
              job t canceled
              t terminated
              t* completing
              t*.results = [null,21,null,41,51] created
              p.results = [null,21,null,41,51] created
              t* completed
              -- t_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
