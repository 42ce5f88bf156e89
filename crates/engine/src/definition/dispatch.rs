//! The commands of definitions, each to the code that carries it out.

use protocol::{Command, PartitionId, PartitionMessage, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;

impl CommandContext<'_> {
    /// Has a message of another partition take its effect.
    pub fn receive_definition(
        &mut self,
        source: PartitionId,
        message: &PartitionMessage,
    ) -> Result<(), Failure> {
        match message {
            PartitionMessage::Rows(rows) => self.take_rows(rows),
            PartitionMessage::Drained { definition_key } => self.note_drained(*definition_key, source),
            message => unreachable!("{message:?} is no message of definitions"),
        }
    }

    pub fn perform_definition_command(&mut self, command: &Command) -> Result<Response, Failure> {
        match command {
            Command::Deploy(deploy) => self.deploy(deploy),
            Command::DeleteResource(delete) => self.delete_resource(delete),
            Command::ClusterVariable(variable) => self.change_cluster_variable(variable),
            Command::EvaluateDecision(evaluate) => self.evaluate_decision_alone(evaluate),
            _ => unreachable!("{command:?} is no command of definitions"),
        }
    }
}
