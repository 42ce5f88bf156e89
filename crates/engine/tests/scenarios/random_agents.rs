//! Agents at any moment: they are created, told of and joined by the workers of jobs.

use protocol::{
    ActivatedJob, AgentConfiguration, AgentHistoryItem, AgentJob, AgentMetrics, AgentRole, AgentStatus,
    Command, CreateAgentInstance, Json, Name, UpdateAgentInstance,
};

use crate::random_process::Run;

/// An item of a history.
pub fn item(id: &str, role: AgentRole) -> AgentHistoryItem {
    let model = (role == AgentRole::Configuration).then(|| Name::from("m"));
    AgentHistoryItem {
        id: Some(Name::from(id)),
        loop_iteration: Some(1),
        role,
        content: Json::from_valid("[]"),
        tool_calls: None,
        tool_call_count: 0,
        metrics: None,
        produced_at_ms: 1,
        configuration: AgentConfiguration { provider: model.clone(), model, ..AgentConfiguration::default() },
    }
}

impl Run {
    /// Has the worker of a job tell something of an agent, sometimes in the name of another activation.
    pub fn tell_of_agent(&mut self, job: &ActivatedJob) {
        if !self.random.percent(15) {
            return;
        }
        let roles = [AgentRole::User, AgentRole::Assistant, AgentRole::Configuration];
        let history = (0..self.random.below(3))
            .map(|_| item(&format!("i{}", self.random.below(6)), roles[self.random.below(3) as usize]))
            .collect();
        let lease = self.random.percent(20).then(|| Name::from("other"));
        let told_in = Some(AgentJob { key: job.key, lease });
        let agents = self.harness.engine().tables().agent_instances.keys(.., 5).unwrap();
        let command = match agents.get(self.random.below(6) as usize) {
            Some(agent_instance_key) => Command::UpdateAgentInstance(Box::new(UpdateAgentInstance {
                agent_instance_key: *agent_instance_key,
                element_instance_key: job.element_instance_key,
                status: Some(AgentStatus::Thinking),
                metrics: AgentMetrics {
                    model_calls: 1,
                    cache_read_token_count: 2,
                    ..AgentMetrics::default()
                },
                tools: None,
                job: told_in,
                history,
            })),
            None => Command::CreateAgentInstance(Box::new(CreateAgentInstance {
                element_instance_key: job.element_instance_key,
                configuration: item("", AgentRole::Configuration).configuration,
                job: told_in,
                history,
            })),
        };
        self.run(command);
    }
}
