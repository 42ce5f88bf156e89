//! File descriptors: every connection takes one. The limit of the process is raised as far as the system allows,
//! and what is left after the server's own files bounds the connections, so that a flood of them never keeps the
//! log from opening its next file.

use gateway::management;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// For the log, the state, stores, exporters and outgoing connections.
const OF_THE_SERVER: u64 = 512;
/// For the management port, its places for probes included.
const OF_MANAGEMENT: u64 = (management::CONNECTIONS_MAX + management::PROBES_MAX) as u64;
/// Fewer connections make no server.
const CONNECTIONS_MIN: usize = 16;

/// How many connections each port may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConnectionLimits {
    pub(super) rest: usize,
    pub(super) grpc: usize,
}

/// Raises the limit of file descriptors and fits the limits of connections into it.
pub(super) fn fit(wanted: ConnectionLimits) -> ConnectionLimits {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let current = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(error) => {
            tracing::debug!(%error, "the limit of file descriptors stays");
            limit.current
        }
    };
    let Some(current) = current else { return wanted };
    let fitting = within(current, wanted);
    if fitting != wanted {
        tracing::warn!(
            "the limit of file descriptors, {current}, does not do for rest.max_connections {} and \
             grpc.max_connections {}, which need {}: they are {} and {} now",
            wanted.rest,
            wanted.grpc,
            wanted.rest as u64 + wanted.grpc as u64 + OF_MANAGEMENT + OF_THE_SERVER,
            fitting.rest,
            fitting.grpc,
        );
    }
    fitting
}

/// The connections that so many descriptors do for, in the same proportion.
fn within(descriptors: u64, wanted: ConnectionLimits) -> ConnectionLimits {
    let room = descriptors.saturating_sub(OF_MANAGEMENT + OF_THE_SERVER);
    let sum = wanted.rest as u64 + wanted.grpc as u64;
    if sum <= room {
        return wanted;
    }
    let share = |places: usize| {
        let share = u128::from(room) * places as u128 / u128::from(sum);
        (share as usize).max(CONNECTIONS_MIN.min(places))
    };
    ConnectionLimits { rest: share(wanted.rest), grpc: share(wanted.grpc) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_the_server() {
        let wanted = ConnectionLimits { rest: 3000, grpc: 1000 };
        let kept = OF_MANAGEMENT + OF_THE_SERVER;
        assert_eq!(within(4000 + kept, wanted), wanted);
        assert_eq!(within(400 + kept, wanted), ConnectionLimits { rest: 300, grpc: 100 });
        assert_eq!(within(0, wanted), ConnectionLimits { rest: CONNECTIONS_MIN, grpc: CONNECTIONS_MIN });
        let one = ConnectionLimits { rest: 1, grpc: 1 };
        assert_eq!(within(0, one), one);
        let most = ConnectionLimits { rest: usize::MAX / 2, grpc: usize::MAX / 2 };
        assert_eq!(within(1024 + kept, most), ConnectionLimits { rest: 512, grpc: 512 });
    }

    #[test]
    fn the_limit_of_this_process_is_raised() {
        let wanted = ConnectionLimits { rest: 1, grpc: 1 };
        assert_eq!(fit(wanted), wanted);
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
    }
}
