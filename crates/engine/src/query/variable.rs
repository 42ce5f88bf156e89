//! A variable by its key. Variables are found by their scope and name everywhere else, and an index by key would cost
//! every process for the sake of this question, so it looks at them one after the other.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use protocol::{Key, Name, QueryReply, VariableView};

use super::view::{ROWS_PER_SLICE, Read, ReadError, Scan, View, not_found};
use crate::entity::VariableKey;

pub(super) fn read(key: Key) -> Read {
    Read::More(Box::new(Search { key, after: None }))
}

struct Search {
    key: Key,
    after: Option<VariableKey>,
}

impl Scan for Search {
    fn slice(mut self: Box<Self>, view: &mut View<'_>) -> Result<Read, ReadError> {
        let mut found = None;
        let mut rows = 0;
        let start = self.after.take().map_or(Bound::Unbounded, Bound::Excluded);
        view.tables.variables.visit((start, Bound::Unbounded), |place, variable| {
            rows += 1;
            if variable.key == self.key {
                found = Some((place.clone(), Arc::clone(variable)));
            } else if rows == ROWS_PER_SLICE {
                self.after = Some(place.clone());
            } else {
                return ControlFlow::Continue(());
            }
            ControlFlow::Break(())
        })?;
        let Some(((scope_key, name), variable)) = found else {
            return if self.after.is_some() {
                Ok(Read::More(self))
            } else {
                Err(not_found("Variable", self.key))
            };
        };
        let row = view.tables.element_instances.get(&scope_key)?;
        let row = row.ok_or_else(|| not_found("Variable", self.key))?;
        let instance = view.instance(row.process_instance_key)?;
        Ok(Read::Done(QueryReply::Variable(VariableView {
            key: self.key,
            name: Name(name),
            value: view.tables.variable_value(scope_key, &variable)?,
            scope_key,
            process_instance_key: row.process_instance_key,
            root_process_instance_key: instance.root_key,
            tenant_id: instance.tenant_id.clone(),
        })))
    }
}
