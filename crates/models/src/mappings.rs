//! Mappings of random models, evaluated anew: the values that scopes have are followed through the records, and what
//! the mappings made is compared with what they should have made. Their sources are paths and literals, so that this
//! needs neither the engine nor its expressions.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use protocol::{
    Document, Intent, Json, Key, Name, ProcessInstanceRecord, Record, RecordValue, VariableRecord,
};

use crate::generator::Generator;

/// The variables of which mappings of random models make parts. Nothing else sets them in the scope of an element with
/// inputs; there are no lists in them, since a path of a list is a list.
const NAMES: [&str; 2] = ["o", "q"];

impl Generator<'_> {
    /// Sometimes mappings to parts of the variables `o` and `q`. Their sources have no blanks, so that a test can
    /// evaluate them.
    pub(crate) fn parts(&mut self, direction: &str) -> String {
        let mut mappings = String::new();
        if !self.random.percent(25) {
            return mappings;
        }
        for _ in 0..=self.random.below(4) {
            let (target, source) = (self.part(), self.part());
            let source = match self.random.below(8) {
                0 => ["5", "null", "{a:1}", "{b:{c:2}}"][self.random.below(4) as usize],
                1 => "key",
                _ => &source,
            };
            let _ = write!(mappings, " {direction}:{target}=={source}");
        }
        mappings
    }

    /// Sometimes inputs, sometimes outputs.
    pub(crate) fn in_and_out(&mut self) -> String {
        format!("{}{}", self.parts("in"), self.parts("out"))
    }

    /// A variable, or a part of it.
    fn part(&mut self) -> String {
        let mut part = ["o", "o", "q"][self.random.below(3) as usize].to_owned();
        for _ in 0..[0, 1, 1, 2, 2, 3][self.random.below(6) as usize] {
            part.push_str([".a", ".b", ".c"][self.random.below(3) as usize]);
        }
        part
    }
}

/// A value as a tree; the order of members does not count.
#[derive(Debug, Clone, PartialEq)]
enum Tree {
    Object(BTreeMap<String, Tree>),
    Other(String),
}

impl Tree {
    fn null() -> Self {
        Self::Other("null".to_owned())
    }

    fn of(json: &Json) -> Self {
        if !json.as_str().starts_with('{') {
            return Self::Other(json.canonical().into_owned());
        }
        let members = Document::parse_stored(json.as_bytes().clone()).expect("a value that is stored");
        Self::Object(members.iter().map(|(name, value)| (name.to_string(), Self::of(value))).collect())
    }

    fn at(&self, path: &[String]) -> Self {
        let found = path.iter().try_fold(self, |level, name| match level {
            Self::Object(members) => members.get(name),
            Self::Other(_) => None,
        });
        found.cloned().unwrap_or_else(Self::null)
    }

    /// The tree with another value at a path. Values on the way that are no objects give way.
    fn with(self, path: &[String], value: Self) -> Self {
        let Some((name, below)) = path.split_first() else { return value };
        let mut members = match self {
            Self::Object(members) => members,
            Self::Other(_) => BTreeMap::new(),
        };
        let inner = members.remove(name).unwrap_or_else(Self::null);
        members.insert(name.clone(), inner.with(below, value));
        Self::Object(members)
    }

    /// True if nothing but objects and null stands on the way to the end of a path.
    fn has_room(&self, path: &[String]) -> bool {
        (0..path.len()).all(|levels| match self.at(&path[..levels]) {
            Self::Object(_) => true,
            other @ Self::Other(_) => other == Self::null(),
        })
    }
}

enum MappingSource {
    /// A variable, and the path below it.
    Path(String, Vec<String>),
    Value(Tree),
}

struct Mapped {
    source: MappingSource,
    target: String,
    path: Vec<String>,
}

/// The mappings of an element.
#[derive(Default)]
struct Mappings {
    inputs: Vec<Mapped>,
    outputs: Vec<Mapped>,
}

fn parts_of(path: &str) -> (String, Vec<String>) {
    let mut parts = path.split('.').map(str::to_owned);
    (parts.next().unwrap_or_default(), parts.collect())
}

/// The mappings in the text of a model whose sources have no blanks.
fn mappings_of(models: &[String], all: &mut HashMap<String, Mappings>) {
    for line in models.iter().flat_map(|model| model.lines()) {
        let mut words = line.split_whitespace().skip(1);
        let Some(id) = words.next() else { continue };
        let mut mappings = Mappings::default();
        for word in words {
            let (into, rest) = match (word.strip_prefix("in:"), word.strip_prefix("out:")) {
                (Some(rest), _) => (&mut mappings.inputs, rest),
                (_, Some(rest)) => (&mut mappings.outputs, rest),
                _ => continue,
            };
            let Some((target, source)) = rest.split_once('=') else { continue };
            if !NAMES.contains(&target.split('.').next().unwrap_or_default()) {
                continue;
            }
            let source = source.trim_matches('"').trim_start_matches('=');
            let ((target, path), is_path) = (parts_of(target), source.starts_with(char::is_alphabetic));
            let source = if is_path && source != "null" {
                let (name, below) = parts_of(source);
                MappingSource::Path(name, below)
            } else {
                // A context of FEEL with names as they come in models here.
                let quoted = source.replace("a:", "\"a\":").replace("b:", "\"b\":").replace("c:", "\"c\":");
                MappingSource::Value(Tree::of(&Json::from_valid(quoted)))
            };
            into.push(Mapped { source, target, path });
        }
        all.insert(id.to_owned(), mappings);
    }
}

struct Instance {
    element_id: String,
    scope_key: Key,
    /// Variables that the inputs have to make and have not yet.
    wanted: Option<BTreeMap<String, Tree>>,
}

/// The scopes as the records tell of them.
#[derive(Default)]
struct Scopes {
    instances: HashMap<Key, Instance>,
    values: HashMap<Key, BTreeMap<String, Tree>>,
}

impl Scopes {
    fn seen(&self, mut scope_key: Key, name: &str) -> Tree {
        loop {
            if let Some(value) = self.values.get(&scope_key).and_then(|values| values.get(name)) {
                return value.clone();
            }
            let Some(instance) = self.instances.get(&scope_key) else { return Tree::null() };
            scope_key = instance.scope_key;
        }
    }

    fn set(&mut self, scope_key: Key, name: &str, value: &Json) {
        self.values.entry(scope_key).or_default().insert(name.to_owned(), Tree::of(value));
    }

    /// The variables that mappings make of the values that `scope_key` sees. Parts of outputs go into what `into` sees.
    fn made(&self, mappings: &[Mapped], scope_key: Key, into: Option<Key>) -> BTreeMap<String, Tree> {
        let mut made = BTreeMap::new();
        let mut values = Vec::new();
        for mapping in mappings {
            let value = match &mapping.source {
                MappingSource::Value(value) => value.clone(),
                MappingSource::Path(name, below) => self.during(mappings, &values, scope_key, name).at(below),
            };
            let base = made.remove(&mapping.target);
            let base = base.or_else(|| into.map(|key| self.seen(key, &mapping.target)));
            let whole = base.unwrap_or_else(Tree::null).with(&mapping.path, value.clone());
            made.insert(mapping.target.clone(), whole);
            values.push(value);
        }
        made
    }

    /// A variable as the source of the next mapping sees it, with the values of those before. While parts are still to
    /// come, those wait for which something else than an object would have to give way.
    fn during(&self, mappings: &[Mapped], values: &[Tree], scope_key: Key, name: &str) -> Tree {
        let is_made = !mappings[values.len()..].iter().any(|mapping| mapping.target == name);
        let mut seen = self.seen(scope_key, name);
        for (mapping, value) in mappings.iter().zip(values).filter(|(mapping, _)| mapping.target == name) {
            if is_made || seen.has_room(&mapping.path) {
                seen = seen.with(&mapping.path, value.clone());
            }
        }
        seen
    }
}

/// Checks all mappings of a run. `models` are the texts of what was deployed.
pub fn check_mappings<'a>(models: &[String], records: impl Iterator<Item = &'a Record>) {
    let mut mappings = HashMap::new();
    mappings_of(models, &mut mappings);
    let records: Vec<&Record> = records.collect();
    let mut scopes = Scopes::default();
    for (at, record) in records.iter().enumerate() {
        if let RecordValue::Variable(value) = &record.value {
            if matches!(record.intent, Intent::Created | Intent::Updated) {
                check_variable(&mut scopes, &mappings, value);
            }
        } else if let RecordValue::ProcessInstance(value) = &record.value {
            check_element(&mut scopes, &mappings, record, value, &records[at + 1..]);
        }
    }
}

/// A variable is set, by an input or otherwise.
fn check_variable(scopes: &mut Scopes, mappings: &HashMap<String, Mappings>, value: &VariableRecord) {
    check_input(scopes, mappings, value.scope_key, &value.name);
    scopes.set(value.scope_key, &value.name, &value.value);
    if let Some(instance) = scopes.instances.get_mut(&value.scope_key)
        && let Some(wanted) = instance.wanted.as_mut().and_then(|wanted| wanted.remove(&*value.name))
    {
        let id = &instance.element_id;
        assert_eq!(Tree::of(&value.value), wanted, "'{}' by the inputs of {id}", value.name);
    }
}

/// An element instance goes on in its life; `records` are those behind.
fn check_element(
    scopes: &mut Scopes,
    mappings: &HashMap<String, Mappings>,
    record: &Record,
    value: &ProcessInstanceRecord,
    records: &[&Record],
) {
    if record.intent == Intent::ElementActivating {
        let (element_id, scope_key) = (value.element_id.to_string(), value.flow_scope_key.unwrap_or(0));
        scopes.instances.insert(record.key, Instance { element_id, scope_key, wanted: None });
    } else if record.intent == Intent::ElementActivated {
        let missing = scopes.instances.get(&record.key).and_then(|found| found.wanted.as_ref());
        let is_all = missing.is_none_or(BTreeMap::is_empty);
        assert!(is_all, "inputs of {} lack {missing:?}", value.element_id);
    } else if record.intent == Intent::ElementCompleting {
        check_outputs(scopes, mappings, record.key, value, records);
    }
}

/// With the first variable that inputs make it is known what all of them have to make.
fn check_input(scopes: &mut Scopes, mappings: &HashMap<String, Mappings>, scope_key: Key, name: &Name) {
    let Some(instance) = scopes.instances.get(&scope_key) else { return };
    let Some(all) = mappings.get(&instance.element_id) else { return };
    let is_input = all.inputs.iter().any(|mapping| mapping.target == **name);
    if instance.wanted.is_some() || !is_input {
        return;
    }
    let wanted = scopes.made(&all.inputs, instance.scope_key, None);
    scopes.instances.get_mut(&scope_key).expect("looked at").wanted = Some(wanted);
}

/// Outputs are made right behind the record of a completion, in the same step.
fn check_outputs(
    scopes: &Scopes,
    mappings: &HashMap<String, Mappings>,
    key: Key,
    of: &ProcessInstanceRecord,
    records: &[&Record],
) {
    let Some(all) = mappings.get(&*of.element_id).filter(|all| !all.outputs.is_empty()) else { return };
    let scope_key = of.flow_scope_key.unwrap_or(0);
    if of.bpmn_element_type.as_str() == "MULTI_INSTANCE_BODY" || !scopes.instances.contains_key(&key) {
        return;
    }
    let mut own = BTreeMap::new();
    let mut brought = BTreeMap::new();
    for record in records {
        if let RecordValue::Variable(value) = &record.value {
            if value.scope_key == key {
                own.insert(value.name.to_string(), Tree::of(&value.value));
            } else {
                brought.entry(value.name.to_string()).or_insert_with(|| Tree::of(&value.value));
            }
        }
        // The step failed, and has to be tried again.
        if matches!(record.value, RecordValue::Incident(_)) {
            return;
        }
        if matches!(record.value, RecordValue::ProcessInstance(_) | RecordValue::Job(_)) {
            break;
        }
    }
    let mut inside = Scopes { instances: HashMap::new(), values: HashMap::new() };
    for name in NAMES.into_iter().chain(["key"]) {
        let value = own.remove(name).unwrap_or_else(|| scopes.seen(key, name));
        inside.values.entry(key).or_default().insert(name.to_owned(), value);
        inside.values.entry(scope_key).or_default().insert(name.to_owned(), scopes.seen(scope_key, name));
    }
    for (name, wanted) in inside.made(&all.outputs, key, Some(scope_key)) {
        let has = brought.remove(&name).unwrap_or_else(|| scopes.seen(scope_key, &name));
        assert_eq!(has, wanted, "'{name}' by the outputs of {}", of.element_id);
    }
}
