//! The choice of the broker that leads next.

/// The broker that is to lead next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Successor {
    Broker(u32),
    /// Any with room on its disk.
    Any,
    /// Any with room on its disk; if none has room, any at all: this broker cannot go on.
    AnyInNeed,
}

impl From<Option<u32>> for Successor {
    fn from(broker: Option<u32>) -> Self {
        broker.map_or(Self::Any, Self::Broker)
    }
}
