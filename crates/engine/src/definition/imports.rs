//! Which models a DMN file imports: files of the same deployment, or what was deployed before.

use std::collections::BTreeMap;

use dmn::Problems;
use protocol::{Key, Name, Resource};
use state::StateError;

use crate::core::context::CommandContext;
use crate::entity::Imported;

/// Where an imported model comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The file at this place of the same deployment.
    Beside(usize),
    /// A graph that was deployed before.
    Deployed(Key),
}

/// A DMN file of a deployment, before it is compiled.
pub(super) struct Model<'x> {
    pub file: dmn::File<'x>,
    pub imports: Vec<Source>,
}

/// The DMN files of a deployment by their places, or what is wrong with them.
pub(super) struct Models<'x>(BTreeMap<usize, Result<Model<'x>, String>>);

impl<'x> Models<'x> {
    /// Finds what the files import.
    pub fn find(
        work: &CommandContext,
        tenant_id: &Name,
        resources: &[Resource],
        files: impl IntoIterator<Item = (usize, Result<dmn::File<'x>, Problems>)>,
    ) -> Result<Self, StateError> {
        let mut models = BTreeMap::new();
        let mut by_namespace: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, file) in files {
            if let Ok(file) = &file {
                by_namespace.entry(file.namespace().to_owned()).or_default().push(place);
            }
            let model = file.map(|file| Model { file, imports: Vec::new() });
            models.insert(place, model.map_err(|problems| problems.to_string()));
        }
        for (place, entry) in &mut models {
            let Ok(model) = entry else { continue };
            let sources = model.file.imports().map(|import| {
                let beside = by_namespace.get(import.namespace).map_or(&[][..], Vec::as_slice);
                source(work, tenant_id, resources, *place, import, beside)
            });
            match sources.collect::<Result<Result<Vec<_>, _>, _>>()? {
                Ok(sources) => model.imports = sources.into_iter().flatten().collect(),
                Err(problem) => *entry = Err(problem),
            }
        }
        Ok(Self(models))
    }

    /// The model at a place, if there is a DMN file.
    pub fn take(&mut self, place: usize) -> Option<Result<Model<'x>, String>> {
        self.0.remove(&place)
    }

    /// Imports of the file at a place.
    fn imports_of(&self, place: usize) -> &[Source] {
        match self.0.get(&place) {
            Some(Ok(model)) => &model.imports,
            _ => &[],
        }
    }

    /// All places up to a number, each behind those that it imports; else as they are. A file that imports itself
    /// stays where it is met first.
    pub fn order(&self, count: usize) -> Vec<usize> {
        let mut order = Vec::with_capacity(count);
        let mut is_met = vec![false; count];
        for first in 0..count {
            let mut path: Vec<(usize, usize)> = Vec::new();
            if !std::mem::replace(&mut is_met[first], true) {
                path.push((first, 0));
            }
            while let Some((place, next)) = path.last_mut() {
                if let Some(source) = self.imports_of(*place).get(*next) {
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
    work: &CommandContext,
    tenant_id: &Name,
    resources: &[Resource],
    place: usize,
    import: dmn::ImportedModel,
    beside: &[usize],
) -> Result<Result<Option<Source>, String>, StateError> {
    let namespace = import.namespace;
    if beside.contains(&place) {
        return Ok(Err(format!("import: the file imports its own namespace '{namespace}'")));
    }
    let is_at = |other: &&usize| import.location == Some(&*resources[**other].name);
    match beside {
        [] => {
            let at = |key| (tenant_id.0.clone(), namespace.into(), key);
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

impl CommandContext<'_> {
    /// The files that a graph is kept with, given the graphs that it imports.
    pub(super) fn imported(&self, keys: &[Key]) -> Result<Imported, StateError> {
        let mut imported = Imported::default();
        for key in keys {
            let missing = || StateError::Decode(format!("decisions {key} are imported, but not there"));
            imported.add(*key, &*self.tables.decision_requirements.get(key)?.ok_or_else(missing)?);
        }
        Ok(imported)
    }
}
