//! Rows that partition 1 gives to all partitions, and the end of definitions whose instances run on several.

use protocol::{DistributedRows, FIRST_PARTITION, Key, PartitionId, PartitionMessage};
use state::{RowChange, StateError, TableKey, TableValue};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::tables::{GRANTS, Tables};
use crate::entity::{Definition, DefinitionState};

impl CommandContext<'_> {
    /// Takes rows as partition 1 has them.
    pub(super) fn take_rows(&mut self, rows: &DistributedRows) -> Result<(), Failure> {
        assert_ne!(self.options.partition_id, FIRST_PARTITION, "partition 1 gives rows to others");
        let mut drained = Vec::new();
        for row in &rows.rows {
            let change = RowChange { table: row.table, key: row.key.clone(), value: row.value.clone() };
            self.tables.apply_change(&change)?;
            drained.extend(self.note_definition(&change)?);
        }
        if self.tables.has_changed(Tables::set_of(GRANTS)) {
            self.meta.grants_version = Some(self.command_position);
        }
        if self.tables.has_changed(Tables::set_of(&["cluster_variables"])) {
            self.definitions.cluster_variables_changed();
        }
        if rows.position > 0 {
            assert!(
                self.meta.distributed.is_none_or(|known| known < rows.position),
                "rows come in the order of their commands"
            );
            self.meta.distributed = Some(rows.position);
        }
        for key in drained {
            self.end_draining(key)?;
        }
        Ok(())
    }

    /// Forgets the model of a definition that has changed. Gives its key if it drains and no instance runs here.
    fn note_definition(&mut self, change: &RowChange) -> Result<Option<Key>, StateError> {
        let is_process = change.table == self.tables.definitions.number();
        if !is_process && change.table != self.tables.decision_requirements.number() {
            return Ok(None);
        }
        let key = <Key as TableKey>::decode(&mut &change.key[..])?;
        self.definitions.forget(key);
        let Some(value) = change.value.as_ref().filter(|_| is_process) else { return Ok(None) };
        let drains = Definition::decode(value)?.state == DefinitionState::Draining;
        Ok((drains && !self.tables.running_instances.contains(&key)?).then_some(key))
    }

    /// Goes on with the deletion of a definition of which no instance runs here any more.
    pub fn end_draining(&mut self, key: Key) -> Result<(), Failure> {
        if self.options.partition_id == FIRST_PARTITION {
            return self.remove_if_drained(key);
        }
        self.send(FIRST_PARTITION, PartitionMessage::Drained { definition_key: key })?;
        Ok(())
    }

    /// Takes note that no instance of a definition runs on another partition any more.
    pub(super) fn note_drained(&mut self, key: Key, partition: PartitionId) -> Result<(), Failure> {
        self.tables.draining.delete(&(key, partition));
        self.remove_if_drained(key)
    }

    /// Removes a draining definition if no instance of it runs on any partition.
    pub(super) fn remove_if_drained(&mut self, key: Key) -> Result<(), Failure> {
        let elsewhere = (key, 0)..=(key, PartitionId::MAX);
        let runs = self.tables.running_instances.contains(&key)?
            || !self.tables.draining.keys(elsewhere, 1)?.is_empty();
        if runs { Ok(()) } else { self.remove_definition(key) }
    }
}
