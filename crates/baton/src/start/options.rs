//! Settings as the parts of the server take them.

use crate::config::Config;

/// How long requests under way may take once the gateways stop. Shorter than orchestrators wait before they kill.
const STOP_GRACE: std::time::Duration = std::time::Duration::from_secs(10);

/// Of the REST gateway.
pub(super) fn rest(config: &Config) -> gateway::rest::Options {
    let rest = &config.rest;
    gateway::rest::Options {
        max_connections: rest.max_connections,
        idle_timeout: rest.idle_timeout,
        body_timeout: rest.body_timeout,
        await_timeout: rest.await_timeout,
        long_poll_timeout: rest.long_poll_timeout,
        stop_timeout: STOP_GRACE,
        server_timing: rest.server_timing,
    }
}

/// Of the gRPC gateway.
pub(super) fn grpc(config: &Config) -> gateway::grpc::Options {
    let grpc = &config.grpc;
    gateway::grpc::Options {
        poll_timeout: grpc.long_poll_timeout,
        result_timeout: grpc.await_timeout,
        connections_max: grpc.max_connections,
        calls_per_connection_max: grpc.max_calls_per_connection,
        keep_alive_interval: grpc.keep_alive_interval,
        keep_alive_timeout: grpc.keep_alive_timeout,
        shutdown_grace: STOP_GRACE,
    }
}
