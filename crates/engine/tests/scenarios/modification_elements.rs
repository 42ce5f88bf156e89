//! Modification of instances with child instances, event sub-processes, multi-instance activities and user tasks.

use expect_test::expect;

use crate::support::check;

#[test]
fn a_child_instance_ends_only_with_its_call_activity() {
    check(
        "process p
         start s
         call call process=c
         end e
         s -> call -> e
         process c
         start s2
         job a type=t
         sub sub {
         start s3
         job b type=t
         end e3
         s3 -> b -> e3
         }
         end e2
         s2 -> a -> sub -> e2",
        "create p
         modify #2 -a
         modify #2 -key:#2
         modify #2 +b -a
         modify #2 -b
         modify #2 -key:sub
         modify #2 b>a
         complete a@2
         modify #2 -sub +a
         modify #1 -call",
        expect![[r#"
              = deployed p v1 c v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_call
              call activating
              #2.c activating, activated
              call activated
              #2.s2 activating, activated, completing, completed
              -- s2_a
              #2.a activating
              job #2.a created type t retries 3
              #2.a activated
              = created p v1
            > modify #2 -a
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but it would end, and it was created by a call activity: terminate the call activity in the parent process instance instead
            > modify #2 -key:#2
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but it would end, and it was created by a call activity: terminate the call activity in the parent process instance instead
            > modify #2 +b -a
              #2.sub activating, activated
              #2.b activating
              #2 modified
              job #2.b created type t retries 3
              #2.b activated
              #2.a terminating
              job #2.a canceled
              #2.a terminated
            > modify #2 -b
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but it would end, and it was created by a call activity: terminate the call activity in the parent process instance instead
            > modify #2 -key:sub
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but it would end, and it was created by a call activity: terminate the call activity in the parent process instance instead
            > modify #2 b>a
              #2.a activating
              #2 modified
              job #2.a created type t retries 3
              #2.a activated
              #2.b terminating
              job #2.b canceled
              #2.b terminated
              #2.sub terminating, terminated
            > complete a@2
              job #2.a completed
              #2.a completing, completed
              -- a_sub
              #2.sub activating, activated
              #2.s3 activating, activated, completing, completed
              -- s3_b
              #2.b activating
              job #2.b created type t retries 3
              #2.b activated
            > modify #2 -sub +a
              #2.a activating
              #2 modified
              job #2.a created type t retries 3
              #2.a activated
              #2.sub terminating
              #2.b terminating
              job #2.b canceled
              #2.b terminated
              #2.sub terminated
            > modify #1 -call
              #1 modified
              call terminating
              #2.c terminating
              #2.a terminating
              job #2.a canceled
              #2.a terminated
              #2.c terminated
              call terminated
              p terminating, terminated
        "#]],
    );
}

#[test]
fn event_sub_processes_are_activated_and_entered() {
    check(
        "process p
         start s
         job a type=t
         on esp {
         start s2 message=m key=k
         job b type=t
         end e2
         s2 -> b -> e2
         }
         end e
         s -> a -> e",
        r#"create p {"k":"1"}
         modify #1 +esp
         modify #1 +b -key:b {"esp":{"x":1}}
         complete b
         publish m 1
         complete b
         create p before=b {"k":"1"}
         modify #2 -esp"#,
        expect![[r#"
              = deployed p v1
            > create p {"k":"1"}
              p activating
              p.k = "1" created
              subscription p/s2 m/1 created
              p activated
              s activating, activated, completing, completed
              -- s_a
              a activating
              job a created type t retries 3
              a activated
              = created p v1
            > modify #1 +esp
              esp activating
              #1 modified
              esp activated
              s2 activating, activated, completing, completed
              -- s2_b
              b activating
              job b created type t retries 3
              b activated
            > modify #1 +b -key:b {"esp":{"x":1}}
              esp.x = 1 created
              b activating
              #1 modified
              job b created type t retries 3
              b activated
              b terminating
              job b canceled
              b terminated
            > complete b
              job b completed
              b completing, completed
              -- b_e2
              e2 activating, activated, completing, completed
              esp completing, completed
            > publish m 1
              message m/1 published
              subscription p/s2 m/1 correlated
              message m/1 expired
              a terminating
              job a canceled
              a terminated
              esp activating, activated
              s2 activating, activated, completing, completed
              -- s2_b
              b activating
              job b created type t retries 3
              b activated
            > complete b
              job b completed
              b completing, completed
              -- b_e2
              e2 activating, activated, completing, completed
              esp completing, completed
              p completing, completed
            > create p before=b {"k":"1"}
              #2.p activating
              #2.p.k = "1" created
              subscription #2.p/s2 m/1 created
              #2.p activated
              #2.esp activating, activated
              #2.b activating
              job #2.b created type t retries 3
              #2.b activated
              = created p v1
            > modify #2 -esp
              #2 modified
              #2.esp terminating
              #2.b terminating
              job #2.b canceled
              #2.b terminated
              #2.esp terminated
              #2.p terminating
              subscription #2.p/s2 m/1 deleted
              #2.p terminated
        "#]],
    );
}

#[test]
fn instances_inside_a_multi_instance_activity_are_moved_and_terminated() {
    check(
        "process p
         start s
         sub each each=items as=item collect=out gives=r {
         start s2
         job a type=t
         job b type=t
         end e2
         s2 -> a -> b -> e2
         }
         job after type=t
         end e
         s -> each -> after -> e",
        r#"create p {"items":[1,2,3]}
         modify #1 +b
         modify #1 +b^#1
         modify #1 key:a@1>b^parent {"each":{"r":7}}
         modify #1 key:a@2>b^inferred
         modify #1 -key:b@2
         complete a@3
         complete b@1
         modify #1 b>a^parent
         complete a
         complete b
         modify #1 after>each
         modify #1 each>after
         complete after"#,
        expect![[r#"
              = deployed p v1
            > create p {"items":[1,2,3]}
              p activating
              p.items = [1,2,3] created
              p activated
              s activating, activated, completing, completed
              -- s_each
              each* activating
              each*.out = [null,null,null] created
              each* activated
              each activating
              each.r = null created
              each.item = 1 created
              each.loopCounter = 1 created
              each activated
              each activating
              each.r = null created
              each.item = 2 created
              each.loopCounter = 2 created
              each activated
              each activating
              each.r = null created
              each.item = 3 created
              each.loopCounter = 3 created
              each activated
              s2 activating, activated, completing, completed
              -- s2_a
              s2 activating, activated, completing, completed
              -- s2_a
              s2 activating, activated, completing, completed
              -- s2_a
              a activating
              job a created type t retries 3
              a activated
              a activating
              job a created type t retries 3
              a activated
              a activating
              job a created type t retries 3
              a activated
              = created p v1
            > modify #1 +b
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but it is inside the multi-instance activity 'each', where the instance to activate it in must be named
            > modify #1 +b^#1
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but multi-instance activity 'each' cannot be entered from outside
            > modify #1 key:a@1>b^parent {"each":{"r":7}}
              each.r = 7 updated
              b activating
              #1 modified
              job b created type t retries 3
              b activated
              a terminating
              job a canceled
              a terminated
            > modify #1 key:a@2>b^inferred
              b activating
              #1 modified
              job b created type t retries 3
              b activated
              a terminating
              job a canceled
              a terminated
            > modify #1 -key:b@2
              #1 modified
              b terminating
              job b canceled
              b terminated
              each terminating, terminated
            > complete a@3
              job a completed
              a completing, completed
              -- a_b
              b activating
              job b created type t retries 3
              b activated
            > complete b@1
              job b completed
              b completing, completed
              -- b_e2
              e2 activating, activated, completing, completed
              each completing
              each*.out = [7,null,null] updated
              each completed
            > modify #1 b>a^parent
              a activating
              #1 modified
              job a created type t retries 3
              a activated
              b terminating
              job b canceled
              b terminated
            > complete a
              job a completed
              a completing, completed
              -- a_b
              b activating
              job b created type t retries 3
              b activated
            > complete b
              job b completed
              b completing, completed
              -- b_e2
              e2 activating, activated, completing, completed
              each completing, completed
              each* completing
              p.out = [7,null,null] created
              each* completed
              -- each_after
              after activating
              job after created type t retries 3
              after activated
            > modify #1 after>each
              each* activating
              #1 modified
              each*.out = [null,null,null] created
              each* activated
              after terminating
              job after canceled
              after terminated
              each activating
              each.r = null created
              each.item = 1 created
              each.loopCounter = 1 created
              each activated
              each activating
              each.r = null created
              each.item = 2 created
              each.loopCounter = 2 created
              each activated
              each activating
              each.r = null created
              each.item = 3 created
              each.loopCounter = 3 created
              each activated
              s2 activating, activated, completing, completed
              -- s2_a
              s2 activating, activated, completing, completed
              -- s2_a
              s2 activating, activated, completing, completed
              -- s2_a
              a activating
              job a created type t retries 3
              a activated
              a activating
              job a created type t retries 3
              a activated
              a activating
              job a created type t retries 3
              a activated
            > modify #1 each>after
              after activating
              #1 modified
              job after created type t retries 3
              after activated
              each* terminating
              each terminating
              each terminating
              each terminating
              a terminating
              job a canceled
              a terminated
              a terminating
              job a canceled
              a terminated
              a terminating
              job a canceled
              a terminated
              each terminated
              each terminated
              each terminated
              each* terminated
            > complete after
              job after completed
              after completing, completed
              -- after_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn canceling_listeners_are_not_asked_by_a_modification() {
    check(
        "process p
         start s
         user u task:canceling=x
         sub sub {
         start s2
         user v task:canceling=x
         end e2
         s2 -> v -> e2
         }
         job b type=t
         end e
         s -> u -> sub -> b -> e",
        "create p
         modify #1 u>b
         modify #1 +v
         modify #1 -sub
         activate x
         complete b",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_u
              u activating
              task u creating
              task u created
              u activated
              = created p v1
            > modify #1 u>b
              b activating
              #1 modified
              job b created type t retries 3
              b activated
              u terminating
              task u canceling action=cancel
              task u canceled action=cancel
              u terminated
            > modify #1 +v
              sub activating, activated
              v activating
              #1 modified
              task v creating
              task v created
              v activated
            > modify #1 -sub
              #1 modified
              sub terminating
              v terminating
              task v canceling action=cancel
              task v canceled action=cancel
              v terminated
              sub terminated
            > activate x
              < no job
            > complete b
              job b completed
              b completing, completed
              -- b_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn canceling_listeners_in_a_called_process_are_not_asked_either() {
    check(
        "process p
         start s
         call c process=q
         job b type=t
         end e
         s -> c -> b -> e
         process q
         start s2
         user v task:canceling=x
         end e2
         s2 -> v -> e2",
        "hide flows
         create p
         modify #1 c>b
         activate x
         complete b",
        expect![[r#"
              = deployed p v1 q v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              c activating
              #2.q activating, activated
              c activated
              #2.s2 activating, activated, completing, completed
              #2.v activating
              task #2.v creating
              task #2.v created
              #2.v activated
              = created p v1
            > modify #1 c>b
              b activating
              #1 modified
              job b created type t retries 3
              b activated
              c terminating
              #2.q terminating
              #2.v terminating
              task #2.v canceling action=cancel
              task #2.v canceled action=cancel
              #2.v terminated
              #2.q terminated
              c terminated
            > activate x
              < no job
            > complete b
              job b completed
              b completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
