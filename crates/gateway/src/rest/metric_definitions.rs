//! The metrics of this gateway, with their handles found once.

use std::sync::OnceLock;
use std::time::Duration;

use http::StatusCode;
use metrics::Histogram;

use super::contract::{OPERATIONS, Operation};

/// Time from the head of a request to its answer, in seconds, by `uri` (template), `method`, `status`, `outcome`.
pub const HTTP_SERVER_REQUESTS_SECONDS: &str = "http_server_requests_seconds";

/// Statuses with a place of their own; others share one.
const STATUSES: [u16; 17] =
    [200, 201, 204, 400, 401, 403, 404, 405, 406, 408, 409, 413, 415, 500, 501, 503, 504];
/// One place for requests that lead to no operation.
const PLACES: usize = OPERATIONS.len() + 1;

type ByStatus = [OnceLock<Histogram>; STATUSES.len() + 1];

/// The histograms of all operations. A handle is made when it is first needed, so install the recorder before.
pub(crate) struct RequestMetrics(Box<[OnceLock<Box<ByStatus>>]>);

impl RequestMetrics {
    pub(crate) fn new() -> Self {
        Self((0..PLACES).map(|_| OnceLock::new()).collect())
    }

    pub(crate) fn record(&self, operation: Option<Operation>, status: StatusCode, took: Duration) {
        let place = operation.map_or(OPERATIONS.len(), |operation| operation as usize);
        let by_status = self.0[place].get_or_init(Box::default);
        let code = status.as_u16();
        let at = STATUSES.iter().position(|s| *s == code).unwrap_or(STATUSES.len());
        by_status[at].get_or_init(|| histogram(operation, status)).record(took);
    }
}

fn histogram(operation: Option<Operation>, status: StatusCode) -> Histogram {
    let outcome = match status.as_u16() {
        ..=199 => "INFORMATIONAL",
        200..=299 => "SUCCESS",
        300..=399 => "REDIRECTION",
        400..=499 => "CLIENT_ERROR",
        500.. => "SERVER_ERROR",
    };
    // Paths and methods that nobody knows would be labels of the caller's making.
    let (uri, method) = operation
        .map_or(("UNKNOWN", "UNKNOWN"), |operation| (operation.spec().path, operation.spec().method));
    metrics::histogram!(
        HTTP_SERVER_REQUESTS_SECONDS,
        "uri" => uri, "method" => method, "status" => status.as_str().to_owned(), "outcome" => outcome
    )
}
