//! Deploys resources, all or none.

use std::sync::Arc;

use bpmn::Process;
use bpmn::graph::{ElementIndex, MessageDefinition, Trigger};
use protocol::{
    Deploy, DeployedProcess, DeploymentCreated, DeploymentRecord, Intent, Key, Name, ProcessRecord,
    Rejection, Resource, Response,
};

use crate::definition::Entry;
use crate::entity::{Definition, DefinitionKind, DefinitionState, StartSubscription, Timer};
use crate::expression::Scope;
use crate::failure::Failure;
use crate::work::Work;

impl Work<'_> {
    pub(super) fn deploy(&mut self, deploy: &Deploy) -> Result<Response, Failure> {
        let parsed = self.parse_resources(deploy)?;
        let deployment_key = self.next_key();
        let mut processes = Vec::new();
        let mut records = Vec::new();
        for (resource, models) in parsed {
            let checksum = xxhash_rust::xxh3::xxh3_128(&resource.content).to_be_bytes();
            for model in models {
                let deployed = match self.same_as_latest(deploy, resource, &model, checksum)? {
                    Some(known) => known,
                    None => {
                        self.add_definition(deploy, resource, model, checksum, deployment_key, &mut records)?
                    }
                };
                processes.push(deployed);
            }
        }
        self.emit(deployment_key, Intent::Created, |_| DeploymentRecord {
            deployment_key,
            tenant_id: deploy.tenant_id.clone(),
            processes_metadata: records,
        });
        Ok(Response::Deployed(DeploymentCreated {
            deployment_key,
            tenant_id: deploy.tenant_id.clone(),
            processes,
        }))
    }

    /// Reads all files; every problem of every file is told at once.
    fn parse_resources<'d>(&self, deploy: &'d Deploy) -> Result<Vec<(&'d Resource, Vec<Process>)>, Failure> {
        let mut problems = Vec::new();
        let mut parsed: Vec<(&Resource, Vec<Process>)> = Vec::new();
        if deploy.resources.is_empty() {
            problems.push("Expected to deploy at least one resource, but none given".to_owned());
        }
        for resource in &deploy.resources {
            if parsed.iter().any(|(other, _)| other.name == resource.name) {
                problems.push(format!("'{}': the deployment has two resources of this name", resource.name));
                continue;
            }
            match extension(&resource.name) {
                "bpmn" | "xml" => match bpmn::parse(&resource.content, &self.options.bpmn) {
                    Ok(models) => parsed.push((resource, models)),
                    Err(found) => problems.push(format!("'{}': {found}", resource.name)),
                },
                other => problems.push(format!(
                    "'{}': unknown resource type '{other}'; this release deploys BPMN files (.bpmn, .xml)",
                    resource.name
                )),
            }
        }
        let mut ids: Vec<(&str, &Name)> = Vec::new();
        for (resource, models) in &parsed {
            for model in models {
                match ids.iter().find(|(id, _)| **id == *model.id) {
                    Some((id, other)) => problems.push(format!(
                        "Duplicated process id '{id}' in resources '{other}' and '{}'",
                        resource.name
                    )),
                    None => ids.push((&model.id, &resource.name)),
                }
            }
        }
        if problems.is_empty() {
            return Ok(parsed);
        }
        let reason = format!(
            "Expected to deploy new resources, but encountered the following errors:\n{}",
            problems.join("\n")
        );
        Err(Rejection::invalid_argument(reason).into())
    }

    /// A process that is deployed already in exactly this file.
    fn same_as_latest(
        &self,
        deploy: &Deploy,
        resource: &Resource,
        model: &Process,
        checksum: [u8; 16],
    ) -> Result<Option<DeployedProcess>, Failure> {
        let Some(key) = self.latest_definition(&deploy.tenant_id, &Name::from(&model.id))? else {
            return Ok(None);
        };
        let latest = self.tables.definitions.get(&key)?;
        Ok(latest
            .filter(|latest| {
                latest.checksum == checksum
                    && latest.resource_name == resource.name
                    && latest.state == DefinitionState::Active
            })
            .map(|latest| deployed(&latest, key)))
    }

    fn add_definition(
        &mut self,
        deploy: &Deploy,
        resource: &Resource,
        model: Process,
        checksum: [u8; 16],
        deployment_key: Key,
        records: &mut Vec<ProcessRecord>,
    ) -> Result<DeployedProcess, Failure> {
        let key = self.next_key();
        let tenant = deploy.tenant_id.clone();
        let process_id = Name::from(&model.id);
        let previous = self.latest_definition(&tenant, &process_id)?;
        let version_tag = model.version_tag.as_ref().map(Name::from);
        let entry = Entry {
            kind: DefinitionKind::Process,
            tenant_id: &tenant,
            id: &process_id,
            version_tag: version_tag.as_ref(),
            deployment_key,
        };
        let version = self.register(&entry, key)?;
        let definition = Definition {
            process_id,
            version,
            version_tag,
            resource_name: resource.name.clone(),
            checksum,
            resource: resource.content.clone(),
            deployment_key,
            tenant_id: tenant,
            state: DefinitionState::Active,
        };
        let answer = deployed(&definition, key);
        let record = process_record(&definition, key);
        self.emit(key, Intent::Created, |_| record.clone());
        if self.options.records {
            records.push(ProcessRecord { resource: Name::default(), ..record });
        }
        self.tables.definitions.insert(key, definition);
        let model = Arc::new(model);
        self.definitions.keep(key, Arc::clone(&model));
        if let Some(previous) = previous {
            self.disarm(previous)?;
        }
        self.arm(key, &model)?;
        Ok(answer)
    }

    /// Lets the start events of a definition wait for their events.
    pub(crate) fn arm(&mut self, key: Key, model: &Process) -> Result<(), Failure> {
        let Some(definition) = self.tables.definitions.get(&key)? else { return Ok(()) };
        for (element, start) in model.triggered_starts() {
            let result = match &start.trigger {
                Trigger::Message(message) => self.arm_message(key, &definition, element, message),
                Trigger::Timer(timer) => match self.schedule(timer, &Scope::of(0)) {
                    Ok(schedule) => {
                        let timer = Timer {
                            element_instance_key: None,
                            process_instance_key: None,
                            definition_key: key,
                            element,
                            due_ms: schedule.due_ms,
                            cycle: schedule.cycle,
                            repetitions: schedule.repetitions,
                            tenant_id: definition.tenant_id.clone(),
                        };
                        self.create_timer(key, timer);
                        Ok(())
                    }
                    Err(failure) => Err(failure),
                },
                Trigger::None | Trigger::Error(_) => Ok(()),
            };
            result.map_err(|failure| match failure {
                Failure::Incident { message, .. } => Failure::Rejected(Rejection::invalid_argument(format!(
                    "Expected to deploy new resources, but encountered the following errors:\n'{}': Element: {} - {message}",
                    definition.resource_name,
                    model.element(element).id
                ))),
                other => other,
            })?;
        }
        Ok(())
    }

    fn arm_message(
        &mut self,
        key: Key,
        definition: &Definition,
        element: ElementIndex,
        message: &MessageDefinition,
    ) -> Result<(), Failure> {
        let name = self.evaluate_text(&message.name, &Scope::of(0))?;
        let subscription = StartSubscription { key: self.next_key(), definition_key: key, element };
        self.record_start_subscription(
            Intent::Created,
            &subscription,
            &definition.tenant_id,
            &definition.process_id,
            &name,
            None,
        );
        let at = (definition.tenant_id.0.clone(), name.0.clone(), definition.process_id.0.clone(), element);
        self.tables.start_subscriptions.put(at, subscription);
        Ok(())
    }

    /// Names of the messages that start a process.
    pub(crate) fn start_message_names(&self, model: &Process) -> Result<Vec<Name>, Failure> {
        let mut names = Vec::new();
        for (_, start) in model.triggered_starts() {
            if let Trigger::Message(message) = &start.trigger {
                names.push(self.evaluate_text(&message.name, &Scope::of(0))?);
            }
        }
        Ok(names)
    }

    /// Stops the start events of a definition from waiting.
    pub(crate) fn disarm(&mut self, key: Key) -> Result<(), Failure> {
        self.cancel_timers(key)?;
        let Some(definition) = self.tables.definitions.get(&key)? else { return Ok(()) };
        let model = self.definitions.process(self.tables, key)?;
        for name in self.start_message_names(&model)? {
            for (element, _) in model.triggered_starts() {
                let at = (
                    definition.tenant_id.0.clone(),
                    name.0.clone(),
                    definition.process_id.0.clone(),
                    element,
                );
                let Some(subscription) = self.tables.start_subscriptions.get(&at)? else { continue };
                if subscription.definition_key != key {
                    continue;
                }
                self.tables.start_subscriptions.delete(&at);
                self.record_start_subscription(
                    Intent::Deleted,
                    &subscription,
                    &definition.tenant_id,
                    &definition.process_id,
                    &name,
                    None,
                );
            }
        }
        Ok(())
    }
}

fn extension(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

fn deployed(definition: &Definition, key: Key) -> DeployedProcess {
    DeployedProcess {
        process_id: definition.process_id.clone(),
        version: definition.version,
        process_definition_key: key,
        resource_name: definition.resource_name.clone(),
        tenant_id: definition.tenant_id.clone(),
    }
}

/// A definition as records show it.
pub(crate) fn process_record(definition: &Definition, key: Key) -> ProcessRecord {
    let checksum = format!("{:032x}", u128::from_be_bytes(definition.checksum));
    ProcessRecord {
        bpmn_process_id: definition.process_id.clone(),
        version: definition.version,
        version_tag: definition.version_tag.clone().unwrap_or_default(),
        process_definition_key: key,
        resource_name: definition.resource_name.clone(),
        checksum: Name::from(checksum),
        resource: Name::from(&*String::from_utf8_lossy(&definition.resource)),
        duplicate: false,
        tenant_id: definition.tenant_id.clone(),
        deployment_key: definition.deployment_key,
    }
}
