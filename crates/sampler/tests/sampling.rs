//! Sampling of a process that works: its functions are seen by their names, and it takes no more memory than it says.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sampler::{Format, Sampling, render};

/// How long nothing here may take, whatever else the machine does.
const PATIENCE: Duration = Duration::from_secs(60);

static IS_OVER: AtomicBool = AtomicBool::new(false);

#[inline(never)]
fn burn_without_end(mut number: u64) -> u64 {
    while !IS_OVER.load(Ordering::Relaxed) {
        for _ in 0..1000 {
            number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }
    number
}

/// Resident memory without what is mapped of files, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}

fn cpu_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_ascii_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn functions_are_seen_by_name_one_profile_at_a_time() {
    let workers: Vec<_> = (0..2)
        .map(|at| {
            let name = format!("burner-{at}");
            std::thread::Builder::new().name(name).spawn(move || burn_without_end(at)).unwrap()
        })
        .collect();
    let before = resident();
    for round in 0..3 {
        let sampling = Sampling::start(199, 1).unwrap();
        let second = Sampling::start(199, 1).unwrap_err();
        assert!(second.to_string().contains("already"), "{second}");
        // Half a second of CPU time, however long that takes.
        let (from, began) = (cpu_ticks(), Instant::now());
        while cpu_ticks() < from + 50 && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(10));
        }
        let samples = sampling.stop();
        let mut description = Vec::new();
        samples.write(&mut description).unwrap();
        drop(samples);
        let mut out = Vec::new();
        render(Path::new("/proc/self/exe"), &*description, Format::Collapsed, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let burning = text.lines().filter(|line| line.contains("sampling::burn_without_end"));
        let count: u64 =
            burning.clone().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
        assert!(count > 10, "round {round}: {text}");
        assert!(burning.clone().all(|line| line.starts_with("burner-")), "{text}");
        // Its caller is recorded, too.
        assert!(
            burning.clone().any(|line| line.contains("std::thread") || line.contains("std::sys")),
            "{text}"
        );
    }
    IS_OVER.store(true, Ordering::Relaxed);
    for worker in workers {
        worker.join().unwrap();
    }
    // Here the names are found in this process, too, so there is more than a server takes.
    assert!(resident() < before + 64 * 1024, "{before} KiB before, {} KiB now", resident());
    // One that is dropped is as good as one that was stopped.
    drop(Sampling::start(199, 1).unwrap());
    drop(Sampling::start(199, 1).unwrap().stop());
}
