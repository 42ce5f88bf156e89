//! Compensation of elements with a scope: sub-processes, multi-instance activities, calls and event sub-processes.

use engine::Options;
use expect_test::expect;

use crate::support::{check, check_with};

#[test]
fn a_completed_sub_process_is_compensated_with_its_variables() {
    check(
        r#"process p
           start s
           sub inner in:local="=1" {
             start is
             job a
             boundary undo_a on=a compensation=revert_a
             job revert_a handler in:seen="=local + x"
             sub deeper in:deep="=local + 1" {
               start ds
               job b
               boundary undo_b on=b compensation=revert_b
               job revert_b handler in:seen="=deep"
               ds -> b
             }
             is -> a -> deeper
           }
           job after
           throw undo compensate
           end e
           s -> inner -> after -> undo -> e"#,
        r#"show elements jobs variables compensations
           create p {"x":10}
           complete a
           complete b
           set #1 {"x":20}
           complete after
           activate revert_a
           activate revert_b
           complete revert_a {"x":30}
           complete revert_b"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":10}
              p activating
              p.x = 10 created
              p activated
              s activating, activated, completing, completed
              inner activating
              inner.local = 1 created
              inner activated
              is activating, activated, completing, completed
              a activating
              job a created type a retries 3
              a activated
              = created p v1
            > complete a
              job a completed
              a completing, completed
              compensation a/revert_a created
              deeper activating
              deeper.deep = 2 created
              deeper activated
              ds activating, activated, completing, completed
              b activating
              job b created type b retries 3
              b activated
            > complete b
              job b completed
              b completing, completed
              compensation b/revert_b created
              deeper completing, completed
              compensation deeper/- created {"deep":2}
              inner completing, completed
              compensation inner/- created {"local":1}
              after activating
              job after created type after retries 3
              after activated
            > set #1 {"x":20}
              p.x = 20 updated
            > complete after
              job after completed
              after completing, completed
              undo activating, activated
              compensation inner/- triggered by undo {"local":1}
              compensation a/revert_a triggered by undo
              compensation deeper/- triggered by undo {"deep":2}
              compensation inner/- completed by undo {"local":1}
              undo_a activating, activated, completing, completed
              revert_a activating
              revert_a.local = 1 created
              revert_a.seen = 21 created
              job revert_a created type revert_a retries 3
              revert_a activated
              compensation b/revert_b triggered by undo
              compensation deeper/- completed by undo {"deep":2}
              undo_b activating, activated, completing, completed
              revert_b activating
              revert_b.local = 1 created
              revert_b.deep = 2 created
              revert_b.seen = 2 created
              job revert_b created type revert_b retries 3
              revert_b activated
            > activate revert_a
              job revert_a activated
              < job revert_a retries 3 deadline 600000 variables {"local":1,"seen":21,"x":20}
            > activate revert_b
              job revert_b activated
              < job revert_b retries 3 deadline 600000 variables {"deep":2,"local":1,"seen":2,"x":20}
            > complete revert_a {"x":30}
              job revert_a completed
              revert_a completing
              p.x = 30 updated
              revert_a completed
              compensation a/revert_a completed by undo
            > complete revert_b
              job revert_b completed
              revert_b completing, completed
              compensation b/revert_b completed by undo
              undo completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_sub_process_with_a_handler_of_its_own_is_compensated_by_both() {
    check(
        "process p
         start s
         sub inner {
           start is
           job a
           boundary undo_a on=a compensation=revert_a
           job revert_a handler
           is -> a
         }
         boundary undo_inner on=inner compensation=revert_inner
         job revert_inner handler
         throw undo compensate=inner
         end e
         s -> inner -> undo -> e",
        "show elements compensations
         create p
         complete a
         complete revert_inner
         complete revert_a",
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
              inner completing, completed
              compensation inner/revert_inner created
              undo activating, activated
              compensation inner/revert_inner triggered by undo
              compensation a/revert_a triggered by undo
              undo_inner activating, activated, completing, completed
              revert_inner activating, activated
              undo_a activating, activated, completing, completed
              revert_a activating, activated
            > complete revert_inner
              revert_inner completing, completed
              compensation inner/revert_inner completed by undo
            > complete revert_a
              revert_a completing, completed
              compensation a/revert_a completed by undo
              undo completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_throw_inside_a_sub_process_stays_inside() {
    check(
        "process p
         start s
         job a
         boundary undo_a on=a compensation=revert_a
         job revert_a handler
         sub inner {
           start is
           job b
           boundary undo_b on=b compensation=revert_b
           job revert_b handler
           end ie compensate
           is -> b -> ie
         }
         end e
         s -> a -> inner -> e",
        "show elements compensations
         create p
         complete a
         complete b
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
              inner activating, activated
              is activating, activated, completing, completed
              b activating, activated
            > complete b
              b completing, completed
              compensation b/revert_b created
              ie activating, activated
              compensation b/revert_b triggered by ie
              undo_b activating, activated, completing, completed
              revert_b activating, activated
            > complete revert_b
              revert_b completing, completed
              compensation b/revert_b completed by ie
              ie completing, completed
              inner completing, completed
              e activating, activated, completing, completed
              p completing, completed
              compensation a/revert_a deleted
        "#]],
    );
}

#[test]
fn a_terminated_sub_process_has_nothing_to_compensate() {
    check(
        "process p
         start s
         sub inner {
           start is
           job a
           boundary undo_a on=a compensation=revert_a
           job revert_a handler
           job b
           is -> a -> b
         }
         boundary late on=inner timer=PT10S
         throw undo compensate
         end e
         s -> inner
         late -> undo -> e",
        "show elements compensations
         given create p
         complete a
         advance 10s",
        expect![[r#"
              = deployed p v1
            > complete a
              a completing, completed
              compensation a/revert_a created
              b activating, activated
            > advance 10s
              inner terminating
              b terminating, terminated
              inner terminated
              compensation a/revert_a deleted
              late activating, activated, completing, completed
              undo activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_multi_instance_activity_is_compensated_once_when_all_is_done() {
    check(
        r#"process p
           start s
           and fork
           job a each="[1,2]" as=n
           boundary undo_a on=a compensation=revert_a
           job revert_a handler
           job b
           throw early compensate
           and join
           throw undo compensate
           end e
           s -> fork
           fork -> a -> join
           fork -> b -> early -> join
           join -> undo -> e"#,
        r#"show elements compensations
           create p
           complete a@1
           complete b
           complete a@2
           complete revert_a"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              fork activating, activated, completing, completed
              b activating, activated
              a* activating, activated
              a activating, activated
              a activating, activated
              = created p v1
            > complete a@1
              a completing, completed
            > complete b
              b completing, completed
              early activating, activated, completing, completed
            > complete a@2
              a completing, completed
              a* completing, completed
              compensation a/revert_a created
              join activating, activated, completing, completed
              undo activating, activated
              compensation a/revert_a triggered by undo
              undo_a activating, activated, completing, completed
              revert_a activating, activated
            > complete revert_a
              revert_a completing, completed
              compensation a/revert_a completed by undo
              undo completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn inner_activities_of_a_multi_instance_sub_process_are_compensated_each() {
    check(
        r#"process p
           start s
           sub many each="[1,2]" as=n {
             start is
             job a
             boundary undo_a on=a compensation=revert_a
             job revert_a handler in:item="=n"
             is -> a
           }
           throw undo compensate
           end e
           s -> many -> undo -> e"#,
        r#"show elements variables compensations
           create p
           complete a@1
           complete a@2
           complete revert_a@1
           complete revert_a@2"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              many* activating, activated
              many activating
              many.n = 1 created
              many.loopCounter = 1 created
              many activated
              many activating
              many.n = 2 created
              many.loopCounter = 2 created
              many activated
              is activating, activated, completing, completed
              is activating, activated, completing, completed
              a activating, activated
              a activating, activated
              = created p v1
            > complete a@1
              a completing, completed
              compensation a/revert_a created
              many completing, completed
              compensation many/- created {"loopCounter":1,"n":1}
            > complete a@2
              a completing, completed
              compensation a/revert_a created
              many completing, completed
              compensation many/- created {"loopCounter":2,"n":2}
              many* completing, completed
              compensation many/- created
              undo activating, activated
              compensation many/- triggered by undo
              compensation many/- triggered by undo {"loopCounter":1,"n":1}
              compensation many/- triggered by undo {"loopCounter":2,"n":2}
              compensation many/- completed by undo
              compensation a/revert_a triggered by undo
              compensation many/- completed by undo {"loopCounter":1,"n":1}
              compensation a/revert_a triggered by undo
              compensation many/- completed by undo {"loopCounter":2,"n":2}
              undo_a activating, activated, completing, completed
              revert_a activating
              revert_a.loopCounter = 1 created
              revert_a.n = 1 created
              revert_a.item = 1 created
              revert_a activated
              undo_a activating, activated, completing, completed
              revert_a activating
              revert_a.loopCounter = 2 created
              revert_a.n = 2 created
              revert_a.item = 2 created
              revert_a activated
            > complete revert_a@1
              revert_a completing, completed
              compensation a/revert_a completed by undo
            > complete revert_a@2
              revert_a completing, completed
              compensation a/revert_a completed by undo
              undo completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_call_is_compensated_by_its_handler_but_not_inside() {
    check_with(
        &[(
            "p",
            "process p
             start s
             call c process=child
             boundary undo_c on=c compensation=revert_c
             job revert_c handler
             throw undo compensate
             end e
             s -> c -> undo -> e
             process child
             start cs
             job work
             boundary undo_work on=work compensation=revert_work
             job revert_work handler
             cs -> work",
        )],
        Options::default(),
        "deploy p
         show elements compensations
         create p
         complete work
         complete revert_c",
        expect![[r#"
              = deployed p v1 child v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              c activating
              #2.child activating, activated
              c activated
              #2.cs activating, activated, completing, completed
              #2.work activating, activated
              = created p v1
            > complete work
              #2.work completing, completed
              compensation work/revert_work created
              #2.child completing, completed
              compensation work/revert_work deleted
              c completing, completed
              compensation c/revert_c created
              undo activating, activated
              compensation c/revert_c triggered by undo
              undo_c activating, activated, completing, completed
              revert_c activating, activated
            > complete revert_c
              revert_c completing, completed
              compensation c/revert_c completed by undo
              undo completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_throw_inside_an_event_sub_process_compensates_the_scope_around_it() {
    check(
        "process p
         start s
         job a
         boundary undo_a on=a compensation=revert_a
         job revert_a handler
         job b
         end e
         on stopped {
           start stop message=stop key=id
           throw undo compensate=a
           end f
           stop -> undo -> f
         }
         s -> a -> b -> e",
        r#"show elements compensations
           create p {"id":"1"}
           complete a
           publish stop 1
           complete revert_a"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"1"}
              p activating, activated
              s activating, activated, completing, completed
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
              compensation a/revert_a created
              b activating, activated
            > publish stop 1
              b terminating, terminated
              stopped activating, activated
              stop activating, activated, completing, completed
              undo activating, activated
              compensation a/revert_a triggered by undo
              undo_a activating, activated, completing, completed
              revert_a activating, activated
            > complete revert_a
              revert_a completing, completed
              compensation a/revert_a completed by undo
              undo completing, completed
              f activating, activated, completing, completed
              stopped completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_compensation_event_sub_process_takes_the_place_of_the_handlers_inside() {
    check(
        r#"process p
           start s
           sub inner in:local="=x" {
             start is
             job a
             boundary undo_a on=a compensation=revert_a
             job revert_a handler
             on undo_inner {
               start begin compensate
               job first in:seen="=local"
               end rest compensate
               begin -> first -> rest
             }
             is -> a
           }
           throw undo compensate
           end e
           s -> inner -> undo -> e"#,
        r#"show elements variables compensations
           create p {"x":1}
           set #1 {"x":2}
           complete a
           complete first
           complete revert_a
           create p {"x":1}
           complete a
           cancel #2"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":1}
              p activating
              p.x = 1 created
              p activated
              s activating, activated, completing, completed
              inner activating
              inner.local = 1 created
              inner activated
              is activating, activated, completing, completed
              a activating, activated
              = created p v1
            > set #1 {"x":2}
              p.x = 2 updated
            > complete a
              a completing, completed
              compensation a/revert_a created
              inner completing, completed
              compensation inner/undo_inner created {"local":1}
              undo activating, activated
              compensation inner/undo_inner triggered by undo {"local":1}
              undo_inner activating
              undo_inner.local = 1 created
              undo_inner activated
              begin activating, activated, completing, completed
              first activating
              first.seen = 1 created
              first activated
            > complete first
              first completing, completed
              rest activating, activated
              compensation a/revert_a triggered by rest
              undo_a activating, activated, completing, completed
              revert_a activating, activated
            > complete revert_a
              revert_a completing, completed
              compensation a/revert_a completed by rest
              rest completing, completed
              undo_inner completing, completed
              compensation inner/undo_inner completed by undo {"local":1}
              undo completing, completed
              e activating, activated, completing, completed
              p completing, completed
            > create p {"x":1}
              #2.p activating
              #2.p.x = 1 created
              #2.p activated
              #2.s activating, activated, completing, completed
              #2.inner activating
              #2.inner.local = 1 created
              #2.inner activated
              #2.is activating, activated, completing, completed
              #2.a activating, activated
              = created p v1
            > complete a
              #2.a completing, completed
              compensation a/revert_a created
              #2.inner completing, completed
              compensation inner/undo_inner created {"local":1}
              #2.undo activating, activated
              compensation inner/undo_inner triggered by undo {"local":1}
              #2.undo_inner activating
              #2.undo_inner.local = 1 created
              #2.undo_inner activated
              #2.begin activating, activated, completing, completed
              #2.first activating
              #2.first.seen = 1 created
              #2.first activated
            > cancel #2
              #2.p terminating
              #2.undo terminating, terminated
              #2.undo_inner terminating
              #2.first terminating, terminated
              #2.undo_inner terminated
              compensation a/revert_a deleted
              compensation inner/undo_inner deleted {"local":1}
              #2.p terminated
        "#]],
    );
}

#[test]
fn a_compensation_event_sub_process_alone_is_enough() {
    check(
        "process p
         start s
         sub inner {
           start is
           job a
           boundary undo_a on=a compensation=revert_a
           job revert_a handler
           on undo_inner {
             start begin compensate
             job revert
             begin -> revert
           }
           is -> a
         }
         throw undo compensate
         end e
         s -> inner -> undo -> e",
        "show elements compensations
         given create p
         complete a
         complete revert",
        expect![[r#"
              = deployed p v1
            > complete a
              a completing, completed
              compensation a/revert_a created
              inner completing, completed
              compensation inner/undo_inner created
              undo activating, activated
              compensation inner/undo_inner triggered by undo
              undo_inner activating, activated
              begin activating, activated, completing, completed
              revert activating, activated
            > complete revert
              revert completing, completed
              undo_inner completing, completed
              compensation a/revert_a deleted
              compensation inner/undo_inner completed by undo
              undo completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
