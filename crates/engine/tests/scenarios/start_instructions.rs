//! Creation with start and runtime instructions: first elements of an instance, and the element after which it ends.

use expect_test::expect;

use crate::support::check;

const NESTED: &str = "process p
    start s
    sub outer in:x==1 {
    start s2
    job a type=t
    sub inner {
    start s3
    job b type=t in:y==v
    end e3
    s3 -> b -> e3
    }
    boundary late on=inner timer=PT1M
    end e2
    s2 -> a -> inner -> e2
    late -> e2
    }
    job c type=t
    end e
    s -> outer -> c -> e";

#[test]
fn an_instance_starts_before_elements_and_makes_their_scopes() {
    check(
        NESTED,
        r#"create p before=b,a,c {"v":7}
         complete b
         complete a
         complete b
         complete c@1
         complete c@2"#,
        expect![[r#"
              = deployed p v1
            > create p before=b,a,c {"v":7}
              p activating
              p.v = 7 created
              p activated
              outer activating, activated
              inner activating
              timer late created due 60000
              inner activated
              b activating
              a activating
              c activating
              b.y = 7 created
              job b created type t retries 3
              b activated
              job a created type t retries 3
              a activated
              job c created type t retries 3
              c activated
              = created p v1
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
            > complete a
              job a completed
              a completing, completed
              -- a_inner
              inner activating
              timer late created due 60000
              inner activated
              s3 activating, activated, completing, completed
              -- s3_b
              b activating
              b.y = 7 created
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
              outer completing, completed
              -- outer_c
              c activating
              job c created type t retries 3
              c activated
            > complete c@1
              job c completed
              c completing, completed
              -- c_e
              e activating, activated, completing, completed
            > complete c@2
              job c completed
              c completing, completed
              -- c_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn an_instance_may_start_where_there_is_no_none_start_event() {
    check(
        "process p
         start s message=m
         job a type=t
         end e
         s -> a -> e",
        "create p
         create p before=a
         complete a",
        expect![[r#"
              start subscription p/s m created
              = deployed p v1
            > create p
              = rejected INVALID_STATE: Expected to create instance of process with none start event, but there is no such event in process 'p'
            > create p before=a
              p activating, activated
              a activating
              job a created type t retries 3
              a activated
              = created p v1
            > complete a
              job a completed
              a completing, completed
              -- a_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_start_that_is_not_possible_is_refused() {
    check(
        "process p
         start s
         events g
         catch m message=m key=k
         catch t timer=PT1M
         job a type=t
         sub sub {
         start s2
         job b type=t
         end e2
         s2 -> b -> e2
         }
         boundary late on=sub timer==missing
         end e
         s -> g
         g -> m -> a
         g -> t -> a
         a -> sub -> e
         late -> e",
        "create p before=nothing
         create p before=s
         create p before=late
         create p before=m
         create p before=t
         create p before=p
         create p before=s_g
         create p before=a,s2
         create p before=b
         create p after=nothing",
        expect![[r#"
              = deployed p v1
            > create p before=nothing
              = rejected INVALID_ARGUMENT: Expected to create instance of process 'p', but there is no element 'nothing' in process 'p'
            > create p before=s
              = rejected INVALID_ARGUMENT: Expected to create instance of process 'p', but 's' is a start event, which cannot be activated
            > create p before=late
              = rejected INVALID_ARGUMENT: Expected to create instance of process 'p', but 'late' is a boundary event, which cannot be activated
            > create p before=m
              = rejected INVALID_ARGUMENT: Expected to create instance of process 'p', but 'm' belongs to an event-based gateway, which cannot be activated
            > create p before=t
              = rejected INVALID_ARGUMENT: Expected to create instance of process 'p', but 't' belongs to an event-based gateway, which cannot be activated
            > create p before=p
              = rejected INVALID_ARGUMENT: Expected to create instance of process 'p', but 'p' is the process itself, which cannot be activated
            > create p before=s_g
              = rejected INVALID_ARGUMENT: Expected to create instance of process 'p', but 's_g' is a sequence flow, which cannot be activated
            > create p before=a,s2
              = rejected INVALID_ARGUMENT: Expected to create instance of process 'p', but 's2' is a start event, which cannot be activated
            > create p before=b
              = rejected INVALID_ARGUMENT: Expected to create instance of process 'p', but scope 'sub' cannot wait for its events: Expected result of the expression 'missing' to be one of '[DURATION, PERIOD, DATE_TIME, STRING]', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'missing'
            > create p after=nothing
              = rejected INVALID_ARGUMENT: Expected to create instance of process 'p', but it is to be terminated after 'nothing', and there is no such element
        "#]],
    );
}

#[test]
fn an_instance_ends_after_an_element() {
    check(
        NESTED,
        r#"create p after=b await=1 {"v":7}
         complete a
         complete b
         create p after=b,c before=c await=2
         complete c
         create p after=inner before=b
         advance 1m
         create p after=s await=3
         create p after=e before=e
         create p before=b after=e3
         complete b"#,
        expect![[r#"
              = deployed p v1
            > create p after=b await=1 {"v":7}
              p activating
              p.v = 7 created
              p activated
              s activating, activated, completing, completed
              -- s_outer
              outer activating
              outer.x = 1 created
              outer activated
              s2 activating, activated, completing, completed
              -- s2_a
              a activating
              job a created type t retries 3
              a activated
            > complete a
              job a completed
              a completing, completed
              -- a_inner
              inner activating
              timer late created due 60000
              inner activated
              s3 activating, activated, completing, completed
              -- s3_b
              b activating
              b.y = 7 created
              job b created type t retries 3
              b activated
            > complete b
              job b completed
              b completing, completed
              #1 ends after b
              p terminating
              inner terminating
              timer late canceled
              inner terminated
              outer terminating, terminated
              p terminated
              late answer to request 1:
              = rejected INVALID_STATE: Process instance '<key>' was terminated before it completed
            > create p after=b,c before=c await=2
              #2.p activating, activated
              #2.c activating
              job #2.c created type t retries 3
              #2.c activated
            > complete c
              job #2.c completed
              #2.c completing, completed
              #2 ends after c
              #2.p terminating, terminated
              late answer to request 2:
              = rejected INVALID_STATE: Process instance '<key>' was terminated before it completed
            > create p after=inner before=b
              #3.p activating, activated
              #3.outer activating, activated
              #3.inner activating
              timer late created due 60000
              #3.inner activated
              #3.b activating
              #3.b.y = null created
              job #3.b created type t retries 3
              #3.b activated
              = created p v1
            > advance 1m
              timer late triggered
              #3.inner terminating
              #3.b terminating
              job #3.b canceled
              #3.b terminated
              #3.inner terminated
              #3 ends after inner
              #3.p terminating
              #3.outer terminating, terminated
              #3.p terminated
            > create p after=s await=3
              #4.p activating, activated
              #4.s activating, activated, completing, completed
              #4 ends after s
              #4.p terminating, terminated
              late answer to request 3:
              = rejected INVALID_STATE: Process instance '<key>' was terminated before it completed
            > create p after=e before=e
              #5.p activating, activated
              #5.e activating, activated, completing, completed
              #5 ends after e
              #5.p terminating, terminated
              = created p v1
            > create p before=b after=e3
              #6.p activating, activated
              #6.outer activating, activated
              #6.inner activating
              timer late created due 120000
              #6.inner activated
              #6.b activating
              #6.b.y = null created
              job #6.b created type t retries 3
              #6.b activated
              = created p v1
            > complete b
              job #6.b completed
              #6.b completing, completed
              -- b_e3
              #6.e3 activating, activated, completing, completed
              #6 ends after e3
              #6.p terminating
              #6.inner terminating
              timer late canceled
              #6.inner terminated
              #6.outer terminating, terminated
              #6.p terminated
        "#]],
    );
}
