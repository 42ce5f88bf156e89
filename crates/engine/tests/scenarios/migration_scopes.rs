//! Migration of elements with a scope, or joining in one: gateways, calls and multi-instance activities.

use expect_test::expect;

use crate::migration::migrate;

const JOIN: &str = "process order\nstart s\nand f\njob a type=a\njob b type=b\nand j\nend e\ns -> f\nf -> a -> j\nf -> b -> j\nj -> e";

#[test]
fn tokens_at_a_join_move_with_its_gateway() {
    migrate(
        JOIN,
        "process order\nstart s\nand f\njob b type=b\njob c type=a\njob d type=d\nand k\nxor x\nend e\ns -> f\nf -> c -> k\nf -> b -> k\nf -> d -> x -> k\nk -> e",
        "create order v=1
         show elements flows
         activate a
         complete a
         migrate #1 order v=2 b
         migrate #1 order v=2 b j:x
         migrate #1 order v=2 b j:k
         migrate #1 order v=2 b j:k a_j:f_c
         migrate #1 order v=2 b j:k a_j:x_k
         activate b
         complete b",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              -- s_f
              f activating, activated, completing, completed
              -- f_b
              -- f_a
              b activating
              job b created type b retries 3
              b activated
              a activating
              job a created type a retries 3
              a activated
              = created order v1
            > activate a
              < job a retries 3 deadline 600000 variables {}
            > complete a
              a completing, completed
              -- a_j
            > migrate #1 order v=2 b
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but no mapping instruction is defined for the joining gateway 'j', at which tokens wait.
            > migrate #1 order v=2 b j:x
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active element 'j' of type 'PARALLEL_GATEWAY' is mapped to 'x' of type 'EXCLUSIVE_GATEWAY'; the type must not change.
            > migrate #1 order v=2 b j:k
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but no mapping instruction is defined for the taken sequence flow 'a_j' to one that enters the gateway 'k'.
            > migrate #1 order v=2 b j:k a_j:f_c
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but no mapping instruction is defined for the taken sequence flow 'a_j' to one that enters the gateway 'k'.
            > migrate #1 order v=2 b j:k a_j:x_k
              order migrated
              b migrated
              #1 migrated
            > activate b
              < job b retries 3 deadline 600000 variables {}
            > complete b
              b completing, completed
              -- b_k
            left: running_instances 1, instances 1, element_instances 1, join_tokens 2
        "#]],
    );
}

#[test]
fn a_join_completes_after_the_migration() {
    migrate(
        JOIN,
        JOIN.replace("and j", "and k").replace("-> j", "-> k").replace("j -> e", "k -> e").as_str(),
        "create order v=1
         show elements flows
         activate a
         complete a
         migrate #1 order v=2 b j:k a_j:a_k
         activate b
         complete b",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              -- s_f
              f activating, activated, completing, completed
              -- f_b
              -- f_a
              b activating
              job b created type b retries 3
              b activated
              a activating
              job a created type a retries 3
              a activated
              = created order v1
            > activate a
              < job a retries 3 deadline 600000 variables {}
            > complete a
              a completing, completed
              -- a_j
            > migrate #1 order v=2 b j:k a_j:a_k
              order migrated
              b migrated
              #1 migrated
            > activate b
              < job b retries 3 deadline 600000 variables {}
            > complete b
              b completing, completed
              -- b_k
              k activating, activated, completing, completed
              -- k_e
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn a_join_must_not_become_narrower() {
    migrate(
        "process order\nstart s\nand f\njob a type=a\njob b type=b\nand j\nend e\ns -> f\nf -> a -> j\nf -> b -> j\nf -> j\nj -> e",
        JOIN,
        "create order v=1
         show elements
         activate a
         complete a
         migrate #1 order v=2 b j",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              -- s_f
              f activating, activated, completing, completed
              -- f_j
              -- f_b
              -- f_a
              b activating
              job b created type b retries 3
              b activated
              a activating
              job a created type a retries 3
              a activated
              = created order v1
            > activate a
              < job a retries 3 deadline 600000 variables {}
            > complete a
              a completing, completed
            > migrate #1 order v=2 b j
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the joining gateway 'j' is mapped to 'j', which has fewer incoming sequence flows.
            left: running_instances 1, instances 1, element_instances 2, children 1, join_tokens 2, jobs 1, job_queue 1
        "#]],
    );
}

#[test]
fn called_instances_stay_as_they_are() {
    let call = "process order\nstart s\ncall c process=child\nend e\ns -> c -> e\nprocess child\nstart s2\njob a type=t\nend e2\ns2 -> a -> e2";
    migrate(
        call,
        call.replace("call c process=child", "call d process=child").replace("-> c ->", "-> d ->").as_str(),
        "create order v=1
         show elements definitions jobs
         migrate #1 order v=2 c:d
         migrate #2 child v=2 a
         activate t
         complete a",
        expect![[r#"
              = deployed order v1 child v1
            > deploy order@2
              = deployed order v2 child v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              -- s_c
              c activating
              #2.child activating, activated
              c activated
              #2.s2 activating, activated, completing, completed
              -- s2_a
              #2.a activating
              job #2.a created type t retries 3
              #2.a activated
              = created order v1
            > migrate #1 order v=2 c:d
              order migrated
              c becomes d
              d migrated
              #2.child ancestor migrated
              #1 migrated
            > migrate #2 child v=2 a
              #2.child migrated
              #2.a migrated
              job #2.a migrated
              #2 migrated
            > activate t
              job #2.a activated
              < job #2.a retries 3 deadline 600000 variables {}
            > complete a
              job #2.a completed
              #2.a completing, completed
              #2.e2 activating, activated, completing, completed
              #2.child completing, completed
              d completing, completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

const EACH: &str =
    "process order\nstart s\njob t each=items as=item collect=results gives=result\nend e\ns -> t -> e";

#[test]
fn the_body_and_all_instances_of_a_multi_instance_task_move() {
    migrate(
        EACH,
        "process order\nstart s\njob u each=items as=it collect=out gives=result until=\"numberOfCompletedInstances >= 2\"\nboundary late on=u timer=PT1M\nend e\ns -> u -> e\nlate -> e",
        r#"create order v=1 {"items":[1,2,3]}
           hide flows
           activate t
           complete t@1 {"result":"a"}
           migrate #1 order v=2 t:u
           activate t
           complete u {"result":"b"}"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"items":[1,2,3]}
              order activating
              order.items = [1,2,3] created
              order activated
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
              t.item = 2 created
              t.loopCounter = 2 created
              job t created type t retries 3
              t activated
              t activating
              t.result = null created
              t.item = 3 created
              t.loopCounter = 3 created
              job t created type t retries 3
              t activated
              = created order v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {"item":1,"loopCounter":1,"result":null,"results":[null,null,null],"items":[1,2,3]}
            > complete t@1 {"result":"a"}
              job t completed
              t completing
              t.result = "a" updated
              t*.results = ["a",null,null] updated
              t completed
            > migrate #1 order v=2 t:u
              order migrated
              order.items = [1,2,3] migrated
              t* becomes u*
              u* migrated
              u*.results = ["a",null,null] migrated
              u*.out = ["a",null,null] created
              timer late created due 60000
              t becomes u
              u migrated
              job u migrated
              u.item = 2 migrated
              u.loopCounter = 2 migrated
              u.result = null migrated
              t becomes u
              u migrated
              job u migrated
              u.item = 3 migrated
              u.loopCounter = 3 migrated
              u.result = null migrated
              #1 migrated
            > activate t
              job u activated
              < job u retries 3 deadline 600000 variables {"item":2,"loopCounter":2,"result":null,"out":["a",null,null],"results":["a",null,null],"items":[1,2,3]}
            > complete u {"result":"b"}
              job u completed
              u completing
              u.result = "b" updated
              u*.out = ["a",null,"b"] updated
              u completed
              u terminating
              job u canceled
              u terminated
              u* completing
              order.out = ["a",null,"b"] created
              timer late canceled
              u* completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn a_sequence_of_instances_goes_on_in_the_new_model() {
    migrate(
        EACH.replace("each=", "sequential each=").as_str(),
        EACH.replace("each=", "sequential each=").replace("job t", "job t retries=9").as_str(),
        r#"create order v=1 {"items":[1,2]}
           show elements jobs
           migrate #1 order v=2 t
           activate t
           complete t
           activate t
           complete t"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"items":[1,2]}
              order activating
              order.items = [1,2] created
              order activated
              s activating, activated, completing, completed
              -- s_t
              t* activating
              t*.results = [null,null] created
              t* activated
              t activating
              t.result = null created
              t.item = 1 created
              t.loopCounter = 1 created
              job t created type t retries 3
              t activated
              = created order v1
            > migrate #1 order v=2 t
              order migrated
              t* migrated
              t migrated
              job t migrated
              #1 migrated
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {"item":1,"loopCounter":1,"result":null,"results":[null,null],"items":[1,2]}
            > complete t
              job t completed
              t completing, completed
              t activating
              job t created type t retries 9
              t activated
            > activate t
              job t activated
              < job t retries 9 deadline 600000 variables {"item":2,"loopCounter":2,"result":null,"results":[null,null],"items":[1,2]}
            > complete t
              job t completed
              t completing, completed
              t* completing, completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn loop_characteristics_stay() {
    let script = r#"show elements
        create order v=1 {"items":[1,2,3]}
        migrate #1 order v=2 t"#;
    let sequential = EACH.replace("each=", "sequential each=");
    migrate(
        EACH,
        &sequential,
        script,
        expect![[r#"
          = deployed order v1
        > deploy order@2
          = deployed order v2
        > create order v=1 {"items":[1,2,3]}
          order activating, activated
          s activating, activated, completing, completed
          t* activating, activated
          t activating, activated
          t activating, activated
          t activating, activated
          = created order v1
        > migrate #1 order v=2 t
          = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active multi-instance element 't' is mapped to 't'; parallel instances cannot become sequential ones, nor the other way round.
        left: running_instances 1, instances 1, element_instances 5, children 4, variables 11, jobs 3, job_queue 3, loops 1, loop_chunks 1
    "#]],
    );
    migrate(
        &sequential,
        EACH,
        script,
        expect![[r#"
          = deployed order v1
        > deploy order@2
          = deployed order v2
        > create order v=1 {"items":[1,2,3]}
          order activating, activated
          s activating, activated, completing, completed
          t* activating, activated
          t activating, activated
          = created order v1
        > migrate #1 order v=2 t
          = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active multi-instance element 't' is mapped to 't'; parallel instances cannot become sequential ones, nor the other way round.
        left: running_instances 1, instances 1, element_instances 3, children 2, variables 5, jobs 1, job_queue 1, loops 1, loop_chunks 1
    "#]],
    );
    migrate(
        EACH,
        "process order\nstart s\njob t\nend e\ns -> t -> e",
        script,
        expect![[r#"
          = deployed order v1
        > deploy order@2
          = deployed order v2
        > create order v=1 {"items":[1,2,3]}
          order activating, activated
          s activating, activated, completing, completed
          t* activating, activated
          t activating, activated
          t activating, activated
          t activating, activated
          = created order v1
        > migrate #1 order v=2 t
          = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active element 't' of type 'MULTI_INSTANCE_BODY' is mapped to 't' of type 'SERVICE_TASK'; the type must not change.
        left: running_instances 1, instances 1, element_instances 5, children 4, variables 11, jobs 3, job_queue 3, loops 1, loop_chunks 1
    "#]],
    );
    migrate(
        "process order\nstart s\njob t\nend e\ns -> t -> e",
        EACH,
        script,
        expect![[r#"
          = deployed order v1
        > deploy order@2
          = deployed order v2
        > create order v=1 {"items":[1,2,3]}
          order activating, activated
          s activating, activated, completing, completed
          t activating, activated
          = created order v1
        > migrate #1 order v=2 t
          = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active element 't' of type 'SERVICE_TASK' is mapped to 't' of type 'MULTI_INSTANCE_BODY'; the type must not change.
        left: running_instances 1, instances 1, element_instances 2, children 1, variables 1, jobs 1, job_queue 1
    "#]],
    );
}

#[test]
fn an_inclusive_join_looks_again_at_what_can_come() {
    let model = "process order\nstart s\nor f\njob a type=a\njob b type=b\nor j\nend e\ns -> f\nf -> a if true\nf -> b if true\na -> j\nb -> j\nj -> e";
    migrate(
        model,
        model
            .replace("b -> j", "b -> e")
            .replace("or j", "or j\njob c")
            .replace("j -> e", "c -> j\nj -> e")
            .as_str(),
        "show elements flows
         create order v=1
         activate a
         complete a
         migrate #1 order v=2 b j
         activate b
         complete b",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              -- s_f
              f activating, activated, completing, completed
              -- f_b
              -- f_a
              b activating, activated
              a activating, activated
              = created order v1
            > activate a
              < job a retries 3 deadline 600000 variables {}
            > complete a
              a completing, completed
              -- a_j
            > migrate #1 order v=2 b j
              order migrated
              b migrated
              #1 migrated
              j activating, activated, completing, completed
              -- j_e
              e activating, activated, completing, completed
            > activate b
              < job b retries 3 deadline 600000 variables {}
            > complete b
              b completing, completed
              -- b_e
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn the_element_after_which_an_instance_ends_is_mapped() {
    migrate(
        "process order\nstart s\njob a type=t\njob b type=t\nend e\ns -> a -> b -> e",
        "process order\nstart s\njob x type=t\njob b type=t\nend e\ns -> x -> b -> e",
        "show elements
         create order v=1 after=a
         migrate #1 order v=2 a:x
         activate t
         complete x",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 after=a
              order activating, activated
              s activating, activated, completing, completed
              a activating, activated
              = created order v1
            > migrate #1 order v=2 a:x
              order migrated
              a becomes x
              x migrated
              #1 migrated
            > activate t
              < job x retries 3 deadline 600000 variables {}
            > complete x
              x completing, completed
              #1 ends after x
              order terminating, terminated
        "#]],
    );
}
