//! A bare server that answers creations and does nothing else: `reference-server rest|grpc HOST:PORT`.

use std::process::ExitCode;

use tokio::net::TcpListener;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [protocol, address] = arguments.as_slice() else {
        eprintln!("usage: reference-server rest|grpc HOST:PORT");
        return ExitCode::from(2);
    };
    let listener = match TcpListener::bind(address).await {
        Ok(listener) => listener,
        Err(error) => {
            eprintln!("{address}: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!(
        "ready on {}",
        listener.local_addr().map_or_else(|_| address.clone(), |address| address.to_string())
    );
    let served = match protocol.as_str() {
        "rest" => bench::reference::serve_rest(listener).await.map_err(|error| error.to_string()),
        "grpc" => bench::reference::serve_grpc(listener).await.map_err(|error| error.to_string()),
        other => Err(format!("'{other}' is neither 'rest' nor 'grpc'")),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
