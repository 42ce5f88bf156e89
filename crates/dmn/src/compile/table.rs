//! Decision tables.

use super::Compiler;
use crate::model::{HitPolicy, InputColumn, OutputColumn, Rule, Table};
use crate::problem::excerpt;
use crate::xml::NodeId;
use std::sync::Arc;

impl Compiler<'_> {
    pub(super) fn table(&mut self, node: NodeId) -> Table {
        let inputs: Vec<NodeId> = self.document.named(node, "input").collect();
        let inputs: Vec<InputColumn> = inputs.into_iter().map(|input| self.input_column(input)).collect();
        let outputs: Vec<NodeId> = self.document.named(node, "output").collect();
        let outputs: Vec<OutputColumn> =
            outputs.into_iter().map(|output| self.output_column(output)).collect();
        let hit_policy = self.hit_policy(node);
        self.check_outputs(&outputs, hit_policy);
        let rules: Vec<NodeId> = self.document.named(node, "rule").collect();
        let columns = inputs.len() + outputs.len();
        self.cells = self.cells.saturating_add(rules.len().saturating_mul(columns));
        if self.cells > self.settings.limits.max_cells {
            let reason = format!("decision tables have more than {} cells", self.settings.limits.max_cells);
            self.problem(Some("decisionTable"), reason);
            return Table { hit_policy, inputs, outputs, rules: Vec::new() };
        }
        let rules = rules
            .into_iter()
            .enumerate()
            .map(|(index, rule)| self.rule(rule, index + 1, inputs.len(), outputs.len()))
            .collect();
        Table { hit_policy, inputs, outputs, rules }
    }

    fn hit_policy(&mut self, node: NodeId) -> HitPolicy {
        let (name, aggregation) = (self.attribute(node, "hitPolicy"), self.attribute(node, "aggregation"));
        match (name, aggregation) {
            ("" | "UNIQUE" | "U", _) => HitPolicy::Unique,
            ("FIRST" | "F", _) => HitPolicy::First,
            ("ANY" | "A", _) => HitPolicy::Any,
            ("PRIORITY" | "P", _) => HitPolicy::Priority,
            ("RULE ORDER" | "R", _) => HitPolicy::RuleOrder,
            ("OUTPUT ORDER" | "O", _) => HitPolicy::OutputOrder,
            ("COLLECT" | "C", "") => HitPolicy::Collect,
            ("COLLECT" | "C", "SUM") => HitPolicy::Sum,
            ("COLLECT" | "C", "MIN") => HitPolicy::Min,
            ("COLLECT" | "C", "MAX") => HitPolicy::Max,
            ("COLLECT" | "C", "COUNT") => HitPolicy::Count,
            _ => {
                let reason = format!(
                    "hit policy '{}' with aggregation '{}' is not known",
                    excerpt(name),
                    excerpt(aggregation)
                );
                self.problem(Some("decisionTable"), reason);
                HitPolicy::Unique
            }
        }
    }

    fn check_outputs(&mut self, outputs: &[OutputColumn], hit_policy: HitPolicy) {
        let several = outputs.len() > 1;
        if outputs.is_empty() {
            self.problem(Some("decisionTable"), "the decision table has no output");
        }
        if several && let Some(output) = outputs.iter().find(|output| output.name.is_empty()) {
            let reason = format!("no output name defined for '{}'", excerpt(&output.shown));
            self.problem(Some("output"), reason);
        }
        let aggregates =
            matches!(hit_policy, HitPolicy::Sum | HitPolicy::Min | HitPolicy::Max | HitPolicy::Count);
        if several && aggregates {
            let reason = "hit policy 'COLLECT' with an aggregation is not defined for several outputs";
            self.strict_problem(Some("decisionTable"), reason);
        }
    }

    fn text_attribute(&self, node: NodeId, name: &str) -> Arc<str> {
        Arc::from(self.attribute(node, name))
    }

    fn input_column(&mut self, node: NodeId) -> InputColumn {
        let expression = self.document.child(node, "inputExpression");
        InputColumn {
            id: self.text_attribute(node, "id"),
            label: self.text_attribute(node, "label"),
            kind: expression.map(|expression| self.kind(expression)).unwrap_or_default(),
            expression: if let Some(expression) = expression {
                self.formula(expression, "inputExpression")
            } else {
                self.broken("input", "the input expression is missing".to_owned())
            },
            allowed: self.tests(node, "inputValues"),
        }
    }

    fn output_column(&mut self, node: NodeId) -> OutputColumn {
        let name = self.name_of(node);
        let label = self.text_attribute(node, "label");
        let default = self.document.child(node, "defaultOutputEntry");
        let values = self.document.child(node, "outputValues");
        OutputColumn {
            id: self.text_attribute(node, "id"),
            shown: if label.is_empty() { name.clone() } else { label },
            name,
            kind: self.kind(node),
            priorities: values
                .map(|values| self.literal_values(self.document.inner_text(values)))
                .unwrap_or_default(),
            default: default
                .filter(|default| !self.document.inner_text(*default).is_empty())
                .map(|default| self.formula(default, "defaultOutputEntry")),
        }
    }

    fn rule(&mut self, node: NodeId, index: usize, inputs: usize, outputs: usize) -> Rule {
        let conditions: Vec<NodeId> = self.document.named(node, "inputEntry").collect();
        let results: Vec<NodeId> = self.document.named(node, "outputEntry").collect();
        if conditions.len() != inputs || results.len() != outputs {
            let reason = format!(
                "rule {index} has {} input and {} output entries, but the table has {inputs} inputs and {outputs} outputs",
                conditions.len(),
                results.len()
            );
            self.problem(Some("rule"), reason);
        }
        Rule {
            id: self.text_attribute(node, "id"),
            conditions: conditions.into_iter().map(|condition| self.condition(condition)).collect(),
            results: results.into_iter().map(|result| self.formula(result, "outputEntry")).collect(),
        }
    }
}
