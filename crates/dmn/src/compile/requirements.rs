//! Requirements between elements, and the check for cycles.

use super::Compiler;
use crate::model::{Model, Requirement, Target};
use crate::problem::excerpt;
use crate::xml::NodeId;

impl Compiler<'_> {
    /// Everything that a decision or a business knowledge model requires, in the order of the file, and then what its
    /// logic, read before, invokes without a requirement.
    pub(super) fn requirements(&mut self, node: NodeId) -> Vec<Requirement> {
        let mut found = Vec::new();
        for requirement in self.document.children(node).collect::<Vec<_>>() {
            let kinds: &[&str] = match self.document.name(requirement) {
                "informationRequirement" => &["requiredDecision", "requiredInput"],
                "knowledgeRequirement" => &["requiredKnowledge"],
                _ => continue,
            };
            for kind in kinds {
                found.extend(self.references(requirement, kind));
            }
        }
        for place in std::mem::take(&mut self.invoked) {
            let requirement = Requirement { import: None, target: Target::Knowledge(place) };
            if !found.contains(&requirement) {
                found.push(requirement);
            }
        }
        found
    }

    /// The elements that children of a name refer to.
    pub(super) fn references(&mut self, node: NodeId, name: &str) -> Vec<Requirement> {
        let children: Vec<NodeId> = self.document.named(node, name).collect();
        children
            .into_iter()
            .filter_map(|child| {
                let href = self.attribute(child, "href").to_owned();
                let found = self.reference(&href);
                if found.is_none() {
                    let reason = format!("'{}' is not an element of this model", excerpt(&href));
                    self.strict_problem(Some(name), reason);
                }
                found
            })
            .collect()
    }

    fn reference(&self, href: &str) -> Option<Requirement> {
        let (namespace, id) = href.rsplit_once('#').unwrap_or(("", href));
        if namespace.is_empty() || namespace == self.namespace {
            return Some(Requirement { import: None, target: *self.targets.get(id)? });
        }
        let import = self.imports.iter().position(|import| &*import.model.namespace == namespace)?;
        let target = self.imports[import].model.find(id)?;
        Some(Requirement { import: Some(import), target })
    }

    /// Refuses cycles and chains that are too long; the evaluation recurses along them.
    pub(super) fn check_requirements(&mut self, model: &Model) {
        let decisions = model.decisions.iter().map(|decision| decision.requirements.as_slice());
        let knowledge = model.knowledge.iter().map(|knowledge| knowledge.requirements.as_slice());
        let services = model.services.iter().map(|service| service.output.as_slice());
        let (first_knowledge, first_service) =
            (model.decisions.len(), model.decisions.len() + model.knowledge.len());
        let edges: Vec<Vec<usize>> = decisions
            .chain(knowledge)
            .chain(services)
            .map(|requirements| {
                let local = requirements.iter().filter(|requirement| requirement.import.is_none());
                let places = local.filter_map(|requirement| match requirement.target {
                    Target::Decision(place) => Some(place),
                    Target::Knowledge(place) => Some(first_knowledge + place),
                    Target::Service(place) => Some(first_service + place),
                    Target::Input(_) => None,
                });
                places.collect()
            })
            .collect();
        let limit = self.settings.limits.max_requirement_depth;
        match longest_chain(&edges) {
            Err(place) => {
                let (id, what) = if let Some(decision) = model.decisions.get(place) {
                    (decision.id.to_string(), "decisions")
                } else if let Some(knowledge) = model.knowledge.get(place - first_knowledge) {
                    (knowledge.id.clone(), "business knowledge models")
                } else {
                    (model.services[place - first_service].id.clone(), "decision services")
                };
                self.element_id = Some(excerpt(&id));
                self.problem(None, format!("{what} require each other in a cycle"));
            }
            Ok(length) if length > limit => {
                self.problem(None, format!("a chain of requirements is longer than {limit}"));
            }
            Ok(_) => {}
        }
    }
}

/// The number of elements on the longest chain, or an element of a cycle. Removes elements without remaining
/// dependants until none is left.
fn longest_chain(edges: &[Vec<usize>]) -> Result<usize, usize> {
    let mut required_by = vec![0usize; edges.len()];
    for target in edges.iter().flatten() {
        required_by[*target] += 1;
    }
    let mut free: Vec<usize> = (0..edges.len()).filter(|place| required_by[*place] == 0).collect();
    let mut lengths = vec![1usize; edges.len()];
    let mut done = 0;
    while let Some(place) = free.pop() {
        done += 1;
        for target in &edges[place] {
            lengths[*target] = lengths[*target].max(lengths[place] + 1);
            required_by[*target] -= 1;
            if required_by[*target] == 0 {
                free.push(*target);
            }
        }
    }
    if done < edges.len() {
        return Err(required_by.iter().position(|count| *count > 0).unwrap_or_default());
    }
    Ok(lengths.into_iter().max().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::longest_chain;

    #[test]
    fn chains_and_cycles() {
        assert_eq!(longest_chain(&[]), Ok(0));
        assert_eq!(longest_chain(&[vec![1, 2], vec![2], vec![], vec![2]]), Ok(3));
        assert_eq!(longest_chain(&[vec![0]]), Err(0));
        assert_eq!(longest_chain(&[vec![1], vec![2], vec![1]]), Err(1));
    }
}
