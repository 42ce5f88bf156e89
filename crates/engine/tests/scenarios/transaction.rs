//! Transaction sub-processes: a cancelled one is compensated and left by its cancel boundary event.

use expect_test::expect;

use crate::support::check;

const TRANSACTION: &str = "process p
    start s
    tx book {
      start ts
      and fork
      job hotel
      boundary undo_hotel on=hotel compensation=cancel_hotel
      job cancel_hotel handler
      job car
      job pay
      xor paid
      end cancelled cancel
      end failed error=E
      end done
      ts -> fork
      fork -> hotel
      fork -> car
      fork -> pay -> paid
      paid -> cancelled if how = \"cancel\"
      paid -> failed if how = \"error\"
      paid -> done default
    }
    boundary on_cancel on=book cancel
    boundary on_error on=book error=E
    boundary on_time on=book timer=PT1H
    job tell
    end e
    end f
    end g
    end late
    s -> book -> e
    on_cancel -> tell -> f
    on_error -> g
    on_time -> late";

#[test]
fn a_cancel_end_event_compensates_and_leaves_by_the_cancel_boundary_event() {
    check(
        TRANSACTION,
        r#"show elements flows timers compensations
           create p
           complete hotel
           complete pay {"how":"cancel"}
           advance 2h
           complete cancel_hotel
           complete tell"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_book
              book activating
              timer on_time created due 3600000
              book activated
              ts activating, activated, completing, completed
              -- ts_fork
              fork activating, activated, completing, completed
              -- fork_pay
              -- fork_car
              -- fork_hotel
              pay activating, activated
              car activating, activated
              hotel activating, activated
              = created p v1
            > complete hotel
              hotel completing, completed
              compensation hotel/cancel_hotel created
            > complete pay {"how":"cancel"}
              pay completing, completed
              -- pay_paid
              paid activating, activated, completing, completed
              -- paid_cancelled
              cancelled activating, activated, completing, completed
              timer on_time canceled
              car terminating, terminated
              compensation hotel/cancel_hotel triggered by book
              undo_hotel activating, activated, completing, completed
              cancel_hotel activating, activated
            > advance 2h
            > complete cancel_hotel
              cancel_hotel completing, completed
              compensation hotel/cancel_hotel completed by book
              book terminating, terminated
              on_cancel activating, activated, completing, completed
              -- on_cancel_tell
              tell activating, activated
            > complete tell
              tell completing, completed
              -- tell_f
              f activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn with_nothing_to_compensate_it_is_left_at_once() {
    check(
        TRANSACTION,
        r#"show elements compensations
           create p
           complete pay {"how":"cancel"}
           complete tell"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              book activating, activated
              ts activating, activated, completing, completed
              fork activating, activated, completing, completed
              pay activating, activated
              car activating, activated
              hotel activating, activated
              = created p v1
            > complete pay {"how":"cancel"}
              pay completing, completed
              paid activating, activated, completing, completed
              cancelled activating, activated, completing, completed
              car terminating, terminated
              hotel terminating, terminated
              book terminating, terminated
              on_cancel activating, activated, completing, completed
              tell activating, activated
            > complete tell
              tell completing, completed
              f activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn an_error_is_a_hazard_without_compensation() {
    check(
        TRANSACTION,
        r#"show elements compensations
           given create p
           complete hotel
           complete pay {"how":"error"}"#,
        expect![[r#"
              = deployed p v1
            > complete hotel
              hotel completing, completed
              compensation hotel/cancel_hotel created
            > complete pay {"how":"error"}
              pay completing, completed
              paid activating, activated, completing, completed
              failed activating, activated
              book terminating
              car terminating, terminated
              failed terminating, terminated
              book terminated
              compensation hotel/cancel_hotel deleted
              on_error activating, activated, completing, completed
              g activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_completed_transaction_can_be_compensated_like_a_sub_process() {
    check(
        "process p
         start s
         tx book {
           start ts
           job hotel
           boundary undo_hotel on=hotel compensation=cancel_hotel
           job cancel_hotel handler
           ts -> hotel
         }
         throw undo compensate
         end e
         s -> book -> undo -> e",
        "show elements compensations
         create p
         complete hotel
         complete cancel_hotel",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              book activating, activated
              ts activating, activated, completing, completed
              hotel activating, activated
              = created p v1
            > complete hotel
              hotel completing, completed
              compensation hotel/cancel_hotel created
              book completing, completed
              compensation book/- created
              undo activating, activated
              compensation book/- triggered by undo
              compensation hotel/cancel_hotel triggered by undo
              compensation book/- completed by undo
              undo_hotel activating, activated, completing, completed
              cancel_hotel activating, activated
            > complete cancel_hotel
              cancel_hotel completing, completed
              compensation hotel/cancel_hotel completed by undo
              undo completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_cancelled_instance_of_many_ends_them_all() {
    check(
        r#"process p
           start s
           tx book each="[1,2]" as=n {
             start ts
             job hotel
             boundary undo_hotel on=hotel compensation=cancel_hotel
             job cancel_hotel handler
             job pay
             end cancelled cancel
             ts -> hotel -> pay -> cancelled
           }
           boundary on_cancel on=book cancel
           end e
           end f
           s -> book -> e
           on_cancel -> f"#,
        r#"show elements compensations
           create p
           complete hotel@1
           complete hotel@2
           complete pay@1
           complete cancel_hotel"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              book* activating, activated
              book activating, activated
              book activating, activated
              ts activating, activated, completing, completed
              ts activating, activated, completing, completed
              hotel activating, activated
              hotel activating, activated
              = created p v1
            > complete hotel@1
              hotel completing, completed
              compensation hotel/cancel_hotel created
              pay activating, activated
            > complete hotel@2
              hotel completing, completed
              compensation hotel/cancel_hotel created
              pay activating, activated
            > complete pay@1
              pay completing, completed
              cancelled activating, activated, completing, completed
              compensation hotel/cancel_hotel triggered by book
              undo_hotel activating, activated, completing, completed
              cancel_hotel activating, activated
            > complete cancel_hotel
              cancel_hotel completing, completed
              compensation hotel/cancel_hotel completed by book
              book* terminating
              book terminating, terminated
              book terminating
              pay terminating, terminated
              book terminated
              compensation hotel/cancel_hotel deleted
              book* terminated
              on_cancel activating, activated, completing, completed
              f activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_process_instance_can_be_cancelled_while_its_transaction_is() {
    check(
        TRANSACTION,
        r#"show elements compensations
           given create p
           complete hotel
           complete pay {"how":"cancel"}
           cancel #1"#,
        expect![[r#"
              = deployed p v1
            > complete hotel
              hotel completing, completed
              compensation hotel/cancel_hotel created
            > complete pay {"how":"cancel"}
              pay completing, completed
              paid activating, activated, completing, completed
              cancelled activating, activated, completing, completed
              car terminating, terminated
              compensation hotel/cancel_hotel triggered by book
              undo_hotel activating, activated, completing, completed
              cancel_hotel activating, activated
            > cancel #1
              p terminating
              book terminating
              cancel_hotel terminating, terminated
              compensation hotel/cancel_hotel deleted by book
              book terminated
              p terminated
        "#]],
    );
}
