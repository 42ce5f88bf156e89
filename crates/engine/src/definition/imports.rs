//! Which models a DMN file imports: files of the same deployment, or what was deployed before.

use std::collections::BTreeMap;

use dmn::{Parser, Problems};
use protocol::{Key, Name, Resource};
use state::StateError;

use super::no_dmn_limits;
use crate::entity::{DecisionRequirements, Imported};
use crate::work::Work;

/// Where an imported model comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The file at this place of the same deployment.
    Beside(usize),
    /// A graph that was deployed before.
    Deployed(Key),
}

/// A DMN file of a deployment, before it is compiled.
struct Waiting {
    head: dmn::Head,
    imports: Result<Vec<Source>, String>,
}

/// The DMN files of a deployment and what they import.
pub(super) struct Imports(BTreeMap<usize, Waiting>);

impl Imports {
    /// Finds what is imported. A file that cannot be read imports nothing: compiling it tells what is wrong with it.
    pub fn find(
        work: &Work,
        tenant_id: &Name,
        resources: &[Resource],
        places: &[usize],
    ) -> Result<Self, StateError> {
        let mut files: BTreeMap<usize, Waiting> = BTreeMap::new();
        let mut by_namespace: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for place in places {
            let head = dmn::Head::read(&resources[*place].content, &work.options.dmn).unwrap_or_default();
            by_namespace.entry(head.namespace.clone()).or_default().push(*place);
            files.insert(*place, Waiting { head, imports: Ok(Vec::new()) });
        }
        for (place, file) in &mut files {
            let mut sources = Vec::new();
            for import in &file.head.imports {
                let beside = by_namespace.get(&import.namespace).map_or(&[][..], Vec::as_slice);
                match source(work, tenant_id, resources, *place, import, beside)? {
                    Ok(found) => sources.extend(found),
                    Err(problem) => {
                        file.imports = Err(problem);
                        break;
                    }
                }
            }
            if let Ok(imports) = &mut file.imports {
                *imports = sources;
            }
        }
        Ok(Self(files))
    }

    /// What a file imports.
    pub fn of(&self, place: usize) -> Result<&[Source], &str> {
        match self.0.get(&place).map(|file| &file.imports) {
            Some(Ok(sources)) => Ok(sources),
            Some(Err(problem)) => Err(problem),
            None => Ok(&[]),
        }
    }

    /// All places up to a number, each behind those that it imports; else as they are. What imports itself stands where
    /// it is met first.
    pub fn order(&self, count: usize) -> Vec<usize> {
        let mut order = Vec::with_capacity(count);
        let mut is_met = vec![false; count];
        for first in 0..count {
            let mut path: Vec<(usize, usize)> = Vec::new();
            if !std::mem::replace(&mut is_met[first], true) {
                path.push((first, 0));
            }
            while let Some((place, next)) = path.last_mut() {
                let sources = self.of(*place).unwrap_or_default();
                if let Some(source) = sources.get(*next) {
                    *next += 1;
                    if let Source::Beside(other) = *source
                        && !std::mem::replace(&mut is_met[other], true)
                    {
                        path.push((other, 0));
                    }
                } else {
                    order.push(*place);
                    path.pop();
                }
            }
        }
        order
    }
}

/// The model with the namespace that a file imports; nothing if there is none.
fn source(
    work: &Work,
    tenant_id: &Name,
    resources: &[Resource],
    place: usize,
    import: &dmn::ImportedModel,
    beside: &[usize],
) -> Result<Result<Option<Source>, String>, StateError> {
    let namespace = &import.namespace;
    if beside.contains(&place) {
        return Ok(Err(format!("import: the file imports its own namespace '{namespace}'")));
    }
    let is_at = |other: &&usize| import.location.as_deref() == Some(&*resources[**other].name);
    match beside {
        [] => {
            let at = |key| (tenant_id.0.clone(), namespace.as_str().into(), key);
            let latest = work.tables.requirements_by_namespace.last(at(0)..=at(Key::MAX))?;
            Ok(Ok(latest.map(|((_, _, key), _)| Source::Deployed(key))))
        }
        [other] => Ok(Ok(Some(Source::Beside(*other)))),
        several => Ok(match several.iter().find(is_at) {
            Some(other) => Ok(Some(Source::Beside(*other))),
            None => Err(format!(
                "import: several files of the deployment have the namespace '{namespace}', and none of them the name that \
                 'locationURI' says"
            )),
        }),
    }
}

/// Compiles a deployed graph with what it imports.
pub(super) fn compile(graph: &DecisionRequirements) -> Result<dmn::DecisionRequirements, Problems> {
    let mut models: Vec<dmn::DecisionRequirements> = Vec::new();
    let parser = |models: &[dmn::DecisionRequirements], imports: &[u32]| {
        let parser = Parser::new(no_dmn_limits());
        imports.iter().fold(parser, |parser, at| parser.with_import(&models[*at as usize]))
    };
    for file in &graph.imported.files {
        let model = parser(&models, &file.imports).parse(&file.resource)?;
        models.push(model);
    }
    parser(&models, &graph.imported.direct).parse(&graph.resource)
}

impl Work<'_> {
    /// The files that a graph is kept with, given the graphs that it imports.
    pub fn imported(&self, keys: &[Key]) -> Result<Imported, StateError> {
        let mut imported = Imported::default();
        for key in keys {
            let missing = || StateError::Decode(format!("decisions {key} are imported, but not there"));
            imported.add(*key, &*self.tables.decision_requirements.get(key)?.ok_or_else(missing)?);
        }
        Ok(imported)
    }
}
