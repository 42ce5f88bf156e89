//! The models that the benchmarks and the demo run are read without a finding.

use std::path::Path;

#[test]
fn reads_the_models_of_the_benchmarks() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/models");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "bpmn") {
            let xml = std::fs::read(&path).unwrap();
            if let Err(problems) = bpmn::parse(&xml, &bpmn::Limits::default()) {
                panic!("{}: {problems}", path.display());
            }
            count += 1;
        }
    }
    assert!(count > 0);
}
