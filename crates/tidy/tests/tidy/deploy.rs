//! Rules about `deploy/`: dashboards and alerts ask only for what the code tells, and the parts fit together.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::metrics::{Kind, Metric, metrics};
use crate::promql::{self, Query};
use crate::{assert_none, files, read, root};

/// Labels that Prometheus itself adds.
const OF_PROMETHEUS: &str = "up";
const LABELS_OF_PROMETHEUS: [&str; 2] = ["instance", "job"];
/// Units of Grafana that are used here.
const UNITS: [&str; 7] = ["Bps", "bytes", "ops", "percentunit", "reqps", "s", "short"];
const COLUMNS: u64 = 24;

fn json(path: &str) -> Value {
    serde_json::from_str(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn yaml(path: &str) -> Value {
    serde_saphyr::from_str(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Dashboards by path.
fn dashboards() -> BTreeMap<String, Value> {
    let is_dashboard =
        |path: &String| path.starts_with("deploy/grafana/dashboards/") && path.ends_with(".json");
    let dashboards: BTreeMap<_, _> =
        files().into_keys().filter(is_dashboard).map(|path| (path.clone(), json(&path))).collect();
    assert!(dashboards.len() >= 6, "{:?}", dashboards.keys());
    dashboards
}

/// Panels that show something, with the place that findings name.
fn panels(dashboards: &BTreeMap<String, Value>) -> Vec<(String, &Value)> {
    dashboards
        .iter()
        .flat_map(|(path, dashboard)| list(dashboard, "panels").iter().map(move |panel| (path, panel)))
        .filter(|(_, panel)| panel["type"] != "row")
        .map(|(path, panel)| (format!("{path}: '{}'", text(panel, "title")), panel))
        .collect()
}

fn alerts() -> Vec<Value> {
    let rules = yaml("deploy/prometheus/alerts.yml");
    let alerts: Vec<_> =
        list(&rules, "groups").iter().flat_map(|group| list(group, "rules")).cloned().collect();
    assert!(alerts.len() > 10, "{alerts:?}");
    alerts
}

/// The metric behind a series, if the series is one that the exporter writes for it.
fn metric_of<'a>(metrics: &'a BTreeMap<String, Metric>, series: &str) -> Option<&'a Metric> {
    let histogram =
        ["_bucket", "_sum", "_count"].iter().find_map(|end| metrics.get(series.strip_suffix(end)?));
    let plain = metrics.get(series).filter(|metric| metric.kind != Kind::Histogram);
    plain.or(histogram.filter(|metric| metric.kind == Kind::Histogram))
}

/// Source text of the possible values of a label; nothing is known of patterns and
/// numbers.
fn evidence(label: &str, value: &str) -> Option<String> {
    if label == "table" {
        return Some(format!("pub {value}: Table<"));
    }
    if value.starts_with("/v2") && !value.contains('*') {
        return Some(format!("\"path\": \"{value}\""));
    }
    let is_word = value.chars().all(|c| c.is_ascii_alphabetic() || c == '_' || c == ' ');
    is_word.then(|| format!("\"{value}\""))
}

/// Errors of a query.
fn faults(query: &str, metrics: &BTreeMap<String, Metric>, sources: &str) -> Vec<String> {
    let Query { series, grouping } = promql::read(query);
    let mut faults = Vec::new();
    if series.is_empty() {
        faults.push("asks for nothing".to_owned());
    }
    for one in series.iter().filter(|one| one.name != OF_PROMETHEUS) {
        let Some(metric) = metric_of(metrics, &one.name) else {
            faults.push(format!("the code has no {}", one.name));
            continue;
        };
        let grows = metric.kind != Kind::Gauge;
        match one.function.as_deref() {
            Some("rate" | "increase" | "resets") if !grows => {
                faults.push(format!("{} is a gauge, which has no rate", one.name));
            }
            Some("delta" | "deriv") if grows => faults.push(format!("{} is a counter", one.name)),
            _ => {}
        }
        let labels = one.matchers.iter().map(|(label, _, _)| label).chain(&grouping);
        for label in labels.filter(|label| !LABELS_OF_PROMETHEUS.contains(&label.as_str())) {
            let of_buckets = label == "le" && one.name.ends_with("_bucket");
            if !of_buckets && !metric.source.contains(&format!("\"{label}\"")) {
                faults.push(format!("{} has no label {label}", one.name));
            }
        }
        for (label, _, values) in &one.matchers {
            for value in values.split('|').filter(|_| !LABELS_OF_PROMETHEUS.contains(&label.as_str())) {
                if evidence(label, value).is_some_and(|text| !sources.contains(&text)) {
                    faults.push(format!("the {label} of {} is never {value}", one.name));
                }
            }
        }
    }
    faults
}

/// Sources in which values of labels stand.
fn sources() -> String {
    let is_source = |path: &String| {
        let of_a_crate = path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs");
        of_a_crate || path == "crates/gateway/api/contract.json"
    };
    files().into_iter().filter(|(path, _)| is_source(path)).map(|(_, text)| text).collect()
}

#[test]
fn faults_of_queries_are_found() {
    let (metrics, sources) = (metrics(), sources());
    let faults = |query| faults(query, &metrics, &sources);
    for right in [
        "sum by (uri, le) (rate(http_server_requests_seconds_bucket{uri=\"/v2/jobs/activation\"}[5m]))",
        "sum by (action) (rate(zeebe_job_events_total{action=~\"timed out|failed\", job=\"x\"}[5m]))",
        "deriv(baton_state_rows{table=\"jobs\"}[5m])",
        "absent(up)",
    ] {
        assert_eq!(faults(right), Vec::<String>::new(), "{right}");
    }
    for (wrong, fault) in [
        ("1 + 1", "asks for nothing"),
        ("zeebe_no_such_total", "the code has no zeebe_no_such_total"),
        ("http_server_requests_seconds", "the code has no http_server_requests_seconds"),
        ("zeebe_health_sum", "the code has no zeebe_health_sum"),
        ("rate(zeebe_health[5m])", "zeebe_health is a gauge, which has no rate"),
        ("delta(zeebe_job_events_total[5m])", "zeebe_job_events_total is a counter"),
        ("zeebe_job_events_total{worker=\"a\"}", "zeebe_job_events_total has no label worker"),
        ("sum by (worker) (zeebe_health)", "zeebe_health has no label worker"),
        ("sum by (le) (zeebe_health)", "zeebe_health has no label le"),
        ("baton_state_rows{table=\"tokens\"}", "the table of baton_state_rows is never tokens"),
        (
            "zeebe_job_events_total{action=\"timed_out\"}",
            "the action of zeebe_job_events_total is never timed_out",
        ),
        (
            "http_server_requests_seconds_count{uri=\"/v2/nowhere\"}",
            "the uri of http_server_requests_seconds_count is never /v2/nowhere",
        ),
    ] {
        assert_eq!(faults(wrong), [fault], "{wrong}");
    }
}

#[test]
fn dashboards_ask_for_what_the_code_tells() {
    let (metrics, sources, dashboards) = (metrics(), sources(), dashboards());
    let mut findings = Vec::new();
    for (place, panel) in panels(&dashboards) {
        let mut names = BTreeSet::new();
        if list(panel, "targets").is_empty() {
            findings.push(format!("{place} asks for nothing"));
        }
        for target in list(panel, "targets") {
            let query = text(target, "expr");
            findings
                .extend(faults(query, &metrics, &sources).iter().map(|fault| format!("{place}: {fault}")));
            if !names.insert(text(target, "refId")) {
                findings.push(format!("{place} has two queries {}", text(target, "refId")));
            }
            let Query { series, grouping } = promql::read(query);
            let chosen = ["instance", "=~", "$instance"].map(ToOwned::to_owned).into();
            for one in series.iter().filter(|one| !one.matchers.contains(&chosen)) {
                findings.push(format!("{place}: {} is not that of the chosen servers", one.name));
            }
            // Without an aggregation, a series has all its labels.
            let aggregated = ["sum", "min", "max", "histogram_quantile"]
                .iter()
                .any(|word| query.contains(&format!("{word}(")) || query.contains(&format!("{word} by")));
            for label in text(target, "legendFormat").split("{{").skip(1) {
                let label = label.split("}}").next().unwrap();
                let plain = !aggregated
                    && series.iter().all(|one| {
                        LABELS_OF_PROMETHEUS.contains(&label)
                            || metric_of(&metrics, &one.name)
                                .is_some_and(|metric| metric.source.contains(&format!("\"{label}\"")))
                    });
                if !plain && !grouping.iter().any(|other| other == label) {
                    findings.push(format!("{place}: the legend names {label}, which no result has"));
                }
            }
        }
    }
    assert_none("dashboards show what the code tells", &findings);
}

#[test]
fn panels_explain_themselves() {
    let dashboards = dashboards();
    let mut findings = Vec::new();
    for (place, panel) in panels(&dashboards) {
        if text(panel, "title").is_empty() || !text(panel, "description").ends_with('.') {
            findings.push(format!("{place} has no title or no description in sentences"));
        }
        let unit = text(&panel["fieldConfig"]["defaults"], "unit");
        if !UNITS.contains(&unit) {
            findings.push(format!("{place} has the unit '{unit}', not one of {UNITS:?}"));
        }
    }
    assert_none("panels explain themselves", &findings);
}

#[test]
fn panels_have_a_number_and_a_place_of_their_own() {
    let mut findings = Vec::new();
    let mut names = BTreeSet::new();
    for (path, dashboard) in dashboards() {
        let file = path.rsplit('/').next().unwrap();
        if text(&dashboard, "uid") != format!("baton-{}", file.trim_end_matches(".json")) {
            findings.push(format!("{path} has another UID than its name"));
        }
        if !names.insert(text(&dashboard, "title").to_owned()) {
            findings.push(format!("{path} has the title of another one"));
        }
        let (mut numbers, mut places) = (BTreeSet::new(), BTreeSet::new());
        for panel in list(&dashboard, "panels") {
            let title = text(panel, "title");
            if !panel["id"].as_u64().is_some_and(|id| numbers.insert(id)) {
                findings.push(format!("{path}: '{title}' has no number of its own"));
            }
            let [x, y, width, height] =
                ["x", "y", "w", "h"].map(|key| panel["gridPos"][key].as_u64().unwrap());
            let mut squares = (x..x + width).flat_map(|x| (y..y + height).map(move |y| (x, y)));
            if x + width > COLUMNS || !squares.all(|square| places.insert(square)) {
                findings.push(format!("{path}: '{title}' has no place of its own"));
            }
        }
    }
    assert_none("panels do not collide", &findings);
}

#[test]
fn dashboards_are_what_their_script_writes() {
    let output = Command::new("python3")
        .args(["deploy/grafana/generate.py", "--check"])
        .current_dir(root())
        .output()
        .expect("python3 runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "run deploy/grafana/generate.py: {said}");
}

#[test]
fn alerts_ask_for_what_the_code_tells() {
    let (metrics, sources) = (metrics(), sources());
    let mut findings = Vec::new();
    for alert in alerts() {
        let (name, query) = (text(&alert, "alert"), text(&alert, "expr"));
        findings.extend(faults(query, &metrics, &sources).iter().map(|fault| format!("{name}: {fault}")));
        let ours = ["job", "=", "baton"].map(ToOwned::to_owned).into();
        for series in promql::read(query).series.iter().filter(|one| !one.matchers.contains(&ours)) {
            findings.push(format!("{name}: {} may be that of another program", series.name));
        }
    }
    assert_none("alerts look at what the code tells", &findings);
}

#[test]
fn alerts_are_explained_and_tested() {
    let page = read("deploy/README.md");
    let explained: BTreeSet<_> = page.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let tests = yaml("deploy/prometheus/alerts_test.yml");
    let tested: BTreeSet<_> = list(&tests, "tests").iter().map(|test| text(test, "name")).collect();
    let alerts = alerts();
    let names: BTreeSet<_> = alerts.iter().map(|alert| text(alert, "alert")).collect();
    assert_eq!(names.len(), alerts.len(), "each alert has a name of its own");
    assert_eq!(explained, names, "deploy/README.md explains each alert under its name");
    assert_eq!(tested, names, "alerts_test.yml has a case for each alert");
    let mut findings = Vec::new();
    for alert in &alerts {
        let (name, says) = (text(alert, "alert"), &alert["annotations"]);
        if !["critical", "warning"].contains(&text(&alert["labels"], "severity")) {
            findings.push(format!("{name} has no severity"));
        }
        if text(says, "summary").is_empty() || !text(says, "description").ends_with('.') {
            findings.push(format!("{name} has no summary or no description in sentences"));
        }
        if text(says, "runbook") != format!("deploy/README.md#{}", name.to_lowercase()) {
            findings.push(format!("{name} does not lead to its explanation"));
        }
    }
    assert_none("alerts explain themselves", &findings);
}

/// Names of the variables that set a key of the configuration.
fn settings() -> BTreeSet<String> {
    let mut section = "";
    let mut settings = BTreeSet::new();
    let sections = read("crates/baton/src/config/sections.rs");
    for line in sections.lines().filter(|line| !line.trim_start().starts_with("//")) {
        if let Some(rest) = line.strip_prefix("    \"") {
            section = rest.split('"').next().unwrap();
        } else if let Some((key, _)) = line.strip_prefix("        ").and_then(|line| line.split_once(": ")) {
            settings.insert(format!("BATON_{section}_{key}").replace('.', "_").to_uppercase());
        }
    }
    assert!(settings.contains("BATON_STATE_FLUSH_INTERVAL"), "{settings:?}");
    settings
}

#[test]
fn containers_fit_the_program() {
    let (compose, image) = (yaml("deploy/compose.yml"), read("deploy/Dockerfile"));
    let services = compose["services"].as_object().unwrap();
    let mut findings = Vec::new();
    for (name, service) in services {
        for mount in list(service, "volumes") {
            let source = mount.as_str().unwrap().split(':').next().unwrap();
            let there = match source.strip_prefix("./") {
                Some(path) => root().join("deploy").join(path).exists(),
                None => compose["volumes"].get(source).is_some(),
            };
            if !there {
                findings.push(format!("{name} mounts {source}, which is not there"));
            }
        }
        for port in list(service, "ports") {
            if !port.as_str().unwrap().starts_with("127.0.0.1:") {
                findings.push(format!("{name} is open to others at {port}"));
            }
        }
    }
    let settings = settings();
    let of_compose = services["baton"]["environment"].as_object().unwrap().keys().map(String::as_str);
    let of_image = image.lines().filter_map(|line| line.strip_prefix("ENV BATON_")?.split('=').next());
    let of_image: Vec<_> = of_image.map(|name| format!("BATON_{name}")).collect();
    assert!(!of_image.is_empty());
    for name in of_compose.chain(of_image.iter().map(String::as_str)) {
        if !settings.contains(name) {
            findings.push(format!("{name} is no setting"));
        }
    }
    // Cargo looks at all members of the workspace, whatever it builds.
    let ignored = read("deploy/Dockerfile.dockerignore");
    let workspace = read("Cargo.toml");
    let members = workspace.split("members = [").nth(1).unwrap().split(']').next().unwrap();
    for member in members.split('"').skip(1).step_by(2).map(|path| path.trim_end_matches("/*")) {
        if !image.contains(&format!("\nCOPY {member} {member}\n")) {
            findings.push(format!("the image is built without {member}, a member of the workspace"));
        }
        if !ignored.contains(&format!("\n!{member}\n")) {
            findings.push(format!("{member} is ignored where the image is built"));
        }
    }
    let profile = image.split("--profile ").nth(1).unwrap().split(' ').next().unwrap();
    let measured = read("Makefile");
    for (place, found) in [
        ("make bench", measured.contains(&format!("--profile {profile} -p baton -p bench"))),
        ("the workspace", workspace.contains(&format!("[profile.{profile}]"))),
        ("the image", image.contains(&format!("target/{profile}/baton"))),
    ] {
        if !found {
            findings.push(format!("{place} does not have the profile {profile}, which is shipped"));
        }
    }
    let toolchain = read("rust-toolchain.toml");
    let version = toolchain.split("channel = \"").nth(1).unwrap().split('"').next().unwrap();
    if !image.contains(&format!("ENV RUSTUP_TOOLCHAIN={version}\n")) {
        findings.push(format!("the image is not built with Rust {version}"));
    }
    assert_none("containers fit the program", &findings);
}

#[test]
fn prometheus_and_grafana_find_what_they_ask() {
    let prometheus = yaml("deploy/prometheus/prometheus.yml");
    let scrape = &list(&prometheus, "scrape_configs")[0];
    assert_eq!(text(scrape, "job_name"), "baton", "the alerts look for this name");
    let route = format!(".route(\"{}\", get(metrics::scrape))", text(scrape, "metrics_path"));
    assert!(read("crates/gateway/src/management/mod.rs").contains(&route), "{route}");
    let target = list(&list(scrape, "static_configs")[0], "targets")[0].as_str().unwrap();
    let (host, port) = target.split_once(':').unwrap();
    let compose = yaml("deploy/compose.yml");
    assert!(compose["services"].get(host).is_some(), "{host} is a service");
    let sections = read("crates/baton/src/config/sections.rs");
    let management = sections.split("\"management\" ").nth(1).unwrap();
    let listen = management.split("ListenAddress::loopback(").nth(1).unwrap().split(')').next().unwrap();
    assert_eq!(port, listen, "the default of management.listen");
    for file in list(&prometheus, "rule_files") {
        let path = format!("deploy/prometheus/{}", file.as_str().unwrap());
        assert!(root().join(&path).exists(), "{path}");
    }

    let sources = yaml("deploy/grafana/provisioning/datasources/prometheus.yml");
    let url = text(&list(&sources, "datasources")[0], "url");
    let host = url.trim_start_matches("http://").split(':').next().unwrap();
    assert!(compose["services"].get(host).is_some(), "{host} is a service");
    let providers = yaml("deploy/grafana/provisioning/dashboards/baton.yml");
    let path = text(&list(&providers, "providers")[0]["options"], "path");
    let mounts = list(&compose["services"]["grafana"], "volumes");
    let mount = format!("./grafana/dashboards:{path}:ro");
    assert!(mounts.iter().any(|one| one == &mount), "{mount}");
}
