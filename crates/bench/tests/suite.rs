//! The suite against programs that only pretend to be the server.
#![allow(clippy::unwrap_used)]

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use bench::suite::{self, SuiteOptions, Verdict};

fn options(directory: &Path, program: &str) -> SuiteOptions {
    let server = directory.join("pretender");
    fs::write(&server, program).unwrap();
    fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
    SuiteOptions {
        server,
        reference_server: None,
        scratch: Some(directory.to_owned()),
        quick: true,
        waiting_instances: None,
        window: None,
        backlog_window: None,
        only: Some("start on an empty directory".to_owned()),
        server_argument: vec!["--more".to_owned()],
        json: Some(directory.join("table.json")),
        markdown: Some(directory.join("table.md")),
        html: None,
    }
}

/// One test for both, because a program must not be started while another thread has just written one.
#[tokio::test]
async fn pretenders() {
    measures_the_time_until_ready().await;
    a_program_that_ends_becomes_a_row_that_says_so().await;
}

async fn measures_the_time_until_ready() {
    let directory = tempfile::tempdir().unwrap();
    let program = "#!/bin/sh\n[ \"$1 $2\" = 'start --data-dir' ] && [ -d \"$3\" ] && [ \"${10}\" = --more ] || exit 3\n\
        trap 'exit 0' TERM\necho listening\necho ready\nwhile :; do sleep 0.01; done\n";
    let table = suite::run(&options(directory.path(), program)).await.unwrap();
    assert_eq!(table.rows.len(), 1, "{}", table.text());
    assert!(table.rows[0].value.unwrap() > 0.0);
    assert_eq!(table.rows[0].target, "≤ 200.00 ms");
    assert!(fs::read_to_string(directory.path().join("table.md")).unwrap().contains("start to ready"));
    assert!(fs::read_to_string(directory.path().join("table.json")).unwrap().contains("\"verdict\""));
    // Scratch directories are gone: only the program and the two results are left.
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 3);
}

async fn a_program_that_ends_becomes_a_row_that_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let table = suite::run(&options(directory.path(), "#!/bin/sh\nexit 7\n")).await.unwrap();
    assert_eq!(table.rows.len(), 1);
    assert_eq!(table.rows[0].verdict, Verdict::Unknown);
    assert!(table.rows[0].figure.contains("ended before it was ready"), "{}", table.text());
}
