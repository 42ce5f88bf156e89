//! Records of process instances, their elements and variables, which share the description of their instance.

use std::sync::Arc;

use minicbor::decode::{Decoder, Error as DecodeError};
use minicbor::encode::{Encoder, Error as EncodeError, Write};
use minicbor::{Decode, Encode};
use serde::{Serialize, Serializer};

use super::field::{json_as_text, key_or_none};
use super::word::Word;
use crate::{Json, Key, Name};

/// The process instance of a record. Consecutive records of one instance refer to the same one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecordedInstance {
    pub bpmn_process_id: Name,
    pub version: u32,
    pub process_definition_key: Key,
    pub process_instance_key: Key,
    pub parent_process_instance_key: Option<Key>,
    pub parent_element_instance_key: Option<Key>,
    pub root_process_instance_key: Key,
    pub tenant_id: Name,
    pub tags: Vec<Name>,
    pub business_id: Option<Name>,
}

/// An element of a process instance, or a sequence flow taken.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessInstanceRecord {
    pub instance: Arc<RecordedInstance>,
    pub element_id: Name,
    pub flow_scope_key: Option<Key>,
    pub bpmn_element_type: Word,
    pub bpmn_event_type: Word,
}

/// A variable of a process instance.
#[derive(Debug, Clone, PartialEq)]
pub struct VariableRecord {
    pub instance: Arc<RecordedInstance>,
    pub name: Name,
    pub value: Json,
    pub scope_key: Key,
}

/// Gives a record the form of another in files and exports: one object, with the numbers of its fields.
macro_rules! flat {
    ($record:ident as $flat:ident) => {
        impl<C> Encode<C> for $record {
            fn encode<W: Write>(&self, e: &mut Encoder<W>, c: &mut C) -> Result<(), EncodeError<W::Error>> {
                $flat::from(self).encode(e, c)
            }
        }

        impl<'b, C> Decode<'b, C> for $record {
            fn decode(d: &mut Decoder<'b>, c: &mut C) -> Result<Self, DecodeError> {
                $flat::decode(d, c).map(Self::from)
            }
        }

        impl Serialize for $record {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $flat::from(self).serialize(serializer)
            }
        }
    };
}
pub(super) use flat;

flat!(ProcessInstanceRecord as FlatElement);
flat!(VariableRecord as FlatVariable);

records! {
    FlatElement {
        0 bpmn_process_id: Name, 1 version: u32, 2 process_definition_key: Key, 3 process_instance_key: Key,
        4 element_id: Name, 5 #[serde(serialize_with = "key_or_none")] flow_scope_key: Option<Key>,
        6 bpmn_element_type: Word, 7 bpmn_event_type: Word,
        8 #[serde(serialize_with = "key_or_none")] parent_process_instance_key: Option<Key>,
        9 #[serde(serialize_with = "key_or_none")] parent_element_instance_key: Option<Key>,
        10 root_process_instance_key: Key, 11 tenant_id: Name, 12 tags: Vec<Name>, 13 business_id: Option<Name>,
    }
    FlatVariable {
        0 name: Name, 1 #[serde(serialize_with = "json_as_text")] value: Json, 2 scope_key: Key, 3 process_instance_key: Key,
        4 process_definition_key: Key, 5 bpmn_process_id: Name, 6 tenant_id: Name, 7 root_process_instance_key: Key,
    }
}

impl From<&ProcessInstanceRecord> for FlatElement {
    fn from(record: &ProcessInstanceRecord) -> Self {
        let instance = RecordedInstance::clone(&record.instance);
        Self {
            bpmn_process_id: instance.bpmn_process_id,
            version: instance.version,
            process_definition_key: instance.process_definition_key,
            process_instance_key: instance.process_instance_key,
            element_id: record.element_id.clone(),
            flow_scope_key: record.flow_scope_key,
            bpmn_element_type: record.bpmn_element_type,
            bpmn_event_type: record.bpmn_event_type,
            parent_process_instance_key: instance.parent_process_instance_key,
            parent_element_instance_key: instance.parent_element_instance_key,
            root_process_instance_key: instance.root_process_instance_key,
            tenant_id: instance.tenant_id,
            tags: instance.tags,
            business_id: instance.business_id,
        }
    }
}

impl From<FlatElement> for ProcessInstanceRecord {
    fn from(flat: FlatElement) -> Self {
        let instance = RecordedInstance {
            bpmn_process_id: flat.bpmn_process_id,
            version: flat.version,
            process_definition_key: flat.process_definition_key,
            process_instance_key: flat.process_instance_key,
            parent_process_instance_key: flat.parent_process_instance_key,
            parent_element_instance_key: flat.parent_element_instance_key,
            root_process_instance_key: flat.root_process_instance_key,
            tenant_id: flat.tenant_id,
            tags: flat.tags,
            business_id: flat.business_id,
        };
        Self {
            instance: Arc::new(instance),
            element_id: flat.element_id,
            flow_scope_key: flat.flow_scope_key,
            bpmn_element_type: flat.bpmn_element_type,
            bpmn_event_type: flat.bpmn_event_type,
        }
    }
}

impl From<&VariableRecord> for FlatVariable {
    fn from(record: &VariableRecord) -> Self {
        let instance = &record.instance;
        Self {
            name: record.name.clone(),
            value: record.value.clone(),
            scope_key: record.scope_key,
            process_instance_key: instance.process_instance_key,
            process_definition_key: instance.process_definition_key,
            bpmn_process_id: instance.bpmn_process_id.clone(),
            tenant_id: instance.tenant_id.clone(),
            root_process_instance_key: instance.root_process_instance_key,
        }
    }
}

impl From<FlatVariable> for VariableRecord {
    fn from(flat: FlatVariable) -> Self {
        let instance = RecordedInstance {
            bpmn_process_id: flat.bpmn_process_id,
            process_definition_key: flat.process_definition_key,
            process_instance_key: flat.process_instance_key,
            root_process_instance_key: flat.root_process_instance_key,
            tenant_id: flat.tenant_id,
            ..RecordedInstance::default()
        };
        Self { instance: Arc::new(instance), name: flat.name, value: flat.value, scope_key: flat.scope_key }
    }
}
