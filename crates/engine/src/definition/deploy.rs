//! Deploys resources, all or none.

use std::sync::Arc;

use bpmn::Process;
use protocol::{Deploy, Intent, Key, Name, Resource, Response};

use super::record::process_record;

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::definition::{Content, Deployment, Entry, ReadFile, Source};
use crate::entity::{Definition, DefinitionKind, DefinitionState};

impl CommandContext<'_> {
    /// The files of a deployment get their versions together: if one of them is new, all of them are. So what is bound
    /// to its deployment always finds what it was deployed with.
    pub(super) fn deploy(&mut self, deploy: &Deploy) -> Result<Response, Failure> {
        let files = self.read_files(deploy)?;
        let deployment_key = self.next_key();
        let mut deployment = Deployment::new(deployment_key, &deploy.tenant_id, self.options.records);
        if !self.find_known(&files, &mut deployment)? {
            deployment = Deployment::new(deployment_key, &deploy.tenant_id, self.options.records);
            let mut keys = Vec::with_capacity(files.len());
            for file in files {
                let key = self.add_file(file, &keys, &mut deployment)?;
                keys.push(key);
            }
        }
        let Deployment { created, record, .. } = deployment;
        self.emit(deployment_key, Intent::Created, |_| record);
        Ok(Response::Deployed(created))
    }

    /// Looks for what is deployed already in exactly these files; false if anything is new.
    fn find_known(&self, files: &[ReadFile], deployment: &mut Deployment) -> Result<bool, Failure> {
        let mut is_bound = false;
        let mut keys = Vec::with_capacity(files.len());
        for file in files {
            let mut key = 0;
            let known = match &file.content {
                Content::Processes(models) => {
                    is_bound |= models.iter().any(|model| model.is_bound_to_deployment);
                    self.known_processes(file, models, deployment)?
                }
                Content::Decisions { graph, imports } => {
                    let imported = self.imported(&keys_of(imports, &keys))?;
                    let known = self.known_decisions(file, graph, &imported, deployment)?;
                    key = known.unwrap_or_default();
                    known.is_some()
                }
                Content::Form(head) => self.known_file(DefinitionKind::Form, file, head, deployment)?,
                Content::Other(head) => self.known_file(DefinitionKind::Resource, file, head, deployment)?,
            };
            if !known {
                return Ok(false);
            }
            keys.push(key);
        }
        // References bound to a deployment would miss resources of another one.
        Ok(!is_bound || deployment.is_of_one_deployment())
    }

    fn known_processes(
        &self,
        file: &ReadFile,
        models: &[Process],
        deployment: &mut Deployment,
    ) -> Result<bool, Failure> {
        for model in models {
            let latest = self.latest_definition(&deployment.created.tenant_id, &Name::from(&model.id))?;
            let Some(key) = latest else { return Ok(false) };
            match self.tables.definitions.get(&key)? {
                Some(latest)
                    if latest.checksum == file.checksum && latest.resource_name == file.resource.name =>
                {
                    deployment.add_process(&latest, key, true);
                }
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Adds a file; `keys` are of those before it. Gives the key that others import it by.
    fn add_file(
        &mut self,
        file: ReadFile,
        keys: &[Key],
        deployment: &mut Deployment,
    ) -> Result<Key, Failure> {
        let ReadFile { resource, checksum, content } = file;
        match content {
            Content::Processes(models) => {
                for model in models {
                    self.add_process(resource, model, checksum, deployment)?;
                }
            }
            Content::Decisions { graph, imports } => {
                let imported = self.imported(&keys_of(&imports, keys))?;
                return Ok(self.add_decisions(resource, graph, checksum, imported, deployment)?);
            }
            Content::Form(head) => {
                self.add_stored(DefinitionKind::Form, resource, head, checksum, deployment)?;
            }
            Content::Other(head) => {
                self.add_stored(DefinitionKind::Resource, resource, head, checksum, deployment)?;
            }
        }
        Ok(0)
    }

    fn add_process(
        &mut self,
        resource: &Resource,
        model: Process,
        checksum: [u8; 16],
        deployment: &mut Deployment,
    ) -> Result<(), Failure> {
        let deployment_key = deployment.created.deployment_key;
        let key = self.next_key();
        let tenant = deployment.created.tenant_id.clone();
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
        deployment.add_process(&definition, key, false);
        self.emit(key, Intent::Created, |_| process_record(&definition, key));
        let bytes = definition.resource.len();
        self.tables.definitions.insert(key, definition);
        let model = Arc::new(model);
        self.definitions.keep(key, Arc::clone(&model), bytes);
        self.add_agents(key, &model)?;
        if let Some(previous) = previous {
            self.disarm_start_events(previous)?;
        }
        self.arm_start_events(key, &model)
    }
}

/// The keys of what a file imports; `keys` are of the files before it.
fn keys_of(imports: &[Source], keys: &[Key]) -> Vec<Key> {
    let key_of = |source: &Source| match *source {
        Source::Beside(at) => keys[at],
        Source::Deployed(key) => key,
    };
    imports.iter().map(key_of).collect()
}
