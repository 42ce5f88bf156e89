//! Evaluating decisions: the result, and the record of how it came about.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use dmn::{EvaluatedDecision, MatchedRule};
use feel::Value;
use protocol::{
    DecisionEvaluationRecord, Document, EvaluatedDecisionRecord, EvaluatedInputRecord, EvaluatedOutputRecord,
    Intent, Json, Key, MatchedRuleRecord, Name,
};
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::record::record_weight;
use crate::definition::expression::{DIALECT, Scope};
use crate::entity::{Decision, DecisionRequirements, ErrorType};

/// Bytes of a trail for a unit of fuel, about.
const TRAIL_BYTES_PER_FUEL: u64 = 16;

/// Decisions with their keys, by the namespace of their graph and their ID.
type KnownDecisions = BTreeMap<(Arc<str>, Arc<str>), (Key, Arc<Decision>)>;

impl CommandContext<'_> {
    /// The result of a decision for an element instance; a failure is an incident.
    pub fn evaluate_decision(&mut self, at: &ActiveElement, decision_key: Key) -> Result<Json, Failure> {
        let evaluation_key = self.next_key();
        let scope = Scope::of(at.key);
        // At most what the instance has: whether the record is made must make no difference.
        let variables = self.tables.variable_bytes.get(&at.process_instance_key)?;
        self.meter.note_record(variables.map_or(0, |bytes| *bytes));
        if !self.options.records {
            let fuel = self.meter.fuel_left();
            let result = self.decide(decision_key, &scope)?;
            self.note_trail(fuel);
            // The record takes its position nevertheless: after the evaluation, which draws random numbers by it.
            self.meta.position += 1;
            self.meter.note_record(record_weight(&self.options.work));
            self.counters.count_decision(result.is_ok(), 1);
            return result;
        }
        let fuel = self.meter.fuel_left();
        let (result, mut evaluation) = self.trace_decision(evaluation_key, decision_key, &scope)?;
        self.note_trail(fuel);
        evaluation.bpmn_process_id = at.instance.process_id.clone();
        evaluation.process_definition_key = Some(at.instance.definition_key);
        evaluation.process_instance_key = Some(at.process_instance_key);
        evaluation.root_process_instance_key = Some(at.instance.root_key);
        evaluation.business_id.clone_from(&at.instance.business_id);
        evaluation.element_id = Name::from(&at.element().id);
        evaluation.element_instance_key = Some(at.key);
        evaluation.variables = self.tables.visible_variables(at.key, &[])?;
        self.counters.count_decision(result.is_ok(), evaluation.evaluated_decisions.len());
        let intent = if result.is_ok() { Intent::Evaluated } else { Intent::Failed };
        self.emit(evaluation_key, intent, |_| evaluation);
        result
    }

    /// Takes note of a trail by the fuel that its evaluation took, since it is not made if nobody wants the record.
    fn note_trail(&self, fuel_before: u64) {
        let used = fuel_before.saturating_sub(self.meter.fuel_left());
        let most = self.options.work.max_bytes_per_step as u64;
        self.meter.note_record(used.saturating_mul(TRAIL_BYTES_PER_FUEL).min(most));
    }

    fn decide(&mut self, decision_key: Key, scope: &Scope) -> Result<Result<Json, Failure>, Failure> {
        let (decision, _) = self.decision_with_graph(decision_key)?;
        let model = self.decisions(decision.requirements_key)?;
        match self.with_variables(scope, |variables, environment, budget| {
            model.output_within(&decision.id, variables, environment, budget)
        })? {
            Ok(value) => Ok(self.decided(&value)),
            Err(failure) => Ok(Err(self.decision_failed(*failure).1)),
        }
    }

    /// The result and its trail. The caller adds the owner of the evaluation.
    pub(super) fn trace_decision(
        &mut self,
        evaluation_key: Key,
        decision_key: Key,
        scope: &Scope,
    ) -> Result<(Result<Json, Failure>, DecisionEvaluationRecord), Failure> {
        let (decision, graph) = self.decision_with_graph(decision_key)?;
        let model = self.decisions(decision.requirements_key)?;
        let outcome = self.with_variables(scope, |variables, environment, budget| {
            model.evaluate_within(&decision.id, variables, environment, budget)
        })?;
        let mut record = DecisionEvaluationRecord {
            decision_key,
            decision_id: decision.id.clone(),
            decision_name: decision.name.clone(),
            decision_version: decision.version,
            decision_requirements_id: graph.id.clone(),
            decision_requirements_key: decision.requirements_key,
            decision_output: Json::from_valid("null"),
            variables: Document::empty(),
            bpmn_process_id: Name::default(),
            process_definition_key: None,
            process_instance_key: None,
            root_process_instance_key: None,
            element_id: Name::default(),
            element_instance_key: None,
            evaluated_decisions: Vec::new(),
            evaluation_failure_message: Name::default(),
            failed_decision_id: Name::default(),
            tenant_id: decision.tenant_id.clone(),
            business_id: None,
        };
        let (result, trail) = match outcome {
            Ok(evaluation) => {
                let output = self.decided(&evaluation.output);
                match &output {
                    Ok(output) => record.decision_output = output.clone(),
                    Err(failure) => {
                        record.evaluation_failure_message = self.options.cut_message(failure.message());
                        record.failed_decision_id = decision.id.clone();
                    }
                }
                (output, evaluation.evaluated_decisions)
            }
            Err(failure) => {
                let (failure, incident) = self.decision_failed(*failure);
                record.evaluation_failure_message = self.options.cut_message(&failure.to_string());
                record.failed_decision_id = Name::from(failure.failed_decision_id.as_str());
                (Err(incident), failure.evaluated_decisions)
            }
        };
        record.evaluated_decisions = self.trail_record(evaluation_key, &graph, &trail)?;
        Ok((result, record))
    }

    /// The decisions of a graph. If this release cannot read them, whatever needs them has an incident.
    fn decisions(&mut self, requirements_key: Key) -> Result<dmn::DecisionRequirements, Failure> {
        self.definitions.decisions(self.tables, requirements_key).map_err(|error| match error {
            StateError::Unusable(reason) => Failure::incident(ErrorType::DecisionEvaluationError, reason),
            error => error.into(),
        })
    }

    /// The result of a decision, if it is not too large.
    fn decided(&self, value: &Value) -> Result<Json, Failure> {
        self.produce(value, &"the result of the decision", ErrorType::DecisionEvaluationError)
    }

    /// Why a decision failed. One that had too little fuel or memory is told by the limit of its step.
    fn decision_failed(&self, mut failure: dmn::Failure) -> (dmn::Failure, Failure) {
        if let Some(limit) = self.meter.reached_limit(&self.options.work) {
            failure.reason = limit;
        }
        let incident = Failure::incident(ErrorType::DecisionEvaluationError, failure.to_string());
        (failure, incident)
    }

    fn decision_with_graph(
        &self,
        decision_key: Key,
    ) -> Result<(Arc<Decision>, Arc<DecisionRequirements>), StateError> {
        let missing = || StateError::Decode(format!("decision {decision_key} is referenced, but not there"));
        let decision = self.tables.decisions.get(&decision_key)?.ok_or_else(missing)?;
        let graph = self.tables.decision_requirements.get(&decision.requirements_key)?.ok_or_else(missing)?;
        Ok((decision, graph))
    }

    fn trail_record(
        &self,
        evaluation_key: Key,
        graph: &DecisionRequirements,
        trail: &[EvaluatedDecision],
    ) -> Result<Vec<EvaluatedDecisionRecord>, StateError> {
        let mut known = KnownDecisions::new();
        self.add_decisions_of(graph, &mut known)?;
        for file in &graph.imported.files {
            // An imported file stays although it is deleted, but has no key any more.
            if let Some(imported) = self.tables.decision_requirements.get(&file.requirements_key)? {
                self.add_decisions_of(&imported, &mut known)?;
            }
        }
        let json = Trail::new(self.options.work.max_bytes_per_step);
        let records = trail.iter().enumerate().map(|(index, evaluated)| {
            let known = known.get(&(evaluated.namespace.clone(), evaluated.id.clone()));
            EvaluatedDecisionRecord {
                decision_id: Name::from(&evaluated.id),
                decision_name: Name::from(&evaluated.name),
                decision_key: known.map_or(0, |(key, _)| *key),
                decision_version: known.map_or(0, |(_, decision)| decision.version),
                decision_type: Name::from(evaluated.kind.name()),
                decision_output: json.of(&evaluated.output),
                evaluated_inputs: evaluated
                    .inputs
                    .iter()
                    .map(|input| EvaluatedInputRecord {
                        input_id: Name::from(&input.id),
                        input_name: Name::from(&input.name),
                        input_value: json.of(&input.value),
                    })
                    .collect(),
                matched_rules: evaluated.matched_rules.iter().map(|rule| rule_record(rule, &json)).collect(),
                tenant_id: graph.tenant_id.clone(),
                decision_evaluation_instance_key: Name::from(format!("{evaluation_key}-{}", index + 1)),
            }
        });
        Ok(records.collect())
    }

    /// Adds the decisions of a graph by its namespace and their IDs.
    fn add_decisions_of(
        &self,
        graph: &DecisionRequirements,
        known: &mut KnownDecisions,
    ) -> Result<(), StateError> {
        for key in &graph.decisions {
            if let Some(decision) = self.tables.decisions.get(key)? {
                let at = (graph.namespace.0.clone(), decision.id.0.clone());
                known.entry(at).or_insert((*key, decision));
            }
        }
        Ok(())
    }
}

fn rule_record(rule: &MatchedRule, json: &Trail) -> MatchedRuleRecord {
    let output = |id: &Arc<str>, name: &Arc<str>, value: &Value| EvaluatedOutputRecord {
        output_id: Name::from(id),
        output_name: Name::from(name),
        output_value: json.of(value),
    };
    MatchedRuleRecord {
        rule_id: Name::from(&rule.id),
        rule_index: u32::try_from(rule.index).unwrap_or(u32::MAX),
        evaluated_outputs: rule
            .outputs
            .iter()
            .map(|found| output(&found.id, &found.name, &found.value))
            .collect(),
    }
}

/// The values of a trail as JSON. They share their parts, so a chain of decisions that took little to evaluate may
/// be immense when it is written out. A note replaces values that do not fit: nothing depends on them, so it is no
/// failure.
struct Trail {
    left: Cell<usize>,
    too_large: Json,
}

impl Trail {
    fn new(max_bytes: usize) -> Self {
        let too_large = format!(
            "omitted: the values of this evaluation are larger than {max_bytes} bytes (limits.max_bytes_per_step)"
        );
        Self { left: Cell::new(max_bytes), too_large: Json::string(&too_large) }
    }

    fn of(&self, value: &Value) -> Json {
        match value.to_json_in(DIALECT, self.left.get()) {
            Some(bytes) => {
                self.left.set(self.left.get() - bytes.len());
                Json::from_written(bytes)
            }
            None => self.too_large.clone(),
        }
    }
}
