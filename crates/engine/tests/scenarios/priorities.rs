//! Priorities and leases of jobs.

use expect_test::expect;
use protocol::{
    Command, CompleteJob, CreateInstance, DefinitionRef, Document, FailJob, Key, Name, RejectionType,
};

use crate::support::{Harness, check};

#[test]
fn jobs_of_a_higher_priority_are_handed_out_first() {
    check(
        r#"process p
           start s
           job a type=t priority==p
           end e
           s -> a -> e"#,
        r#"show jobs incidents
           create p {"p":-1,"n":1}
           create p {"p":0,"n":2}
           create p {"p":7,"n":3}
           create p {"p":0,"n":4}
           create p {"p":2147483647,"n":5}
           update a@1 priority=9
           activate t max=2 fetch=n
           activate t max=9 fetch=n
           fail a@3 retries=1
           update a@3 priority=0
           activate t max=9 fetch=n
           create p {"p":2147483648}
           create p"#,
        expect![[r#"
              = deployed p v1
            > create p {"p":-1,"n":1}
              job a created type t retries 3
              = created p v1
            > create p {"p":0,"n":2}
              job #2.a created type t retries 3
              = created p v1
            > create p {"p":7,"n":3}
              job #3.a created type t retries 3
              = created p v1
            > create p {"p":0,"n":4}
              job #4.a created type t retries 3
              = created p v1
            > create p {"p":2147483647,"n":5}
              job #5.a created type t retries 3
              = created p v1
            > update a@1 priority=9
              job a priority updated
            > activate t max=2 fetch=n
              job #5.a activated
              job a activated
              < job #5.a retries 3 deadline 600000 variables {"n":5}
              < job a retries 3 deadline 600000 variables {"n":1}
            > activate t max=9 fetch=n
              job #3.a activated
              job #2.a activated
              job #4.a activated
              < job #3.a retries 3 deadline 600000 variables {"n":3}
              < job #2.a retries 3 deadline 600000 variables {"n":2}
              < job #4.a retries 3 deadline 600000 variables {"n":4}
            > fail a@3 retries=1
              job #3.a failed retries 1
            > update a@3 priority=0
              job #3.a priority updated
            > activate t max=9 fetch=n
              job #3.a activated
              < job #3.a retries 1 deadline 600000 variables {"n":3}
            > create p {"p":2147483648}
              incident #6.a EXTRACT_VALUE_ERROR created: Expected a priority of a job that has 32 bits, but it is '2147483648'
              = created p v1
            > create p
              incident #7.a EXTRACT_VALUE_ERROR created: Expected result of the expression 'p' to be 'NUMBER', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'p'
              = created p v1
            left: running_instances 1, instances 7, element_instances 14, children 7, variables 11, jobs 5, job_due 5, incidents 2, incident_by_owner 2, incident_counts 4, instances_with_incidents 1
        "#]],
    );
}

/// The answer to the only job of a new instance whose activation has a token.
struct Leased {
    harness: Harness,
    key: Key,
    lease: Option<Name>,
}

impl Leased {
    fn new() -> Self {
        let mut harness = Harness::new();
        let model = "process p
            start s
            job a type=t
            end e
            s -> a -> e";
        harness.deploy(&[("p.bpmn", model)]).unwrap();
        let id = DefinitionRef::Id { id: Name::from("p"), version: None };
        harness.command(Command::CreateInstance(CreateInstance::of(id)));
        let mut leased = Self { harness, key: 0, lease: None };
        leased.activate(true);
        leased
    }

    fn activate(&mut self, with_lease: bool) {
        let mut demand = self.harness.demand("t", 1);
        demand.with_lease = with_lease;
        let job = self.harness.activate_with(demand).pop().expect("a job");
        (self.key, self.lease) = (job.key, job.lease);
        assert_eq!(self.lease.is_some(), with_lease);
    }

    fn complete(&mut self, lease: Option<Name>) -> Option<RejectionType> {
        let complete = CompleteJob {
            job_key: self.key,
            variables: Document::empty(),
            result: None,
            lease,
            business_id: None,
        };
        self.harness.command(Command::CompleteJob(complete)).expect("an answer").err().map(|error| error.kind)
    }

    fn fail(&mut self, lease: Option<Name>) {
        let fail = FailJob {
            job_key: self.key,
            retries: 1,
            retry_backoff_ms: 0,
            error_message: Name::default(),
            variables: Document::empty(),
            lease,
        };
        self.harness.command(Command::FailJob(fail)).expect("an answer").unwrap();
    }
}

#[test]
fn the_answer_to_an_earlier_activation_is_refused() {
    let mut leased = Leased::new();
    let first = leased.lease.clone();
    leased.harness.advance(700_000);
    assert_eq!(leased.complete(first.clone()), Some(RejectionType::InvalidState), "its time is over");
    leased.activate(true);
    assert_ne!(leased.lease, first);
    assert_eq!(leased.complete(first), Some(RejectionType::InvalidState), "another has it");
    let lease = leased.lease.clone();
    leased.fail(lease.clone());
    leased.activate(false);
    assert_eq!(leased.complete(lease), Some(RejectionType::InvalidState), "another has it, without a token");
    assert_eq!(leased.complete(None), None);
}

#[test]
fn the_answer_to_the_activation_is_taken() {
    let mut leased = Leased::new();
    let lease = leased.lease.clone();
    assert_eq!(leased.complete(lease), None);
}
