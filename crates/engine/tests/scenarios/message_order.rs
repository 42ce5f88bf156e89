//! Order of messages, and the reported receivers of a message.

use engine::Options;
use expect_test::expect;

use crate::support::{check, check_with};

#[test]
fn the_oldest_buffered_message_goes_first() {
    check(
        "process p
           start s
           catch wait message=m key=id
           end e
           s -> wait -> e",
        r#"publish m a ttl=1h {"x":1}
           publish m a ttl=1h {"x":2}
           show variables
           create p {"id":"a"}
           create p {"id":"a"}"#,
        expect![[r#"
              = deployed p v1
            > publish m a ttl=1h {"x":1}
              message m/a published
            > publish m a ttl=1h {"x":2}
              message m/a published
            > create p {"id":"a"}
              p.id = "a" created
              p.x = 1 created
              = created p v1
            > create p {"id":"a"}
              #2.p.id = "a" created
              #2.p.x = 2 created
              = created p v1
            left: messages 2, message_by_name 2, message_due 2, message_correlations 2
        "#]],
    );
}

#[test]
fn a_correlation_answers_with_the_instance_that_it_started() {
    check_with(
        &[
            ("p", "process p\n start s\n catch wait message=m key=id\n end e\n s -> wait -> e"),
            ("q", "process q\n start begin message=m\n end f\n begin -> f"),
        ],
        Options::default(),
        r#"deploy p q
           create p {"id":"a"}
           show elements
           correlate m a"#,
        expect![[r#"
              start subscription q/begin m created
              = deployed p v1 q v1
            > create p {"id":"a"}
              p activating
              p.id = "a" created
              p activated
              s activating, activated, completing, completed
              -- s_wait
              wait activating
              subscription wait/wait m/a created
              wait activated
              = created p v1
            > correlate m a
              #2.q activating, activated
              #2.begin activating, activated, completing, completed
              wait completing, completed
              #2.f activating, activated, completing, completed
              e activating, activated, completing, completed
              #2.q completing, completed
              p completing, completed
              = correlated to #2
        "#]],
    );
}

#[test]
fn fewer_than_no_retries_are_none() {
    check(
        "process p
           start s
           job t
           end e
           s -> t -> e",
        "show jobs incidents
         create p
         activate t
         fail t retries=-1",
        expect![[r#"
              = deployed p v1
            > create p
              job t created type t retries 3
              = created p v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {}
            > fail t retries=-1
              job t failed retries -1
              incident t JOB_NO_RETRIES created: No more retries left.
            left: running_instances 1, instances 1, element_instances 2, children 1, jobs 1, incidents 1, incident_by_owner 1, incident_counts 2, instances_with_incidents 1
        "#]],
    );
}
