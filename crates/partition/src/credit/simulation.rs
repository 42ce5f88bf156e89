//! The law at work: `world` has workers, and here is what they must come to.

mod world;

use super::*;
use world::{SECOND, World};

#[test]
fn a_frozen_worker_is_steady_within_seconds_without_duplicates() {
    // 228 jobs per second at the most; 150 come.
    let mut world = World::new(150.0, 10);
    let worker = world.join(8, (0.02, 0.05));
    world.run(30);
    world.workers[worker].frozen_until = world.now + 15 * SECOND;
    world.run(15);
    assert!(world.timeouts <= 64, "{} timeouts", world.timeouts);
    let timeouts = world.timeouts;
    // From the first seconds on it does what it can.
    let done = world.run(10);
    assert!(done >= 2050, "{done} in ten seconds, of which it can do 2280");
    world.run(40);
    assert!(world.queue.len() <= 64, "{} wait", world.queue.len());
    assert_eq!((world.refused, world.timeouts), (0, timeouts));
}

#[test]
fn slow_jobs_are_not_piled_up_and_a_second_worker_brings_what_it_can() {
    let mut world = World::new(100.0, 10);
    let first = world.join(32, (1.0, 5.0));
    world.run(30);
    let alone = world.run(60);
    let second = world.join(32, (1.0, 5.0));
    world.run(30);
    let both = world.run(60);
    assert!(both * 10 >= alone * 18, "{alone} by one, {both} by two");
    world.run(300);
    for worker in [first, second] {
        assert!(world.workers[worker].most <= 64, "{} at a worker of 32", world.workers[worker].most);
    }
    assert!(
        world.activations * 100 <= (world.ended.len() as u64 + 96) * 102,
        "{} activations",
        world.activations
    );
}

#[test]
fn what_polls_take_at_the_beginning_is_no_reason_to_grow() {
    // All threads are taken when the stream has no credit for a second, so a poll gets as many jobs again. While
    // they are worked the stream is slow, and then it gets faster whatever its credit is.
    for seed in 0..12 {
        let mut world = World::of_seed(seed, 30.0, 10);
        world.run(1);
        let worker = world.join_with_polls(32, (1.0, 5.0));
        world.run(20);
        let done = world.run(150);
        let most = world.workers[worker].most;
        assert!(most <= 64, "seed {seed}: {most} at a worker of 32");
        assert!(done >= 150 * 10, "seed {seed}: {done} of 1600");
        assert_eq!((world.timeouts, world.refused), (0, 0), "seed {seed}");
    }
}

#[test]
fn a_worker_that_warms_up_is_not_piled_up() {
    for seed in 0..12 {
        let mut world = World::of_seed(seed, 30.0, 10);
        let worker = world.join_with_polls(12, (1.0, 5.0));
        for _ in 12..32 {
            world.run(1);
            world.workers[worker].threads += 1;
        }
        world.workers[worker].most = 0;
        let done = world.run(150);
        let most = world.workers[worker].most;
        assert!(most <= 64, "seed {seed}: {most} at a worker of 32");
        assert!(done >= 140 * 10, "seed {seed}: {done} of 1600");
    }
}

#[test]
fn a_large_worker_gets_what_it_can_do() {
    let mut world = World::new(1000.0, 60);
    let worker = world.join(200, (1.0, 3.0));
    world.run(120);
    let done = world.run(60);
    assert!(
        done >= 5400,
        "{done} of the 6000 that it can do, credit {}",
        world.workers[worker].credit.limit()
    );
    world.run(600);
    let most = world.workers[worker].most;
    assert!(most <= 400, "{most} at a worker of 200");
}

#[test]
fn a_fast_worker_is_not_held_back() {
    let mut world = World::new(100_000.0, 10);
    let worker = world.join(64, (0.003, 0.004));
    world.run(1);
    let credit = world.workers[worker].credit.limit();
    assert!(credit >= 128, "{credit} after a second");
    world.rate = 10_000.0;
    let done = world.run(2);
    assert!(done >= 30_000, "{done} of some 36,000 that it can do");
    assert!(world.workers[worker].credit.limit() <= 2000);
}

#[test]
fn a_worker_that_ends_nothing_gets_less_and_less() {
    let mut world = World::new(50.0, 5);
    let dead = world.join(0, (1.0, 1.0));
    world.run(11);
    assert_eq!(world.activations, 32 + 16, "its first credit, and half of it when its time was over twice");
    world.run(190);
    assert_eq!(world.workers[dead].credit.limit(), 1);
    assert!(world.activations <= 90, "{} activations", world.activations);
    // Nothing is lost: a worker that works gets all of it.
    let alive = world.join(32, (0.1, 0.1));
    world.rate = 0.0;
    world.run(120);
    assert!(
        world.workers[alive].done + 2 >= world.next_job,
        "{} of {}",
        world.workers[alive].done,
        world.next_job
    );
}

#[test]
fn a_worker_that_is_too_slow_for_its_credit_gets_no_more_than_it_can_do_in_time() {
    let mut world = World::new(10.0, 10);
    let worker = world.join(1, (2.0, 2.0));
    world.run(120);
    let timeouts = world.timeouts;
    world.run(300);
    assert!(world.workers[worker].credit.limit() <= 4, "{}", world.workers[worker].credit.limit());
    assert!(world.timeouts - timeouts <= 3, "{} timeouts in five minutes", world.timeouts - timeouts);
    assert!(world.workers[worker].done >= 150, "{} of 210", world.workers[worker].done);
}

#[test]
fn jobs_that_take_most_of_their_time_are_not_taken_for_waiting() {
    let mut world = World::new(100.0, 10);
    let worker = world.join(32, (7.5, 8.5));
    world.run(600);
    let credit = world.workers[worker].credit.limit();
    assert!((16..=48).contains(&credit), "{credit} at a worker of 32");
    assert!(world.workers[worker].done >= 1700, "{} of some 2400", world.workers[worker].done);
}

#[test]
fn hour_long_jobs_leave_the_credit_as_it_is() {
    let mut world = World::new(1.0, 7200);
    let worker = world.join(1000, (3600.0, 3600.0));
    world.run(4000);
    assert_eq!(world.timeouts, 0);
    assert!(world.workers[worker].credit.limit() >= 32);
}

#[test]
fn one_stuck_job_among_many_costs_no_credit() {
    let timeout = Duration::from_secs(10);
    let mut credit = Credit::new(32, 2000, timeout);
    let stuck = credit.depart(Duration::ZERO);
    for number in 1..=1000_u64 {
        let now = Duration::from_millis(number * 10);
        credit.ended(credit.depart(now), now + Duration::from_millis(100), false);
    }
    credit.timed_out(stuck, timeout);
    assert_eq!(credit.limit(), 32);
    // A flight that times out is one sign, not many.
    let flight: Vec<Departure> = (0..32).map(|_| credit.depart(timeout)).collect();
    for job in flight {
        credit.timed_out(job, timeout * 2);
    }
    assert_eq!(credit.limit(), 16);
}

#[test]
fn jobs_failed_for_want_of_room_bring_no_credit() {
    let mut credit = Credit::new(32, 2000, Duration::from_secs(10));
    let mut now = Duration::ZERO;
    for number in 0..10_000 {
        now += Duration::from_millis(1);
        let job = credit.depart(now);
        if number % 2 == 0 {
            credit.failed();
        } else {
            credit.ended(job, now + Duration::from_millis(5), true);
        }
    }
    assert_eq!(credit.limit(), 32);
}
