//! Rules between settings.

use super::Config;

impl Config {
    /// Rules between keys: what is wrong, each naming its keys.
    pub(crate) fn contradictions(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut at_most = |fine: bool, lower: &str, upper: &str| {
            if !fine {
                wrong.push(format!("'{lower}' is greater than '{upper}'"));
            }
        };
        let flow = &self.flow_control;
        let vegas = &self.flow_control_vegas;
        at_most(
            self.data.min_free_log_bytes <= self.data.min_free_bytes,
            "data.min_free_log_bytes",
            "data.min_free_bytes",
        );
        at_most(flow.min_limit <= flow.initial_limit, "flow_control.min_limit", "flow_control.initial_limit");
        at_most(flow.initial_limit <= flow.max_limit, "flow_control.initial_limit", "flow_control.max_limit");
        at_most(vegas.alpha <= vegas.beta, "flow_control.vegas.alpha", "flow_control.vegas.beta");
        at_most(self.log.segment_bytes <= self.log.retained_bytes, "log.segment_bytes", "log.retained_bytes");
        wrong.extend(self.contradictions_of_security());
        wrong.extend(self.contradictions_of_cluster());
        wrong.extend(self.not_built_in());
        #[cfg(feature = "opensearch")]
        wrong.extend(self.contradictions_of_opensearch());
        wrong.extend(self.contradictions_of_documents());
        wrong
    }
}
