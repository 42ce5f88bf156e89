//! Orders that hold on all brokers of a cluster: each has a version, and the latest is in force.

use std::collections::BTreeSet;

use bytes::Bytes;
use export::Phase;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// An order to all brokers. Of two orders with the same version, the greater value is in force.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Order<T> {
    version: u64,
    #[serde(flatten)]
    pub value: T,
}

impl<T: Serialize + DeserializeOwned> Order<T> {
    /// The order after this one.
    pub fn next(&self, value: T) -> Self {
        Self { version: self.version.saturating_add(1), value }
    }

    /// JSON, as brokers tell each other and keep it.
    pub fn encode(&self) -> Bytes {
        serde_json::to_vec(self).expect("numbers and texts are JSON").into()
    }

    /// Reads an order of another broker.
    pub fn decode(json: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(json).map_err(|error| error.to_string())
    }
}

/// An order to pause processing, or to go on with it. Of two at once, the pause is in force.
pub(crate) type PauseOrder = Order<Pause>;

/// An order to exporters.
pub(crate) type ExportOrder = Order<Exporting>;

/// Whether processing is paused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Pause {
    pub paused: bool,
}

/// The phase of exporting, and the exporters that take part.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Exporting {
    pub phase: ExportPhase,
    /// IDs of exporters that are switched off.
    pub disabled: BTreeSet<String>,
    /// The exporter at whose position those begin that this order switches on; else they begin with what comes from
    /// then on.
    pub like: Option<String>,
}

/// The phases as they are told and kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ExportPhase {
    #[default]
    Exporting,
    SoftPaused,
    Paused,
}

impl From<Phase> for ExportPhase {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Exporting => Self::Exporting,
            Phase::SoftPaused => Self::SoftPaused,
            Phase::Paused => Self::Paused,
        }
    }
}

impl From<ExportPhase> for Phase {
    fn from(phase: ExportPhase) -> Self {
        match phase {
            ExportPhase::Exporting => Self::Exporting,
            ExportPhase::SoftPaused => Self::SoftPaused,
            ExportPhase::Paused => Self::Paused,
        }
    }
}
