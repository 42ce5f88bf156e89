//! `baton lab` as a user meets it: bad input, interrupts, and what is left behind.
#![cfg(feature = "lab")]
#![allow(clippy::unwrap_used)]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

const PATIENCE: Duration = Duration::from_secs(60);

fn lab(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    command.arg("lab").args(arguments).stdin(Stdio::null());
    command.env_remove("LAB_JAVA_WORKER");
    command
}

fn run(arguments: &[&str]) -> Output {
    lab(arguments).output().unwrap()
}

#[track_caller]
fn cannot_run(output: &Output, reason: &str) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    let lines: Vec<&str> = error.lines().filter(|line| line.starts_with("error: ")).collect();
    assert!(lines.len() == 1 && lines[0].contains(reason), "{error}");
}

#[test]
fn the_list_has_rows_that_run_and_rows_that_do_not() {
    let output = run(&["list"]);
    let list = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success());
    for id in ["E1 ", "E12", "E22", "L4"] {
        assert!(list.lines().any(|line| line.starts_with(id)), "{id}: {list}");
    }
    assert!(list.lines().any(|line| line.starts_with("E16") && line.contains("not run")), "{list}");
}

#[test]
fn bad_input_is_one_clear_line() {
    let out = tempfile::tempdir().unwrap();
    let place = out.path().to_str().unwrap();
    cannot_run(&run(&["run", "E99", "--out", place]), "there is no experiment 'E99'");
    cannot_run(&run(&["run", "E1", "--worker", "java", "--out", place]), "LAB_JAVA_WORKER is not set");
    let no_java = lab(&["run", "E4", "--worker", "java", "--out", place])
        .env("LAB_JAVA_WORKER", "/nowhere/java -cp x Worker")
        .output()
        .unwrap();
    cannot_run(&no_java, "a JDK is needed");
    let schedule = out.path().join("day");
    std::fs::write(&schedule, "10/s for a while\n").unwrap();
    let day = run(&["run", "L4", "--day", schedule.to_str().unwrap(), "--out", place]);
    cannot_run(&day, "'10/s for a while'");
    cannot_run(&run(&["report", "/nowhere/at/all"]), "cannot read /nowhere/at/all/lab.json");
    cannot_run(&run(&["run", "E1", "--quick", "--program", "/bin/false", "--out", place]), "does not start");
    cannot_run(&run(&["run", "E1", "--quick", "--out", "/proc/nowhere"]), "/proc/nowhere");
    let set = run(&["run", "E1", "--quick", "--set", "no.such.key=1", "--out", place]);
    cannot_run(&set, "no.such.key");
}

/// Variable by which the processes of a run are known: all inherit it.
const MARK: &str = "LAB_OF_THIS_TEST";

/// Processes of this run.
fn left(place: &Path) -> usize {
    let mark = format!("{MARK}={}", place.display());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let all = processes.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok());
    all.filter(|variables| variables.split(|byte| *byte == 0).any(|one| one == mark.as_bytes())).count()
}

/// Starts a row and waits for a phase of it.
fn begun(row: &str, phase: &str, place: &Path) -> Child {
    let mut child = lab(&["run", row, "--quick", "--out", place.to_str().unwrap()])
        .env(MARK, place)
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let is_there = lines.by_ref().any(|line| line.unwrap().ends_with(phase));
    assert!(is_there, "{row} has no phase '{phase}'");
    // Its later output must not fill the pipe.
    std::thread::spawn(move || lines.for_each(drop));
    child
}

fn ends_clean(mut child: Child, signal: Signal, code: Option<i32>, place: &Path) {
    assert!(left(place) >= 2, "the lab and its server run");
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), signal).unwrap();
    assert_eq!(child.wait().unwrap().code(), code);
    let began = Instant::now();
    // The kernel tells a process that its parent has ended; that takes a moment.
    while left(place) > 0 {
        assert!(began.elapsed() < PATIENCE, "{} processes are left", left(place));
        std::thread::yield_now();
    }
}

#[test]
fn an_interrupt_leaves_nothing_running() {
    for (row, phase, signal) in
        [("E1", "standard load over gRPC", Signal::INT), ("E4", "worker frozen", Signal::TERM)]
    {
        let out = tempfile::tempdir().unwrap();
        let child = begun(row, phase, out.path());
        ends_clean(child, signal, Some(2), out.path());
        let data: Vec<_> = std::fs::read_dir(out.path().join(row)).unwrap().flatten().collect();
        assert!(data.iter().all(|entry| entry.path().is_file()), "directories of data are removed: {data:?}");
    }
}

#[test]
fn a_lab_that_is_killed_leaves_nothing_running() {
    let out = tempfile::tempdir().unwrap();
    let child = begun("E4", "worker frozen", out.path());
    ends_clean(child, Signal::KILL, None, out.path());
}
