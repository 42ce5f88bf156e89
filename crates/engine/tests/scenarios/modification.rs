//! Modification of process instances.

use expect_test::expect;

use crate::support::check;

const LINE: &str = "process p
    start s
    job a type=t
    job b type=t in:local==x
    end e
    s -> a -> b -> e";

/// A sub-process inside another, each with a boundary event.
const NESTED: &str = "process p
    start s
    and fork
    sub outer in:never==1 out:result==o {
    start s2
    job a type=t
    sub inner in:never==1 {
    start s3
    job b type=t
    end e3
    s3 -> b -> e3
    }
    boundary late on=inner timer=PT1M
    end e2
    s2 -> a -> inner -> e2
    late -> e2
    }
    boundary note on=outer message=note key=k interrupting=false
    job after type=t
    job c type=t
    and join
    end e
    s -> fork
    fork -> outer -> join
    fork -> c -> join
    note -> after
    join -> e";

#[test]
fn an_element_is_activated_and_another_terminated() {
    check(
        LINE,
        r#"create p
         modify #1 +b -a {"":{"x":1},"b":{"y":2},"p":{"z":3}}
         activate t
         complete b"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_a
              a activating
              job a created type t retries 3
              a activated
              = created p v1
            > modify #1 +b -a {"":{"x":1},"b":{"y":2},"p":{"z":3}}
              p.x = 1 created
              p.z = 3 created
              b activating
              b.y = 2 created
              #1 modified
              b.local = 1 created
              job b created type t retries 3
              b activated
              a terminating
              job a canceled
              a terminated
            > activate t
              job b activated
              < job b retries 3 deadline 600000 variables {"local":1,"y":2,"x":1,"z":3}
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
fn an_instance_ends_when_nothing_is_left_in_it() {
    check(
        LINE,
        "create p await=1
         modify #1 -a
         create p
         modify #2 -key:#2
         create p
         modify #3 +b -key:#3
         create p
         modify #4
         modify #4 +b +b
         modify #4 -a -b",
        expect![[r#"
              = deployed p v1
            > create p await=1
              p activating, activated
              s activating, activated, completing, completed
              -- s_a
              a activating
              job a created type t retries 3
              a activated
            > modify #1 -a
              #1 modified
              a terminating
              job a canceled
              a terminated
              p terminating, terminated
              late answer to request 1:
              = rejected INVALID_STATE: Process instance '<key>' was terminated before it completed
            > create p
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              -- s_a
              #2.a activating
              job #2.a created type t retries 3
              #2.a activated
              = created p v1
            > modify #2 -key:#2
              #2 modified
              #2.p terminating
              #2.a terminating
              job #2.a canceled
              #2.a terminated
              #2.p terminated
            > create p
              #3.p activating, activated
              #3.s activating, activated, completing, completed
              -- s_a
              #3.a activating
              job #3.a created type t retries 3
              #3.a activated
              = created p v1
            > modify #3 +b -key:#3
              #3.b activating
              #3 modified
              #3.b.local = null created
              job #3.b created type t retries 3
              #3.b activated
              #3.p terminating
              #3.a terminating
              job #3.a canceled
              #3.a terminated
              #3.b terminating
              job #3.b canceled
              #3.b terminated
              #3.p terminated
            > create p
              #4.p activating, activated
              #4.s activating, activated, completing, completed
              -- s_a
              #4.a activating
              job #4.a created type t retries 3
              #4.a activated
              = created p v1
            > modify #4
              #4 modified
            > modify #4 +b +b
              #4.b activating
              #4.b activating
              #4 modified
              #4.b.local = null created
              job #4.b created type t retries 3
              #4.b activated
              #4.b.local = null created
              job #4.b created type t retries 3
              #4.b activated
            > modify #4 -a -b
              #4 modified
              #4.a terminating
              job #4.a canceled
              #4.a terminated
              #4.b terminating
              job #4.b canceled
              #4.b terminated
              #4.b terminating
              job #4.b canceled
              #4.b terminated
              #4.p terminating, terminated
        "#]],
    );
}

#[test]
fn scopes_that_are_missing_are_made_without_start_event_and_input_mappings() {
    check(
        NESTED,
        r#"create p before=c
         modify #1 +b {"":{"k":"1"},"outer":{"o":1},"inner":{"i":1},"b":{"l":1}}
         modify #1 +a {"outer":{"o":2}}
         publish note 1
         complete after
         modify #1 -b
         complete a
         complete b
         show elements
         complete c"#,
        expect![[r#"
              = deployed p v1
            > create p before=c
              p activating, activated
              c activating
              job c created type t retries 3
              c activated
              = created p v1
            > modify #1 +b {"":{"k":"1"},"outer":{"o":1},"inner":{"i":1},"b":{"l":1}}
              p.k = "1" created
              outer activating
              outer.o = 1 created
              subscription outer/note note/1 created
              outer activated
              inner activating
              inner.i = 1 created
              timer late created due 60000
              inner activated
              b activating
              b.l = 1 created
              #1 modified
              job b created type t retries 3
              b activated
            > modify #1 +a {"outer":{"o":2}}
              outer.o = 2 updated
              a activating
              #1 modified
              job a created type t retries 3
              a activated
            > publish note 1
              message note/1 published
              subscription outer/note note/1 correlated
              message note/1 expired
              note activating, activated, completing, completed
              -- note_after
              after activating
              job after created type t retries 3
              after activated
            > complete after
              job after completed
              after completing, completed
            > modify #1 -b
              #1 modified
              b terminating
              job b canceled
              b terminated
              inner terminating
              timer late canceled
              inner terminated
            > complete a
              job a completed
              a completing, completed
              -- a_inner
              inner activating
              inner.never = 1 created
              timer late created due 60000
              inner activated
              s3 activating, activated, completing, completed
              -- s3_b
              b activating
              job b created type t retries 3
              b activated
            > complete b
              job b completed
              b completing, completed
              -- b_e3
              e3 activating, activated, completing, completed
              inner completing
              timer late canceled
              inner completed
              -- inner_e2
              e2 activating, activated, completing, completed
              outer completing
              p.result = 2 created
              subscription outer/note note/1 deleted
              outer completed
              -- outer_join
            > complete c
              c completing, completed
              join activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn scopes_end_with_the_last_element_that_is_taken_away() {
    check(
        NESTED,
        r#"create p before=b,c {"k":"1"}
         modify #1 -b
         modify #1 +b
         modify #1 +a -key:b
         modify #1 -outer
         complete c
         create p before=b {"k":"1"}
         modify #2 -key:b
         create p before=b,a {"k":"1"}
         modify #3 -outer -inner -b +c
         complete c"#,
        expect![[r#"
              = deployed p v1
            > create p before=b,c {"k":"1"}
              p activating
              p.k = "1" created
              p activated
              outer activating
              subscription outer/note note/1 created
              outer activated
              inner activating
              timer late created due 60000
              inner activated
              b activating
              c activating
              job b created type t retries 3
              b activated
              job c created type t retries 3
              c activated
              = created p v1
            > modify #1 -b
              #1 modified
              b terminating
              job b canceled
              b terminated
              inner terminating
              timer late canceled
              inner terminated
              outer terminating
              subscription outer/note note/1 deleted
              outer terminated
            > modify #1 +b
              outer activating
              subscription outer/note note/1 created
              outer activated
              inner activating
              timer late created due 60000
              inner activated
              b activating
              #1 modified
              job b created type t retries 3
              b activated
            > modify #1 +a -key:b
              a activating
              #1 modified
              job a created type t retries 3
              a activated
              b terminating
              job b canceled
              b terminated
              inner terminating
              timer late canceled
              inner terminated
            > modify #1 -outer
              #1 modified
              outer terminating
              subscription outer/note note/1 deleted
              a terminating
              job a canceled
              a terminated
              outer terminated
            > complete c
              job c completed
              c completing, completed
              -- c_join
            > create p before=b {"k":"1"}
              #2.p activating
              #2.p.k = "1" created
              #2.p activated
              #2.outer activating
              subscription #2.outer/note note/1 created
              #2.outer activated
              #2.inner activating
              timer late created due 60000
              #2.inner activated
              #2.b activating
              job #2.b created type t retries 3
              #2.b activated
              = created p v1
            > modify #2 -key:b
              #2 modified
              #2.b terminating
              job #2.b canceled
              #2.b terminated
              #2.inner terminating
              timer late canceled
              #2.inner terminated
              #2.outer terminating
              subscription #2.outer/note note/1 deleted
              #2.outer terminated
              #2.p terminating, terminated
            > create p before=b,a {"k":"1"}
              #3.p activating
              #3.p.k = "1" created
              #3.p activated
              #3.outer activating
              subscription #3.outer/note note/1 created
              #3.outer activated
              #3.inner activating
              timer late created due 60000
              #3.inner activated
              #3.b activating
              #3.a activating
              job #3.b created type t retries 3
              #3.b activated
              job #3.a created type t retries 3
              #3.a activated
              = created p v1
            > modify #3 -outer -inner -b +c
              #3.c activating
              #3 modified
              job #3.c created type t retries 3
              #3.c activated
              #3.outer terminating
              subscription #3.outer/note note/1 deleted
              #3.inner terminating
              timer late canceled
              #3.b terminating
              job #3.b canceled
              #3.b terminated
              #3.inner terminated
              #3.a terminating
              job #3.a canceled
              #3.a terminated
              #3.outer terminated
            > complete c
              job #3.c completed
              #3.c completing, completed
              -- c_join
            left: running_instances 1, instances 2, element_instances 2, variables 2, join_tokens 2
        "#]],
    );
}

#[test]
fn an_ancestor_chooses_the_scope_and_makes_those_below_it() {
    check(
        NESTED,
        r#"create p before=b {"k":"1"}
         modify #1 +b^outer
         modify #1 +b
         modify #1 +b^#1
         modify #1 +a
         modify #1 +a^outer@1 {"outer":{"y":2}}
         modify #1 +b^inner@3 {"inner":{"x":1},"outer":{"y":3}}
         modify #1 -key:#1"#,
        expect![[r#"
              = deployed p v1
            > create p before=b {"k":"1"}
              p activating
              p.k = "1" created
              p activated
              outer activating
              subscription outer/note note/1 created
              outer activated
              inner activating
              timer late created due 60000
              inner activated
              b activating
              job b created type t retries 3
              b activated
              = created p v1
            > modify #1 +b^outer
              inner activating
              timer late created due 60000
              inner activated
              b activating
              #1 modified
              job b created type t retries 3
              b activated
            > modify #1 +b
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but scope 'inner' has several active instances; name one of them as the ancestor
            > modify #1 +b^#1
              outer activating
              subscription outer/note note/1 created
              outer activated
              inner activating
              timer late created due 60000
              inner activated
              b activating
              #1 modified
              job b created type t retries 3
              b activated
            > modify #1 +a
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but scope 'outer' has several active instances; name one of them as the ancestor
            > modify #1 +a^outer@1 {"outer":{"y":2}}
              outer.y = 2 created
              a activating
              #1 modified
              job a created type t retries 3
              a activated
            > modify #1 +b^inner@3 {"inner":{"x":1},"outer":{"y":3}}
              inner.x = 1 created
              outer.y = 3 created
              b activating
              #1 modified
              job b created type t retries 3
              b activated
            > modify #1 -key:#1
              #1 modified
              p terminating
              outer terminating
              subscription outer/note note/1 deleted
              outer terminating
              subscription outer/note note/1 deleted
              inner terminating
              timer late canceled
              inner terminating
              timer late canceled
              a terminating
              job a canceled
              a terminated
              inner terminating
              timer late canceled
              b terminating
              job b canceled
              b terminated
              b terminating
              job b canceled
              b terminated
              b terminating
              job b canceled
              b terminated
              b terminating
              job b canceled
              b terminated
              inner terminated
              inner terminated
              inner terminated
              outer terminated
              outer terminated
              p terminated
        "#]],
    );
}

#[test]
fn a_move_terminates_each_instance_and_activates_for_each() {
    check(
        NESTED,
        r#"create p before=a,a,c {"k":"1"}
         modify #1 a>b {"b":{"x":1}}
         modify #1 key:b@1>a^parent
         modify #1 b>a^inferred
         modify #1 key:a>after
         modify #1 c>a^outer
         modify #1 after>b^inferred
         modify #1 inner>c^inferred
         modify #1 outer>c
         complete c"#,
        expect![[r#"
              = deployed p v1
            > create p before=a,a,c {"k":"1"}
              p activating
              p.k = "1" created
              p activated
              outer activating
              subscription outer/note note/1 created
              outer activated
              a activating
              a activating
              c activating
              job a created type t retries 3
              a activated
              job a created type t retries 3
              a activated
              job c created type t retries 3
              c activated
              = created p v1
            > modify #1 a>b {"b":{"x":1}}
              inner activating
              timer late created due 60000
              inner activated
              b activating
              b.x = 1 created
              b activating
              b.x = 1 created
              #1 modified
              job b created type t retries 3
              b activated
              job b created type t retries 3
              b activated
              a terminating
              job a canceled
              a terminated
              a terminating
              job a canceled
              a terminated
            > modify #1 key:b@1>a^parent
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but element instance '<key>' of 'inner' is not around the element
            > modify #1 b>a^inferred
              a activating
              a activating
              #1 modified
              job a created type t retries 3
              a activated
              job a created type t retries 3
              a activated
              b terminating
              job b canceled
              b terminated
              b terminating
              job b canceled
              b terminated
              inner terminating
              timer late canceled
              inner terminated
            > modify #1 key:a>after
              after activating
              #1 modified
              job after created type t retries 3
              after activated
              a terminating
              job a canceled
              a terminated
            > modify #1 c>a^outer
              a activating
              #1 modified
              job a created type t retries 3
              a activated
              c terminating
              job c canceled
              c terminated
            > modify #1 after>b^inferred
              outer activating
              subscription outer/note note/1 created
              outer activated
              inner activating
              timer late created due 60000
              inner activated
              b activating
              #1 modified
              job b created type t retries 3
              b activated
              after terminating
              job after canceled
              after terminated
            > modify #1 inner>c^inferred
              c activating
              #1 modified
              job c created type t retries 3
              c activated
              inner terminating
              timer late canceled
              b terminating
              job b canceled
              b terminated
              inner terminated
              outer terminating
              subscription outer/note note/1 deleted
              outer terminated
            > modify #1 outer>c
              c activating
              #1 modified
              job c created type t retries 3
              c activated
              outer terminating
              subscription outer/note note/1 deleted
              a terminating
              job a canceled
              a terminated
              a terminating
              job a canceled
              a terminated
              outer terminated
            > complete c
              job c completed
              c completing, completed
              -- c_join
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 1, join_tokens 1, jobs 1, job_queue 1
        "#]],
    );
}

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
         a -> e
         b -> e",
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
              = rejected INVALID_STATE: Expected to fail job with key '<key>', but it is not activated
            > modify #2 a>b
              #2.b activating
              #2 modified
              job #2.b created type t retries 3
              #2.b activated
              #2.a terminating
              job #2.a canceled
              #2.a terminated
            > complete b@1
              job b completed
              b completing, completed
              -- b_e
              e activating, activated, completing, completed
              p completing, completed
            > complete b@2
              job #2.b completed
              #2.b completing, completed
              -- b_e
              #2.e activating, activated, completing, completed
              #2.p completing, completed
        "#]],
    );
}

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
              each* activating, activated
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
              each completing, completed
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
              each*.out = [7,null,null] created
              p.out = [7,null,null] created
              each* completed
              -- each_after
              after activating
              job after created type t retries 3
              after activated
            > modify #1 after>each
              each* activating
              #1 modified
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
fn canceling_listeners_are_not_asked_by_a_modification_but_by_what_follows_from_it() {
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
         complete v
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
              job v created type x retries 3 task listener canceling
            > activate x
              job v activated
              < job v TASK_LISTENER CANCELING retries 3 deadline 600000 variables {} task [cancel of '', priority 50]
            > complete v
              job v completed
              task v canceled action=cancel
              v terminated
              sub terminated
            > complete b
              job b completed
              b completing, completed
              -- b_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
