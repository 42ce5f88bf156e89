//! Whether a broker of a cluster could serve once in its life. A broker that starts knows a leader by its log, which
//! may be gone long since: it is ready when it has found the leader, and has what was acknowledged by then.

use tokio::sync::watch;

/// Whether this broker has been able to serve once.
#[derive(Debug)]
pub(crate) struct Readiness(watch::Sender<bool>);

impl Readiness {
    /// A broker that has yet to find its leader, or one that needs none.
    pub fn new(needs_leader: bool) -> Self {
        Self(watch::channel(!needs_leader).0)
    }

    /// The broker can serve from now on.
    pub fn begin(&self) {
        self.0.send_replace(true);
    }

    pub fn has_served(&self) -> bool {
        *self.0.borrow()
    }

    /// Resolves when the broker has been able to serve.
    pub async fn served(&self) {
        // The sender lives as long as this.
        let _ = self.0.subscribe().wait_for(|has_served| *has_served).await;
    }

    /// Error of the health check until the broker has been able to serve.
    pub fn check(&self) -> Result<(), String> {
        let reason = "this broker has not caught up with the leader, or has no vote yet, since it started";
        if self.has_served() { Ok(()) } else { Err(reason.to_owned()) }
    }
}
