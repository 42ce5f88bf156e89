//! Runs seeds: each in a process of its own, so that nothing of one reaches another.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use clap::Parser;
use planted::Bug;
use simulator::exclusive::Exclusive;
use simulator::{scheduler, world};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

/// A seed takes less than a second or two.
const LONGEST: Duration = Duration::from_secs(120);
/// How often processes are looked at.
const LOOK: Duration = Duration::from_millis(2);

#[derive(Parser)]
#[command(about = "Runs clusters on a simulated clock, network and disk, with the faults of a seed")]
struct Arguments {
    /// How many seeds.
    #[arg(long, default_value_t = 20)]
    seeds: u64,
    /// The first of them.
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// Run one seed in this process, and tell about it.
    #[arg(long)]
    one: Option<u64>,
    /// Run so many seeds twice, and compare the orders of all events.
    #[arg(long, default_value_t = 0)]
    twice: u64,
    /// Plant this bug.
    #[arg(long)]
    planted: Option<String>,
    /// Plant each bug, and tell which seed finds it.
    #[arg(long)]
    find_planted: bool,
    /// With `--find-planted`: these alone.
    #[arg(long, value_delimiter = ',')]
    bugs: Vec<String>,
    /// Processes at once.
    #[arg(long, default_value_t = 2)]
    at_once: usize,
    /// With `--one`: print the log, in the time of the simulation.
    #[arg(long)]
    log: bool,
    /// Print a line for each seed.
    #[arg(long)]
    verbose: bool,
    /// Directory of the brokers' files; in memory, if there is such a place.
    #[arg(long)]
    scratch: Option<PathBuf>,
}

fn scratch(given: Option<PathBuf>) -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    given.unwrap_or_else(|| if memory.is_dir() { memory } else { std::env::temp_dir() })
}

/// The flags of this process; below zero if they cannot be told.
fn personality() -> libc::c_int {
    // SAFETY: this value asks and changes nothing.
    unsafe { libc::personality(0xffff_ffff) }
}

/// Starts this program anew with the same addresses each time. Locks are found by their addresses: which of them are
/// handed over fairly, and so the order of threads, depends on those.
fn fix_addresses() {
    let before = personality();
    if before < 0 || before & libc::ADDR_NO_RANDOMIZE != 0 {
        return;
    }
    // SAFETY: it changes a flag of this process.
    let set = unsafe { libc::personality((before | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong) };
    if set >= 0
        && let Ok(program) = std::env::current_exe()
    {
        let error = Command::new(program).args(std::env::args_os().skip(1)).exec();
        eprintln!("the simulator cannot start itself anew: {error}");
    }
}

fn main() -> ExitCode {
    fix_addresses();
    let arguments = Arguments::parse();
    match arguments.one {
        Some(seed) => {
            if let Some(name) = &arguments.planted {
                let Some(bug) = Bug::ALL.into_iter().find(|bug| format!("{bug:?}") == *name) else {
                    eprintln!("--planted: expected one of {:?}, but it is '{name}'", Bug::ALL);
                    return ExitCode::FAILURE;
                };
                planted::plant(bug);
            }
            one(seed, arguments.log, scratch(arguments.scratch))
        }
        None if arguments.find_planted => find_planted(&arguments).unwrap_or_else(|error| {
            eprintln!("{error}");
            ExitCode::FAILURE
        }),
        None => many(&arguments).unwrap_or_else(|error| {
            eprintln!("{error}");
            ExitCode::FAILURE
        }),
    }
}

/// Filter of the log.
const LOGGED: &str =
    "off,simulator=debug,broker=info,partition=info,cluster=info,replication=info,transport=info";

/// Lines of the log.
static LINES: Exclusive<Vec<u8>> = Exclusive::new(Vec::new());

struct Log;

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if scheduler::is_simulated() {
            LINES.with(|lines| lines.extend_from_slice(bytes));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct VirtualTime;

impl FormatTime for VirtualTime {
    fn format_time(&self, text: &mut Writer<'_>) -> std::fmt::Result {
        let host = if scheduler::is_simulated() { scheduler::host() } else { 0 };
        let now_us = if scheduler::is_simulated() { scheduler::now_ns() / 1_000 } else { 0 };
        write!(text, "{now_us:>10} us host {host}")
    }
}

fn one(seed: u64, log_is_shown: bool, scratch: PathBuf) -> ExitCode {
    // Always made, so that a run whose log is looked at is the same run.
    let filter = tracing_subscriber::EnvFilter::new(LOGGED);
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Log).with_ansi(false);
    log.with_timer(VirtualTime).init();
    let root = scratch.join(format!("baton-simulation-{:010}-{seed:020}", std::process::id()));
    // Paths that brokers see are relative, and so the same in each process: maps have them as keys.
    if let Err(error) = std::fs::create_dir_all(&root).and_then(|()| std::env::set_current_dir(&root)) {
        eprintln!("{} cannot be used: {error}", root.display());
        return ExitCode::FAILURE;
    }
    let (plan, outcome) = world::run(seed);
    // A failed clean-up leaves little behind.
    let _ = std::fs::remove_dir_all(root);
    if log_is_shown {
        eprintln!("{}", LINES.with(|lines| String::from_utf8_lossy(lines).into_owned()));
    }
    if !outcome.violations.is_empty() {
        eprintln!("{}", outcome.describe(&plan));
    }
    println!(
        "seed {seed}: {} violations, {} faults, {} answers, {} instances, slowest {} ms, {} turns, {} virtual ms, trace {:016x}",
        outcome.violations.len(),
        outcome.faults.len(),
        outcome.answers,
        outcome.instances,
        outcome.slowest_ms,
        outcome.turns,
        outcome.virtual_ms,
        outcome.trace,
    );
    let code = i32::from(!outcome.violations.is_empty());
    // Threads of brokers that ended wait for ever.
    simulator::hooks::exit(code)
}

/// A seed that runs in another process.
struct Running {
    seed: u64,
    process: Child,
    output: Receiver<(String, String)>,
    since: Instant,
}

fn begin(arguments: &Arguments, seed: u64, bug: Option<Bug>) -> std::io::Result<Running> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--one", &seed.to_string()]).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(bug) = bug {
        command.args(["--planted", &format!("{bug:?}")]);
    }
    if let Some(scratch) = &arguments.scratch {
        command.arg("--scratch").arg(scratch);
    }
    let mut process = command.spawn()?;
    let (mut out, mut err) = (process.stdout.take(), process.stderr.take());
    let (sender, output) = sync_channel(1);
    std::thread::spawn(move || {
        let mut texts = (String::new(), String::new());
        // A process that prints no text has failed, which its code tells.
        let _ = out.as_mut().map(|out| out.read_to_string(&mut texts.0));
        let _ = err.as_mut().map(|err| err.read_to_string(&mut texts.1));
        drop(sender.send(texts));
    });
    Ok(Running { seed, process, output, since: Instant::now() })
}

/// Plants each bug, and runs seeds until one breaks a promise.
fn find_planted(arguments: &Arguments) -> std::io::Result<ExitCode> {
    let mut missed = 0_u64;
    let is_meant = |bug: &Bug| arguments.bugs.is_empty() || arguments.bugs.contains(&format!("{bug:?}"));
    let bugs: Vec<Bug> = Bug::ALL.into_iter().filter(is_meant).collect();
    for bug in &bugs {
        let bug = *bug;
        let mut seeds = arguments.first..arguments.first + arguments.seeds;
        let (mut running, mut found) = (Vec::new(), None);
        loop {
            while found.is_none()
                && running.len() < arguments.at_once
                && let Some(seed) = seeds.next()
            {
                running.push(begin(arguments, seed, Some(bug))?);
            }
            if running.is_empty() {
                break;
            }
            let ended = ended(&mut running)?;
            if !ended.is_well && found.as_ref().is_none_or(|(seed, _)| *seed > ended.seed) {
                let first = |word: &str| ended.text.lines().find(|line| line.contains(word));
                let promise = first("VIOLATED").or_else(|| first("panicked"));
                found = Some((ended.seed, promise.unwrap_or(&ended.line).to_owned()));
            }
        }
        let name = format!("{bug:?}");
        if let Some((seed, promise)) = found {
            let seeds = seed - arguments.first + 1;
            let promise: String = promise.chars().take(150).collect();
            println!("{name:<22} {seeds:>4} seeds  {promise}");
        } else {
            missed += 1;
            println!("{name:<22} not found in {} seeds", arguments.seeds);
        }
    }
    println!("planted: {} passed, {missed} failed", bugs.len() as u64 - missed);
    Ok(if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A seed that has run.
struct EndedRun {
    seed: u64,
    line: String,
    /// Whether it kept all promises.
    is_well: bool,
    /// More about it, if it did not.
    text: String,
}

/// Waits until one has ended.
fn ended(running: &mut Vec<Running>) -> std::io::Result<EndedRun> {
    loop {
        for place in 0..running.len() {
            let one = &mut running[place];
            let is_late = one.since.elapsed() > LONGEST;
            if is_late {
                one.process.kill()?;
            }
            let Some(status) = one.process.try_wait()? else { continue };
            let one = running.swap_remove(place);
            let (out, err) = one.output.recv().unwrap_or_default();
            let line = match out.lines().last() {
                Some(line) => line.to_owned(),
                None if is_late => format!("seed {}: no end after {} s", one.seed, LONGEST.as_secs()),
                None => format!("seed {}: the process ended with {status}", one.seed),
            };
            return Ok(EndedRun { seed: one.seed, line, is_well: status.success(), text: err });
        }
        std::thread::sleep(LOOK);
    }
}

fn many(arguments: &Arguments) -> std::io::Result<ExitCode> {
    let began = Instant::now();
    let all = arguments.first..arguments.first + arguments.seeds;
    let twice = all.clone().take(arguments.twice as usize);
    let mut seeds = twice.chain(all);
    let (mut running, mut failed, mut passed) = (Vec::new(), Vec::new(), 0_u64);
    let mut lines: BTreeMap<u64, String> = BTreeMap::new();
    let (mut same, mut compared) = (0_u64, 0_u64);
    loop {
        while running.len() < arguments.at_once
            && let Some(seed) = seeds.next()
        {
            running.push(begin(arguments, seed, None)?);
        }
        if running.is_empty() {
            break;
        }
        let EndedRun { seed, line, is_well, text } = ended(&mut running)?;
        if is_well {
            passed += 1;
        } else {
            failed.push(seed);
        }
        if !is_well {
            println!("{text}");
        }
        if !is_well || arguments.verbose {
            println!("{line}");
        }
        match lines.insert(seed, line.clone()) {
            Some(before) if before == line => (same, compared) = (same + 1, compared + 1),
            Some(before) => {
                compared += 1;
                println!("two runs differ:\n  {before}\n  {line}");
            }
            None => {}
        }
    }
    failed.sort_unstable();
    failed.dedup();
    println!("{same} of {compared} seeds ran twice in the same way");
    let has_random_addresses = personality().max(0) & libc::ADDR_NO_RANDOMIZE == 0;
    if has_random_addresses {
        println!("addresses are random here, so that two runs of a seed may differ");
    }
    println!("seeds that broke a promise: {failed:?}; {} s", began.elapsed().as_secs());
    println!("simulation: {passed} passed, {} failed", failed.len());
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
