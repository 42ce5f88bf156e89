//! Creates, changes or deletes a listener of all user tasks.

use protocol::{
    GlobalListener, GlobalListenerCommand, GlobalListenerRecord, GlobalListenerSource, Intent, Key, Name,
    Rejection, RejectionType, Response, is_path_part,
};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::slices::Slices;
use crate::entity::StoredListener;

impl CommandContext<'_> {
    pub(crate) fn change_global_listener(
        &mut self,
        command: &GlobalListenerCommand,
    ) -> Result<Response, Failure> {
        let listener = match command {
            GlobalListenerCommand::Create(listener) => {
                if !is_path_part(&listener.id) {
                    return Err(Rejection::invalid_argument(format!(
                        "Expected to create a global listener whose id is one part of a path, neither '.' nor '..' and \
                         without any of / \\ % ? #, but it was '{}'",
                        self.options.cut_message(&listener.id)
                    ))
                    .into());
                }
                if self.tables.global_listeners.contains(&listener.id.0)? {
                    let reason = format!(
                        "Expected to create a global listener with id '{}', but there is one already",
                        listener.id
                    );
                    return Err(Rejection::new(RejectionType::AlreadyExists, reason).into());
                }
                let key = self.next_key();
                self.store_listener(key, Intent::Created, listener);
                listener.clone()
            }
            GlobalListenerCommand::Update(listener) => {
                let stored = self.find_listener(&listener.id, "update")?;
                // One of the configuration is changed until that is read again, and goes when it goes there.
                let listener = GlobalListener { source: stored.listener.source, ..listener.clone() };
                self.store_listener(stored.key, Intent::Updated, &listener);
                listener
            }
            GlobalListenerCommand::Delete { id } => {
                let stored = self.find_listener(id, "delete")?;
                self.tables.global_listeners.delete(&id.0);
                self.record_listener(stored.key, Intent::Deleted, &stored.listener);
                return Ok(Response::Done);
            }
            GlobalListenerCommand::Configure(listeners) => {
                self.configure_listeners(listeners)?;
                return Ok(Response::Done);
            }
        };
        Ok(Response::GlobalListener(listener))
    }

    /// Makes the listeners of the configuration the given ones. Where an ID is taken, the configuration wins.
    fn configure_listeners(&mut self, listeners: &[GlobalListener]) -> Result<(), Failure> {
        let source = GlobalListenerSource::Configuration;
        let mut slices = Slices::of(..);
        while let Some(rows) = slices.rows(&self.tables.global_listeners)? {
            for (id, stored) in rows {
                let is_gone = listeners.iter().all(|listener| listener.id.0 != id);
                if is_gone && stored.listener.source == source {
                    self.tables.global_listeners.delete(&id);
                    self.record_listener(stored.key, Intent::Deleted, &stored.listener);
                }
            }
        }
        for listener in listeners {
            let listener = GlobalListener { source, ..listener.clone() };
            match self.tables.global_listeners.get(&listener.id.0)? {
                None => {
                    let key = self.next_key();
                    self.store_listener(key, Intent::Created, &listener);
                }
                Some(stored) if stored.listener == listener => {}
                Some(stored) => self.store_listener(stored.key, Intent::Updated, &listener),
            }
        }
        Ok(())
    }

    fn find_listener(&self, id: &Name, purpose: &str) -> Result<StoredListener, Failure> {
        let Some(stored) = self.tables.global_listeners.get(&id.0)? else {
            return Err(Rejection::not_found(format!(
                "Expected to {purpose} the global listener with id '{id}', but there is no such listener"
            ))
            .into());
        };
        Ok((*stored).clone())
    }

    fn store_listener(&mut self, key: Key, intent: Intent, listener: &GlobalListener) {
        self.record_listener(key, intent, listener);
        let stored = StoredListener { key, listener: listener.clone() };
        self.tables.global_listeners.put(listener.id.0.clone(), stored);
    }

    fn record_listener(&mut self, key: Key, intent: Intent, listener: &GlobalListener) {
        self.emit(key, intent, |_| GlobalListenerRecord {
            id: listener.id.clone(),
            job_type: listener.job_type.clone(),
            retries: listener.retries,
            event_types: listener.event_types.iter().map(|event| Name::from(event.as_str())).collect(),
            after_non_global: listener.after_non_global,
            priority: listener.priority,
            source: Name::from(listener.source.as_str()),
        });
    }
}
