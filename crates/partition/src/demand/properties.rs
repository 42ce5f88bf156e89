//! Streams, polls and jobs in random order: held jobs are counted, and no request waits in vain.
//!
//! A model of the queue stands in for the engine. Time is that of the model: the registry's clock is moved with it.

mod model;

use proptest::prelude::*;

use super::*;
use model::{BUFFER, CREDIT_MAX, Model, Step, request};

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let which = || any::<usize>();
    let step = prop_oneof![
        4 => (1..30_u8).prop_map(Step::Create),
        2 => (200..3000_i64).prop_map(|timeout_ms| Step::Stream { timeout_ms }),
        1 => (1..20_u32, any::<bool>()).prop_map(|(max_jobs, waits)| Step::Poll { max_jobs, waits }),
        1 => which().prop_map(Step::Close),
        2 => which().prop_map(Step::Read),
        1 => which().prop_map(Step::Drop),
        8 => which().prop_map(Step::Answer),
        2 => which().prop_map(Step::Fail),
        1 => which().prop_map(Step::Cancel),
        1 => which().prop_map(Step::Refuse),
        1 => Just(Step::Lose),
        4 => (1..1500_u64).prop_map(Step::Pass),
    ];
    proptest::collection::vec(step, 1..150)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn streams_hold_what_is_counted_and_nobody_waits_for_nothing(steps in steps()) {
        let mut model = Model::new();
        for step in &steps {
            model.step(step);
        }
        model.assert_all_served();
        model.end_all();
    }
}

#[test]
fn all_streams_of_a_partition_hold_a_bounded_number_of_jobs() {
    let options = JobOptions { max_demand_per_batch: 2, ..JobOptions::default() };
    let registry = DemandRegistry::new(options, Numbers::default());
    let mut buffers = Vec::new();
    for _ in 0..4 {
        let (sender, buffer) = mpsc::channel(BUFFER);
        registry.stream(request(1000, 0), sender).unwrap();
        buffers.push(buffer);
    }
    registry.lock().hold_all_but(40);
    // Batches are under way beside each other: each has what the others leave.
    let asked: Vec<u32> = (0..3).flat_map(|_| registry.attach()).map(|wanted| wanted.max_jobs).collect();
    assert_eq!(asked, [32, 8]);
    let (reply, _answer) = oneshot::channel();
    let poll = registry.poll(request(1000, 5), reply, false).unwrap();
    assert_eq!(registry.attach()[0].subscriber_id, poll, "polls are served beyond it");
}

#[test]
fn a_poll_is_patient_with_a_stream_that_ends_jobs_beyond_a_lowered_credit() {
    let mut model = Model::new();
    model.step(&Step::Stream { timeout_ms: 60_000 });
    model.step(&Step::Create(20));
    assert_eq!(model.with.len(), 8);
    let id = *model.workers.keys().next().unwrap();
    let lowered = Credit::new(2, CREDIT_MAX, Duration::from_secs(60));
    model.registry.lock().subscribers[&id].stream().unwrap().credit.replace(lowered);
    model.step(&Step::Poll { max_jobs: 5, waits: true });
    for held in [7, 6, 5] {
        model.step(&Step::Pass(900));
        model.step(&Step::Answer(0));
        assert_eq!((model.with.len(), model.polls.len()), (held, 1), "the stream works");
    }
    model.step(&Step::Pass(1000));
    assert_eq!((model.with.len(), model.polls.len()), (5 + 5, 0), "it has ended nothing for a second");
}
