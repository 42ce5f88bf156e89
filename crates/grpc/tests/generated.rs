//! Generated code is that of the protocol. `UPDATE_GENERATED=1` writes it anew.
#![allow(clippy::unwrap_used)]

use std::path::Path;

const FILE: &str = "gateway_protocol.rs";

#[test]
fn generated_code_is_that_of_the_protocol() {
    let descriptors = protox::compile(["gateway.proto"], ["proto"]).unwrap();
    let directory = tempfile::tempdir().unwrap();
    tonic_prost_build::configure()
        .codec_path("crate::codec::BoundedCodec")
        .out_dir(&directory)
        .compile_fds(descriptors)
        .unwrap();
    let wanted = std::fs::read_to_string(directory.path().join(FILE)).unwrap();
    let kept = Path::new("src/generated").join(FILE);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(&kept, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(&kept).unwrap();
    let first = wanted.lines().zip(found.lines()).position(|(wanted, found)| wanted != found);
    assert!(
        wanted == found,
        "{} is not what proto/gateway.proto gives (first difference: line {first:?}); run this test with UPDATE_GENERATED=1",
        kept.display()
    );
}
