//! Business IDs of messages: they narrow whom a message comes to, and name the instance that it starts.

use expect_test::expect;
use protocol::{
    BusinessIdClaim, Command, CreateInstance, DefinitionRef, Document, Intent, Name, PublishMessage, Query,
    QueryReply, RecordValue,
};

use crate::support::{Harness, check};

const WAIT: &str = "process p
    start s
    catch wait message=m key=id
    end e
    s -> wait -> e";

const START: &str = "process p
    start s message=m
    job t
    end e
    s -> t -> e";

const STARTS: &str = "process p
    start n
    start s message=m
    job t
    end e
    n -> t
    s -> t -> e";

#[test]
fn a_message_with_a_business_id_comes_to_instances_with_the_same_one() {
    check(
        WAIT,
        r#"show elements subscriptions
           create p {"id":"a"}
           create p business=x {"id":"a"}
           correlate m a business=y
           correlate m a business=x
           correlate m a business=x
           correlate m a
           create p business=y {"id":"a"}
           correlate m a"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"a"}
              p activating, activated
              s activating, activated, completing, completed
              wait activating
              subscription wait/wait m/a created
              wait activated
              = created p v1
            > create p business=x {"id":"a"}
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.wait activating
              subscription #2.wait/wait m/a created
              #2.wait activated
              = created p v1
            > correlate m a business=y
              = rejected NOT_FOUND: Expected to find subscription for message with name 'm' and correlation key 'a' and business ID 'y', but none was found.
            > correlate m a business=x
              subscription #2.wait/wait m/a correlated
              #2.wait completing, completed
              #2.e activating, activated, completing, completed
              #2.p completing, completed
              = correlated to #2
            > correlate m a business=x
              = rejected NOT_FOUND: Expected to find subscription for message with name 'm' and correlation key 'a' and business ID 'x', but none was found.
            > correlate m a
              subscription wait/wait m/a correlated
              wait completing, completed
              e activating, activated, completing, completed
              p completing, completed
              = correlated to #1
            > create p business=y {"id":"a"}
              #3.p activating, activated
              #3.s activating, activated, completing, completed
              #3.wait activating
              subscription #3.wait/wait m/a created
              #3.wait activated
              = created p v1
            > correlate m a
              subscription #3.wait/wait m/a correlated
              #3.wait completing, completed
              #3.e activating, activated, completing, completed
              #3.p completing, completed
              = correlated to #3
        "#]],
    );
}

#[test]
fn a_buffered_message_waits_for_its_business_id() {
    check(
        WAIT,
        r#"show elements messages
           publish m a ttl=1h business=x
           create p {"id":"a"}
           create p business=x {"id":"a"}
           create p business=x {"id":"a"}"#,
        expect![[r#"
              = deployed p v1
            > publish m a ttl=1h business=x
              message m/a published
            > create p {"id":"a"}
              p activating, activated
              s activating, activated, completing, completed
              wait activating, activated
              = created p v1
            > create p business=x {"id":"a"}
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.wait activating, activated, completing, completed
              #2.e activating, activated, completing, completed
              #2.p completing, completed
              = created p v1
            > create p business=x {"id":"a"}
              #3.p activating, activated
              #3.s activating, activated, completing, completed
              #3.wait activating, activated
              = created p v1
            left: running_instances 1, instances 2, element_instances 4, children 2, variables 2, messages 1, message_by_name 1, message_due 1, message_correlations 1, subscriptions 2, subscription_by_name 2, subscription_by_owner 2
        "#]],
    );
}

#[test]
fn a_later_business_id_is_not_that_of_the_subscription() {
    check(
        WAIT,
        r#"create p {"id":"a"}
           name #1 x
           correlate m a business=x
           correlate m a"#,
        expect![[r#"
              = deployed p v1
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
            > name #1 x
              p business id assigned
            > correlate m a business=x
              = rejected NOT_FOUND: Expected to find subscription for message with name 'm' and correlation key 'a' and business ID 'x', but none was found.
            > correlate m a
              message m/a published
              subscription wait/wait m/a correlated
              message m/a expired
              wait completing, completed
              -- wait_e
              e activating, activated, completing, completed
              p completing, completed
              = correlated to #1
        "#]],
    );
}

#[test]
fn a_message_gives_the_instance_that_it_starts_its_business_id() {
    let mut harness = Harness::new();
    harness.deploy(&[("p.bpmn", START)]).unwrap();
    let publish = |business_id: &str, is_unique, correlation_key: &str| {
        let business_id = Some(BusinessIdClaim { business_id: Name::from(business_id), is_unique });
        Command::PublishMessage(PublishMessage {
            name: "m".into(),
            correlation_key: Name::from(correlation_key),
            time_to_live_ms: 0,
            message_id: Name::default(),
            variables: Document::empty(),
            tenant_id: Name::default_tenant(),
            business_id,
        })
    };
    for is_unique in [false, true] {
        harness.command(publish("x", is_unique, "")).unwrap().unwrap();
        let jobs = harness.activate("t", 9);
        assert_eq!(jobs.len(), 1);
        assert_eq!(jobs[0].business_id.as_deref(), Some("x"));
        let reply = harness.read(&Query::ProcessInstance { key: jobs[0].process_instance_key }).unwrap();
        let QueryReply::ProcessInstance(instance) = reply else { panic!("an instance") };
        assert_eq!(instance.business_id.as_deref(), Some("x"));
    }
    // It is claimed now, for creations and for further messages.
    harness.command(publish("x", true, "")).unwrap().unwrap();
    assert_eq!(harness.activate("t", 9).len(), 0);
    let create = CreateInstance {
        business_id: Some("x".into()),
        unique_business_id: true,
        ..CreateInstance::of(DefinitionRef::Id { id: "p".into(), version: None })
    };
    harness.command(Command::CreateInstance(create)).unwrap().unwrap_err();
    // Records of the message, of what it reached and of the instance tell it.
    let records = &harness.apply(vec![publish("y", true, "k")], vec![]).records;
    let told = records.iter().filter_map(|record| match &record.value {
        RecordValue::Message(message) => message.business_id.clone(),
        RecordValue::MessageStartEventSubscription(started) if record.intent == Intent::Correlated => {
            started.business_id.clone()
        }
        _ => None,
    });
    assert_eq!(told.filter(|business_id| &**business_id == "y").count(), 3);
}

#[test]
fn a_message_starts_an_instance_once_its_business_id_is_free() {
    check(
        STARTS,
        r#"show elements messages
           create p unique=x
           publish m - ttl=1h unique=x
           publish m - unique=x
           publish m - ttl=1h unique=y
           publish m k ttl=1h unique=x
           correlate m - unique=x
           complete t@1
           go on
           cancel #3
           go on
           advance 2h
           complete t"#,
        expect![[r#"
              start subscription p/s m created
              = deployed p v1
            > create p unique=x
              p activating, activated
              n activating, activated, completing, completed
              t activating, activated
              = created p v1
            > publish m - ttl=1h unique=x
              message m/ published
            > publish m - unique=x
              message m/ published
              message m/ expired
            > publish m - ttl=1h unique=y
              message m/ published
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.t activating, activated
            > publish m k ttl=1h unique=x
              message m/k published
            > correlate m - unique=x
              = rejected NOT_FOUND: Expected to find subscription for message with name 'm' and correlation key '' and business ID 'x', but none was found, or an instance of its process has this business ID.
            > complete t@1
              t completing, completed
              e activating, activated, completing, completed
              p completing, completed
              #3.p activating, activated
              #3.s activating, activated, completing, completed
              #3.t activating, activated
            > go on
            > cancel #3
              #3.p terminating
              #3.t terminating, terminated
              #3.p terminated
              #4.p activating, activated
              #4.s activating, activated, completing, completed
              #4.t activating, activated
            > go on
            > advance 2h
              message m/ expired
              message m/ expired
              message m/k expired
            > complete t
              #4.t completing, completed
              #4.e activating, activated, completing, completed
              #4.p completing, completed
            left: running_instances 1, instances 1, element_instances 2, children 1, jobs 1, job_queue 1, business_ids 1
        "#]],
    );
}

#[test]
fn a_lock_and_a_claim_are_waited_for_together() {
    check(
        STARTS,
        r#"show elements messages
           publish m k unique=x
           publish m k ttl=1h unique=y
           create p unique=y
           publish m - ttl=1m unique=y
           cancel #1
           go on
           advance 5m
           cancel #2
           go on
           cancel #3"#,
        expect![[r#"
              start subscription p/s m created
              = deployed p v1
            > publish m k unique=x
              message m/k published
              p activating, activated
              message m/k expired
              s activating, activated, completing, completed
              t activating, activated
            > publish m k ttl=1h unique=y
              message m/k published
            > create p unique=y
              #2.p activating, activated
              #2.n activating, activated, completing, completed
              #2.t activating, activated
              = created p v1
            > publish m - ttl=1m unique=y
              message m/ published
            > cancel #1
              p terminating
              t terminating, terminated
              p terminated
            > go on
            > advance 5m
              message m/ expired
            > cancel #2
              #2.p terminating
              #2.t terminating, terminated
              #2.p terminated
              #3.p activating, activated
              #3.s activating, activated, completing, completed
              #3.t activating, activated
            > go on
            > cancel #3
              #3.p terminating
              #3.t terminating, terminated
              #3.p terminated
            left: messages 1, message_by_name 1, message_by_business_id 1, message_due 1, message_correlations 1
        "#]],
    );
}
