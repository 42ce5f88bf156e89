//! The runner as a program: a run that did not start must not count as a run without findings.

use std::process::{Command, Output};

fn smoke(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_smoke")).args(arguments).output().expect("the runner starts")
}

#[test]
fn a_run_tells_how_many_inputs_there_were() {
    let output = smoke(&["json", "0", "1"]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    let count = told.lines().last().and_then(|line| line.strip_prefix("json: ")?.split(' ').next());
    let count: usize = count.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{told}"));
    assert!(count > 0, "the corpus is empty");
}

#[test]
fn a_target_that_there_is_not_is_refused() {
    for arguments in [&["yaml", "1"][..], &["json"], &["json", "soon"], &["json", "1", "x"]] {
        let output = smoke(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("bpmn|dmn|feel|json|batch|engine"), "{told}");
    }
}
