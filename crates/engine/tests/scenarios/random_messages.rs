//! Messages, signals and conditions for random processes.

use protocol::{
    BroadcastSignal, BusinessIdClaim, Command, CorrelateMessage, EvaluateConditionals, Name, PublishMessage,
};

use crate::random_process::Run;
use crate::support::document;

impl Run {
    /// Of a message: seldom one, which may have to be unique.
    fn business_id(&mut self) -> Option<BusinessIdClaim> {
        let business_id = Name::from(["", "", "", "x", "y"][self.random.below(5) as usize]);
        let is_unique = self.random.below(2) == 0;
        (!business_id.is_empty()).then_some(BusinessIdClaim { business_id, is_unique })
    }

    pub fn publish(&mut self) {
        let command = Command::PublishMessage(PublishMessage {
            name: Name::from(format!(
                "{}{}",
                ["m", "n"][self.random.below(2) as usize],
                self.random.below(4)
            )),
            correlation_key: Name::from(format!("k{}", self.random.below(2))),
            time_to_live_ms: [0, 5000][self.random.below(2) as usize],
            message_id: Name::default(),
            variables: document(&format!(r#"{{"r":{}}}"#, self.random.below(10))),
            tenant_id: Name::default_tenant(),
            business_id: self.business_id(),
        });
        self.run(command);
    }

    /// Sends a message, a signal or a condition that may start instances.
    pub fn start(&mut self) {
        let (number, key) = (self.random.below(5), self.random.below(2));
        let variables = document(&format!(r#"{{"r":{},"key":"k{key}"}}"#, self.random.below(10)));
        let (name, tenant_id) = (Name::from(format!("b{number}")), Name::default_tenant());
        let correlation_key = Name::from(["", "k0", "k1"][self.random.below(3) as usize]);
        let command = match self.random.below(5) {
            0 | 1 => Command::PublishMessage(PublishMessage {
                name,
                correlation_key,
                time_to_live_ms: [0, 5000][self.random.below(2) as usize],
                message_id: Name::default(),
                variables,
                tenant_id,
                business_id: self.business_id(),
            }),
            2 => Command::CorrelateMessage(CorrelateMessage {
                name,
                correlation_key,
                variables,
                tenant_id,
                business_id: self.business_id(),
                request_id: None,
            }),
            3 => {
                let name = Name::from(format!("i{number}"));
                Command::BroadcastSignal(BroadcastSignal { name, variables, tenant_id })
            }
            _ => Command::EvaluateConditionals(EvaluateConditionals {
                variables,
                tenant_id,
                definition_key: None,
            }),
        };
        self.run(command);
    }

    pub fn broadcast(&mut self) {
        let (name, r) = (self.random.below(3), self.random.below(10));
        self.run(Command::BroadcastSignal(BroadcastSignal {
            name: Name::from(format!("{}{name}", ["g", "h"][(r % 2) as usize])),
            variables: document(&format!(r#"{{"r":{r}}}"#)),
            tenant_id: Name::default_tenant(),
        }));
    }
}
