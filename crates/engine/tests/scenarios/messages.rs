//! Message subscriptions of instances.

use expect_test::expect;

use crate::support::check;

const WAIT: &str = "process p
    start s
    catch wait message=m key=id
    end e
    s -> wait -> e";

#[test]
fn a_message_completes_the_event_with_its_key() {
    check(
        WAIT,
        r#"show elements messages subscriptions variables
           create p {"id":"a"}
           publish m b
           publish other a
           publish m a {"x":1}
           publish m a"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"a"}
              p activating
              p.id = "a" created
              p activated
              s activating, activated, completing, completed
              wait activating
              subscription wait/wait m/a created
              wait activated
              = created p v1
            > publish m b
              message m/b published
              message m/b expired
            > publish other a
              message other/a published
              message other/a expired
            > publish m a {"x":1}
              message m/a published
              subscription wait/wait m/a correlated
              message m/a expired
              wait completing
              p.x = 1 created
              wait completed
              e activating, activated, completing, completed
              p completing, completed
            > publish m a
              message m/a published
              message m/a expired
        "#]],
    );
}

#[test]
fn a_number_is_a_key() {
    check(
        WAIT,
        r#"show messages subscriptions incidents
           create p {"id":12}
           publish m 12
           create p {"id":null}
           set #2 {"id":"x"}
           resolve wait
           publish m x"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":12}
              subscription wait/wait m/12 created
              = created p v1
            > publish m 12
              message m/12 published
              subscription wait/wait m/12 correlated
              message m/12 expired
            > create p {"id":null}
              incident #2.wait EXTRACT_VALUE_ERROR created: Failed to extract the correlation key for 'id': The value must be either a string or a number, but was 'NULL'.
              = created p v1
            > set #2 {"id":"x"}
            > resolve wait
              incident #2.wait EXTRACT_VALUE_ERROR resolved
              subscription #2.wait/wait m/x created
            > publish m x
              message m/x published
              subscription #2.wait/wait m/x correlated
              message m/x expired
        "#]],
    );
}

#[test]
fn a_buffered_message_waits_for_its_event() {
    check(
        WAIT,
        r#"show elements messages subscriptions
           publish m a ttl=10s {"n":1}
           publish m a ttl=20s {"n":2}
           create p {"id":"a"}
           advance 15s
           create p {"id":"a"}
           advance 5s"#,
        expect![[r#"
              = deployed p v1
            > publish m a ttl=10s {"n":1}
              message m/a published
            > publish m a ttl=20s {"n":2}
              message m/a published
            > create p {"id":"a"}
              p activating, activated
              s activating, activated, completing, completed
              wait activating
              subscription wait/wait m/a created
              wait activated
              subscription wait/wait m/a correlated
              wait completing, completed
              e activating, activated, completing, completed
              p completing, completed
              = created p v1
            > advance 15s
              message m/a expired
            > create p {"id":"a"}
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.wait activating
              subscription #2.wait/wait m/a created
              #2.wait activated
              subscription #2.wait/wait m/a correlated
              #2.wait completing, completed
              #2.e activating, activated, completing, completed
              #2.p completing, completed
              = created p v1
            > advance 5s
              message m/a expired
        "#]],
    );
}

#[test]
fn a_message_goes_once_to_each_process() {
    super::support::check_with(
        &[("p", WAIT), ("q", &WAIT.replace("process p", "process q"))],
        engine::Options::default(),
        r#"deploy p q
           show subscriptions
           create p {"id":"a"}
           create p {"id":"a"}
           create q {"id":"a"}
           publish m a ttl=1m
           create q {"id":"a"}
           create p {"id":"a"}
           publish m a
           publish m a
           advance 1m"#,
        expect![[r#"
              = deployed p v1 q v1
            > create p {"id":"a"}
              subscription wait/wait m/a created
              = created p v1
            > create p {"id":"a"}
              subscription #2.wait/wait m/a created
              = created p v1
            > create q {"id":"a"}
              subscription #3.wait/wait m/a created
              = created q v1
            > publish m a ttl=1m
              subscription wait/wait m/a correlated
              subscription #3.wait/wait m/a correlated
            > create q {"id":"a"}
              subscription #4.wait/wait m/a created
              = created q v1
            > create p {"id":"a"}
              subscription #5.wait/wait m/a created
              = created p v1
            > publish m a
              subscription #2.wait/wait m/a correlated
              subscription #4.wait/wait m/a correlated
            > publish m a
              subscription #5.wait/wait m/a correlated
            > advance 1m
        "#]],
    );
}

#[test]
fn a_message_id_is_taken_while_the_message_is_buffered() {
    check(
        WAIT,
        "show messages
         publish m a ttl=10s id=1
         publish m a ttl=10s id=1
         publish m a id=1
         publish m b ttl=10s id=1
         publish m a ttl=10s id=2
         advance 10s
         publish m a id=1",
        expect![[r#"
              = deployed p v1
            > publish m a ttl=10s id=1
              message m/a published
            > publish m a ttl=10s id=1
              = rejected ALREADY_EXISTS: Expected to publish a new message with id '1', but a message with that id was already published: key '<key>'
            > publish m a id=1
              = rejected ALREADY_EXISTS: Expected to publish a new message with id '1', but a message with that id was already published: key '<key>'
            > publish m b ttl=10s id=1
              message m/b published
            > publish m a ttl=10s id=2
              message m/a published
            > advance 10s
              message m/a expired
              message m/b expired
              message m/a expired
            > publish m a id=1
              message m/a published
              message m/a expired
        "#]],
    );
}

#[test]
fn correlation_tells_which_instance_got_it_or_that_none_did() {
    check(
        WAIT,
        r#"show elements messages subscriptions
           correlate m a
           create p {"id":"a"}
           correlate m a {"x":1}
           correlate m a"#,
        expect![[r#"
              = deployed p v1
            > correlate m a
              = rejected NOT_FOUND: Expected to find subscription for message with name 'm' and correlation key 'a', but none was found.
            > create p {"id":"a"}
              p activating, activated
              s activating, activated, completing, completed
              wait activating
              subscription wait/wait m/a created
              wait activated
              = created p v1
            > correlate m a {"x":1}
              message m/a published
              subscription wait/wait m/a correlated
              message m/a expired
              wait completing, completed
              e activating, activated, completing, completed
              p completing, completed
              = correlated to #1
            > correlate m a
              = rejected NOT_FOUND: Expected to find subscription for message with name 'm' and correlation key 'a', but none was found.
        "#]],
    );
}

#[test]
fn boundary_messages_interrupt_or_not() {
    check(
        r#"process p
           start s
           job t
           boundary note on=t message=note key=id interrupting=false
           boundary stop on=t message=stop key=id out:why="=reason"
           end e
           end noted
           end stopped
           s -> t -> e
           note -> noted
           stop -> stopped"#,
        r#"show elements jobs subscriptions variables
           create p {"id":"a"}
           publish note a {"n":1}
           publish note a {"n":2}
           publish stop a {"reason":"r"}
           publish note a"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"a"}
              p activating
              p.id = "a" created
              p activated
              s activating, activated, completing, completed
              t activating
              subscription t/note note/a created
              subscription t/stop stop/a created
              job t created type t retries 3
              t activated
              = created p v1
            > publish note a {"n":1}
              subscription t/note note/a correlated
              note activating, activated, completing
              note.n = 1 created
              p.n = 1 created
              note completed
              noted activating, activated, completing, completed
            > publish note a {"n":2}
              subscription t/note note/a correlated
              note activating, activated, completing
              note.n = 2 created
              p.n = 2 updated
              note completed
              noted activating, activated, completing, completed
            > publish stop a {"reason":"r"}
              subscription t/stop stop/a correlated
              subscription t/note note/a deleted
              t terminating
              job t canceled
              t terminated
              stop activating, activated, completing
              stop.reason = "r" created
              p.why = "r" created
              stop completed
              stopped activating, activated, completing, completed
              p completing, completed
            > publish note a
        "#]],
    );
}

#[test]
fn a_non_interrupting_subscription_takes_all_that_is_buffered() {
    check(
        "process p
         start s
         job t
         boundary note on=t message=note key=id interrupting=false
         end e
         end noted
         s -> t -> e
         note -> noted",
        r#"show subscriptions messages
           publish note a ttl=1m
           publish note a ttl=1m
           create p {"id":"a"}
           complete t
           advance 1m"#,
        expect![[r#"
              = deployed p v1
            > publish note a ttl=1m
              message note/a published
            > publish note a ttl=1m
              message note/a published
            > create p {"id":"a"}
              subscription t/note note/a created
              subscription t/note note/a correlated
              subscription t/note note/a correlated
              = created p v1
            > complete t
              subscription t/note note/a deleted
            > advance 1m
              message note/a expired
              message note/a expired
        "#]],
    );
}

#[test]
fn a_receive_task_waits_for_its_message() {
    check(
        r#"process p
           start s
           receive get message=m key=id out:y="=x"
           boundary late on=get timer=PT10S
           end e
           end e2
           s -> get -> e
           late -> e2"#,
        r#"show elements subscriptions variables timers
           create p {"id":"a"}
           publish m a {"x":1}
           create p {"id":"b"}
           advance 10s"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"a"}
              p activating
              p.id = "a" created
              p activated
              s activating, activated, completing, completed
              get activating
              subscription get/get m/a created
              timer late created due 10000
              get activated
              = created p v1
            > publish m a {"x":1}
              subscription get/get m/a correlated
              timer late canceled
              get completing
              get.x = 1 created
              p.y = 1 created
              get completed
              e activating, activated, completing, completed
              p completing, completed
            > create p {"id":"b"}
              #2.p activating
              #2.p.id = "b" created
              #2.p activated
              #2.s activating, activated, completing, completed
              #2.get activating
              subscription #2.get/get m/b created
              timer late created due 10000
              #2.get activated
              = created p v1
            > advance 10s
              timer late triggered
              subscription #2.get/get m/b deleted
              #2.get terminating, terminated
              #2.late activating, activated, completing, completed
              #2.e2 activating, activated, completing, completed
              #2.p completing, completed
        "#]],
    );
}

#[test]
fn the_first_event_behind_the_gateway_wins() {
    check(
        r#"process p
           start s
           events choose
           catch yes message=yes key=id out:got="=x"
           catch no message=no key=id
           catch late timer=PT10S
           end e
           s -> choose -> yes -> e
           choose -> no -> e
           choose -> late -> e"#,
        r#"create p {"id":"a"}
           publish yes a {"x":1}
           publish no a"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"a"}
              p activating
              p.id = "a" created
              p activated
              s activating, activated, completing, completed
              -- s_choose
              choose activating
              timer late created due 10000
              subscription choose/no no/a created
              subscription choose/yes yes/a created
              choose activated
              = created p v1
            > publish yes a {"x":1}
              message yes/a published
              subscription choose/yes yes/a correlated
              timer late canceled
              subscription choose/no no/a deleted
              message yes/a expired
              choose completing, completed
              -- choose_yes
              yes activating, activated, completing
              yes.x = 1 created
              p.got = 1 created
              yes completed
              -- yes_e
              e activating, activated, completing, completed
              p completing, completed
            > publish no a
              message no/a published
              message no/a expired
        "#]],
    );
}

#[test]
fn a_buffered_message_decides_the_gateway_at_once() {
    check(
        "process p
         start s
         events choose
         catch yes message=yes key=id
         catch no message=no key=id
         end e
         s -> choose -> yes -> e
         choose -> no -> e",
        r#"show elements flows messages
           publish yes a ttl=1m
           publish no a ttl=1m
           create p {"id":"a"}
           advance 1m"#,
        expect![[r#"
              = deployed p v1
            > publish yes a ttl=1m
              message yes/a published
            > publish no a ttl=1m
              message no/a published
            > create p {"id":"a"}
              p activating, activated
              s activating, activated, completing, completed
              -- s_choose
              choose activating, activated, completing, completed
              -- choose_no
              no activating, activated, completing, completed
              -- no_e
              e activating, activated, completing, completed
              p completing, completed
              = created p v1
            > advance 1m
              message yes/a expired
              message no/a expired
        "#]],
    );
}

#[test]
fn subscriptions_keep_the_key_they_were_opened_with() {
    check(
        WAIT,
        r#"show subscriptions variables
           create p {"id":"a"}
           set #1 {"id":"b"}
           publish m b
           publish m a"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"a"}
              p.id = "a" created
              subscription wait/wait m/a created
              = created p v1
            > set #1 {"id":"b"}
              p.id = "b" updated
            > publish m b
            > publish m a
              subscription wait/wait m/a correlated
        "#]],
    );
}

#[test]
fn what_an_event_takes_is_kept_at_the_event_and_a_receive_task_keeps_nothing() {
    check(
        r#"process p
           start s
           catch c message=one key=id
           receive r message=two key=id
           job t
           boundary b on=t message=three key=id out:took=="n * 2"
           end e
           s -> c -> r -> t -> e
           b -> e"#,
        r#"create p {"id": "a", "n": 0}
           publish one a {"n": 1}
           publish two a {"m": 2}
           publish three a {"n": 3}"#,
        expect![[r#"
              = deployed p v1
            > create p {"id": "a", "n": 0}
              p activating
              p.id = "a" created
              p.n = 0 created
              p activated
              s activating, activated, completing, completed
              -- s_c
              c activating
              subscription c/c one/a created
              c activated
              = created p v1
            > publish one a {"n": 1}
              message one/a published
              subscription c/c one/a correlated
              message one/a expired
              c completing
              p.n = 1 updated
              c completed
              -- c_r
              r activating
              subscription r/r two/a created
              r activated
            > publish two a {"m": 2}
              message two/a published
              subscription r/r two/a correlated
              message two/a expired
              r completing
              p.m = 2 created
              r completed
              -- r_t
              t activating
              subscription t/b three/a created
              job t created type t retries 3
              t activated
            > publish three a {"n": 3}
              message three/a published
              subscription t/b three/a correlated
              message three/a expired
              t terminating
              job t canceled
              t terminated
              b activating, activated, completing
              b.n = 3 created
              p.took = 6 created
              b completed
              -- b_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
