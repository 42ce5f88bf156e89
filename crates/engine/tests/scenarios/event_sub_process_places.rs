//! Event sub-processes in special scopes: ad-hoc sub-processes, transactions, scopes that only wait.

use expect_test::expect;

use crate::support::check;

const AD_HOC: &str = "process p
    start s
    adhoc pick done=finished {
      job a
      on ring {
        start bell signal=ring interrupting=HOW
        job c
        bell -> c
      }
    }
    end e
    s -> pick -> e";

#[test]
fn an_ad_hoc_sub_process_with_nothing_inside_takes_events() {
    for how in ["true", "false"] {
        let expected = if how == "true" {
            expect![[r#"
              = deployed p v1
            > create p {"finished":false}
              p activating, activated
              s activating, activated, completing, completed
              pick activating, activated
              = created p v1
            > broadcast ring
              ring activating, activated
              bell activating, activated, completing, completed
              c activating, activated
            > broadcast ring
            > complete c
              c completing, completed
              ring completing, completed
              pick completing, completed
              e activating, activated, completing, completed
              p completing, completed
            > instruct pick elements=a
              = rejected NOT_FOUND: Expected to activate activities for ad-hoc sub-process but no ad-hoc sub-process instance found with key '<key>'.
            > set #1 {"finished":true}
              = rejected NOT_FOUND: Expected to update variables for element with key '<key>', but no such element was found
            > complete a
              = rejected NOT_FOUND: Expected to complete job with key '1', but no such job was found
        "#]]
        } else {
            expect![[r#"
              = deployed p v1
            > create p {"finished":false}
              p activating, activated
              s activating, activated, completing, completed
              pick activating, activated
              = created p v1
            > broadcast ring
              ring activating, activated
              bell activating, activated, completing, completed
              c activating, activated
            > broadcast ring
              ring activating, activated
              bell activating, activated, completing, completed
              c activating, activated
            > complete c
              c completing, completed
              ring completing, completed
            > instruct pick elements=a
              pick#innerInstance activating, activated
              a activating, activated
            > set #1 {"finished":true}
            > complete a
              a completing, completed
              pick#innerInstance completing, completed
              ring terminating
              c terminating, terminated
              ring terminated
              pick completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]]
        };
        check(
            &AD_HOC.replace("HOW", how),
            "show elements signals
             create p {\"finished\":false}
             broadcast ring
             broadcast ring
             complete c
             instruct pick elements=a
             set #1 {\"finished\":true}
             complete a",
            expected,
        );
    }
}

#[test]
fn an_ad_hoc_sub_process_whose_worker_has_begun_nothing_takes_events() {
    for how in ["true", "false"] {
        let expected = if how == "true" {
            expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              pick activating
              job pick created type think retries 1 ad hoc sub process unspecified
              pick activated
              = created p v1
            > broadcast ring
              job pick canceled
              ring activating, activated
              bell activating, activated, completing, completed
              c activating
              job c created type c retries 3
              c activated
            > complete c
              job c completed
              c completing, completed
              ring completing, completed
              pick completing, completed
              e activating, activated, completing, completed
              p completing, completed
            > complete pick fulfilled=true
              = rejected NOT_FOUND: Expected to complete job with key '<key>', but no such job was found
        "#]]
        } else {
            expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              pick activating
              job pick created type think retries 1 ad hoc sub process unspecified
              pick activated
              = created p v1
            > broadcast ring
              ring activating, activated
              bell activating, activated, completing, completed
              c activating
              job c created type c retries 3
              c activated
            > complete c
              job c completed
              c completing, completed
              ring completing, completed
              job pick canceled
              job pick created type think retries 1 ad hoc sub process unspecified
            > complete pick fulfilled=true
              job pick completed
              pick completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]]
        };
        check(
            &AD_HOC.replace("HOW", how).replace("done=finished", "job=think"),
            "show elements jobs
             create p
             broadcast ring
             complete c
             complete pick fulfilled=true",
            expected,
        );
    }
}

#[test]
fn an_event_ends_what_waits_at_a_join() {
    check(
        "process p
         start s
         xor split
         and j
         end e
         s -> split
         split -> j if true
         split -> other default
         task other
         other -> j -> e
         on ring {
           start bell signal=ring
           end over
           bell -> over
         }",
        "show elements
         create p
         broadcast ring",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              split activating, activated, completing, completed
              = created p v1
            > broadcast ring
              ring activating, activated
              bell activating, activated, completing, completed
              over activating, activated, completing, completed
              ring completing, completed
              p completing, completed
        "#]],
    );
}

const TRANSACTION: &str = "process p
    start s
    tx book {
      start ts
      job hotel
      boundary undo on=hotel compensation=back
      job back handler
      job pay
      xor how
      end cancelled cancel
      end done
      ts -> hotel -> pay -> how
      how -> cancelled if gone
      how -> done default
      on ring {
        start bell signal=ring interrupting=HOW
        job c
        bell -> c
      }
      on broken {
        start bang error=E
        job repair
        bang -> repair
      }
      on raised {
        start up escalation=* interrupting=false
        job note
        up -> note
      }
    }
    boundary on_cancel on=book cancel
    boundary on_error on=book error=*
    end e
    end e2
    end e3
    s -> book -> e
    on_cancel -> e2
    on_error -> e3";

#[test]
fn an_event_sub_process_ends_a_transaction_without_cancelling_it() {
    check(
        &TRANSACTION.replace("HOW", "true"),
        "show elements compensations
         create p
         complete hotel
         broadcast ring
         complete c",
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
              compensation hotel/back created
              pay activating, activated
            > broadcast ring
              pay terminating, terminated
              ring activating, activated
              bell activating, activated, completing, completed
              c activating, activated
            > complete c
              c completing, completed
              ring completing, completed
              book completing, completed
              compensation book/- created
              e activating, activated, completing, completed
              p completing, completed
              compensation book/- deleted
              compensation hotel/back deleted
        "#]],
    );
}

#[test]
fn a_cancelled_transaction_ends_its_event_sub_processes_and_takes_no_event() {
    check(
        &TRANSACTION.replace("HOW", "false"),
        "show elements compensations
         create p {\"gone\":true}
         complete hotel
         broadcast ring
         complete pay
         broadcast ring
         complete back
         create p {\"gone\":true}
         complete hotel
         complete pay
         throw back E",
        expect![[r#"
              = deployed p v1
            > create p {"gone":true}
              p activating, activated
              s activating, activated, completing, completed
              book activating, activated
              ts activating, activated, completing, completed
              hotel activating, activated
              = created p v1
            > complete hotel
              hotel completing, completed
              compensation hotel/back created
              pay activating, activated
            > broadcast ring
              ring activating, activated
              bell activating, activated, completing, completed
              c activating, activated
            > complete pay
              pay completing, completed
              how activating, activated, completing, completed
              cancelled activating, activated, completing, completed
              ring terminating
              c terminating, terminated
              ring terminated
              compensation hotel/back triggered by book
              undo activating, activated, completing, completed
              back activating, activated
            > broadcast ring
            > complete back
              back completing, completed
              compensation hotel/back completed by book
              book terminating, terminated
              on_cancel activating, activated, completing, completed
              e2 activating, activated, completing, completed
              p completing, completed
            > create p {"gone":true}
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.book activating, activated
              #2.ts activating, activated, completing, completed
              #2.hotel activating, activated
              = created p v1
            > complete hotel
              #2.hotel completing, completed
              compensation hotel/back created
              #2.pay activating, activated
            > complete pay
              #2.pay completing, completed
              #2.how activating, activated, completing, completed
              #2.cancelled activating, activated, completing, completed
              compensation hotel/back triggered by book
              #2.undo activating, activated, completing, completed
              #2.back activating, activated
            > throw back E
              #2.book terminating
              #2.back terminating, terminated
              compensation hotel/back deleted by book
              #2.book terminated
              #2.on_error activating, activated, completing, completed
              #2.e3 activating, activated, completing, completed
              #2.p completing, completed
        "#]],
    );
}

#[test]
fn errors_inside_a_transaction_start_its_event_sub_process() {
    check(
        &TRANSACTION.replace("HOW", "false"),
        "show elements compensations
         given create p {\"gone\":true}
         complete hotel
         throw pay E
         complete repair",
        expect![[r#"
              = deployed p v1
            > complete hotel
              hotel completing, completed
              compensation hotel/back created
              pay activating, activated
            > throw pay E
              pay terminating, terminated
              broken activating, activated
              bang activating, activated, completing, completed
              repair activating, activated
            > complete repair
              repair completing, completed
              broken completing, completed
              book completing, completed
              compensation book/- created
              e activating, activated, completing, completed
              p completing, completed
              compensation book/- deleted
              compensation hotel/back deleted
        "#]],
    );
}

#[test]
fn the_last_task_of_a_scope_can_meet_its_condition() {
    for how in ["true", "false"] {
        let expected = if how == "true" {
            expect![[r#"
              = deployed p v1
            > create p
              p activating
              condition p/n y created
              p activated
              s activating, activated, completing, completed
              u activating
              condition u/m x created
              u activated
              us activating, activated, completing, completed
              t activating, activated
              = created p v1
            > complete t {"x":true}
              t completing, completed
              condition u/m x triggered
              condition u/m x deleted
              met activating, activated
              m activating, activated, completing, completed
              c activating, activated
            > complete c {"y":true}
              c completing, completed
              condition p/n y triggered
              condition p/n y deleted
              met completing, completed
              u completing, completed
              top activating, activated
              n activating, activated, completing, completed
              d activating, activated
            > complete d
              d completing, completed
              top completing, completed
              p completing, completed
        "#]]
        } else {
            expect![[r#"
              = deployed p v1
            > create p
              p activating
              condition p/n y created
              p activated
              s activating, activated, completing, completed
              u activating
              condition u/m x created
              u activated
              us activating, activated, completing, completed
              t activating, activated
              = created p v1
            > complete t {"x":true}
              t completing, completed
              condition u/m x triggered
              met activating, activated
              m activating, activated, completing, completed
              c activating, activated
            > complete c {"y":true}
              c completing, completed
              condition p/n y triggered
              met completing, completed
              top activating, activated
              u completing
              condition u/m x deleted
              u completed
              n activating, activated, completing, completed
              e activating, activated, completing, completed
              d activating, activated
            > complete d
              d completing, completed
              top completing, completed
              p completing
              condition p/n y deleted
              p completed
        "#]]
        };
        check(
            &"process p
             start s
             sub u {
               start us
               job t
               us -> t
               on met {
                 start m condition=x interrupting=HOW
                 job c
                 m -> c
               }
             }
             end e
             s -> u -> e
             on top {
               start n condition=y interrupting=HOW
               job d
               n -> d
             }"
            .replace("HOW", how),
            "show elements subscriptions
             create p
             complete t {\"x\":true}
             complete c {\"y\":true}
             complete d",
            expected,
        );
    }
}

#[test]
fn the_last_task_of_a_scope_can_meet_the_condition_of_a_boundary_event() {
    for how in ["true", "false"] {
        let expected = if how == "true" {
            expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              u activating
              condition u/b x created
              u activated
              us activating, activated, completing, completed
              t activating, activated
              = created p v1
            > complete t {"x":true}
              t completing, completed
              condition u/b x triggered
              condition u/b x deleted
              u terminating, terminated
              b activating, activated, completing, completed
              f activating, activated, completing, completed
              p completing, completed
        "#]]
        } else {
            expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              u activating
              condition u/b x created
              u activated
              us activating, activated, completing, completed
              t activating, activated
              = created p v1
            > complete t {"x":true}
              t completing, completed
              condition u/b x triggered
              u completing
              condition u/b x deleted
              u completed
              b activating, activated, completing, completed
              e activating, activated, completing, completed
              f activating, activated, completing, completed
              p completing, completed
        "#]]
        };
        check(
            &"process p
             start s
             sub u {
               start us
               job t
               us -> t
             }
             boundary b on=u condition=x interrupting=HOW
             end e
             end f
             s -> u -> e
             b -> f"
                .replace("HOW", how),
            "show elements subscriptions
             create p
             complete t {\"x\":true}",
            expected,
        );
    }
}

#[test]
fn the_end_of_a_process_waits_for_what_its_last_variable_starts() {
    check(
        "process p
         start s
         job t
         s -> t
         on met {
           start m condition=\"x > 0\" interrupting=false
           script more expr=\"x - 1\" result=x
           m -> more
         }",
        "show elements variables
         create p
         complete t {\"x\":2}",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > complete t {"x":2}
              t completing
              p.x = 2 created
              t completed
              met activating, activated
              m activating, activated, completing, completed
              more activating, activated, completing
              p.x = 1 updated
              more completed
              met completing, completed
              met activating, activated
              m activating, activated, completing, completed
              more activating, activated, completing
              p.x = 0 updated
              more completed
              met completing, completed
              p completing, completed
        "#]],
    );
}
