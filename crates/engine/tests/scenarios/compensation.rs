//! Compensation: handlers undo what completed activities have done.

use engine::Options;
use expect_test::expect;

use crate::support::{check, check_with};

const BOOKING: &str = "process p
    start s
    job hotel
    boundary undo_hotel on=hotel compensation=cancel_hotel
    job cancel_hotel handler
    job car
    boundary undo_car on=car compensation=cancel_car
    job cancel_car handler
    job check
    throw undo compensate
    job after
    end e
    s -> hotel -> car -> check -> undo -> after -> e";

#[test]
fn a_throw_event_waits_for_the_handlers_of_everything_completed() {
    check(
        BOOKING,
        r#"show elements flows jobs compensations
           create p
           complete hotel
           complete car
           complete check
           complete cancel_car
           complete cancel_hotel
           complete after"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_hotel
              hotel activating
              job hotel created type hotel retries 3
              hotel activated
              = created p v1
            > complete hotel
              job hotel completed
              hotel completing, completed
              compensation hotel/cancel_hotel created
              -- hotel_car
              car activating
              job car created type car retries 3
              car activated
            > complete car
              job car completed
              car completing, completed
              compensation car/cancel_car created
              -- car_check
              check activating
              job check created type check retries 3
              check activated
            > complete check
              job check completed
              check completing, completed
              -- check_undo
              undo activating, activated
              compensation hotel/cancel_hotel triggered by undo
              compensation car/cancel_car triggered by undo
              undo_hotel activating, activated, completing, completed
              cancel_hotel activating
              job cancel_hotel created type cancel_hotel retries 3
              cancel_hotel activated
              undo_car activating, activated, completing, completed
              cancel_car activating
              job cancel_car created type cancel_car retries 3
              cancel_car activated
            > complete cancel_car
              job cancel_car completed
              cancel_car completing, completed
              compensation car/cancel_car completed by undo
            > complete cancel_hotel
              job cancel_hotel completed
              cancel_hotel completing, completed
              compensation hotel/cancel_hotel completed by undo
              undo completing, completed
              -- undo_after
              after activating
              job after created type after retries 3
              after activated
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
fn what_is_not_completed_is_not_compensated() {
    check(
        "process p
         start s
         and fork
         job a
         boundary undo_a on=a compensation=revert_a
         job revert_a handler
         job b
         boundary undo_b on=b compensation=revert_b
         job revert_b handler
         job c
         throw undo compensate
         and join
         end e
         s -> fork
         fork -> a -> join
         fork -> b -> join
         fork -> c -> undo -> join
         join -> e",
        r#"show elements compensations
           create p
           complete a
           complete c
           complete revert_a
           complete b"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              fork activating, activated, completing, completed
              c activating, activated
              b activating, activated
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
              compensation a/revert_a created
            > complete c
              c completing, completed
              undo activating, activated
              compensation a/revert_a triggered by undo
              undo_a activating, activated, completing, completed
              revert_a activating, activated
            > complete revert_a
              revert_a completing, completed
              compensation a/revert_a completed by undo
              undo completing, completed
            > complete b
              b completing, completed
              compensation b/revert_b created
              join activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing, completed
              compensation b/revert_b deleted
        "#]],
    );
}

#[test]
fn nothing_to_compensate_is_passed_at_once() {
    check(
        "process p
         start s
         throw undo compensate
         end e compensate
         s -> undo -> e",
        "show elements compensations
         create p",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              undo activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing, completed
              = created p v1
        "#]],
    );
}

#[test]
fn an_end_event_compensates_and_then_ends() {
    check(
        "process p
         start s
         job a
         boundary undo_a on=a compensation=revert_a
         job revert_a handler
         end e compensate
         s -> a -> e",
        "show elements compensations
         create p
         complete a
         complete revert_a",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
              compensation a/revert_a created
              e activating, activated
              compensation a/revert_a triggered by e
              undo_a activating, activated, completing, completed
              revert_a activating, activated
            > complete revert_a
              revert_a completing, completed
              compensation a/revert_a completed by e
              e completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn one_activity_may_be_named() {
    check(
        "process p
         start s
         job a
         boundary undo_a on=a compensation=revert_a
         job revert_a handler
         job b
         boundary undo_b on=b compensation=revert_b
         job revert_b handler
         throw undo compensate=a
         throw rest compensate
         end e
         s -> a -> b -> undo -> rest -> e",
        "show elements compensations
         create p
         complete a
         complete b
         complete revert_a
         complete revert_b",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
              compensation a/revert_a created
              b activating, activated
            > complete b
              b completing, completed
              compensation b/revert_b created
              undo activating, activated
              compensation a/revert_a triggered by undo
              undo_a activating, activated, completing, completed
              revert_a activating, activated
            > complete revert_a
              revert_a completing, completed
              compensation a/revert_a completed by undo
              undo completing, completed
              rest activating, activated
              compensation b/revert_b triggered by rest
              undo_b activating, activated, completing, completed
              revert_b activating, activated
            > complete revert_b
              revert_b completing, completed
              compensation b/revert_b completed by rest
              rest completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn an_activity_that_ran_three_times_is_compensated_three_times() {
    check_with(
        &[(
            "p",
            "process p
             start s
             xor again
             job a
             boundary undo_a on=a compensation=revert_a
             job revert_a handler
             xor more
             throw undo compensate
             end e
             s -> again -> a -> more
             more -> again if n < 3
             more -> undo default
             undo -> e",
        )],
        Options { max_children_per_step: 2, ..Options::default() },
        r#"deploy p
           show elements compensations
           create p
           complete a {"n":1}
           complete a {"n":2}
           complete a {"n":3}
           complete revert_a@2
           complete revert_a@1
           complete revert_a@3"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              again activating, activated, completing, completed
              a activating, activated
              = created p v1
            > complete a {"n":1}
              a completing, completed
              compensation a/revert_a created
              more activating, activated, completing, completed
              again activating, activated, completing, completed
              a activating, activated
            > complete a {"n":2}
              a completing, completed
              compensation a/revert_a created
              more activating, activated, completing, completed
              again activating, activated, completing, completed
              a activating, activated
            > complete a {"n":3}
              a completing, completed
              compensation a/revert_a created
              more activating, activated, completing, completed
              undo activating, activated
              compensation a/revert_a triggered by undo
              compensation a/revert_a triggered by undo
              undo_a activating, activated, completing, completed
              revert_a activating, activated
              undo_a activating, activated, completing, completed
              revert_a activating, activated
              compensation a/revert_a triggered by undo
              undo_a activating, activated, completing, completed
              revert_a activating, activated
            > complete revert_a@2
              revert_a completing, completed
              compensation a/revert_a completed by undo
            > complete revert_a@1
              revert_a completing, completed
              compensation a/revert_a completed by undo
            > complete revert_a@3
              revert_a completing, completed
              compensation a/revert_a completed by undo
              undo completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_handler_is_an_activity_like_any_other() {
    check(
        r#"process p
           start s
           job a
           boundary undo_a on=a compensation=revert_a
           job revert_a handler in:amount="=price * 2" out:refunded="=result"
           boundary failed on=revert_a error=E
           job explain
           throw undo compensate
           end e
           end f
           s -> a -> undo -> e
           failed -> explain -> f"#,
        r#"show elements jobs variables incidents compensations
           create p {"price":2}
           complete a {"price":3}
           activate revert_a
           fail revert_a retries=0
           update revert_a retries=1
           resolve revert_a
           complete revert_a {"result":6}
           create p {"price":2}
           complete a
           throw revert_a E
           complete explain"#,
        expect![[r#"
              = deployed p v1
            > create p {"price":2}
              p activating
              p.price = 2 created
              p activated
              s activating, activated, completing, completed
              a activating
              job a created type a retries 3
              a activated
              = created p v1
            > complete a {"price":3}
              job a completed
              a completing
              p.price = 3 updated
              a completed
              compensation a/revert_a created
              undo activating, activated
              compensation a/revert_a triggered by undo
              undo_a activating, activated, completing, completed
              revert_a activating
              revert_a.amount = 6 created
              job revert_a created type revert_a retries 3
              revert_a activated
            > activate revert_a
              job revert_a activated
              < job revert_a retries 3 deadline 600000 variables {"amount":6,"price":3}
            > fail revert_a retries=0
              job revert_a failed retries 0
              incident revert_a JOB_NO_RETRIES created: No more retries left.
            > update revert_a retries=1
              job revert_a retries updated retries 1
            > resolve revert_a
              incident revert_a JOB_NO_RETRIES resolved
            > complete revert_a {"result":6}
              job revert_a completed
              revert_a completing
              revert_a.result = 6 created
              p.refunded = 6 created
              revert_a completed
              compensation a/revert_a completed by undo
              undo completing, completed
              e activating, activated, completing, completed
              p completing, completed
            > create p {"price":2}
              #2.p activating
              #2.p.price = 2 created
              #2.p activated
              #2.s activating, activated, completing, completed
              #2.a activating
              job #2.a created type a retries 3
              #2.a activated
              = created p v1
            > complete a
              job #2.a completed
              #2.a completing, completed
              compensation a/revert_a created
              #2.undo activating, activated
              compensation a/revert_a triggered by undo
              #2.undo_a activating, activated, completing, completed
              #2.revert_a activating
              #2.revert_a.amount = 4 created
              job #2.revert_a created type revert_a retries 3
              #2.revert_a activated
            > throw revert_a E
              job #2.revert_a error thrown
              #2.revert_a terminating, terminated
              compensation a/revert_a deleted by undo
              #2.undo completing, completed
              #2.failed activating, activated, completing, completed
              #2.e activating, activated, completing, completed
              #2.explain activating
              job #2.explain created type explain retries 3
              #2.explain activated
            > complete explain
              job #2.explain completed
              #2.explain completing, completed
              #2.f activating, activated, completing, completed
              #2.p completing, completed
        "#]],
    );
}

#[test]
fn handlers_may_be_sub_processes_and_calls() {
    check_with(
        &[(
            "p",
            "process p
             start s
             job a
             boundary undo_a on=a compensation=revert_a
             sub revert_a handler {
               start rs
               job step
               boundary undo_step on=step compensation=never
               job never handler
               rs -> step
             }
             job b
             boundary undo_b on=b compensation=revert_b
             call revert_b process=child handler
             throw undo compensate
             throw again compensate
             end e
             s -> a -> b -> undo -> again -> e
             process child
             start cs
             job work
             cs -> work",
        )],
        Options::default(),
        "deploy p
         show elements compensations
         create p
         complete a
         complete b
         complete step
         complete work",
        expect![[r#"
              = deployed p v1 child v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
              compensation a/revert_a created
              b activating, activated
            > complete b
              b completing, completed
              compensation b/revert_b created
              undo activating, activated
              compensation a/revert_a triggered by undo
              compensation b/revert_b triggered by undo
              undo_a activating, activated, completing, completed
              revert_a activating, activated
              undo_b activating, activated, completing, completed
              revert_b activating
              #2.child activating, activated
              revert_b activated
              rs activating, activated, completing, completed
              #2.cs activating, activated, completing, completed
              step activating, activated
              #2.work activating, activated
            > complete step
              step completing, completed
              compensation step/never created
              revert_a completing, completed
              compensation step/never deleted
              compensation a/revert_a completed by undo
            > complete work
              #2.work completing, completed
              #2.child completing, completed
              revert_b completing, completed
              compensation b/revert_b completed by undo
              undo completing, completed
              again activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_multi_instance_handler_runs_for_each_item() {
    check(
        r#"process p
           start s
           job a
           boundary undo_a on=a compensation=revert_a
           job revert_a handler each="[1,2]" as=n
           throw undo compensate
           end e
           s -> a -> undo -> e"#,
        r#"show elements compensations
           create p
           complete a
           complete revert_a@1
           complete revert_a@2"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
              compensation a/revert_a created
              undo activating, activated
              compensation a/revert_a triggered by undo
              undo_a activating, activated, completing, completed
              revert_a* activating, activated
              revert_a activating, activated
              revert_a activating, activated
            > complete revert_a@1
              revert_a completing, completed
            > complete revert_a@2
              revert_a completing, completed
              revert_a* completing, completed
              compensation a/revert_a completed by undo
              undo completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn cancellation_takes_handlers_and_what_could_be_compensated_along() {
    check(
        BOOKING,
        "show elements compensations
         create p
         complete hotel
         cancel #1
         create p
         complete hotel
         complete car
         complete check
         complete cancel_car
         cancel #2",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              hotel activating, activated
              = created p v1
            > complete hotel
              hotel completing, completed
              compensation hotel/cancel_hotel created
              car activating, activated
            > cancel #1
              p terminating
              car terminating, terminated
              p terminated
              compensation hotel/cancel_hotel deleted
            > create p
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.hotel activating, activated
              = created p v1
            > complete hotel
              #2.hotel completing, completed
              compensation hotel/cancel_hotel created
              #2.car activating, activated
            > complete car
              #2.car completing, completed
              compensation car/cancel_car created
              #2.check activating, activated
            > complete check
              #2.check completing, completed
              #2.undo activating, activated
              compensation hotel/cancel_hotel triggered by undo
              compensation car/cancel_car triggered by undo
              #2.undo_hotel activating, activated, completing, completed
              #2.cancel_hotel activating, activated
              #2.undo_car activating, activated, completing, completed
              #2.cancel_car activating, activated
            > complete cancel_car
              #2.cancel_car completing, completed
              compensation car/cancel_car completed by undo
            > cancel #2
              #2.p terminating
              #2.undo terminating, terminated
              #2.cancel_hotel terminating, terminated
              compensation hotel/cancel_hotel deleted
              #2.p terminated
        "#]],
    );
}

#[test]
fn what_is_left_to_compensate_goes_with_the_instance() {
    check_with(
        &[(
            "p",
            r#"process p
               start s
               sub inner each="[1,2,3]" as=n {
                 start is
                 task a
                 boundary undo_a on=a compensation=revert_a
                 job revert_a handler
                 is -> a
               }
               end e
               s -> inner -> e"#,
        )],
        Options { max_children_per_step: 2, max_steps_per_command: 1, ..Options::default() },
        "deploy p
         show compensations
         create p",
        expect![[r#"
              = deployed p v1
            > create p
              compensation a/revert_a created
              compensation a/revert_a created
              compensation inner/- created {"loopCounter":1,"n":1}
              compensation inner/- created {"loopCounter":2,"n":2}
              compensation a/revert_a created
              compensation inner/- created {"loopCounter":3,"n":3}
              compensation inner/- created
              compensation inner/- deleted
              compensation inner/- deleted {"loopCounter":1,"n":1}
              compensation inner/- deleted {"loopCounter":2,"n":2}
              compensation a/revert_a deleted
              compensation a/revert_a deleted
              compensation inner/- deleted {"loopCounter":3,"n":3}
              compensation a/revert_a deleted
              = created p v1
        "#]],
    );
}

#[test]
fn an_error_in_a_handler_is_caught_around_it() {
    check(
        "process p
         start s
         sub inner {
           start is
           job a
           boundary undo_a on=a compensation=revert_a
           job revert_a handler
           end ie compensate
           is -> a -> ie
         }
         boundary failed on=inner error=*
         end f
         end e
         s -> inner -> e
         failed -> f",
        "show elements compensations
         create p
         complete a
         throw revert_a E",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              inner activating, activated
              is activating, activated, completing, completed
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
              compensation a/revert_a created
              ie activating, activated
              compensation a/revert_a triggered by ie
              undo_a activating, activated, completing, completed
              revert_a activating, activated
            > throw revert_a E
              inner terminating
              ie terminating, terminated
              revert_a terminating, terminated
              compensation a/revert_a deleted
              inner terminated
              failed activating, activated, completing, completed
              f activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
