//! Rules about what documents say of the code.

use crate::{assert_none, files, read, root};

/// Documents whose paths and links are checked.
fn documents() -> Vec<(String, String)> {
    files().into_iter().filter(|(path, _)| path.ends_with(".md")).collect()
}

/// Texts between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

#[test]
fn paths_in_the_map_exist() {
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/development/adding.md"] {
        check_paths(document);
    }
}

/// Fails for a document that names a path which is not there.
fn check_paths(document: &str) {
    let map = read(document);
    let places = ["crates/", "docs/", "tests/", "fuzz/", "scripts/", "deploy/", ".ci/"];
    let paths: Vec<_> =
        quoted(&map).filter(|text| places.iter().any(|place| text.starts_with(place))).collect();
    assert!(paths.len() > 20, "{document} names files");
    let missing: Vec<_> = paths
        .into_iter()
        .filter(|path| !path.contains(['*', '<', '…']) && !root().join(path).exists())
        .map(ToOwned::to_owned)
        .collect();
    assert_none(&format!("{document} names only what is there"), &missing);
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut broken = Vec::new();
    for (path, text) in documents() {
        let folder = root().join(&path).parent().unwrap().to_owned();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap();
            if !target.contains("://") && !file.is_empty() && !folder.join(file).exists() {
                broken.push(format!("{path}: {target}"));
            }
        }
    }
    assert_none("links lead somewhere", &broken);
}

#[test]
fn make_targets_in_documents_exist() {
    let makefile = read("Makefile");
    let mut missing = Vec::new();
    for (path, text) in documents() {
        for command in quoted(&text).filter_map(|text| text.strip_prefix("make ")) {
            let target = command.split(' ').next().unwrap();
            if !makefile.lines().any(|line| line.starts_with(&format!("{target}:"))) {
                missing.push(format!("{path}: make {target}"));
            }
        }
    }
    assert_none("documents name only make targets that are there", &missing);
}

#[test]
fn the_compatibility_table_is_complete() {
    let page = read("docs/compatibility.md");
    let kinds = read("crates/bpmn/src/graph.rs");
    let body = kinds.split("pub enum ElementKind {").nth(1).unwrap().split("\n}").next().unwrap();
    let kinds = body
        .lines()
        .filter(|line| line.starts_with("    ") && !line.starts_with("     "))
        .filter_map(|line| {
            let name: String = line.trim().chars().take_while(char::is_ascii_alphanumeric).collect();
            name.starts_with(|first: char| first.is_ascii_uppercase()).then_some(name)
        });
    let kinds: Vec<_> = kinds.collect();
    let methods = read("crates/grpc/proto/gateway.proto");
    let methods: Vec<_> = methods
        .lines()
        .filter_map(|line| line.trim().strip_prefix("rpc "))
        .filter_map(|line| line.split([' ', '(']).next())
        .map(ToOwned::to_owned)
        .collect();
    let served = read("crates/gateway/src/rest/operation/mod.rs");
    let served = served.split("\nserved! {").nth(1).unwrap().split("\n}").next().unwrap().to_owned();
    let served: Vec<_> = served
        .lines()
        .filter_map(|line| line.trim().split(" in ").next())
        .filter(|name| !name.is_empty())
        .map(|name| name[..1].to_ascii_lowercase() + &name[1..])
        .collect();
    assert!(kinds.len() > 10 && methods.len() > 20 && served.len() > 15, "{kinds:?} {methods:?} {served:?}");
    let missing: Vec<_> = kinds
        .into_iter()
        .chain(methods)
        .chain(served)
        .filter(|name| !page.contains(&format!("`{name}`")))
        .collect();
    assert_none("docs/compatibility.md lists every element kind, gRPC method and REST operation", &missing);
}

#[test]
fn tests_named_as_evidence_exist() {
    let page = read("docs/compatibility.md");
    let sources: String = files()
        .into_iter()
        .filter(|(path, _)| [".rs", ".java", ".js", ".py"].iter().any(|ending| path.ends_with(ending)))
        .map(|(_, text)| text)
        .collect();
    let evidence: Vec<_> = quoted(&page)
        .filter(|text| text.contains('_') && !text.contains([' ', '/', '.']) && text.to_lowercase() == *text)
        .collect();
    assert!(evidence.len() > 10, "the table names tests");
    let missing: Vec<_> = evidence
        .into_iter()
        .filter(|name| !sources.contains(&format!("fn {name}(")))
        .map(ToOwned::to_owned)
        .collect();
    assert_none("docs/compatibility.md names tests that are there", &missing);
}

/// The sources of the crates but this one, in one text.
fn sources() -> String {
    let ours = |path: &String| {
        path.starts_with("crates/") && !path.starts_with("crates/tidy") && path.ends_with(".rs")
    };
    files().into_iter().filter(|(path, _)| ours(path)).map(|(_, text)| text).collect()
}

/// The pages for operators.
fn manual() -> String {
    ["operate", "monitor", "secure", "history", "export", "documents", "tune"]
        .map(|page| read(&format!("docs/{page}.md")))
        .concat()
}

#[test]
fn metrics_in_the_manual_exist() {
    let page = manual();
    let sources = sources();
    let ours = ["zeebe_", "baton_", "http_", "grpc_", "process_"];
    let names: Vec<_> = quoted(&page)
        .filter(|text| ours.iter().any(|start| text.starts_with(start)) && !text.contains('*'))
        .collect();
    assert!(names.len() > 20, "the manual names metrics");
    let missing: Vec<_> =
        names.into_iter().filter(|name| !sources.contains(*name)).map(ToOwned::to_owned).collect();
    assert_none("the manual names only metrics that are there", &missing);
}

#[test]
fn settings_in_the_manual_exist() {
    let sections = read("crates/baton/src/config/sections.rs");
    // Keys that stand in files of their own.
    let shared = [
        ("..keys: ServerTlsKeys;", read("crates/baton/src/config/server_tls.rs")),
        ("..secrets: PeerSecretKeys;", read("crates/baton/src/config/peer_secret.rs")),
        ("..entrance: EntranceKeys;", read("crates/baton/src/config/entrance.rs")),
        ("..spread: SpreadKeys;", read("crates/baton/src/config/spread.rs")),
        ("..gate: GateKeys;", read("crates/baton/src/config/entrance.rs")),
    ];
    let page = read("docs/configuration.md") + &manual();
    let is_key = |text: &&str| {
        let word = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        text.contains('.') && text.split('.').all(word)
    };
    let keys: Vec<_> = quoted(&page).filter(is_key).collect();
    assert!(keys.len() > 10, "the manual names settings");
    let missing: Vec<_> = keys
        .into_iter()
        .filter(|key| {
            let (section, name) = key.rsplit_once('.').unwrap();
            let body = sections
                .split_once(&format!("\"{section}\" "))
                .map(|(_, rest)| rest.split("\n    }").next().unwrap());
            let has = |keys: &str| keys.contains(&format!(" {name}: "));
            let has_shared = |body: &str| shared.iter().any(|(line, of)| body.contains(line) && has(of));
            !body.is_some_and(|body| has(body) || has_shared(body))
        })
        .map(ToOwned::to_owned)
        .collect();
    assert_none("the manual names only settings that are there", &missing);
}

#[test]
fn the_demo_tells_a_figure_of_the_measurements() {
    let demo = read("crates/baton/src/command/demo.rs");
    let (_, figure) = demo.split_once("SHIPPED_CPU: &str = \"").expect("the figure of the demo");
    let (figure, _) = figure.split_once('"').unwrap();
    let page = read("docs/performance.md");
    let (_, row) = page.split_once("| 150 instances/s, open loop |").expect("the row of 150 instances/s");
    let cpu = row.lines().find(|line| line.contains("server CPU, of one core")).expect("the row of its CPU");
    let history = cpu.split('|').nth(5).expect("a cell with history");
    assert!(history.trim().starts_with(figure), "{figure} is not {history}");
}
