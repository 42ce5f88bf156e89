//! Signals: broadcast to all subscriptions of their name.

use engine::Options;
use expect_test::expect;
use protocol::{BroadcastSignal, Command, CreateInstance, DefinitionRef, Document, Name};

use crate::support::{Harness, check, check_with};

#[test]
fn everybody_who_waits_is_told() {
    check(
        "process p
         start s
         catch c signal=alarm
         job t
         s -> c -> t",
        r#"show elements variables subscriptions messages
           create p
           create p
           broadcast other
           broadcast alarm {"x":1}
           broadcast alarm
           cancel #1
           cancel #2"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              c activating
              signal subscription c/c alarm created
              c activated
              = created p v1
            > create p
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.c activating
              signal subscription c/c alarm created
              #2.c activated
              = created p v1
            > broadcast other
              signal other broadcasted {}
            > broadcast alarm {"x":1}
              signal alarm broadcasted {"x":1}
              signal subscription c/c alarm deleted
              signal subscription c/c alarm deleted
              c completing
              p.x = 1 created
              c completed
              #2.c completing
              #2.p.x = 1 created
              #2.c completed
              t activating, activated
              #2.t activating, activated
            > broadcast alarm
              signal alarm broadcasted {}
            > cancel #1
              p terminating
              t terminating, terminated
              p terminated
            > cancel #2
              #2.p terminating
              #2.t terminating, terminated
              #2.p terminated
        "#]],
    );
}

#[test]
fn a_signal_starts_an_instance_of_the_latest_version() {
    check_with(
        &[
            ("p", "process p\nstart s signal=alarm\njob t\ns -> t"),
            ("p@2", "process p\nstart s signal=alarm\njob u\ns -> u"),
            ("p@3", "process p\nstart s signal=\"='al'+'ert'\"\njob v\ns -> v"),
        ],
        Options::default(),
        r#"show elements variables subscriptions
           deploy p
           broadcast alarm {"x":1}
           deploy p@2
           broadcast alarm
           deploy p@3
           broadcast alarm
           broadcast alert
           complete t
           complete u
           complete v
           delete p v=3
           broadcast alarm
           complete u"#,
        expect![[r#"
              signal subscription p/s alarm created
              = deployed p v1
            > broadcast alarm {"x":1}
              p activating, activated
              s activating, activated, completing
              s.x = 1 created
              p.x = 1 created
              s completed
              t activating, activated
            > deploy p@2
              signal subscription p/s alarm deleted
              signal subscription p/s alarm created
              = deployed p v2
            > broadcast alarm
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.u activating, activated
            > deploy p@3
              signal subscription p/s alarm deleted
              signal subscription p/s alert created
              = deployed p v3
            > broadcast alarm
            > broadcast alert
              #3.p activating, activated
              #3.s activating, activated, completing, completed
              #3.v activating, activated
            > complete t
              t completing, completed
              p completing, completed
            > complete u
              #2.u completing, completed
              #2.p completing, completed
            > complete v
              #3.v completing, completed
              #3.p completing, completed
            > delete p v=3
              signal subscription p/s alert deleted
              signal subscription p/s alarm created
            > broadcast alarm
              #4.p activating, activated
              #4.s activating, activated, completing, completed
              #4.u activating, activated
            > complete u
              #4.u completing, completed
              #4.p completing, completed
        "#]],
    );
}

#[test]
fn boundary_events_and_event_sub_processes_are_told() {
    check(
        "process p
         start s
         job t
         boundary b on=t signal=note interrupting=false
         boundary stop on=t signal=stop
         job u
         b -> u
         s -> t
         on over {
         start o signal=over
         job v
         o -> v
         }
         on seen {
         start n signal=note interrupting=false
         }",
        "show elements subscriptions
         create p
         broadcast note
         broadcast note
         broadcast stop
         broadcast over
         broadcast over
         complete v",
        expect![[r#"
              = deployed p v1
            > create p
              p activating
              signal subscription p/o over created
              signal subscription p/n note created
              p activated
              s activating, activated, completing, completed
              t activating
              signal subscription t/b note created
              signal subscription t/stop stop created
              t activated
              = created p v1
            > broadcast note
              seen activating, activated
              b activating, activated, completing, completed
              n activating, activated, completing, completed
              u activating, activated
              seen completing, completed
            > broadcast note
              seen activating, activated
              b activating, activated, completing, completed
              n activating, activated, completing, completed
              u activating, activated
              seen completing, completed
            > broadcast stop
              signal subscription t/b note deleted
              signal subscription t/stop stop deleted
              t terminating, terminated
              stop activating, activated, completing, completed
            > broadcast over
              signal subscription p/o over deleted
              signal subscription p/n note deleted
              u terminating, terminated
              u terminating, terminated
              over activating, activated
              o activating, activated, completing, completed
              v activating, activated
            > broadcast over
            > complete v
              v completing, completed
              over completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn the_event_based_gateway_takes_a_signal() {
    check(
        "process p
         start s
         events g
         catch a signal=one
         catch b signal=two
         s -> g
         g -> a
         g -> b",
        "show elements subscriptions
         create p
         broadcast two",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              g activating
              signal subscription g/b two created
              signal subscription g/a one created
              g activated
              = created p v1
            > broadcast two
              signal subscription g/b two deleted
              signal subscription g/a one deleted
              g completing, completed
              b activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn throw_and_end_events_tell_their_local_variables() {
    check(
        "process p
         start s
         throw up signal==name in:x==y
         end e signal=done
         s -> up -> e
         process q
         start s2 signal=alarm
         end e2
         s2 -> e2
         process r
         start s3 signal=done
         end e3
         s3 -> e3",
        r#"show elements variables messages
           create p {"name":"alarm","y":7}"#,
        expect![[r#"
              signal subscription q/s2 alarm created
              signal subscription r/s3 done created
              = deployed p v1 q v1 r v1
            > create p {"name":"alarm","y":7}
              p activating
              p.name = "alarm" created
              p.y = 7 created
              p activated
              s activating, activated, completing, completed
              up activating
              up.x = 7 created
              signal alarm broadcasted {"x":7}
              up activated, completing, completed
              e activating
              signal done broadcasted {}
              e activated, completing, completed
              #2.q activating, activated
              p completing, completed
              #2.s2 activating, activated, completing
              #2.s2.x = 7 created
              #2.q.x = 7 created
              #2.s2 completed
              #3.r activating, activated
              #2.e2 activating, activated, completing, completed
              #3.s3 activating, activated, completing, completed
              #2.q completing, completed
              #3.e3 activating, activated, completing, completed
              #3.r completing, completed
              = created p v1
        "#]],
    );
}

#[test]
fn who_begins_to_wait_after_the_signal_is_not_told() {
    check(
        "process p
         start s
         throw up signal=alarm
         catch c signal=alarm
         s -> up -> c",
        "show elements
         create p
         broadcast alarm",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              up activating, activated, completing, completed
              c activating, activated
              = created p v1
            > broadcast alarm
              c completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn signals_stay_in_their_tenant() {
    check(
        "process p
         start s
         catch c signal=alarm
         s -> c",
        "show elements
         create p
         broadcast alarm tenant=other
         broadcast alarm",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              c activating, activated
              = created p v1
            > broadcast alarm tenant=other
            > broadcast alarm
              c completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_name_that_is_no_text_is_an_incident() {
    check(
        "process p
         start s
         catch c signal==name
         s -> c",
        r#"show elements incidents
           create p
           set #1 {"name":"alarm"}
           resolve c
           broadcast alarm"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              c activating
              incident c EXTRACT_VALUE_ERROR created: Expected result of the expression 'name' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'name'
              = created p v1
            > set #1 {"name":"alarm"}
            > resolve c
              incident c EXTRACT_VALUE_ERROR resolved
              c activated
            > broadcast alarm
              c completing, completed
              p completing, completed
        "#]],
    );
}

/// A broadcast to many goes in slices, so that it shares the partition, and reaches each once.
#[test]
fn a_broadcast_to_many_goes_in_slices() {
    const MANY: usize = 1000;
    let options = Options { max_steps_per_command: 20, max_children_per_step: 8, ..Options::default() };
    let mut harness = Harness::with_options(options);
    harness.deploy(&[("p.bpmn", "process p\nstart s\ncatch c signal=alarm\ns -> c")]).unwrap();
    for _ in 0..MANY {
        let definition = DefinitionRef::Id { id: Name::from("p"), version: None };
        harness.command(Command::CreateInstance(CreateInstance::of(definition)));
    }
    let broadcast = Command::BroadcastSignal(BroadcastSignal {
        name: Name::from("alarm"),
        variables: Document::empty(),
        tenant_id: Name::default_tenant(),
    });
    assert!(harness.apply(vec![broadcast], vec![]).has_pending_steps);
    let left = harness.engine().tables().pending_steps.keys(.., usize::MAX).unwrap().len();
    assert!(left < 40, "{left} steps are left over");
    harness.go_on();
    assert!(harness.is_empty(), "left over: {:?}", harness.leftovers());
}
