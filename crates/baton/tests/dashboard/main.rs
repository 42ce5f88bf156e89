//! Metrics of the program: each panel of the dashboard of the compatible system finds data after a load or has a
//! reason why not, and a scrape stays small.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

mod panels;
mod scrape;

use panels::{Here, Panel};
use scrape::Scrape;

/// Time for a start, and for figures to be published after a load.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(250);
const BROKERS: u16 = 3;
/// Ports of a broker of `baton dev-cluster`: REST, gRPC, management, peers.
const PORTS: u16 = 10;
/// Lines of a scrape of a server just started, and after a load of a few operations.
const LINES_AT_START: usize = 580;
const LINES_AFTER_LOAD: usize = 1100;

const DECISIONS: &str = r##"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="d" namespace="d">
<decision id="second" name="second"><variable name="second"/><informationRequirement><requiredDecision href="#first"/></informationRequirement><literalExpression><text>first + 1</text></literalExpression></decision>
<decision id="first" name="first"><variable name="first"/><literalExpression><text>1</text></literalExpression></decision>
</definitions>"##;
const PROCESS: &str = r#"<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t">
<bpmn:process id="decides" isExecutable="true"><bpmn:startEvent id="s"/><bpmn:sequenceFlow id="f" sourceRef="s" targetRef="r"/>
<bpmn:businessRuleTask id="r"><bpmn:extensionElements><zeebe:calledDecision decisionId="second" resultVariable="result"/></bpmn:extensionElements></bpmn:businessRuleTask>
<bpmn:sequenceFlow id="g" sourceRef="r" targetRef="c"/><bpmn:callActivity id="c"><bpmn:extensionElements><zeebe:calledElement processId="called"/></bpmn:extensionElements></bpmn:callActivity></bpmn:process>
<bpmn:process id="called" isExecutable="true"><bpmn:startEvent id="s2"/></bpmn:process></bpmn:definitions>"#;

fn baton() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BATON_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// A child that is told to end when it is dropped.
struct Running {
    child: Child,
    directory: tempfile::TempDir,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Without the process there is nobody to tell.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

impl Running {
    /// Starts it and waits for so many lines, of which it says one when it is ready.
    fn start(mut command: Command, directory: tempfile::TempDir, lines: usize) -> (Self, Vec<String>) {
        let mut child = command.spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap()).lines();
        let said: Vec<_> = said.take(lines).map(Result::unwrap).collect();
        assert_eq!(said.len(), lines, "{said:?}");
        (Self { child, directory }, said)
    }
}

/// The addresses of a server.
struct Site {
    rest: String,
    grpc: String,
    management: String,
}

fn alone() -> (Running, Site) {
    let directory = tempfile::tempdir().unwrap();
    let free = "127.0.0.1:0";
    let mut command = baton();
    command.arg("start").arg("--data-dir").arg(directory.path());
    command.args([
        "--rest",
        free,
        "--grpc",
        free,
        "--management",
        free,
        "--set",
        "state.flush_interval=200ms",
    ]);
    let (running, lines) = Running::start(command, directory, 1);
    let address = |name: &str| {
        let (_, after) = lines[0].split_once(&format!(" {name}=")).unwrap();
        after.split_whitespace().next().unwrap().to_owned()
    };
    let site = Site { rest: address("rest"), grpc: address("grpc"), management: address("management") };
    (running, site)
}

/// First of a range of ports of which all are free.
fn free_ports() -> u16 {
    let from = 20_000 + (std::process::id() % 300) as u16 * 30;
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    let mut ranges = (0..100).map(|step| from + step * 30);
    ranges.find(|base| (*base..base + BROKERS * PORTS).all(is_free)).expect("30 ports in a row are free")
}

fn cluster() -> (Running, Vec<Site>) {
    let (directory, base) = (tempfile::tempdir().unwrap(), free_ports());
    let mut command = baton();
    command.args(["dev-cluster", &BROKERS.to_string(), "--base-port", &base.to_string()]);
    command.arg("--data-dir").arg(directory.path()).args(["--set", "state.flush_interval=200ms"]);
    let (running, _) = Running::start(command, directory, BROKERS.into());
    let sites = (0..BROKERS).map(|broker| {
        let address = |of: u16| format!("127.0.0.1:{}", base + broker * PORTS + of);
        Site { rest: address(0), grpc: address(1), management: address(2) }
    });
    (running, sites.collect())
}

/// A client of the command line. Returns whether it was content.
fn client(site: &Site, arguments: &[&str]) -> bool {
    let mut command = baton();
    command.args(arguments).stdout(Stdio::null());
    command.args(["--rest-address", &format!("http://{}", site.rest)]);
    command.args(["--grpc-address", &format!("http://{}", site.grpc)]);
    if arguments[0] == "bench" {
        command.args(["--management-address", &format!("http://{}", site.management)]);
    }
    command.status().unwrap().success()
}

/// A few operations over both protocols, with jobs by streams and by polls, decisions, calls, and a refusal.
fn load(site: &Site, directory: &Path) {
    let files = [("decisions.dmn", DECISIONS), ("process.bpmn", PROCESS)].map(|(name, text)| {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    });
    for (protocol, transport) in [("rest", "stream"), ("grpc", "poll"), ("grpc", "stream")] {
        let bench = ["bench", "--protocol", protocol, "--worker-transport", transport, "--no-progress"];
        let bench = [&bench[..], &["--instances", "40", "--concurrency", "4", "--warm-up", "0s"]].concat();
        assert!(client(site, &bench), "{protocol} {transport}");
    }
    assert!(client(site, &["deploy", &files[0], &files[1]]));
    assert!(client(site, &["run", "decides", "--await", "--protocol", "grpc"]));
    assert!(!client(site, &["run", "nowhere", "--protocol", "grpc"]), "there is no such process");
}

/// Looks at servers until a test of their scrapes finds no fault.
fn until_faultless(sites: &[Site], faults: impl Fn(&[Scrape]) -> Vec<String>) -> Vec<Scrape> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let scrapes: Vec<_> = sites.iter().map(|site| Scrape::of(&site.management)).collect();
        let found = faults(&scrapes);
        if found.is_empty() {
            return scrapes;
        }
        assert!(Instant::now() < deadline, "{}", found.join("\n"));
        // Figures are published each second.
        std::thread::park_timeout(LOOK);
    }
}

/// Panels that find no data though they should, and those that find some in spite of their reason.
fn faults(panels: &[Panel], scrapes: &[Scrape]) -> Vec<String> {
    let is_cluster = scrapes.len() > 1;
    let fault = |panel: &Panel| {
        let has_data = |scrape: &Scrape| panel.names.iter().any(|name| scrape.has(name, &panel.labels));
        let (found, wanted) = match panel.here {
            Here::Any => (scrapes.iter().any(has_data), true),
            Here::Cluster if is_cluster => (scrapes.iter().any(has_data), true),
            Here::Alone if !is_cluster => (has_data(&scrapes[0]), true),
            Here::Alone | Here::Cluster => return None,
            Here::Nowhere(_) => (scrapes.iter().any(has_data), false),
        };
        let what = if wanted { "finds nothing" } else { "finds data, but has a reason why not" };
        (found != wanted).then(|| format!("{panel:?} {what}"))
    };
    panels.iter().filter_map(fault).collect()
}

#[test]
fn panels_find_data_at_a_server_that_is_alone() {
    let (running, site) = alone();
    load(&site, running.directory.path());
    let panels = panels::read();
    until_faultless(&[site], |scrapes| {
        let mut faults = faults(&panels, scrapes);
        faults.extend(wrong_counts(&scrapes[0]));
        faults
    });
}

/// Counts after the load that are not as they must be.
fn wrong_counts(scrape: &Scrape) -> Vec<String> {
    let count = |name: &str, labels: &[&str]| {
        let labels: Vec<_> = labels.iter().map(ToString::to_string).collect();
        scrape.sum(name, &labels).round() as i64
    };
    let completed = count("zeebe_element_instance_events_total", &["action=completed", "type=PROCESS"]);
    let received = count("zeebe_received_request_count_total", &["partition=1"]);
    let accepted = count("zeebe_flow_control_total", &["context=userCommand", "outcome=accepted"]);
    let written = count("zeebe_stream_processor_records_total", &["action=written"]);
    let events = count("zeebe_log_appender_record_appended_total", &["recordType=EVENT"]);
    let facts = [
        ("three times 40 instances, and a pair, of which one calls the other", completed == 122),
        (
            "all of them but one are roots",
            count("zeebe_executed_instances_total", &["action=completed", "type=ROOT_PROCESS_INSTANCE"])
                == 121,
        ),
        (
            "a decision, and the one that it requires",
            count("zeebe_evaluated_dmn_elements_total", &["action=evaluated_successfully"]) == 2,
        ),
        ("two commands for each instance at the least", received >= 240),
        ("what is accepted was received", accepted > 0 && accepted <= received),
        ("nobody was refused", count("zeebe_dropped_request_count_total", &["partition=1"]) == 0),
        ("not all positions are those of events", 0 < events && events <= written),
        ("it leads", count("atomix_role", &[]) == 3 && count("baton_raft_term", &[]) > 0),
        ("it processes", count("zeebe_stream_processor_state", &[]) == 2),
    ];
    let wrong = facts.into_iter().filter(|(_, holds)| !holds);
    let counts = format!(
        "{completed} completed, {received} received, {accepted} accepted, {written} written, {events} events"
    );
    wrong.map(|(fact, _)| format!("{fact}: {counts}")).collect()
}

/// Positions of the log are those of records, so that what an idle server has yet to process is nothing.
#[test]
fn an_idle_server_has_no_backlog() {
    let (running, site) = alone();
    load(&site, running.directory.path());
    until_faultless(&[site], |scrapes| {
        let position = |name: &str| scrapes[0].sum(name, &[]);
        let processed = position("zeebe_stream_processor_last_processed_position");
        let ahead =
            ["zeebe_log_appender_last_appended_position", "zeebe_log_appender_last_committed_position"]
                .map(|name| position(name) - processed);
        let is_idle = processed > 100.0 && ahead.iter().all(|ahead| ahead.abs() < 0.5);
        if is_idle { vec![] } else { vec![format!("{ahead:?} beyond {processed}")] }
    });
}

#[test]
fn panels_find_data_at_a_cluster() {
    let (running, sites) = cluster();
    load(&sites[0], running.directory.path());
    let panels = panels::read();
    let scrapes = until_faultless(&sites, |scrapes| faults(&panels, scrapes));
    let roles = scrapes.iter().map(|scrape| scrape.sum("atomix_role", &[]) as u32);
    let mut roles: Vec<_> = roles.collect();
    roles.sort_unstable();
    assert_eq!(roles, [1, 1, 3], "one leads and two follow");
    let replay = |scrape: &Scrape| scrape.sum("zeebe_replay_events_total", &[]) > 100.0;
    assert!(
        scrapes.iter().filter(|scrape| replay(scrape)).count() >= 2,
        "who follows applies what was processed"
    );
}

#[test]
fn a_scrape_stays_small() {
    let (running, site) = alone();
    // Figures are published a second after the start at the latest.
    let started = |scrapes: &[Scrape]| {
        let is_there = scrapes[0].has("zeebe_health", &[]) && scrapes[0].has("zeebe_exporter_state", &[]);
        if is_there { vec![] } else { vec!["nothing is published".to_owned()] }
    };
    let lines = |scrape: &Scrape| scrape.text.lines().count();
    let sites = [site];
    let scrape = &until_faultless(&sites, started)[0];
    assert!(lines(scrape) <= LINES_AT_START, "{} lines\n{}", lines(scrape), scrape.text);
    load(&sites[0], running.directory.path());
    let panels = panels::read();
    let scrape = &until_faultless(&sites, |scrapes| faults(&panels, scrapes))[0];
    assert!(lines(scrape) <= LINES_AFTER_LOAD, "{} lines\n{}", lines(scrape), scrape.text);
    eprintln!("a scrape after a load: {} lines, {} bytes", lines(scrape), scrape.text.len());
}
