//! Documents, end to end: the real program with every store that it can keep them in, and the same for all. The
//! clouds are stood in for by what others have made: moto for S3 and Google Cloud Storage, Azurite for Azure.
//!
//! Arguments pick stores by their names. Without Python, or Node.js with npm, this prints what was not run. It has
//! no harness, so that not having run never counts as a passed test.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

mod emulators;
#[allow(dead_code)]
#[path = "../../../documents/src/tests/fake_s3.rs"]
mod fake_s3;
mod life;
#[allow(dead_code)]
#[path = "../outage/proxy.rs"]
mod proxy;
#[allow(dead_code)]
#[path = "../access/server.rs"]
mod server;
mod several;
mod stores;
mod streams;

use std::process::ExitCode;

use stores::Store;

/// All stores, in the order of what they need, and some of them together.
const STORES: [&str; 8] = ["memory", "directory", "streams", "fake-s3", "several", "s3", "gcs", "azure"];

fn main() -> ExitCode {
    let wanted: Vec<_> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    // All at once, since what takes long is waiting.
    let names = STORES.into_iter().filter(|name| is_wanted(name));
    let running: Vec<_> = names.map(|name| (name, std::thread::spawn(move || run(name)))).collect();
    let mut failed = 0;
    for (name, part) in running {
        match part.join() {
            Ok(Ok(())) => println!("documents in {name}: 1 passed, 0 failed"),
            Ok(Err(reason)) => println!("documents in {name}: not run, {reason}"),
            Err(_) => {
                println!("documents in {name}: 0 passed, 1 failed");
                failed += 1;
            }
        }
    }
    ExitCode::from(u8::from(failed > 0))
}

fn run(name: &str) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = match name {
            "memory" => Store::in_memory(),
            "directory" => Store::in_directory(),
            "fake-s3" => Store::in_fake_s3().await,
            "several" => {
                several::check().await;
                return Ok(());
            }
            "streams" => {
                streams::check().await;
                return Ok(());
            }
            "s3" => Store::in_moto().await?,
            "gcs" => Store::in_gcs().await?,
            _ => Store::in_azurite().await?,
        };
        life::check(&store).await;
        Ok(())
    })
}
