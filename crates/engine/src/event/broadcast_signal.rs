//! Broadcasts a signal.

use protocol::{BroadcastSignal, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;

impl CommandContext<'_> {
    pub(super) fn broadcast_signal(&mut self, broadcast: &BroadcastSignal) -> Result<Response, Failure> {
        let tenant_id = broadcast.tenant_id.clone();
        let signal_key =
            self.broadcast(broadcast.name.clone(), tenant_id.clone(), broadcast.variables.clone())?;
        Ok(Response::SignalBroadcast { signal_key, tenant_id })
    }
}
