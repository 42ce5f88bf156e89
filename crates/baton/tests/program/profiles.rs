//! Profiles, credentials of variables, and completion.

use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::models::TASK_BPMN;
use crate::support::{Server, baton, failed, text};

fn at(home: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = baton();
    command.args(arguments).env("XDG_CONFIG_HOME", home).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that reads nothing may have ended.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn profiles_know_servers_and_keep_their_secrets() {
    let users = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(users.path(), "users: [{username: ann, password: right}]").unwrap();
    let initialization = format!("security.initialization={}", users.path().display());
    let server = Server::start(&["--set", "security.authentication.method=basic", "--set", &initialization]);
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let rest = format!("http://{}", server.address("rest"));

    let none = at(home, &["profiles", "list"], "");
    assert!(text(&none.stderr).contains("`baton profiles set NAME"), "{none:?}");
    let made = at(
        home,
        &["profiles", "set", "prod", "--rest-address", &rest, "--username", "ann", "--password-stdin"],
        "right\n",
    );
    assert!(made.status.success(), "{made:?}");
    let file = home.join("baton").join("profiles.yaml");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    at(
        home,
        &["profiles", "set", "wrong", "--rest-address", &rest, "--username", "ann", "--password-stdin"],
        "no\n",
    );

    let status = |arguments: &[&str]| at(home, &[&["status"], arguments].concat(), "");
    assert!(status(&["--profile", "prod"]).status.success());
    assert!(status(&[]).status.success(), "the first one is the default one");
    failed(
        &status(&["--profile", "wrong"]),
        1,
        &["user name or password is wrong", "hint: give credentials"],
    );
    failed(&status(&["--profile", "prot"]), 2, &["there is no profile 'prot'", "did you mean 'prod'?"]);
    // A profile of the command line comes before variables, and a variable names one, too.
    let by = |name: &str, value: &str, arguments: &[&str]| {
        baton().args(arguments).env("XDG_CONFIG_HOME", home).env(name, value).output().unwrap()
    };
    assert!(
        by("BATON_REST_ADDRESS", "http://localhost:1", &["status", "--profile", "prod"]).status.success()
    );
    failed(&by("BATON_REST_ADDRESS", "http://localhost:1", &["status"]), 3, &["localhost:1"]);
    failed(&by("BATON_PROFILE", "wrong", &["status"]), 1, &["user name or password is wrong"]);

    let listed = text(&at(home, &["profiles", "list", "--json"], "").stdout);
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((&listed[0]["profile"], &listed[0]["password"]), (&"prod".into(), &"***".into()));
    assert_eq!((&listed[0]["default"], &listed[1]["default"]), (&true.into(), &false.into()));
    assert!(at(home, &["profiles", "use", "wrong"], "").status.success());
    failed(&status(&[]), 1, &["user name or password is wrong"]);
    assert!(at(home, &["profiles", "remove", "wrong"], "").status.success());
    failed(&at(home, &["profiles", "use", "wrong"], ""), 2, &["there is no profile 'wrong'"]);

    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    failed(&status(&["--profile", "prod"]), 2, &["others may use it: its mode is 644", "hint: chmod 600"]);
    server.stop(Signal::TERM);
}

#[test]
fn variables_that_contradict_each_other_are_told_by_their_names() {
    let with = |variables: &[(&str, &str)], arguments: &[&str]| {
        let mut command = baton();
        command.envs(variables.iter().copied()).args(arguments);
        command.output().unwrap()
    };
    let both = [("BATON_USERNAME", "ann"), ("BATON_TOKEN", "t")];
    failed(&with(&both, &["status"]), 2, &["BATON_USERNAME and BATON_TOKEN are both set"]);
    let half = [("BATON_PRIVATE_KEY", "k.pem"), ("BATON_REST_ADDRESS", "https://localhost:1")];
    failed(&with(&half, &["status"]), 2, &["BATON_PRIVATE_KEY needs BATON_CERTIFICATE_CHAIN, too"]);
    // Mistakes elsewhere do not name them.
    let pair = [("BATON_PRIVATE_KEY", "k.pem"), ("BATON_CERTIFICATE_CHAIN", "c.pem")];
    let usage = with(&pair, &["deploy"]);
    failed(&usage, 2, &["<FILE>..."]);
    assert!(!text(&usage.stderr).contains("--private-key"), "{usage:?}");

    let server = Server::start(&[]);
    let password = server.command(&["health"]).env("BATON_PASSWORD", "x").output().unwrap();
    assert!(password.status.success(), "a password alone is nobody's: {password:?}");
    server.stop_clean();
}

/// Candidates for the last of the words.
fn completed(server: &str, words: &[&str]) -> String {
    let output = baton()
        .env("BATON_COMPLETE", "bash")
        .env("BATON_REST_ADDRESS", server)
        .env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string())
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_COMPLETE_SPACE", "true")
        .env("_CLAP_IFS", "\n")
        .arg("--")
        .args(words)
        .output()
        .unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    text(&output.stdout)
}

#[test]
fn names_and_keys_of_the_server_are_completed() {
    let server = Server::start(&[]);
    let rest = format!("http://{}", server.address("rest"));
    server.deploy("errand.bpmn", TASK_BPMN);
    let instance = server.start_instance("errand", "{}");
    server.found(&["jobs", "--instance", &instance]);
    assert_eq!(completed(&rest, &["baton", "run", "er"]).trim(), "errand");
    assert_eq!(completed(&rest, &["baton", "cancel", ""]).lines().next(), Some(instance.as_str()));
    assert_eq!(completed(&rest, &["baton", "work", ""]).lines().next(), Some("errand"));
    // Options of the line count.
    let named = ["baton", "run", "--rest-address", &rest, "er"];
    assert_eq!(completed("http://localhost:1", &named).trim(), "errand");
    assert!(completed(&rest, &["baton", "jobs", "comp"]).contains("complete"));
    server.stop_clean();

    // A server that does not answer completes nothing, soon.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let began = Instant::now();
    assert_eq!(
        completed(&format!("http://{}", silent.local_addr().unwrap()), &["baton", "run", "er"]).trim(),
        ""
    );
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    drop(silent);
    assert_eq!(completed("http://localhost:1", &["baton", "run", "er"]).trim(), "");
}
