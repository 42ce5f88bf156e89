//! Banned instances: reads of operators, and allowed commands.

use engine::{FaultPoint, Options};
use expect_test::expect;
use protocol::{Command, CompleteJob, CreateInstance, DefinitionRef, Document, Name, Query, QueryReply};

use crate::support::{Harness, check_with};

const TASK: &str = "process p
    start s
    job t
    catch wait timer=PT10S
    job weak
    end e
    s -> t -> wait -> weak -> e";

fn fault(point: FaultPoint, element_id: &str) -> Options {
    Options { fault: Some((point, Name::from(element_id))), ..Options::default() }
}

#[test]
fn an_incident_of_a_banned_instance_waits_until_it_is_released() {
    let model = "process p
        start s
        and fork
        job t type=t
        xor x
        end e
        s -> fork
        fork -> t -> e
        fork -> x
        x -> e if missing
        end e2
        x -> e2 if missing";
    check_with(
        &[("p", model)],
        fault(FaultPoint::Complete, "t"),
        r#"deploy p
           show elements jobs errors incidents
           create p
           activate t
           complete t
           set #1 {"missing":true}
           resolve x
           unban #1
           resolve x
           cancel #1"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              fork activating, activated, completing, completed
              x activating, activated, completing
              incident x EXTRACT_VALUE_ERROR created: Expected result of the expression 'missing' to be 'BOOLEAN', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'missing'
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {}
            > complete t
              error in #1: a fault of the test at 't'
              banned #1: a fault of the test at 't'
              = rejected PROCESSING_ERROR: Expected to process the command, but the engine failed and process instance '<key>' was banned. Nothing was changed.
            > set #1 {"missing":true}
            > resolve x
              = rejected INVALID_STATE: Expected to resolve incident with key '<key>', but process instance '<key>' is banned: release or cancel it first
            > unban #1
            > resolve x
              incident x EXTRACT_VALUE_ERROR resolved
              x completed
              e2 activating, activated, completing, completed
            > cancel #1
              p terminating
              t terminating
              job t canceled
              t terminated
              p terminated
        "#]],
    );
}

#[test]
fn a_modification_that_the_engine_fails_on_bans_only_its_instance() {
    check_with(
        &[("p", TASK)],
        fault(FaultPoint::Activate, "weak"),
        r#"deploy p
           show elements errors
           create p
           create p
           modify #1 +weak"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > create p
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.t activating, activated
              = created p v1
            > modify #1 +weak
              error in #1: a fault of the test at 'weak'
              banned #1: a fault of the test at 'weak'
              = rejected PROCESSING_ERROR: Expected to process the command, but the engine failed and process instance '<key>' was banned. Nothing was changed.
            left: running_instances 1, instances 2, element_instances 4, children 2, jobs 2, job_queue 2, banned 1
        "#]],
    );
}

#[test]
fn banned_instances_are_listed_with_reason_and_time_page_by_page() {
    let mut harness = Harness::with_options(fault(FaultPoint::Complete, "t"));
    harness.deploy(&[("p.bpmn", TASK)]).unwrap();
    for _ in 0..3 {
        let create = CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None });
        harness.command(Command::CreateInstance(create)).unwrap().unwrap();
    }
    let jobs = harness.activate("t", 2);
    for (at, job) in jobs.iter().enumerate() {
        harness.advance(1000);
        let complete = CompleteJob::of(job.key, Document::empty());
        harness.command(Command::CompleteJob(complete)).unwrap().unwrap_err();
        let QueryReply::BannedInstances(all) =
            harness.read(&Query::BannedInstances { after: 0, limit: 9 }).unwrap()
        else {
            panic!("a list of banned instances");
        };
        assert_eq!(all.len(), at + 1);
        let last = all.last().unwrap();
        assert_eq!(last.key, job.process_instance_key);
        assert_eq!(last.root_process_instance_key, job.process_instance_key);
        assert_eq!((&*last.process_id, last.version), ("p", 1));
        assert_eq!(&*last.reason, "a fault of the test at 't'");
        assert_eq!(last.since_ms, harness.now_ms);
    }
    let page =
        |harness: &mut Harness, after, limit| match harness.read(&Query::BannedInstances { after, limit }) {
            Ok(QueryReply::BannedInstances(page)) => page.iter().map(|one| one.key).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
    let keys: Vec<_> = jobs.iter().map(|job| job.process_instance_key).collect();
    assert_eq!(page(&mut harness, 0, 1), keys[..1]);
    assert_eq!(page(&mut harness, keys[0], 1), keys[1..]);
    assert_eq!(page(&mut harness, keys[1], 1), [0; 0]);
    harness.command(Command::Unban { process_instance_key: keys[0] }).unwrap().unwrap();
    assert_eq!(page(&mut harness, 0, 9), keys[1..]);
}

/// Two failing branches and a waiting one, with a budget of one step.
const TWICE_WEAK: &str = "process p
    start s
    and fork
    sub inside {
        start is
        job weak type=t
        is -> weak
    }
    job weak2 type==broken()
    job wait type=t
    s -> fork
    fork -> inside
    fork -> wait
    fork -> weak2";

#[test]
fn a_cancellation_gives_up_what_the_engine_failed_on() {
    check_with(
        &[("p", TWICE_WEAK)],
        Options { max_steps_per_command: 1, ..fault(FaultPoint::Activate, "weak") },
        "deploy p
         show elements errors batches incidents
         only create p
         go on
         batch cancel id=p
         items B1",
        expect![[r#"
              = deployed p v1
            > only create p
              p activating, activated
              s activating, activated, completing, completed
              = created p v1
            > go on
              fork activating, activated, completing, completed
              weak2 activating
              incident weak2 EXTRACT_VALUE_ERROR created: Expected result of the expression 'broken()' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_FUNCTION_FOUND] No function found with name 'broken' and 0 parameters
              wait activating, activated
              inside activating, activated
              is activating, activated, completing, completed
              error in #1: a fault of the test at 'weak'
              banned #1: a fault of the test at 'weak'
            > batch cancel id=p
              B1 finds 1
              p terminating
              B1 item completed
              B1 completed
              weak2 terminating
              incident weak2 EXTRACT_VALUE_ERROR resolved
              weak2 terminated
              wait terminating, terminated
              inside terminating, terminated
              p terminated
              = B1 CANCEL_PROCESS_INSTANCE
            > items B1
              B1 COMPLETED: 1 of 1 done, 0 failed
              - #1 COMPLETED
        "#]],
    );
}

#[test]
fn a_cancelled_call_hierarchy_ends_although_the_called_instance_is_banned() {
    check_with(
        &[("outer", "process outer\nstart s\ncall c process=p\nend e\ns -> c -> e"), ("p", TWICE_WEAK)],
        Options { max_steps_per_command: 1, ..fault(FaultPoint::Activate, "weak") },
        "deploy outer
         deploy p
         show elements errors
         only create outer
         go on
         only cancel #1
         go on",
        expect![[r#"
              = deployed outer v1
            > deploy p
              = deployed p v1
            > only create outer
              outer activating, activated
              s activating, activated, completing, completed
              = created outer v1
            > go on
              c activating
              #2.p activating, activated
              c activated
              #2.s activating, activated, completing, completed
              #2.fork activating, activated, completing, completed
              #2.weak2 activating
              #2.wait activating, activated
              #2.inside activating, activated
              #2.is activating, activated, completing, completed
              error in #2: a fault of the test at 'weak'
              banned #2: a fault of the test at 'weak'
            > only cancel #1
              outer terminating
            > go on
              c terminating
              #2.p terminating
              #2.weak2 terminating, terminated
              #2.wait terminating, terminated
              #2.inside terminating, terminated
              #2.p terminated
              c terminated
              outer terminated
        "#]],
    );
}

#[test]
fn a_step_that_waits_is_not_taken_once_its_instance_is_cancelled() {
    check_with(
        &[("p", "process p\nstart s\njob weak type=t\nend e\ns -> weak -> e")],
        Options { max_steps_per_command: 1, ..fault(FaultPoint::Activate, "weak") },
        "deploy p
         show elements errors
         only create p
         only cancel #1
         go on",
        expect![[r#"
              = deployed p v1
            > only create p
              p activating, activated
              s activating, activated, completing, completed
              = created p v1
            > only cancel #1
              p terminating
            > go on
              p terminated
        "#]],
    );
}

#[test]
fn a_multi_instance_activity_that_the_engine_failed_on_can_be_cancelled() {
    check_with(
        &[("p", "process p\nstart s\njob weak type=t each=\"[1,2,3]\" as=n\nend e\ns -> weak -> e")],
        Options { max_steps_per_command: 1, max_children_per_step: 1, ..fault(FaultPoint::Activate, "weak") },
        "deploy p
         show elements errors
         only create p
         go on
         cancel #1",
        expect![[r#"
              = deployed p v1
            > only create p
              p activating, activated
              s activating, activated, completing, completed
              = created p v1
            > go on
              error in #1: a fault of the test at 'weak'
              banned #1: a fault of the test at 'weak'
            > cancel #1
              p terminating, terminated
        "#]],
    );
}

/// A sequence of elements of each kind with rows of its own.
const RICH: &str = r#"process p
    start s
    and fork
    job a type=t
    job many type=t each="[1,2,3]" as=n
    user u task:canceling=x
    sub inside {
        start is
        catch wait message=m key="1"
        is -> wait
    }
    boundary late on=a timer=PT1H
    s -> fork
    fork -> a
    fork -> many
    fork -> u
    fork -> inside"#;

#[test]
fn a_cancellation_that_the_engine_fails_on_is_done_by_the_next() {
    check_with(
        &[("p", RICH)],
        fault(FaultPoint::Terminate, "many"),
        "deploy p
         show elements errors
         create p
         cancel #1
         cancel #1",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              fork activating, activated, completing, completed
              inside activating, activated
              u activating, activated
              many* activating, activated
              a activating, activated
              is activating, activated, completing, completed
              wait activating, activated
              many activating, activated
              many activating, activated
              many activating, activated
              = created p v1
            > cancel #1
              p terminating
              inside terminating
              u terminating
              many* terminating
              a terminating, terminated
              wait terminating, terminated
              error in #1: a fault of the test at 'many'
              banned #1: a fault of the test at 'many'
            > cancel #1
              many terminating, terminated
              many terminating, terminated
              many terminating, terminated
              inside terminated
              many* terminated
              u terminated
              p terminated
        "#]],
    );
}

#[test]
fn a_cancellation_that_stopped_half_way_is_begun_again() {
    check_with(
        &[("p", RICH)],
        Options { max_steps_per_command: 1, ..fault(FaultPoint::Terminate, "inside") },
        "deploy p
         create p
         show elements jobs timers subscriptions errors
         only cancel #1
         go on
         cancel #1",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_fork
              fork activating, activated, completing, completed
              -- fork_inside
              -- fork_u
              -- fork_many
              -- fork_a
              inside activating, activated
              u activating
              task u creating
              task u created
              u activated
              many* activating, activated
              a activating
              timer late created due 3600000
              job a created type t retries 3
              a activated
              is activating, activated, completing, completed
              -- is_wait
              wait activating
              subscription wait/wait m/1 created
              wait activated
              many activating
              many.n = 1 created
              many.loopCounter = 1 created
              job many created type t retries 3
              many activated
              many activating
              many.n = 2 created
              many.loopCounter = 2 created
              job many created type t retries 3
              many activated
              many activating
              many.n = 3 created
              many.loopCounter = 3 created
              job many created type t retries 3
              many activated
              = created p v1
            > only cancel #1
              p terminating
            > go on
              inside terminating
              u terminating
              many* terminating
              a terminating
              job a canceled
              timer late canceled
              a terminated
              job u created type x retries 3 task listener canceling
              wait terminating
              subscription wait/wait m/1 deleted
              wait terminated
              many terminating
              job many canceled
              many terminated
              many terminating
              job many canceled
              many terminated
              many terminating
              job many canceled
              many terminated
              error in #1: a fault of the test at 'inside'
              banned #1: a fault of the test at 'inside'
            > cancel #1
              inside terminated
              many* terminated
              job u canceled
              u terminated
              p terminated
        "#]],
    );
}

#[test]
fn a_called_instance_that_fails_while_its_caller_ends_goes_with_the_next_cancellation() {
    let outer = r#"process outer
        start s
        call c process=p each="[1,2]"
        end e
        s -> c -> e"#;
    check_with(
        &[("outer", outer), ("p", TASK)],
        fault(FaultPoint::Terminate, "t"),
        "deploy outer
         deploy p
         show elements errors
         create outer
         cancel #1
         cancel #1",
        expect![[r#"
              = deployed outer v1
            > deploy p
              = deployed p v1
            > create outer
              outer activating, activated
              s activating, activated, completing, completed
              c* activating, activated
              c activating
              #2.p activating, activated
              c activated
              c activating
              #3.p activating, activated
              c activated
              #2.s activating, activated, completing, completed
              #3.s activating, activated, completing, completed
              #2.t activating, activated
              #3.t activating, activated
              = created outer v1
            > cancel #1
              outer terminating
              c* terminating
              c terminating
              c terminating
              #2.p terminating
              #3.p terminating
              error in #2: a fault of the test at 't'
              error in #3: a fault of the test at 't'
              banned #2: a fault of the test at 't'
              banned #3: a fault of the test at 't'
            > cancel #1
              #2.t terminating, terminated
              #2.p terminated
              #3.t terminating, terminated
              #3.p terminated
              c terminated
              c terminated
              c* terminated
              outer terminated
        "#]],
    );
}

#[test]
fn nobody_is_asked_about_the_user_task_of_a_banned_instance() {
    check_with(
        &[("p", "process p\nstart s\nand f\nuser u task:canceling=x\njob t\ns -> f\nf -> u\nf -> t")],
        fault(FaultPoint::Complete, "t"),
        "deploy p
         create p
         show elements tasks errors
         complete t
         cancel #1",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_f
              f activating, activated, completing, completed
              -- f_t
              -- f_u
              t activating
              job t created type t retries 3
              t activated
              u activating
              task u creating
              task u created
              u activated
              = created p v1
            > complete t
              error in #1: a fault of the test at 't'
              banned #1: a fault of the test at 't'
              = rejected PROCESSING_ERROR: Expected to process the command, but the engine failed and process instance '<key>' was banned. Nothing was changed.
            > cancel #1
              p terminating
              t terminating, terminated
              u terminating
              task u canceling action=cancel
              task u canceled action=cancel
              u terminated
              p terminated
        "#]],
    );
}

#[test]
fn what_compensation_has_begun_goes_with_a_banned_instance() {
    let model = "process p
        start s
        sub inner {
            start is
            job a type=t
            boundary undo_a on=a compensation=weak
            job weak type=t handler
            is -> a
        }
        throw undo compensate
        end e
        s -> inner -> undo -> e";
    check_with(
        &[("p", model)],
        Options { max_steps_per_command: 1, ..fault(FaultPoint::Activate, "weak") },
        "deploy p
         create p
         show elements compensations errors
         complete a
         cancel #1",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_inner
              inner activating, activated
              is activating, activated, completing, completed
              -- is_a
              a activating
              job a created type t retries 3
              a activated
              = created p v1
            > complete a
              a completing, completed
              compensation a/weak created
              inner completing, completed
              compensation inner/- created
              undo activating, activated
              compensation inner/- triggered by undo
              compensation a/weak triggered by undo
              compensation inner/- completed by undo
              error in #1: a fault of the test at 'weak'
              banned #1: a fault of the test at 'weak'
            > cancel #1
              p terminating
              compensation a/weak deleted by undo
              undo terminating, terminated
              p terminated
        "#]],
    );
}

#[test]
fn nothing_is_left_of_a_banned_instance_with_many_children() {
    let script = format!(
        "deploy p
         show errors
         create p
         modify #1{}
         modify #1 +weak
         cancel #1",
        " +t".repeat(100)
    );
    check_with(
        &[("p", TASK)],
        fault(FaultPoint::Activate, "weak"),
        &script,
        expect![[r#"
              = deployed p v1
            > create p
              = created p v1
            > modify #1 +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t +t
            > modify #1 +weak
              error in #1: a fault of the test at 'weak'
              banned #1: a fault of the test at 'weak'
              = rejected PROCESSING_ERROR: Expected to process the command, but the engine failed and process instance '<key>' was banned. Nothing was changed.
            > cancel #1
        "#]],
    );
}
