//! Labels of the metrics of a partition.

use metrics::{Counter, Gauge, Histogram, Label, SharedString, counter, gauge, histogram};
use protocol::PartitionId;

/// Labels of a metric, those of the partition among them.
#[derive(Debug, Clone)]
pub(crate) struct Labels(Vec<Label>);

impl Labels {
    /// The label of a partition.
    pub fn of(partition: PartitionId) -> Self {
        Self(vec![Label::new("partition", partition.to_string())])
    }

    /// Labels of a partition in metrics of consensus.
    pub fn of_group(partition: PartitionId) -> Self {
        Self(replication::group_labels(u64::from(partition)))
    }

    /// These labels and one more.
    pub fn and(&self, name: &'static str, value: impl Into<SharedString>) -> Self {
        let mut all = self.clone();
        all.0.push(Label::new(name, value));
        all
    }

    pub fn counter(&self, name: &'static str) -> Counter {
        counter!(name, self.0.clone())
    }

    pub fn gauge(&self, name: &'static str) -> Gauge {
        gauge!(name, self.0.clone())
    }

    pub fn histogram(&self, name: &'static str) -> Histogram {
        histogram!(name, self.0.clone())
    }
}
