//! Event sub-processes: triggers, interruption, and scope of variables.

use expect_test::expect;

use crate::support::check;

/// A process with one task and one event sub-process with another.
fn with_task(event: &str) -> String {
    format!(
        "process p
         start s
         job t
         end e
         s -> t -> e
         on caught {{
         start c {event}
         job u
         end f
         c -> u -> f
         }}"
    )
}

#[test]
fn an_interrupting_event_sub_process_ends_everything_beside_it() {
    check(
        &with_task("message=stop key=id"),
        r#"show elements variables subscriptions jobs
           create p {"id":"a"}
           publish stop a {"why":"rain"}
           // It happens once only.
           publish stop a
           complete u"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"a"}
              p activating
              p.id = "a" created
              subscription p/c stop/a created
              p activated
              s activating, activated, completing, completed
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > publish stop a {"why":"rain"}
              subscription p/c stop/a correlated
              t terminating
              job t canceled
              t terminated
              caught activating, activated
              c activating, activated, completing
              p.why = "rain" created
              c completed
              u activating
              job u created type u retries 3
              u activated
            > publish stop a
            > complete u
              job u completed
              u completing, completed
              f activating, activated, completing, completed
              caught completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_non_interrupting_event_sub_process_runs_as_often_as_its_event_happens() {
    check(
        &with_task("message=note key=id interrupting=false"),
        r#"show elements
           create p {"id":"a"}
           publish note a
           publish note a
           complete t
           complete u@1
           complete u@2"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"a"}
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > publish note a
              caught activating, activated
              c activating, activated, completing, completed
              u activating, activated
            > publish note a
              caught activating, activated
              c activating, activated, completing, completed
              u activating, activated
            > complete t
              t completing, completed
              e activating, activated, completing, completed
            > complete u@1
              u completing, completed
              f activating, activated, completing, completed
              caught completing, completed
            > complete u@2
              u completing, completed
              f activating, activated, completing, completed
              caught completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_timer_starts_an_event_sub_process() {
    check(
        &with_task("timer=PT10S"),
        "show elements timers
         create p
         advance 10s
         complete u",
        expect![[r#"
              = deployed p v1
            > create p
              p activating
              timer c created due 10000
              p activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > advance 10s
              timer c triggered
              t terminating, terminated
              caught activating, activated
              c activating, activated, completing, completed
              u activating, activated
            > complete u
              u completing, completed
              f activating, activated, completing, completed
              caught completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_cycle_starts_it_as_often_as_it_says() {
    check(
        &with_task("cycle=R2/PT10S interrupting=false"),
        "show elements timers
         create p
         advance 10s
         advance 10s
         advance 10s
         complete t
         complete u@1
         complete u@2",
        expect![[r#"
              = deployed p v1
            > create p
              p activating
              timer c created due 10000 repetitions 2
              p activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > advance 10s
              timer c triggered
              timer c created due 20000
              caught activating, activated
              c activating, activated, completing, completed
              u activating, activated
            > advance 10s
              timer c triggered
              caught activating, activated
              c activating, activated, completing, completed
              u activating, activated
            > advance 10s
            > complete t
              t completing, completed
              e activating, activated, completing, completed
            > complete u@1
              u completing, completed
              f activating, activated, completing, completed
              caught completing, completed
            > complete u@2
              u completing, completed
              f activating, activated, completing, completed
              caught completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_timer_that_has_not_fired_goes_with_its_scope() {
    check(
        &with_task("timer=PT10S"),
        "show elements timers
         given create p
         complete t",
        expect![[r#"
              = deployed p v1
            > complete t
              t completing, completed
              e activating, activated, completing, completed
              p completing
              timer c canceled
              p completed
        "#]],
    );
}

#[test]
fn an_error_is_caught_inside_the_scope_it_is_thrown_in() {
    check(
        &with_task("error=E1"),
        r#"show elements variables jobs
           create p
           throw t E1 {"reason":"late"}
           activate u
           complete u"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > throw t E1 {"reason":"late"}
              job t error thrown
              t terminating, terminated
              caught activating, activated
              c activating
              caught.reason = "late" created
              c activated, completing, completed
              u activating
              job u created type u retries 3
              u activated
            > activate u
              job u activated
              < job u retries 3 deadline 600000 variables {"reason":"late"}
            > complete u
              job u completed
              u completing, completed
              f activating, activated, completing, completed
              caught completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn output_mappings_take_error_variables_out() {
    check(
        &with_task("error=* out:kept==reason"),
        r#"show elements variables
           create p
           throw t E1 {"reason":"late"}
           complete u"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > throw t E1 {"reason":"late"}
              t terminating, terminated
              caught activating, activated
              c activating
              c.reason = "late" created
              c activated, completing
              p.kept = "late" created
              c completed
              u activating, activated
            > complete u
              u completing, completed
              f activating, activated, completing, completed
              caught completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn an_exact_code_outside_beats_a_catch_all_event_sub_process() {
    check(
        "process p
         start s
         sub outer {
         start s2
         job t
         s2 -> t
         on any {
         start c error=*
         }
         }
         boundary exact on=outer error=E1
         s -> outer",
        "show elements
         create p
         throw t E1
         create p
         throw t E2",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              outer activating, activated
              s2 activating, activated, completing, completed
              t activating, activated
              = created p v1
            > throw t E1
              outer terminating
              t terminating, terminated
              outer terminated
              exact activating, activated, completing, completed
              p completing, completed
            > create p
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.outer activating, activated
              #2.s2 activating, activated, completing, completed
              #2.t activating, activated
              = created p v1
            > throw t E2
              #2.t terminating, terminated
              #2.any activating, activated
              #2.c activating, activated, completing, completed
              #2.any completing, completed
              #2.outer completing, completed
              #2.p completing, completed
        "#]],
    );
}

#[test]
fn an_error_from_an_interrupting_event_sub_process_is_caught_nowhere_outside_it() {
    check(
        "process p
         start s
         sub outer {
         start s2
         job t
         s2 -> t
         on any {
         start c error=E1
         job u
         end f error=E2
         c -> u -> f
         }
         }
         boundary exact on=outer error=E2
         s -> outer",
        "show elements incidents
         given create p
         throw t E1
         complete u
         cancel #1",
        expect![[r#"
              = deployed p v1
            > throw t E1
              t terminating, terminated
              any activating, activated
              c activating, activated, completing, completed
              u activating, activated
            > complete u
              u completing, completed
              f activating
              incident f UNHANDLED_ERROR_EVENT created: Expected to throw an error event with the code 'E2', but it was not caught.
            > cancel #1
              p terminating
              outer terminating
              any terminating
              f terminating
              incident f UNHANDLED_ERROR_EVENT resolved
              f terminated
              any terminated
              outer terminated
              p terminated
        "#]],
    );
}

#[test]
fn an_error_from_a_non_interrupting_event_sub_process_is_caught_outside() {
    check(
        "process p
         start s
         sub outer {
         start s2
         job t
         s2 -> t
         on any {
         start c timer=PT1S interrupting=false
         end f error=E2
         c -> f
         }
         on failed {
         start d error=E2
         }
         }
         s -> outer",
        "show elements incidents
         given create p
         advance 1s",
        expect![[r#"
              = deployed p v1
            > advance 1s
              any activating, activated
              c activating, activated, completing, completed
              f activating, activated
              t terminating, terminated
              any terminating
              f terminating, terminated
              any terminated
              failed activating, activated
              d activating, activated, completing, completed
              failed completing, completed
              outer completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn an_error_of_a_called_process_is_caught_by_an_event_sub_process_of_the_caller() {
    check(
        "process p
         start s
         call c process=q
         s -> c
         on failed {
         start d error=E1
         job u
         d -> u
         }
         process q
         start s2
         job t
         s2 -> t",
        "show elements
         create p
         throw t E1
         complete u",
        expect![[r#"
              = deployed p v1 q v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              c activating
              #2.q activating, activated
              c activated
              #2.s2 activating, activated, completing, completed
              #2.t activating, activated
              = created p v1
            > throw t E1
              c terminating
              #2.q terminating
              #2.t terminating, terminated
              #2.q terminated
              c terminated
              failed activating, activated
              d activating, activated, completing, completed
              u activating, activated
            > complete u
              u completing, completed
              failed completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn event_sub_processes_nest() {
    check(
        "process p
         start s
         job t
         s -> t
         on outer {
         start a message=a key=id interrupting=false
         job u
         a -> u
         on inner {
         start b message=b key=id
         job v
         b -> v
         }
         }",
        r#"show elements
           create p {"id":"1"}
           publish a 1
           publish a 1
           // A message goes to each process once: to the first that waits.
           publish b 1
           complete v
           complete t
           complete u@2"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"1"}
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > publish a 1
              outer activating, activated
              a activating, activated, completing, completed
              u activating, activated
            > publish a 1
              outer activating, activated
              a activating, activated, completing, completed
              u activating, activated
            > publish b 1
              u terminating, terminated
              inner activating, activated
              b activating, activated, completing, completed
              v activating, activated
            > complete v
              v completing, completed
              inner completing, completed
              outer completing, completed
            > complete t
              t completing, completed
            > complete u@2
              u completing, completed
              outer completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn an_interrupting_event_ends_event_sub_processes_that_run() {
    check(
        "process p
         start s
         job t
         s -> t
         on note {
         start a message=a key=id interrupting=false
         job u
         a -> u
         }
         on stop {
         start b message=b key=id
         job v
         b -> v
         }",
        r#"show elements subscriptions
           create p {"id":"1"}
           publish a 1
           publish b 1
           publish a 1
           complete v"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"1"}
              p activating
              subscription p/a a/1 created
              subscription p/b b/1 created
              p activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > publish a 1
              subscription p/a a/1 correlated
              note activating, activated
              a activating, activated, completing, completed
              u activating, activated
            > publish b 1
              subscription p/b b/1 correlated
              subscription p/a a/1 deleted
              t terminating, terminated
              note terminating
              u terminating, terminated
              note terminated
              stop activating, activated
              b activating, activated, completing, completed
              v activating, activated
            > publish a 1
            > complete v
              v completing, completed
              stop completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_boundary_event_still_ends_a_scope_that_was_interrupted_inside() {
    check(
        "process p
         start s
         sub outer {
         start s2
         job t
         s2 -> t
         on stop {
         start b message=b key=id
         job v
         b -> v
         }
         }
         boundary late on=outer timer=PT10S
         s -> outer",
        r#"show elements
           create p {"id":"1"}
           publish b 1
           advance 10s"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"1"}
              p activating, activated
              s activating, activated, completing, completed
              outer activating, activated
              s2 activating, activated, completing, completed
              t activating, activated
              = created p v1
            > publish b 1
              t terminating, terminated
              stop activating, activated
              b activating, activated, completing, completed
              v activating, activated
            > advance 10s
              outer terminating
              stop terminating
              v terminating, terminated
              stop terminated
              outer terminated
              late activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn tokens_at_a_join_go_when_the_scope_is_interrupted() {
    check(
        "process p
         start s
         and fork
         job a
         job b
         and join
         s -> fork
         fork -> a -> join
         fork -> b -> join
         on stop {
         start c message=stop key=id
         }",
        r#"show elements
           create p {"id":"1"}
           complete a
           publish stop 1"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"1"}
              p activating, activated
              s activating, activated, completing, completed
              fork activating, activated, completing, completed
              b activating, activated
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
            > publish stop 1
              b terminating, terminated
              stop activating, activated
              c activating, activated, completing, completed
              stop completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn variables_stay_inside_unless_they_are_mapped() {
    check(
        "process p
         start s
         job t
         s -> t
         on stop in:local=\"=id\" out:result==local {
         start c message=stop key=id out:seen==text
         job u
         c -> u
         }",
        r#"show elements variables
           create p {"id":"1"}
           publish stop 1 {"text":"x"}
           complete u {"local":"changed"}"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"1"}
              p activating
              p.id = "1" created
              p activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > publish stop 1 {"text":"x"}
              t terminating, terminated
              stop activating
              stop.local = "1" created
              stop activated
              c activating, activated, completing
              c.text = "x" created
              p.seen = "x" created
              c completed
              u activating, activated
            > complete u {"local":"changed"}
              u completing
              stop.local = "changed" updated
              u completed
              stop completing
              p.result = "changed" created
              stop completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_subscription_that_cannot_be_opened_stops_the_process_with_an_incident() {
    check(
        &with_task("message=stop key=id"),
        r#"show elements incidents subscriptions
           create p
           set #1 {"id":"a"}
           resolve p
           publish stop a
           complete u"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating
              incident p EXTRACT_VALUE_ERROR created: Failed to extract the correlation key for 'id': The value must be either a string or a number, but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'id'
              = created p v1
            > set #1 {"id":"a"}
            > resolve p
              incident p EXTRACT_VALUE_ERROR resolved
              subscription p/c stop/a created
              p activated
              s activating, activated, completing, completed
              t activating, activated
            > publish stop a
              subscription p/c stop/a correlated
              t terminating, terminated
              caught activating, activated
              c activating, activated, completing, completed
              u activating, activated
            > complete u
              u completing, completed
              f activating, activated, completing, completed
              caught completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_process_started_by_a_message_keeps_its_event_while_its_activation_waits() {
    check(
        "process p
         start s message=go
         job t
         s -> t
         on stop {
         start c message=stop key=id
         }",
        r#"show elements incidents variables subscriptions
           publish go - {"id":"a"}
           complete t
           publish go - {"text":"x"}
           set #2 {"id":"a"}
           resolve p
           complete t"#,
        expect![[r#"
              start subscription p/s go created
              = deployed p v1
            > publish go - {"id":"a"}
              start subscription p/s go correlated
              p activating
              p.id = "a" created
              subscription p/c stop/a created
              p activated
              s activating, activated, completing
              s.id = "a" created
              s completed
              t activating, activated
            > complete t
              t completing, completed
              p completing
              subscription p/c stop/a deleted
              p completed
            > publish go - {"text":"x"}
              start subscription p/s go correlated
              #2.p activating
              #2.p.text = "x" created
              incident #2.p EXTRACT_VALUE_ERROR created: Failed to extract the correlation key for 'id': The value must be either a string or a number, but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'id'
            > set #2 {"id":"a"}
              #2.p.id = "a" created
            > resolve p
              incident #2.p EXTRACT_VALUE_ERROR resolved
              subscription #2.p/c stop/a created
              #2.p activated
              #2.s activating, activated, completing
              #2.s.text = "x" created
              #2.s completed
              #2.t activating, activated
            > complete t
              #2.t completing, completed
              #2.p completing
              subscription #2.p/c stop/a deleted
              #2.p completed
        "#]],
    );
}

#[test]
fn a_terminate_end_event_inside_ends_the_event_sub_process_only() {
    check(
        "process p
         start s
         job t
         s -> t
         on note {
         start c message=note key=id interrupting=false
         and fork
         job u
         job v
         end f terminate
         c -> fork
         fork -> u
         fork -> v -> f
         }",
        r#"show elements
           create p {"id":"a"}
           publish note a
           complete v
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"a"}
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > publish note a
              note activating, activated
              c activating, activated, completing, completed
              fork activating, activated, completing, completed
              v activating, activated
              u activating, activated
            > complete v
              v completing, completed
              f activating, activated, completing, completed
              u terminating, terminated
              note completing, completed
            > complete t
              t completing, completed
              p completing, completed
        "#]],
    );
}
