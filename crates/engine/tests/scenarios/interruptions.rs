//! Precedence of interruptions: interrupting events beside others of the same scope.

use expect_test::expect;

use crate::support::check;

#[test]
fn an_interrupted_scope_starts_no_other_event_sub_process() {
    check(
        r#"process p
           start s
           job t
           s -> t
           on first {
           start f signal=stop
           job a
           f -> a
           }
           on later {
           start l signal=note interrupting=false
           job b
           l -> b
           }"#,
        r#"show elements signals
           create p
           broadcast note
           broadcast stop
           broadcast note
           broadcast stop
           complete a"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > broadcast note
              later activating, activated
              l activating, activated, completing, completed
              b activating, activated
            > broadcast stop
              t terminating, terminated
              later terminating
              b terminating, terminated
              later terminated
              first activating, activated
              f activating, activated, completing, completed
              a activating, activated
            > broadcast note
            > broadcast stop
            > complete a
              a completing, completed
              first completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn of_two_boundary_events_told_at_once_the_first_ends_the_activity() {
    check(
        r#"process p
           start s
           job t
           s -> t
           boundary a on=t signal=stop
           boundary b on=t signal="='st' + 'op'"
           boundary c on=t signal="=string join(['stop'])" interrupting=false
           task ta
           task tb
           task tc
           a -> ta
           b -> tb
           c -> tc"#,
        r#"show elements signals
           create p
           broadcast stop"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > broadcast stop
              t terminating, terminated
              a activating, activated, completing, completed
              ta activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn timers_that_are_due_at_once_fire_at_once() {
    check(
        r#"process p
           start s
           job t
           s -> t
           boundary zero on=t timer=PT0S interrupting=false
           boundary past on=t timer="=duration('-PT1H')" interrupting=false
           boundary old on=t date=1970-01-01T00:00:00Z interrupting=false
           boundary begin on=t cycle=R2/1970-01-01T01:00:00Z/PT1H interrupting=false
           task z
           task o
           task b
           zero -> z
           past -> z
           old -> o
           begin -> b"#,
        r#"show elements timers
           create p
           tick
           advance 1h
           advance 1h
           advance 1h
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating
              timer zero created due 0
              timer past created due -3600000
              timer old created due -1767225600000
              timer begin created due 0 repetitions 2
              t activated
              = created p v1
            > tick
              timer old triggered
              old activating, activated, completing, completed
              o activating, activated, completing, completed
              timer past triggered
              past activating, activated, completing, completed
              z activating, activated, completing, completed
              timer zero triggered
              zero activating, activated, completing, completed
              z activating, activated, completing, completed
              timer begin triggered
              timer begin created due 3600000
              begin activating, activated, completing, completed
              b activating, activated, completing, completed
            > advance 1h
              timer begin triggered
              begin activating, activated, completing, completed
              b activating, activated, completing, completed
            > advance 1h
            > advance 1h
            > complete t
              t completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_boundary_event_of_a_multi_instance_activity_gives_no_part_of_the_output() {
    check(
        r#"process p
           start s
           job t each="[1, 2]" as=x collect=results gives=x
           s -> t
           boundary b on=t message=m key="'k'"
           job after
           b -> after"#,
        r#"show elements variables
           create p
           complete t@1
           publish m k
           complete after"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t* activating
              t*.results = [null,null] created
              t* activated
              t activating
              t.x = 1 created
              t.loopCounter = 1 created
              t activated
              t activating
              t.x = 2 created
              t.loopCounter = 2 created
              t activated
              = created p v1
            > complete t@1
              t completing
              t*.results = [1,null] updated
              t completed
            > publish m k
              t* terminating
              t terminating, terminated
              t* terminated
              b activating, activated, completing, completed
              after activating, activated
            > complete after
              after completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn an_event_sub_process_inside_a_multi_instance_sub_process_ends_one_instance_of_it() {
    check(
        r#"process p
           start s
           sub each each="['a', 'b']" as=x {
           start is
           job t
           is -> t
           on stop {
           start f message=m key=x
           task after
           f -> after
           }
           }
           s -> each"#,
        r#"show elements
           create p
           publish m a
           complete t@2"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              each* activating, activated
              each activating, activated
              each activating, activated
              is activating, activated, completing, completed
              is activating, activated, completing, completed
              t activating, activated
              t activating, activated
              = created p v1
            > publish m a
              t terminating, terminated
              stop activating, activated
              f activating, activated, completing, completed
              after activating, activated, completing, completed
              stop completing, completed
              each completing, completed
            > complete t@2
              t completing, completed
              each completing, completed
              each* completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_boundary_event_ends_all_of_a_multi_instance_activity() {
    check(
        r#"process p
           start s
           job t each=items as=item collect=results gives=item
           boundary late on=t timer=PT1S
           boundary oops on=t error=E1
           boundary note on=t message=note key=k interrupting=false
           end e
           end e2
           end e3
           end e4
           s -> t -> e
           late -> e2
           oops -> e3
           note -> e4"#,
        r#"show elements jobs
           create p {"items": [1, 2], "k": 1}
           publish note 1
           complete t@1
           advance 1s
           create p {"items": [1, 2], "k": 1}
           throw t E1"#,
        expect![[r#"
              = deployed p v1
            > create p {"items": [1, 2], "k": 1}
              p activating, activated
              s activating, activated, completing, completed
              t* activating, activated
              t activating
              job t created type t retries 3
              t activated
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > publish note 1
              note activating, activated, completing, completed
              e4 activating, activated, completing, completed
            > complete t@1
              job t completed
              t completing, completed
            > advance 1s
              t* terminating
              t terminating
              job t canceled
              t terminated
              t* terminated
              late activating, activated, completing, completed
              e2 activating, activated, completing, completed
              p completing, completed
            > create p {"items": [1, 2], "k": 1}
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.t* activating, activated
              #2.t activating
              job #2.t created type t retries 3
              #2.t activated
              #2.t activating
              job #2.t created type t retries 3
              #2.t activated
              = created p v1
            > throw t E1
              job #2.t error thrown
              #2.t* terminating
              #2.t terminating
              job #2.t canceled
              #2.t terminated
              #2.t terminating, terminated
              #2.t* terminated
              #2.oops activating, activated, completing, completed
              #2.e3 activating, activated, completing, completed
              #2.p completing, completed
        "#]],
    );
}
