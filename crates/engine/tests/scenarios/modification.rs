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
pub const NESTED: &str = "process p
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
