//! A fault of the engine itself stops one instance, not the partition.

use engine::{FaultPoint, Options};
use expect_test::expect;
use protocol::{Command, CompleteJob, CreateInstance, DefinitionRef, Document, Name, Response};

use crate::support::{Harness, check_with};

const TASK: &str = "process p
    start s
    job t
    catch wait timer=PT10S
    job weak
    end e
    s -> t -> wait -> weak -> e";

const GOOD: &str = "process good
    start s
    job t
    end e
    s -> t -> e";

fn fault(point: FaultPoint, element_id: &str) -> Options {
    Options { fault: Some((point, Name::from(element_id))), ..Options::default() }
}

#[test]
fn an_instance_is_banned_and_the_command_undone() {
    check_with(
        &[("p", TASK), ("good", GOOD)],
        fault(FaultPoint::Complete, "t"),
        r#"deploy p
           show elements jobs errors variables
           create p
           activate t
           complete t {"a":1}
           complete t
           fail t retries=1
           set #1 {"b":1}
           modify #1 -t
           unban #1
           unban #1
           complete t
           cancel #1
           unban #1"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {}
            > complete t {"a":1}
              error in #1: a fault of the test at 't'
              banned #1: a fault of the test at 't'
              = rejected PROCESSING_ERROR: Expected to process the command, but the engine failed and process instance '<key>' was banned. Nothing was changed.
            > complete t
              = rejected INVALID_STATE: Expected to complete job with key '<key>', but its process instance '<key>' is banned
            > fail t retries=1
              = rejected INVALID_STATE: Expected to fail job with key '<key>', but its process instance '<key>' is banned
            > set #1 {"b":1}
              p.b = 1 created
            > modify #1 -t
              = rejected INVALID_STATE: Expected to modify process instance with key '<key>', but process instance '<key>' is banned: release or cancel it first
            > unban #1
            > unban #1
              = rejected NOT_FOUND: Expected to release process instance with key '<key>', but it is not banned
            > complete t
              error in #1: a fault of the test at 't'
              banned #1: a fault of the test at 't'
              = rejected PROCESSING_ERROR: Expected to process the command, but the engine failed and process instance '<key>' was banned. Nothing was changed.
            > cancel #1
              p terminating
              t terminating
              job t canceled
              t terminated
              p terminated
            > unban #1
              = rejected NOT_FOUND: Expected to release process instance with key '<key>', but it is not banned
        "#]],
    );
}

#[test]
fn who_waits_for_a_banned_instance_is_told() {
    check_with(
        &[("p", TASK)],
        fault(FaultPoint::Complete, "t"),
        "deploy p
         show errors
         create p await=7
         complete t
         cancel #1",
        expect![[r#"
              = deployed p v1
            > create p await=7
            > complete t
              error in #1: a fault of the test at 't'
              late answer to request 7:
              = rejected PROCESSING_ERROR: The engine failed on process instance '<key>', which was banned
              banned #1: a fault of the test at 't'
              = rejected PROCESSING_ERROR: Expected to process the command, but the engine failed and process instance '<key>' was banned. Nothing was changed.
            > cancel #1
        "#]],
    );
}

#[test]
fn a_timer_that_fails_holds_nobody_up() {
    check_with(
        &[
            ("p", TASK),
            (
                "good",
                "process good
                                 start s
                                 catch wait timer=PT10S
                                 end e
                                 s -> wait -> e",
            ),
        ],
        fault(FaultPoint::Activate, "weak"),
        "deploy p good
         show elements timers errors
         create p
         complete t
         create good
         advance 10s
         advance 1m
         cancel #1",
        expect![[r#"
              = deployed p v1 good v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > complete t
              t completing, completed
              wait activating
              timer wait created due 10000
              wait activated
            > create good
              #2.good activating, activated
              #2.s activating, activated, completing, completed
              #2.wait activating
              timer wait created due 10000
              #2.wait activated
              = created good v1
            > advance 10s
              error in #1: a fault of the test at 'weak'
              timer wait triggered
              #2.wait completing, completed
              #2.e activating, activated, completing, completed
              #2.good completing, completed
              banned #1: a fault of the test at 'weak'
            > advance 1m
            > cancel #1
              p terminating
              wait terminating
              timer wait canceled
              wait terminated
              p terminated
        "#]],
    );
}

#[test]
fn a_start_timer_that_fails_is_put_off() {
    check_with(
        &[(
            "p",
            "process p
                 start s cycle=R/PT10S
                 job weak
                 end e
                 s -> weak -> e",
        )],
        fault(FaultPoint::Activate, "weak"),
        "deploy p
         show elements timers errors
         advance 10s
         advance 10s
         advance 1m",
        expect![[r#"
              timer s created due 10000 repetitions -1
              = deployed p v1
            > advance 10s
              error in #?: a fault of the test at 'weak'
              banned nobody: a fault of the test at 'weak'
            > advance 10s
            > advance 1m
              error in #?: a fault of the test at 'weak'
              banned nobody: a fault of the test at 'weak'
            left: timers 1, timer_due 1, timer_by_owner 1
        "#]],
    );
}

#[test]
fn a_creation_that_fails_leaves_nothing() {
    check_with(
        &[(
            "p",
            "process p
                 start s
                 job weak
                 s -> weak",
        )],
        fault(FaultPoint::Activate, "weak"),
        "deploy p
         show elements errors
         create p
         create p await=1",
        expect![[r#"
              = deployed p v1
            > create p
              error in #?: a fault of the test at 'weak'
              banned nobody: a fault of the test at 'weak'
              = rejected PROCESSING_ERROR: Expected to process the command, but the engine failed. Nothing was changed.
            > create p await=1
              error in #?: a fault of the test at 'weak'
              banned nobody: a fault of the test at 'weak'
              = rejected PROCESSING_ERROR: Expected to process the command, but the engine failed. Nothing was changed.
        "#]],
    );
}

#[test]
fn a_step_that_fails_later_is_set_aside() {
    check_with(
        &[
            (
                "p",
                "process p
                 start s
                 task one
                 task weak
                 end e
                 s -> one -> weak -> e",
            ),
            ("good", GOOD),
        ],
        Options { max_steps_per_command: 1, ..fault(FaultPoint::Activate, "weak") },
        "deploy p good
         show elements errors
         create p
         create good
         complete t
         cancel #1",
        expect![[r#"
              = deployed p v1 good v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              one activating, activated, completing, completed
              error in #1: a fault of the test at 'weak'
              banned #1: a fault of the test at 'weak'
              = created p v1
            > create good
              #2.good activating, activated
              #2.s activating, activated, completing, completed
              #2.t activating, activated
              = created good v1
            > complete t
              #2.t completing, completed
              #2.e activating, activated, completing, completed
              #2.good completing, completed
            > cancel #1
              p terminating, terminated
        "#]],
    );
}

#[test]
fn a_message_start_that_fails_from_the_buffer_is_dropped() {
    check_with(
        &[(
            "p",
            r#"process p
                 start s message=m
                 xor g
                 job t
                 job weak
                 s -> g
                 g -> weak if bad
                 g -> t default"#,
        )],
        fault(FaultPoint::Activate, "weak"),
        r#"deploy p
           show elements errors messages
           publish m a {"bad":false}
           publish m a ttl=1h {"bad":true}
           only complete t
           tick
           advance 1h"#,
        expect![[r#"
              start subscription p/s m created
              = deployed p v1
            > publish m a {"bad":false}
              message m/a published
              p activating, activated
              message m/a expired
              s activating, activated, completing, completed
              g activating, activated, completing, completed
              t activating, activated
            > publish m a ttl=1h {"bad":true}
              message m/a published
            > only complete t
              t completing, completed
              p completing, completed
            > tick
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.g activating, activated, completing, completed
              error in #2: a fault of the test at 'weak'
              banned #2: a fault of the test at 'weak'
            > advance 1h
              message m/a expired
            left: running_instances 1, instances 1, element_instances 1, variables 1, start_locks 1, banned 1, banned_steps 1
        "#]],
    );
}

#[test]
fn a_job_that_cannot_be_handed_out_does_not_block_the_queue() {
    check_with(
        &[
            (
                "p",
                "process p
                 start s
                 job weak type=t
                 s -> weak",
            ),
            ("good", GOOD),
        ],
        fault(FaultPoint::Deliver, "weak"),
        "deploy p good
         show jobs errors
         create p
         create p
         create good
         activate t
         complete t
         activate t
         cancel #1
         cancel #2",
        expect![[r#"
              = deployed p v1 good v1
            > create p
              job weak created type t retries 3
              = created p v1
            > create p
              job #2.weak created type t retries 3
              = created p v1
            > create good
              job #3.t created type t retries 3
              = created good v1
            > activate t
              error in #1: a fault of the test at 'weak'
              error in #2: a fault of the test at 'weak'
              job #3.t activated
              banned #1: a fault of the test at 'weak'
              banned #2: a fault of the test at 'weak'
              < job #3.t retries 3 deadline 600000 variables {}
            > complete t
              job #3.t completed
            > activate t
              < no job
            > cancel #1
              job weak canceled
            > cancel #2
              job #2.weak canceled
        "#]],
    );
}

#[test]
fn messages_pass_a_banned_instance_by() {
    check_with(
        &[(
            "p",
            "process p
                 start s
                 catch wait message=m key=id
                 task weak
                 s -> wait -> weak",
        )],
        fault(FaultPoint::Activate, "weak"),
        r#"deploy p
           show elements errors subscriptions
           create p {"id":"a"}
           publish m a
           publish m a
           cancel #1"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"a"}
              p activating, activated
              s activating, activated, completing, completed
              wait activating
              subscription wait/wait m/a created
              wait activated
              = created p v1
            > publish m a
              error in #1: a fault of the test at 'weak'
              banned #1: a fault of the test at 'weak'
              = rejected PROCESSING_ERROR: Expected to process the command, but the engine failed and process instance '<key>' was banned. Nothing was changed.
            > publish m a
            > cancel #1
              p terminating
              wait terminating
              subscription wait/wait m/a deleted
              wait terminated
              p terminated
        "#]],
    );
}

#[test]
fn a_banned_child_ends_with_its_parent() {
    check_with(
        &[(
            "p",
            "process p
                 start s
                 call c process=child
                 s -> c
                 process child
                 start cs
                 job t
                 task weak
                 cs -> t -> weak",
        )],
        fault(FaultPoint::Activate, "weak"),
        "deploy p
         show elements errors
         create p
         complete t
         cancel #1",
        expect![[r#"
              = deployed p v1 child v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              c activating
              #2.child activating, activated
              c activated
              #2.cs activating, activated, completing, completed
              #2.t activating, activated
              = created p v1
            > complete t
              error in #2: a fault of the test at 'weak'
              banned #2: a fault of the test at 'weak'
              = rejected PROCESSING_ERROR: Expected to process the command, but the engine failed and process instance '<key>' was banned. Nothing was changed.
            > cancel #1
              p terminating
              c terminating
              #2.child terminating
              #2.t terminating, terminated
              #2.child terminated
              c terminated
              p terminated
        "#]],
    );
}

#[test]
fn a_message_reaches_others_although_one_that_it_starts_fails() {
    check_with(
        &[
            (
                "p",
                "process p
                 start s message=m
                 task weak
                 s -> weak",
            ),
            (
                "good",
                "process good
                 start s message=m
                 job t
                 s -> t",
            ),
        ],
        fault(FaultPoint::Activate, "weak"),
        "deploy p good
         show elements errors
         publish m a
         correlate m b
         cancel #1
         cancel #2
         cancel #3
         cancel #4",
        expect![[r#"
              start subscription p/s m created
              start subscription good/s m created
              = deployed p v1 good v1
            > publish m a
              good activating, activated
              #2.p activating, activated
              s activating, activated, completing, completed
              #2.s activating, activated, completing, completed
              t activating, activated
              error in #2: a fault of the test at 'weak'
              banned #2: a fault of the test at 'weak'
            > correlate m b
              #3.good activating, activated
              #4.p activating, activated
              #3.s activating, activated, completing, completed
              #4.s activating, activated, completing, completed
              #3.t activating, activated
              error in #4: a fault of the test at 'weak'
              banned #4: a fault of the test at 'weak'
              = correlated to #3
            > cancel #1
              good terminating
              t terminating, terminated
              good terminated
            > cancel #2
              #2.p terminating, terminated
            > cancel #3
              #3.good terminating
              #3.t terminating, terminated
              #3.good terminated
            > cancel #4
              #4.p terminating, terminated
        "#]],
    );
}

#[test]
fn a_signal_reaches_others_although_one_that_it_starts_fails() {
    check_with(
        &[
            (
                "p",
                "process p
                 start s signal=alarm
                 task weak
                 s -> weak",
            ),
            (
                "good",
                "process good
                 start s
                 job t
                 throw tell signal=alarm
                 job u
                 s -> t -> tell -> u",
            ),
        ],
        fault(FaultPoint::Activate, "weak"),
        "deploy p good
         create good
         show elements errors
         broadcast alarm
         complete t
         complete u
         cancel #2
         cancel #3",
        expect![[r#"
              signal subscription p/s alarm created
              = deployed p v1 good v1
            > create good
              good activating, activated
              s activating, activated, completing, completed
              -- s_t
              t activating
              job t created type t retries 3
              t activated
              = created good v1
            > broadcast alarm
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              error in #2: a fault of the test at 'weak'
              banned #2: a fault of the test at 'weak'
            > complete t
              t completing, completed
              tell activating, activated, completing, completed
              u activating, activated
              #3.p activating, activated
              #3.s activating, activated, completing, completed
              error in #3: a fault of the test at 'weak'
              banned #3: a fault of the test at 'weak'
            > complete u
              u completing, completed
              good completing, completed
            > cancel #2
              #2.p terminating, terminated
            > cancel #3
              #3.p terminating, terminated
        "#]],
    );
}

#[test]
fn a_message_reaches_who_waits_although_one_that_it_starts_fails() {
    check_with(
        &[
            (
                "p",
                "process p
                 start s message=m
                 task weak
                 s -> weak",
            ),
            (
                "good",
                "process good
                 start s
                 catch wait message=m key=id
                 job t
                 s -> wait -> t",
            ),
        ],
        fault(FaultPoint::Activate, "weak"),
        r#"deploy p good
         create good {"id":"a"}
         show elements errors
         publish m a
         complete t
         cancel #2"#,
        expect![[r#"
              start subscription p/s m created
              = deployed p v1 good v1
            > create good {"id":"a"}
              good activating
              good.id = "a" created
              good activated
              s activating, activated, completing, completed
              -- s_wait
              wait activating
              subscription wait/wait m/a created
              wait activated
              = created good v1
            > publish m a
              #2.p activating, activated
              wait completing, completed
              #2.s activating, activated, completing, completed
              t activating, activated
              error in #2: a fault of the test at 'weak'
              banned #2: a fault of the test at 'weak'
            > complete t
              t completing, completed
              good completing, completed
            > cancel #2
              #2.p terminating, terminated
        "#]],
    );
}

#[test]
fn jobs_of_a_released_instance_are_announced() {
    let options = Options { max_children_per_step: 2, ..fault(FaultPoint::Complete, "weak") };
    let mut harness = Harness::with_options(options);
    let model = r#"process p
        start s
        and fork
        job weak
        sub inner {
          start is
          job many each="[1, 2, 3, 4, 5]"
          is -> many
        }
        s -> fork
        fork -> weak
        fork -> inner"#;
    harness.deploy(&[("p.bpmn", model)]).unwrap();
    let definition = DefinitionRef::Id { id: Name::from("p"), version: None };
    let created = harness.command(Command::CreateInstance(CreateInstance::of(definition)));
    let Some(Ok(Response::InstanceCreated(created))) = created else { panic!("{created:?}") };
    let weak = harness.activate("weak", 1).remove(0);
    let complete = CompleteJob::of(weak.key, Document::empty());
    let failed = harness.command(Command::CompleteJob(complete));
    assert!(matches!(failed, Some(Err(_))), "{failed:?}");
    let key = created.process_instance_key;
    let before = harness.history().len();
    harness.command(Command::Unban { process_instance_key: key });
    let announced = harness.history()[before..].iter().flat_map(|effects| effects.queued_types.clone());
    assert!(announced.collect::<Vec<_>>().contains(&Name::from("many")));
}
