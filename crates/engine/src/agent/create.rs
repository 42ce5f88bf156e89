//! Begins to keep what an agent does.

use protocol::{
    AgentLimits, AgentMetrics, AgentStatus, CreateAgentInstance, Intent, Json, Name, Rejection,
    RejectionType, Response,
};

use super::refused;
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::entity::AgentInstance;

impl CommandContext<'_> {
    pub(super) fn create_agent_instance(
        &mut self,
        create: &CreateAgentInstance,
    ) -> Result<Response, Failure> {
        let element_key = create.element_instance_key;
        let purpose = format!("create agent instance for element instance with key '{element_key}'");
        let at = self.agent_element(element_key, &purpose)?;
        let agent = self.new_agent(&at, &purpose)?;
        let teller = match &create.job {
            Some(job) => Some(self.teller(job, element_key, &purpose)?),
            None => None,
        };
        if let Some(teller) = teller.as_ref().filter(|teller| teller.is_stale) {
            let reason = format_args!("the lease is not that of the activation of job '{}'", teller.key);
            return Err(refused(&purpose, reason));
        }
        let row = self.tables.element_instances.get(&element_key)?;
        if let Some(other) = row.and_then(|row| row.agent_instance_key) {
            return Err(Rejection::new(
                RejectionType::AlreadyExists,
                format!("Expected to {purpose}, but it has agent instance '{other}' already"),
            )
            .into());
        }
        let mut agent = AgentInstance { writer_job: create.job.as_ref().map(|job| job.key), ..agent };
        agent.configure(&create.configuration);
        for item in &create.history {
            agent.configure(&item.configuration);
        }
        if agent.model.is_empty() || agent.provider.is_empty() {
            let reason = format!(
                "Expected to {purpose}, but neither its definition nor an item of configuration in its history gives its \
                 model and provider"
            );
            return Err(Rejection::invalid_argument(reason).into());
        }
        let key = self.next_key();
        self.record_agent(key, Intent::Created, &agent);
        self.tables.agents_by_instance.put((at.process_instance_key, key), ());
        self.tables.element_instances.update(&element_key, |row| row.agent_instance_key = Some(key))?;
        let before = agent.metrics;
        let history =
            self.take_history(key, &mut agent, teller.as_ref(), create.job.as_ref(), &create.history, true)?;
        if agent.metrics != before {
            self.record_agent(key, Intent::Updated, &agent);
        }
        self.tables.agent_instances.put(key, agent);
        Ok(Response::AgentInstance { agent_instance_key: key, history })
    }

    /// An agent of the definition that the element has.
    fn new_agent(&self, at: &ActiveElement, purpose: &str) -> Result<AgentInstance, Failure> {
        let (instance, element) = (&at.instance, at.element());
        let Some(definition_key) = self.tables.agent_definitions.get(&(instance.definition_key, at.index))?
        else {
            let reason = format!(
                "Expected to {purpose}, but its element '{}' has no agent definition; a process that is deployed with \
                 zeebe:agentDefinition has one",
                element.id
            );
            return Err(Rejection::invalid_argument(reason).into());
        };
        let definition = self.tables.definitions.get(&instance.definition_key)?;
        Ok(AgentInstance {
            definition_key: *definition_key,
            element: at.index,
            element_instance_keys: vec![at.key],
            status: AgentStatus::Initializing,
            model: Name::default(),
            provider: Name::default(),
            system_prompt: Json::from_valid("[]"),
            tools: Json::from_valid("[]"),
            limits: AgentLimits::NONE,
            metrics: AgentMetrics::default(),
            process_instance_key: at.process_instance_key,
            root_key: instance.root_key,
            process_definition_key: instance.definition_key,
            process_id: instance.process_id.clone(),
            version: instance.version,
            version_tag: definition.and_then(|definition| definition.version_tag.clone()),
            tenant_id: instance.tenant_id.clone(),
            element_id: Name::from(&element.id),
            writer_job: None,
        })
    }
}
