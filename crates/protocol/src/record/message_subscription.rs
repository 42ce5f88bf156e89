//! The record of a message subscription. There are two of each: as the message sees it and as the process instance
//! does, which names the catch event, too.

use minicbor::decode::{Decoder, Error as DecodeError};
use minicbor::encode::{Encoder, Error as EncodeError, Write};
use minicbor::{Decode, Encode};
use serde::Serialize;

use super::word::Word;
use crate::{Document, Key, Name};

/// Fields of what the message sees.
const FIELDS: u64 = 10;
/// Fields of records that tell the place of the instance, or its business ID.
const FIELDS_ALL: u64 = 14;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageSubscriptionRecord {
    /// The instance that waits.
    pub process_instance_key: Key,
    /// The element instance that waits.
    pub element_instance_key: Key,
    /// The message that has come.
    #[serde(serialize_with = "super::field::key_or_none")]
    pub message_key: Option<Key>,
    /// The name waited for.
    pub message_name: Name,
    /// The correlation key waited for.
    pub correlation_key: Name,
    /// The process of the instance.
    pub bpmn_process_id: Name,
    /// Whether it ends with the first message.
    pub interrupting: bool,
    /// Variables of the message.
    pub variables: Document,
    pub tenant_id: Name,
    /// The catch event; only as the process instance sees it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element_id: Option<Name>,
    /// The definition of the instance.
    pub process_definition_key: Key,
    /// The type of the catch event; only as the process instance sees it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element_type: Option<Word>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_process_instance_key: Option<Key>,
    /// That of the instance when it began to wait.
    pub business_id: Option<Name>,
}

impl MessageSubscriptionRecord {
    const fn is_long(&self) -> bool {
        self.element_type.is_some() || self.root_process_instance_key.is_some() || self.business_id.is_some()
    }
}

/// By hand: the catch event stands before the definition, and is not there at all where the message sees it, unless
/// the record is long.
impl<C> Encode<C> for MessageSubscriptionRecord {
    fn encode<W: Write>(&self, e: &mut Encoder<W>, ctx: &mut C) -> Result<(), EncodeError<W::Error>> {
        let is_long = self.is_long();
        let fields = FIELDS + u64::from(self.element_id.is_some());
        e.array(if is_long { FIELDS_ALL } else { fields })?;
        self.process_instance_key.encode(e, ctx)?;
        self.element_instance_key.encode(e, ctx)?;
        self.message_key.encode(e, ctx)?;
        self.message_name.encode(e, ctx)?;
        self.correlation_key.encode(e, ctx)?;
        self.bpmn_process_id.encode(e, ctx)?;
        self.interrupting.encode(e, ctx)?;
        self.variables.encode(e, ctx)?;
        self.tenant_id.encode(e, ctx)?;
        if is_long || self.element_id.is_some() {
            self.element_id.encode(e, ctx)?;
        }
        self.process_definition_key.encode(e, ctx)?;
        if is_long {
            self.element_type.encode(e, ctx)?;
            self.root_process_instance_key.encode(e, ctx)?;
            self.business_id.encode(e, ctx)?;
        }
        Ok(())
    }
}

impl<'b, C> Decode<'b, C> for MessageSubscriptionRecord {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, DecodeError> {
        let (has_element, is_long) = match d.array()? {
            Some(FIELDS) => (false, false),
            Some(fields) if fields == FIELDS + 1 => (true, false),
            Some(FIELDS_ALL) => (true, true),
            _ => return Err(DecodeError::message("a message subscription has another number of fields")),
        };
        Ok(Self {
            process_instance_key: Decode::decode(d, ctx)?,
            element_instance_key: Decode::decode(d, ctx)?,
            message_key: Decode::decode(d, ctx)?,
            message_name: Decode::decode(d, ctx)?,
            correlation_key: Decode::decode(d, ctx)?,
            bpmn_process_id: Decode::decode(d, ctx)?,
            interrupting: Decode::decode(d, ctx)?,
            variables: Decode::decode(d, ctx)?,
            tenant_id: Decode::decode(d, ctx)?,
            element_id: if has_element { Decode::decode(d, ctx)? } else { None },
            process_definition_key: Decode::decode(d, ctx)?,
            element_type: if is_long { Decode::decode(d, ctx)? } else { None },
            root_process_instance_key: if is_long { Decode::decode(d, ctx)? } else { None },
            business_id: if is_long { Decode::decode(d, ctx)? } else { None },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::RecordValue;
    use super::*;

    fn record(element_id: Option<&str>) -> MessageSubscriptionRecord {
        MessageSubscriptionRecord {
            process_instance_key: 1,
            element_instance_key: 2,
            message_key: None,
            message_name: Name::from("m"),
            correlation_key: Name::from("k"),
            bpmn_process_id: Name::from("p"),
            interrupting: true,
            variables: Document::empty(),
            tenant_id: Name::from("t"),
            element_id: element_id.map(Name::from),
            process_definition_key: 3,
            element_type: None,
            root_process_instance_key: None,
            business_id: None,
        }
    }

    #[test]
    fn a_business_id_comes_back() {
        for element_id in [None, Some("e")] {
            let value = RecordValue::from(MessageSubscriptionRecord {
                business_id: Some("b".into()),
                ..record(element_id)
            });
            let bytes = minicbor::to_vec(&value).unwrap();
            assert_eq!(minicbor::decode::<RecordValue>(&bytes).unwrap(), value);
        }
    }

    /// The bytes of earlier logs, in which the two were records of two kinds.
    #[test]
    fn both_are_encoded_as_they_always_were() {
        let variables = minicbor::to_vec(Document::empty()).unwrap();
        let names = [1, 2, 0xf6, 0x61, b'm', 0x61, b'k', 0x61, b'p', 0xf5];
        let head = [&names[..], &variables[..], &[0x61, b't'][..]].concat();
        for (element_id, number, array, tail) in
            [(None, 5, 0x8a, &[3][..]), (Some("e"), 6, 0x8b, &[0x61, b'e', 3][..])]
        {
            let value = RecordValue::from(record(element_id));
            let bytes = minicbor::to_vec(&value).unwrap();
            let expected = [&[0x82, number, 0x81, array][..], &head[..], tail].concat();
            assert_eq!(bytes, expected);
            assert_eq!(minicbor::decode::<RecordValue>(&bytes).unwrap(), value);
        }
    }

    #[test]
    fn the_place_of_the_catch_event_is_told_too() {
        let placed = MessageSubscriptionRecord {
            element_type: Some(Word::new("RECEIVE_TASK")),
            root_process_instance_key: Some(7),
            ..record(Some("e"))
        };
        let bytes = minicbor::to_vec(&placed).unwrap();
        assert_eq!(minicbor::decode::<MessageSubscriptionRecord>(&bytes).unwrap(), placed);
        let json = serde_json::to_value(&placed).unwrap();
        assert_eq!(
            (&json["elementType"], &json["rootProcessInstanceKey"]),
            (&"RECEIVE_TASK".into(), &7.into())
        );
    }

    #[test]
    fn what_is_cut_short_is_no_record() {
        let fewer = minicbor::to_vec((1, 2)).unwrap();
        let error = minicbor::decode::<MessageSubscriptionRecord>(&fewer).unwrap_err();
        assert!(error.to_string().contains("number of fields"), "{error}");
    }

    #[test]
    fn only_the_instance_tells_the_catch_event() {
        let json = |element_id| serde_json::to_string(&RecordValue::from(record(element_id))).unwrap();
        assert!(
            json(None).ends_with(r#""tenantId":"t","processDefinitionKey":3,"businessId":null}"#),
            "{}",
            json(None)
        );
        let told = json(Some("e"));
        assert!(
            told.ends_with(r#""tenantId":"t","elementId":"e","processDefinitionKey":3,"businessId":null}"#),
            "{told}"
        );
    }
}
