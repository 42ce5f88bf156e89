//! Refusals of modifications, and elements that stay waiting.

use expect_test::expect;

use crate::modification::NESTED;
use crate::support::check;

#[test]
fn instructions_that_are_not_possible_are_refused() {
    check(
        "process p
         start s
         events g
         catch m message=m key=k
         catch r timer=PT1M
         job a type=t
         sub sub {
         start s2
         job b type=t
         end e2
         s2 -> b -> e2
         }
         boundary late on=sub timer==missing
         sub other {
         start s4
         job c type=t
         end e4
         s4 -> c -> e4
         }
         end e
         s -> g
         g -> m -> a
         g -> r -> a
         a -> sub -> other -> e
         late -> e",
        r#"create p before=a
         create p before=c
         // Elements that cannot be activated.
         modify #9 +a
         modify #1 +nothing
         modify #1 +s
         modify #1 +s2
         modify #1 +late
         modify #1 +m
         modify #1 +r
         modify #1 +p
         modify #1 +s_g
         modify #1 a>s
         modify #1 a>m
         // Instances that are not there.
         modify #1 -nothing
         modify #1 -c
         modify #1 -key:nothing
         modify #1 -key:c
         modify #1 c>a
         modify #1 key:c>a
         modify #1 key:#1>a
         // Ancestors that are none.
         modify #1 +c^nothing
         modify #1 +c^other
         modify #2 +a^other
         modify #2 +c^c
         modify #2 c>a^other
         modify #2 c>a^parent
         // Scopes of variables that are none.
         modify #2 +a {"other":{"x":1}}
         modify #2 +c {"sub":{"x":1}}
         modify #2 +c {"nothing":{"x":1}}
         // A scope that cannot wait for its events.
         modify #2 +b
         // All or nothing.
         modify #2 +c -c +nothing
         modify #2 +c -c -nothing
         modify #1 -a
         modify #2 +c^other +c^#2
         modify #2 +c"#,
        expect![[r#"
              = deployed p v1
            > create p before=a
              p activating, activated
              a activating
              job a created type t retries 3
              a activated
              = created p v1
            > create p before=c
              #2.p activating, activated
              #2.other activating, activated
              #2.c activating
              job #2.c created type t retries 3
              #2.c activated
              = created p v1
            > modify #9 +a
              = rejected NOT_FOUND: Expected to modify process instance with key '1', but no such process instance was found
            > modify #1 +nothing
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but there is no element 'nothing' in process 'p'
            > modify #1 +s
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but 's' is a start event, which cannot be activated
            > modify #1 +s2
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but 's2' is a start event, which cannot be activated
            > modify #1 +late
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but 'late' is a boundary event, which cannot be activated
            > modify #1 +m
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but 'm' belongs to an event-based gateway, which cannot be activated
            > modify #1 +r
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but 'r' belongs to an event-based gateway, which cannot be activated
            > modify #1 +p
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but 'p' is the process itself, which cannot be activated
            > modify #1 +s_g
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but 's_g' is a sequence flow, which cannot be activated
            > modify #1 a>s
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but 's' is a start event, which cannot be activated
            > modify #1 a>m
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but 'm' belongs to an event-based gateway, which cannot be activated
            > modify #1 -nothing
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but there is no element 'nothing' in process 'p'
            > modify #1 -c
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but it has no active instance of element 'c'
            > modify #1 -key:nothing
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but it has no active element instance with key '1'
            > modify #1 -key:c
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but it has no active element instance with key '<key>'
            > modify #1 c>a
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but it has no active instance of element 'c'
            > modify #1 key:c>a
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but it has no active element instance with key '<key>'
            > modify #1 key:#1>a
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but the process instance itself cannot be moved
            > modify #1 +c^nothing
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but there is no element instance '1' in the process instance
            > modify #1 +c^other
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but there is no element instance '<key>' in the process instance
            > modify #2 +a^other
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but element instance '<key>' of 'other' is not around the element
            > modify #2 +c^c
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but element instance '<key>' of 'c' is not around the element
            > modify #2 c>a^other
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but element instance '<key>' of 'other' is not around the element
            > modify #2 c>a^parent
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but element instance '<key>' of 'other' is not around the element
            > modify #2 +a {"other":{"x":1}}
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but variables are set in scope 'other', which is not a scope of element 'a'
            > modify #2 +c {"sub":{"x":1}}
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but variables are set in scope 'sub', which is not a scope of element 'c'
            > modify #2 +c {"nothing":{"x":1}}
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but variables are set in scope 'nothing', which is not a scope of element 'c'
            > modify #2 +b
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but scope 'sub' cannot wait for its events: Expected result of the expression 'missing' to be one of '[DURATION, PERIOD, DATE_TIME, STRING]', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'missing'
            > modify #2 +c -c +nothing
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but there is no element 'nothing' in process 'p'
            > modify #2 +c -c -nothing
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but there is no element 'nothing' in process 'p'
            > modify #1 -a
              #1 modified
              a terminating
              job a canceled
              a terminated
              p terminating, terminated
            > modify #2 +c^other +c^#2
              #2.c activating
              #2.other activating, activated
              #2.c activating
              #2 modified
              job #2.c created type t retries 3
              #2.c activated
              job #2.c created type t retries 3
              #2.c activated
            > modify #2 +c
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but scope 'other' has several active instances; name one of them as the ancestor
            left: running_instances 1, instances 1, element_instances 6, children 5, jobs 3, job_queue 3
        "#]],
    );
}

#[test]
fn join_tokens_keep_a_scope_alive() {
    check(
        NESTED,
        r#"create p {"k":"1"}
         complete c
         modify #1 -outer
         modify #1 +join
         modify #1 +outer
         modify #1 +e -outer
         cancel #1"#,
        expect![[r#"
              = deployed p v1
            > create p {"k":"1"}
              p activating
              p.k = "1" created
              p activated
              s activating, activated, completing, completed
              -- s_fork
              fork activating, activated, completing, completed
              -- fork_c
              -- fork_outer
              c activating
              job c created type t retries 3
              c activated
              outer activating
              outer.never = 1 created
              subscription outer/note note/1 created
              outer activated
              s2 activating, activated, completing, completed
              -- s2_a
              a activating
              job a created type t retries 3
              a activated
              = created p v1
            > complete c
              job c completed
              c completing, completed
              -- c_join
            > modify #1 -outer
              #1 modified
              outer terminating
              subscription outer/note note/1 deleted
              a terminating
              job a canceled
              a terminated
              outer terminated
            > modify #1 +join
              join activating
              #1 modified
              join activated, completing, completed
              -- join_e
              e activating, activated, completing, completed
            > modify #1 +outer
              outer activating
              #1 modified
              outer.never = 1 created
              subscription outer/note note/1 created
              outer activated
              s2 activating, activated, completing, completed
              -- s2_a
              a activating
              job a created type t retries 3
              a activated
            > modify #1 +e -outer
              e activating
              #1 modified
              e activated, completing, completed
              outer terminating
              subscription outer/note note/1 deleted
              a terminating
              job a canceled
              a terminated
              outer terminated
            > cancel #1
              p terminating, terminated
        "#]],
    );
}

#[test]
fn what_waits_for_people_is_taken_away_with_its_incident() {
    check(
        "process p
         start s
         xor g
         job a type==missing
         job b type=t
         end e
         s -> g
         g -> a if x
         g -> b default
         a -> e",
        r#"create p
         modify #1 +b -g
         create p {"x":true}
         modify #2 +a -key:a
         set #2 {"missing":"t"}
         resolve a
         fail a
         modify #2 a>b
         complete b@1
         complete b@2"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_g
              g activating, activated, completing
              incident g EXTRACT_VALUE_ERROR created: Expected result of the expression 'x' to be 'BOOLEAN', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'x'
              = created p v1
            > modify #1 +b -g
              b activating
              #1 modified
              job b created type t retries 3
              b activated
              g terminating
              incident g EXTRACT_VALUE_ERROR resolved
              g terminated
            > create p {"x":true}
              #2.p activating
              #2.p.x = true created
              #2.p activated
              #2.s activating, activated, completing, completed
              -- s_g
              #2.g activating, activated, completing, completed
              -- g_a
              #2.a activating
              incident #2.a EXTRACT_VALUE_ERROR created: Expected result of the expression 'missing' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'missing'
              = created p v1
            > modify #2 +a -key:a
              #2.a activating
              #2 modified
              incident #2.a EXTRACT_VALUE_ERROR created: Expected result of the expression 'missing' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'missing'
              #2.a terminating
              incident #2.a EXTRACT_VALUE_ERROR resolved
              #2.a terminated
            > set #2 {"missing":"t"}
              #2.p.missing = "t" created
            > resolve a
              incident #2.a EXTRACT_VALUE_ERROR resolved
              job #2.a created type t retries 3
              #2.a activated
            > fail a
              job #2.a failed retries 0
              incident #2.a JOB_NO_RETRIES created: No more retries left.
            > modify #2 a>b
              #2.b activating
              #2 modified
              job #2.b created type t retries 3
              #2.b activated
              #2.a terminating
              incident #2.a JOB_NO_RETRIES resolved
              job #2.a canceled
              #2.a terminated
            > complete b@1
              job b completed
              b completing, completed
              p completing, completed
            > complete b@2
              job #2.b completed
              #2.b completing, completed
              #2.p completing, completed
        "#]],
    );
}

#[test]
fn a_called_instance_that_is_emptied_completes_for_its_caller() {
    check(
        "process p
         start s
         call c process=q
         end e
         s -> c -> e
         process q
         start s2
         job a type=t
         end z
         s2 -> a -> z",
        "create p
         modify #2 +z -a",
        expect![[r#"
              = deployed p v1 q v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_c
              c activating
              #2.q activating, activated
              c activated
              #2.s2 activating, activated, completing, completed
              -- s2_a
              #2.a activating
              job #2.a created type t retries 3
              #2.a activated
              = created p v1
            > modify #2 +z -a
              #2.z activating
              #2 modified
              #2.z activated, completing, completed
              #2.a terminating
              job #2.a canceled
              #2.a terminated
              #2.q completing, completed
              c completing, completed
              -- c_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
