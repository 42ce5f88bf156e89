//! How large the experiments are: as published, or scaled down in time.

use std::time::Duration;

/// All times of an experiment have the same ratios in both sizes: the window holds as many seconds of work, counted
/// in job timeouts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) timeout: Duration,
    pub(crate) threads: usize,
    /// Length of a job.
    pub(crate) work: Duration,
    pub(crate) window_bytes: u32,
    /// Instances a second for a worker that is frozen: two thirds of what it can do.
    pub(crate) per_second: u32,
    pub(crate) freeze: Duration,
    /// Load before the freeze and after it.
    pub(crate) before: Duration,
    pub(crate) after: Duration,
    /// Bound of the time until the worker is steady again.
    pub(crate) steady_max: Duration,
    /// Shortest and longest of the long jobs, the capacity of a worker of them, and instances a second.
    pub(crate) long_work: (Duration, Duration),
    pub(crate) long_timeout: Duration,
    pub(crate) long_capacity: usize,
    pub(crate) long_per_second: u32,
    /// How long each number of workers is measured, and how long after the second has come.
    pub(crate) phase: Duration,
    pub(crate) settle: Duration,
    /// Goodput of two workers by that of one.
    pub(crate) second_gain_min: f64,
    /// Outstanding jobs by capacity.
    pub(crate) outstanding_max: f64,
    /// How long polls are counted beside a stream.
    pub(crate) beside: Duration,
    /// Jobs for a worker that finishes none.
    pub(crate) held: u32,
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// As published.
pub(crate) const FULL: Size = Size {
    timeout: millis(10_000),
    threads: 32,
    work: millis(140),
    window_bytes: 1024 * 1024,
    per_second: 150,
    freeze: millis(15_000),
    before: millis(20_000),
    after: millis(90_000),
    steady_max: millis(20_000),
    long_work: (millis(1_000), millis(5_000)),
    long_timeout: millis(10_000),
    long_capacity: 32,
    long_per_second: 30,
    phase: millis(60_000),
    settle: millis(10_000),
    second_gain_min: 1.8,
    outstanding_max: 2.0,
    beside: millis(60_000),
    held: 3_512,
};

/// A fifth of the time, for a busy machine and a program with debug assertions.
pub(crate) const SHORT: Size = Size {
    timeout: millis(2_000),
    threads: 12,
    work: millis(130),
    window_bytes: 208 * 1024,
    per_second: 60,
    freeze: millis(3_000),
    before: millis(3_000),
    after: millis(15_000),
    steady_max: millis(6_000),
    long_work: (millis(400), millis(2_000)),
    long_timeout: millis(4_000),
    long_capacity: 32,
    long_per_second: 75,
    phase: millis(8_000),
    settle: millis(2_000),
    second_gain_min: 1.5,
    outstanding_max: 2.0,
    beside: millis(10_000),
    held: 800,
};

/// For the Java client, whose window cannot be set and whose start takes a busy machine seconds.
pub(crate) const JAVA: Size = Size {
    timeout: millis(4_000),
    threads: 8,
    work: millis(130),
    window_bytes: 1024 * 1024,
    per_second: 40,
    freeze: millis(6_000),
    before: millis(3_000),
    after: millis(24_000),
    steady_max: millis(12_000),
    phase: millis(10_000),
    settle: millis(4_000),
    ..SHORT
};
