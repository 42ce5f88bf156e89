//! The commands of batch operations, each to the code that carries it out.

use protocol::{Command, PartitionId, PartitionMessage, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;

impl CommandContext<'_> {
    /// Has a message of another partition take its effect.
    pub fn receive_batch(&mut self, source: PartitionId, message: &PartitionMessage) -> Result<(), Failure> {
        match message {
            PartitionMessage::BatchItem(item) => {
                self.take_batch_item(source, item);
                Ok(())
            }
            PartitionMessage::BatchItemDone(outcome) => self.end_remote_item(outcome),
            message => unreachable!("{message:?} is no message of batch operations"),
        }
    }

    /// Performs a command of batch operations.
    pub fn perform_batch_command(&mut self, command: &Command) -> Result<Response, Failure> {
        match command {
            Command::DeleteHistory(delete) => self.delete_history(delete),
            Command::CreateBatchOperation(create) => self.create_batch_operation(create),
            Command::AddBatchItems(add) => self.add_batch_items(add),
            Command::ChangeBatchOperation { batch_operation_key, change } => {
                self.change_batch_operation(*batch_operation_key, *change)
            }
            Command::ResolveInstanceIncidents { process_instance_key } => {
                self.resolve_instance_incidents(*process_instance_key)
            }
            _ => unreachable!("{command:?} is no command of batch operations"),
        }
    }
}
