//! Broadcasts a signal.

use protocol::{BroadcastSignal, Response};

use crate::core::context::CommandContext;

impl CommandContext<'_> {
    pub(super) fn broadcast_signal(&mut self, broadcast: &BroadcastSignal) -> Response {
        let tenant_id = broadcast.tenant_id.clone();
        let signal_key =
            self.broadcast(broadcast.name.clone(), tenant_id.clone(), broadcast.variables.clone());
        Response::SignalBroadcast { signal_key, tenant_id }
    }
}
