//! Generates the messages and the service of `proto/gateway.proto` without needing `protoc`.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let descriptors = protox::compile(["gateway.proto"], ["proto"])?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    println!("cargo:rerun-if-changed=proto/gateway.proto");
    Ok(())
}
