//! Runs the promised measurements against a `baton` program and prints one table: what `make bench` calls.

use std::process::ExitCode;

use bench::suite::{self, SuiteOptions};
use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs the promised measurements against a baton program and prints one table.
#[derive(Parser)]
#[command(name = "bench-suite")]
struct Command {
    #[command(flatten)]
    options: SuiteOptions,
}

#[tokio::main]
async fn main() -> ExitCode {
    let command = Command::parse();
    match suite::run(&command.options).await {
        Ok(table) => {
            println!("{}", table.text());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
