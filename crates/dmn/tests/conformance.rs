//! Runs the DMN Technology Compatibility Kit in both dialects. It lives beside the project, not in it; where it is
//! not found, this prints that it was not run. It has no harness, so that not having run never counts as a passed
//! test. Known deviations are in `deviations.csv`.

mod tck;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where functions of Java are called. Only the cases that expect an error need no Java.
const JAVA: &str = "0076-feel-external-java";
const NEED_NO_JAVA: [&str; 4] = ["incorrect_001", "incorrect_002", "incorrect_003", "literal_007_a"];
/// How many cases must pass at least: in the standard dialect, and in Camunda's of those that
/// Camunda's own engine passes.
const FLOORS: [usize; 2] = [3_375, 2_850];

fn main() -> ExitCode {
    let Some(root) = root() else {
        println!("conformance: not run, the kit was not found (set DMN_TCK to the path of its folder dmn)");
        return ExitCode::SUCCESS;
    };
    let verbose = std::env::var_os("DMN_TCK_VERBOSE").is_some();
    let filter = std::env::var("DMN_TCK_FILTER").unwrap_or_default();
    let mut published = published(&root);
    let deviations = deviations();
    let mut passed = [0usize; 2];
    let mut total = [0usize; 2];
    let mut java = 0;
    let mut unexpected = Vec::new();
    for folder in folders(&root) {
        let name = format!(
            "{}/{}",
            folder.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy(),
            folder.file_name().unwrap_or_default().to_string_lossy()
        );
        if !name.contains(&filter) {
            continue;
        }
        for (dialect, label) in [(feel::Dialect::Standard, "standard"), (feel::Dialect::Camunda, "camunda")] {
            let index = usize::from(dialect == feel::Dialect::Camunda);
            for case in tck::run_folder(&folder, dialect) {
                if name.ends_with(JAVA) && !NEED_NO_JAVA.contains(&case.id.as_str()) {
                    java += usize::from(index == 0);
                    continue;
                }
                let key = format!("{name},{},{}", case.file, case.id);
                if index == 1 && !published.remove(&key) {
                    continue;
                }
                total[index] += 1;
                let deviates = deviations.contains_key(&format!("{label},{key}"));
                match case.failure {
                    None => passed[index] += 1,
                    Some(reason) => {
                        if verbose {
                            println!("{label} {key}: {reason}");
                        }
                        if !deviates {
                            unexpected.push(format!("{label} {key}: {reason}"));
                        }
                    }
                }
            }
        }
    }
    println!(
        "conformance, standard: {} of {} cases pass; {java} that need Java were not run",
        passed[0], total[0]
    );
    println!("conformance, camunda: {} of {} cases that Camunda passes pass", passed[1], total[1]);
    if filter.is_empty() && !published.is_empty() {
        println!(
            "conformance, camunda: {} published results are of cases that the kit does not have",
            published.len()
        );
    }
    if !filter.is_empty() {
        return ExitCode::SUCCESS;
    }
    for failure in &unexpected {
        println!("not a known deviation: {failure}");
    }
    if passed[0] < FLOORS[0] || passed[1] < FLOORS[1] || !unexpected.is_empty() {
        println!("conformance: FAILED, the floors are {FLOORS:?}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn root() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/tck/dmn");
    let path = std::env::var_os("DMN_TCK").map_or(beside, PathBuf::from);
    path.is_dir().then_some(path)
}

/// The folders of levels 2 and 3.
fn folders(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for level in ["compliance-level-2", "compliance-level-3"] {
        let entries = std::fs::read_dir(root.join(level)).expect("the folder of a level can be read");
        found.extend(entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()));
    }
    found.sort();
    found
}

/// The cases that Camunda's own engine passes.
fn published(root: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(root.join("camunda-8-results.csv")).expect("the published results");
    text.lines().filter_map(|line| line.strip_suffix(",SUCCESS")).map(str::to_owned).collect()
}

/// Cases that fail for a reason: dialect, folder, file, case, and the reason.
fn deviations() -> BTreeMap<String, String> {
    let text =
        std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/deviations.csv"))
            .expect("the list of deviations");
    let lines = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            let end = line.match_indices(',').nth(3).map_or(line.len(), |(place, _)| place);
            let (key, reason) = line.split_at(end);
            assert!(reason.len() > 1, "a deviation without a reason: {line}");
            (key.to_owned(), reason[1..].to_owned())
        })
        .collect()
}
