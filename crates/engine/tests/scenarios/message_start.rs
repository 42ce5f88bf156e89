//! Message start events of processes.

use engine::Options;
use expect_test::expect;

use crate::support::{check, check_with};

const START: &str = r#"process p
    start s message=m out:seen="=x"
    job t
    end e
    s -> t -> e"#;

#[test]
fn a_message_starts_an_instance() {
    check(
        START,
        r#"show elements variables messages subscriptions
           publish m - {"x":1}
           publish m - {"x":2}
           complete t@1
           complete t@2"#,
        expect![[r#"
              start subscription p/s m created
              = deployed p v1
            > publish m - {"x":1}
              message m/ published
              start subscription p/s m correlated
              p activating, activated
              message m/ expired
              s activating, activated, completing
              s.x = 1 created
              p.seen = 1 created
              s completed
              t activating, activated
            > publish m - {"x":2}
              message m/ published
              start subscription p/s m correlated
              #2.p activating, activated
              message m/ expired
              #2.s activating, activated, completing
              #2.s.x = 2 created
              #2.p.seen = 2 created
              #2.s completed
              #2.t activating, activated
            > complete t@1
              t completing, completed
              e activating, activated, completing, completed
              p completing, completed
            > complete t@2
              #2.t completing, completed
              #2.e activating, activated, completing, completed
              #2.p completing, completed
        "#]],
    );
}

#[test]
fn one_instance_at_a_time_for_each_key() {
    check(
        START,
        r#"show elements messages variables
           publish m a {"x":1}
           publish m a {"x":2}
           publish m b {"x":3}
           publish m a ttl=1m {"x":4}
           publish m a ttl=1m {"x":5}
           complete t@1
           complete t@3
           advance 1m
           complete t@4
           complete t@2"#,
        expect![[r#"
              start subscription p/s m created
              = deployed p v1
            > publish m a {"x":1}
              message m/a published
              p activating, activated
              message m/a expired
              s activating, activated, completing
              s.x = 1 created
              p.seen = 1 created
              s completed
              t activating, activated
            > publish m a {"x":2}
              message m/a published
              message m/a expired
            > publish m b {"x":3}
              message m/b published
              #2.p activating, activated
              message m/b expired
              #2.s activating, activated, completing
              #2.s.x = 3 created
              #2.p.seen = 3 created
              #2.s completed
              #2.t activating, activated
            > publish m a ttl=1m {"x":4}
              message m/a published
            > publish m a ttl=1m {"x":5}
              message m/a published
            > complete t@1
              t completing, completed
              e activating, activated, completing, completed
              p completing, completed
              #3.p activating, activated
              #3.s activating, activated, completing
              #3.s.x = 4 created
              #3.p.seen = 4 created
              #3.s completed
              #3.t activating, activated
            > complete t@3
              #3.t completing, completed
              #3.e activating, activated, completing, completed
              #3.p completing, completed
              #4.p activating, activated
              #4.s activating, activated, completing
              #4.s.x = 5 created
              #4.p.seen = 5 created
              #4.s completed
              #4.t activating, activated
            > advance 1m
              message m/a expired
              message m/a expired
            > complete t@4
              #4.t completing, completed
              #4.e activating, activated, completing, completed
              #4.p completing, completed
            > complete t@2
              #2.t completing, completed
              #2.e activating, activated, completing, completed
              #2.p completing, completed
        "#]],
    );
}

#[test]
fn an_expired_message_starts_nothing_later() {
    check(
        START,
        r#"show elements messages
           publish m a {"x":1}
           publish m a ttl=10s {"x":2}
           advance 10s
           complete t"#,
        expect![[r#"
              start subscription p/s m created
              = deployed p v1
            > publish m a {"x":1}
              message m/a published
              p activating, activated
              message m/a expired
              s activating, activated, completing, completed
              t activating, activated
            > publish m a ttl=10s {"x":2}
              message m/a published
            > advance 10s
              message m/a expired
            > complete t
              t completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_cancelled_instance_frees_its_key() {
    check(
        START,
        r#"show elements
           publish m a {"x":1}
           publish m a ttl=1m {"x":2}
           cancel #1
           cancel #2
           advance 1m"#,
        expect![[r#"
              start subscription p/s m created
              = deployed p v1
            > publish m a {"x":1}
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
            > publish m a ttl=1m {"x":2}
            > cancel #1
              p terminating
              t terminating, terminated
              p terminated
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.t activating, activated
            > cancel #2
              #2.p terminating
              #2.t terminating, terminated
              #2.p terminated
            > advance 1m
        "#]],
    );
}

#[test]
fn the_latest_version_is_started() {
    check_with(
        &[
            ("p", START),
            (
                "p@2",
                "process p
                     start s message=m2
                     start plain
                     job t2
                     s -> t2
                     plain -> t2",
            ),
        ],
        Options::default(),
        r#"show elements subscriptions definitions
           deploy p
           deploy p@2
           publish m - {"x":1}
           publish m2 -
           create p
           delete p v=2
           publish m2 -
           publish m - {"x":1}
           complete t
           complete t2@1
           complete t2@2"#,
        expect![[r#"
            > deploy p
              process p v1 created
              start subscription p/s m created
              = deployed p v1
            > deploy p@2
              process p v2 created
              start subscription p/s m deleted
              start subscription p/s m2 created
              = deployed p v2
            > publish m - {"x":1}
            > publish m2 -
              start subscription p/s m2 correlated
              p activating, activated
              s activating, activated, completing, completed
              t2 activating, activated
            > create p
              #2.p activating, activated
              #2.plain activating, activated, completing, completed
              #2.t2 activating, activated
              = created p v2
            > delete p v=2
              resource deleting
              start subscription p/s m2 deleted
              process p v2 deleting
              start subscription p/s m created
              resource deleted
            > publish m2 -
            > publish m - {"x":1}
              start subscription p/s m correlated
              #3.p activating, activated
              #3.s activating, activated, completing, completed
              #3.t activating, activated
            > complete t
              #3.t completing, completed
              #3.e activating, activated, completing, completed
              #3.p completing, completed
            > complete t2@1
              t2 completing, completed
              p completing, completed
            > complete t2@2
              #2.t2 completing, completed
              #2.p completing, completed
              process p v2 deleted
        "#]],
    );
}

#[test]
fn a_message_starts_and_continues_different_processes() {
    check_with(
        &[
            ("p", START),
            (
                "q",
                "process q
                   start s
                   catch wait message=m key=id
                   end e
                   s -> wait -> e",
            ),
        ],
        Options::default(),
        r#"deploy p q
           show elements
           create q {"id":"a"}
           correlate m a {"x":1}
           complete t"#,
        expect![[r#"
              start subscription p/s m created
              = deployed p v1 q v1
            > create q {"id":"a"}
              q activating, activated
              s activating, activated, completing, completed
              wait activating, activated
              = created q v1
            > correlate m a {"x":1}
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              wait completing, completed
              #2.t activating, activated
              e activating, activated, completing, completed
              q completing, completed
              = correlated to #2
            > complete t
              #2.t completing, completed
              #2.e activating, activated, completing, completed
              #2.p completing, completed
        "#]],
    );
}

#[test]
fn a_process_that_also_waits_for_its_start_message_gets_it_once() {
    check(
        "process p
         start s message=m
         catch again message=m key=id
         end e
         s -> again -> e",
        r#"show elements subscriptions
           publish m - {"id":"a"}
           publish m a {"id":"b"}
           publish m a {"id":"c"}
           cancel #2
           publish m a ttl=1m {"id":"c"}
           cancel #1
           cancel #3
           cancel #4
           advance 1m"#,
        expect![[r#"
              start subscription p/s m created
              = deployed p v1
            > publish m - {"id":"a"}
              start subscription p/s m correlated
              p activating, activated
              s activating, activated, completing, completed
              again activating
              subscription again/again m/a created
              again activated
            > publish m a {"id":"b"}
              start subscription p/s m correlated
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.again activating
              subscription #2.again/again m/b created
              #2.again activated
            > publish m a {"id":"c"}
              subscription again/again m/a correlated
              again completing, completed
              e activating, activated, completing, completed
              p completing, completed
            > cancel #2
              #2.p terminating
              #2.again terminating
              subscription #2.again/again m/b deleted
              #2.again terminated
              #2.p terminated
            > publish m a ttl=1m {"id":"c"}
              start subscription p/s m correlated
              #3.p activating, activated
              #3.s activating, activated, completing, completed
              #3.again activating
              subscription #3.again/again m/c created
              #3.again activated
            > cancel #1
              = rejected NOT_FOUND: Expected to cancel a process instance with key '<key>', but no such process was found
            > cancel #3
              #3.p terminating
              #3.again terminating
              subscription #3.again/again m/c deleted
              #3.again terminated
              #3.p terminated
            > cancel #4
              = rejected NOT_FOUND: Expected to cancel a process instance with key '1', but no such process was found
            > advance 1m
        "#]],
    );
}

#[test]
fn a_correlation_key_is_taken_across_versions() {
    let starts = |task: &str| format!("process p\nstart s message=m\njob {task}\ns -> {task}");
    check_with(
        &[
            ("p", &starts("t")),
            ("p@2", &starts("u")),
            ("p@3", "process p\nstart s message=other\njob v\ns -> v"),
            ("p@4", "process p\nreceive s message=m starts\njob w\ns -> w"),
        ],
        Options::default(),
        r#"show elements messages subscriptions
           deploy p
           publish m a
           deploy p@2
           // An instance of the version before has the key: this waits and then starts one of the latest.
           publish m a ttl=1h
           publish m a
           publish m b
           deploy p@2
           complete t
           publish m a ttl=1h
           deploy p@3
           // The latest version does not wait for this message any more.
           complete u
           publish m a
           publish other a
           deploy p@4
           complete v
           delete p v=4
           publish m c
           publish other c"#,
        expect![[r#"
              start subscription p/s m created
              = deployed p v1
            > publish m a
              message m/a published
              start subscription p/s m correlated
              p activating, activated
              message m/a expired
              s activating, activated, completing, completed
              t activating, activated
            > deploy p@2
              start subscription p/s m deleted
              start subscription p/s m created
              = deployed p v2
            > publish m a ttl=1h
              message m/a published
            > publish m a
              message m/a published
              message m/a expired
            > publish m b
              message m/b published
              start subscription p/s m correlated
              #2.p activating, activated
              message m/b expired
              #2.s activating, activated, completing, completed
              #2.u activating, activated
            > deploy p@2
              = deployed p v2
            > complete t
              t completing, completed
              p completing, completed
              start subscription p/s m correlated
              #3.p activating, activated
              #3.s activating, activated, completing, completed
              #3.u activating, activated
            > publish m a ttl=1h
              message m/a published
            > deploy p@3
              start subscription p/s m deleted
              start subscription p/s other created
              = deployed p v3
            > complete u
              #3.u completing, completed
              #3.p completing, completed
            > publish m a
              message m/a published
              message m/a expired
            > publish other a
              message other/a published
              start subscription p/s other correlated
              #4.p activating, activated
              message other/a expired
              #4.s activating, activated, completing, completed
              #4.v activating, activated
            > deploy p@4
              start subscription p/s other deleted
              start subscription p/s m created
              = deployed p v4
            > complete v
              #4.v completing, completed
              #4.p completing, completed
              start subscription p/s m correlated
              #5.p activating, activated
              #5.s activating, activated, completing, completed
              #5.w activating, activated
            > delete p v=4
              start subscription p/s m deleted
              start subscription p/s other created
            > publish m c
              message m/c published
              message m/c expired
            > publish other c
              message other/c published
              start subscription p/s other correlated
              #6.p activating, activated
              message other/c expired
              #6.s activating, activated, completing, completed
              #6.v activating, activated
            left: running_instances 3, instances 3, element_instances 6, children 3, jobs 3, job_queue 3, messages 2, message_by_name 2, message_due 2, message_correlations 2, start_locks 3
        "#]],
    );
}
