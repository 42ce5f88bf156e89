//! Runs a target on random mutations of its corpus for some seconds, on stable Rust and without coverage feedback.
//!
//! `cargo run --profile checked -p fuzz -- TARGET SECONDS [SEED] [--trace] [--unoptimized]`. The inputs depend on the
//! seed only. An input that panics or takes long is written to `artifacts/TARGET`; with `--trace` every input is
//! written before it runs, which finds one that ends the program, such as a stack overflow. `--unoptimized` says that
//! the program is some ten times slower.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

use fuzz::{Random, TARGETS, Target};

/// Longest input, in bytes.
const MAX_INPUT_BYTES: usize = 64 * 1024;
/// An input that takes longer is a finding.
const MAX_TIME: Duration = Duration::from_secs(2);
/// Factor by which an unoptimized program is slower.
const SLOWNESS: u32 = 10;
/// Mutations of one input.
const MAX_MUTATIONS: usize = 8;

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut takes = |flag: &str| {
        let before = arguments.len();
        arguments.retain(|argument| argument != flag);
        arguments.len() < before
    };
    let trace = takes("--trace");
    let max_time = if takes("--unoptimized") { MAX_TIME * SLOWNESS } else { MAX_TIME };
    match run(&arguments, max_time, trace) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String], max_time: Duration, trace: bool) -> Result<(), String> {
    let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    let usage = || format!("usage: smoke {} SECONDS [SEED] [--trace] [--unoptimized]", names.join("|"));
    let [name, seconds, rest @ ..] = arguments else { return Err(usage()) };
    let (name, target) = *TARGETS.iter().find(|(known, _)| known == name).ok_or_else(usage)?;
    let seconds: u64 = seconds.parse().map_err(|_| usage())?;
    let seed = match rest.first() {
        Some(seed) => seed.parse().map_err(|_| usage())?,
        None => SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |now| now.as_nanos() as u64),
    };
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = read_corpus(&home.join("corpus").join(name))?;
    let tokens = read_tokens(&home.join("dictionaries").join(format!("{name}.dict")));
    let artifacts = home.join("artifacts").join(name);
    println!("{name}: seed {seed}, {} files, {} tokens", corpus.len(), tokens.len());

    for input in &corpus {
        try_input(target, input, &artifacts, max_time, trace)?;
    }
    let mut random = Random(seed);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut count = corpus.len();
    while Instant::now() < end {
        let input = mutate(&corpus, &tokens, &mut random);
        try_input(target, &input, &artifacts, max_time, trace)
            .map_err(|error| format!("seed {seed}: {error}"))?;
        count += 1;
    }
    println!("{name}: {count} inputs, no finding");
    Ok(())
}

/// Runs one input; an error names the file that holds it.
fn try_input(
    target: Target,
    input: &[u8],
    artifacts: &Path,
    max_time: Duration,
    trace: bool,
) -> Result<(), String> {
    if trace {
        write(artifacts, "last", input)?;
    }
    let start = cpu_time();
    let outcome = std::panic::catch_unwind(|| target(input));
    let finding = match outcome {
        Err(_) => "panic",
        Ok(()) if cpu_time().saturating_sub(start) > max_time => "slow",
        Ok(()) => return Ok(()),
    };
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let path = write(artifacts, &format!("{finding}-{hash:016x}"), input)?;
    Err(format!("{finding}: {}", path.display()))
}

/// CPU time of this thread; other load of the machine does not count.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

fn write(folder: &Path, name: &str, input: &[u8]) -> Result<PathBuf, String> {
    let path = folder.join(name);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, input))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

fn read_corpus(folder: &Path) -> Result<Vec<Vec<u8>>, String> {
    let error = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut paths = fs::read_dir(folder)
        .map_err(error)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(error)?;
    paths.sort();
    paths.iter().map(|path| fs::read(path).map_err(error)).collect()
}

/// The tokens of a libFuzzer dictionary: one in double quotes per line, `\"` and `\\` escaped.
fn read_tokens(path: &Path) -> Vec<Vec<u8>> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let token = |line: &str| {
        let inner = line.trim().strip_prefix('"')?.strip_suffix('"')?;
        Some(inner.replace("\\\"", "\"").replace("\\\\", "\\").into_bytes())
    };
    text.lines().filter_map(token).collect()
}

/// One file of the corpus with some damage.
fn mutate(corpus: &[Vec<u8>], tokens: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(MAX_MUTATIONS) {
        let at = random.below(input.len() + 1);
        let end = (at + 1 + random.below(64)).min(input.len());
        match random.below(12) {
            0 if at < input.len() => input[at] = random.number() as u8,
            1 if at < input.len() => input[at] ^= 1 << random.below(8),
            2 if at < end => {
                input.drain(at..end);
            }
            3 if at < end => {
                let piece = input[at..end].repeat(1 + random.below(8));
                input.splice(at..at, piece);
            }
            4 if !tokens.is_empty() => {
                let token = &tokens[random.below(tokens.len())];
                // Sometimes very many, for depth.
                let times = if random.below(50) == 0 { 1 + random.below(5_000) } else { 1 };
                input.splice(at..at, token.repeat(times));
            }
            5 => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len() + 1);
                let to = (from + random.below(256)).min(other.len());
                input.splice(at..at, other[from..to].iter().copied());
            }
            6 => input.truncate(at),
            // A quoted string moves as a whole: the file stays well-formed and has another content.
            _ => copy_quoted(&mut input, random),
        }
        input.truncate(MAX_INPUT_BYTES);
    }
    input
}

/// Puts the content of one pair of double quotes into another.
fn copy_quoted(input: &mut Vec<u8>, random: &mut Random) {
    let quotes: Vec<usize> =
        input.iter().enumerate().filter(|(_, byte)| **byte == b'"').map(|(at, _)| at).collect();
    let pairs = quotes.len() / 2;
    if pairs < 2 {
        return;
    }
    let (from, to) = (random.below(pairs) * 2, random.below(pairs) * 2);
    let text = input[quotes[from] + 1..quotes[from + 1]].to_vec();
    input.splice(quotes[to] + 1..quotes[to + 1], text);
}
