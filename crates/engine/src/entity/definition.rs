//! Rows of what was deployed.

use minicbor::{Decode, Encode};
use protocol::{Key, Name};
use state::minicbor_value;

/// Life of a process definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum DefinitionState {
    /// New instances may be created.
    #[n(0)]
    Active,
    /// Deleted, but instances still run.
    #[n(1)]
    Draining,
}

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Definition {
    #[n(0)]
    pub process_id: Name,
    #[n(1)]
    pub version: u32,
    #[n(2)]
    pub version_tag: Option<Name>,
    #[n(3)]
    pub resource_name: Name,
    /// xxh3-128 of the resource.
    #[cbor(n(4), with = "minicbor::bytes")]
    pub checksum: [u8; 16],
    #[cbor(n(5), with = "minicbor::bytes")]
    pub resource: Vec<u8>,
    #[n(6)]
    pub deployment_key: Key,
    #[n(7)]
    pub tenant_id: Name,
    #[n(8)]
    pub state: DefinitionState,
}
minicbor_value!(Definition, weight = |definition| 256 + definition.resource.len());

/// Kinds of definitions. The number is part of the keys of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum DefinitionKind {
    Process = 0,
    DecisionRequirements = 1,
    Decision = 2,
    Form = 3,
    Resource = 4,
}

/// A deployed decision requirements graph: one DMN file.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct DecisionRequirements {
    #[n(0)]
    pub id: Name,
    #[n(1)]
    pub name: Name,
    #[n(2)]
    pub namespace: Name,
    #[n(3)]
    pub version: u32,
    #[n(4)]
    pub resource_name: Name,
    /// xxh3-128 of the resource.
    #[cbor(n(5), with = "minicbor::bytes")]
    pub checksum: [u8; 16],
    #[cbor(n(6), with = "minicbor::bytes")]
    pub resource: Vec<u8>,
    #[n(7)]
    pub deployment_key: Key,
    #[n(8)]
    pub tenant_id: Name,
    /// Its decisions in the order of the file.
    #[n(9)]
    pub decisions: Vec<Key>,
    #[cbor(n(10), default)]
    pub imported: Imported,
}
minicbor_value!(DecisionRequirements, weight = |graph| 256 + 8 * graph.decisions.len() + graph.bytes());

impl DecisionRequirements {
    /// Size of all files that its evaluation needs.
    pub fn bytes(&self) -> usize {
        self.resource.len() + self.imported.files.iter().map(|file| file.resource.len()).sum::<usize>()
    }
}

/// The models that one imports, as they were when it was deployed: it stays what it was if they are deleted.
#[derive(Debug, Clone, Default, PartialEq, Encode, Decode)]
pub struct Imported {
    /// Places in the list of those that it imports itself.
    #[n(0)]
    pub direct: Vec<u32>,
    /// All of them, each behind those that it imports.
    #[n(1)]
    pub files: Vec<ImportedFile>,
}

/// A DMN file that another one imports.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct ImportedFile {
    /// The graph of the file.
    #[n(0)]
    pub requirements_key: Key,
    #[cbor(n(1), with = "minicbor::bytes")]
    pub resource: Vec<u8>,
    /// Places in the list of those that it imports.
    #[n(2)]
    pub imports: Vec<u32>,
}

impl Imported {
    /// Adds a graph with all that it imports in its turn.
    pub fn add(&mut self, key: Key, graph: &DecisionRequirements) {
        let mut places: Vec<u32> = Vec::new();
        let here = |places: &[u32], there: &[u32]| there.iter().map(|at| places[*at as usize]).collect();
        for file in &graph.imported.files {
            let imports = here(&places, &file.imports);
            places.push(self.place_of(file.requirements_key, &file.resource, imports));
        }
        let imports = here(&places, &graph.imported.direct);
        let place = self.place_of(key, &graph.resource, imports);
        self.direct.push(place);
    }

    /// Where a file is; it is added if it is not there yet.
    fn place_of(&mut self, requirements_key: Key, resource: &[u8], imports: Vec<u32>) -> u32 {
        let is_it =
            |file: &ImportedFile| file.requirements_key == requirements_key && file.imports == imports;
        let place = self.files.iter().position(is_it).unwrap_or_else(|| {
            self.files.push(ImportedFile { requirements_key, resource: resource.to_vec(), imports });
            self.files.len() - 1
        });
        place as u32
    }
}

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Decision {
    #[n(0)]
    pub id: Name,
    #[n(1)]
    pub name: Name,
    #[n(2)]
    pub version: u32,
    #[n(3)]
    pub version_tag: Option<Name>,
    #[n(4)]
    pub requirements_key: Key,
    #[n(5)]
    pub deployment_key: Key,
    #[n(6)]
    pub tenant_id: Name,
}
minicbor_value!(Decision);

/// A deployed form, or a deployed resource of no kind that the engine knows.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct StoredFile {
    #[n(0)]
    pub id: Name,
    #[n(1)]
    pub version: u32,
    #[n(2)]
    pub version_tag: Option<Name>,
    #[n(3)]
    pub resource_name: Name,
    /// xxh3-128 of the content.
    #[cbor(n(4), with = "minicbor::bytes")]
    pub checksum: [u8; 16],
    #[cbor(n(5), with = "minicbor::bytes")]
    pub content: Vec<u8>,
    #[n(6)]
    pub deployment_key: Key,
    #[n(7)]
    pub tenant_id: Name,
}
minicbor_value!(StoredFile, weight = |file| 192 + file.content.len());
