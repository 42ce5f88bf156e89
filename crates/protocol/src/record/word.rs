//! Fixed texts of records.

use std::fmt;
use std::ops::Deref;

use minicbor::decode::{Decoder, Error as DecodeError};
use minicbor::encode::{Encoder, Error as EncodeError, Write};

/// A text of the program, such as the type of an element. Copies cost nothing; a [`Name`](crate::Name) counts its
/// references across threads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Word(&'static str);

/// All words of records: types of elements and of events, kinds of jobs, events of listeners.
const WORDS: &[&str] = &[
    "",
    // Types of elements.
    "PROCESS",
    "SUB_PROCESS",
    "EVENT_SUB_PROCESS",
    "START_EVENT",
    "INTERMEDIATE_CATCH_EVENT",
    "INTERMEDIATE_THROW_EVENT",
    "BOUNDARY_EVENT",
    "END_EVENT",
    "SERVICE_TASK",
    "RECEIVE_TASK",
    "USER_TASK",
    "MANUAL_TASK",
    "TASK",
    "EXCLUSIVE_GATEWAY",
    "INCLUSIVE_GATEWAY",
    "PARALLEL_GATEWAY",
    "EVENT_BASED_GATEWAY",
    "SEQUENCE_FLOW",
    "CALL_ACTIVITY",
    "BUSINESS_RULE_TASK",
    "SCRIPT_TASK",
    "SEND_TASK",
    "MULTI_INSTANCE_BODY",
    "AD_HOC_SUB_PROCESS",
    "AD_HOC_SUB_PROCESS_INNER_INSTANCE",
    // Types of events.
    "UNSPECIFIED",
    "CANCEL",
    "COMPENSATION",
    "CONDITIONAL",
    "ERROR",
    "ESCALATION",
    "LINK",
    "SIGNAL",
    "MESSAGE",
    "NONE",
    "TERMINATE",
    "TIMER",
    // Kinds of jobs.
    "BPMN_ELEMENT",
    "EXECUTION_LISTENER",
    "TASK_LISTENER",
    // Events of listeners.
    "START",
    "END",
    "CREATING",
    "ASSIGNING",
    "UPDATING",
    "COMPLETING",
    "CANCELING",
    "BEFORE_ALL",
];

impl Word {
    /// The word for one of the texts that records have.
    pub fn new(text: &'static str) -> Self {
        debug_assert!(WORDS.contains(&text), "'{text}' is no word of records, so it could not be read back");
        Self(text)
    }

    /// The text, without a lifetime.
    pub const fn as_str(self) -> &'static str {
        self.0
    }

    fn find(text: &str) -> Option<Self> {
        WORDS.iter().find(|word| **word == text).copied().map(Self)
    }
}

impl Deref for Word {
    type Target = str;

    fn deref(&self) -> &str {
        self.0
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

impl<C> minicbor::Encode<C> for Word {
    fn encode<W: Write>(&self, e: &mut Encoder<W>, _: &mut C) -> Result<(), EncodeError<W::Error>> {
        e.str(self.0)?.ok()
    }
}

impl<'b, C> minicbor::Decode<'b, C> for Word {
    fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, DecodeError> {
        Self::find(d.str()?).ok_or_else(|| DecodeError::message("not a word of records"))
    }
}

impl serde::Serialize for Word {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_back_and_another_text_is_not() {
        for text in WORDS {
            let bytes = minicbor::to_vec(Word::new(text)).unwrap();
            assert_eq!(minicbor::decode::<Word>(&bytes).unwrap().as_str(), *text);
        }
        let bytes = minicbor::to_vec("GALLOP").unwrap();
        assert!(minicbor::decode::<Word>(&bytes).is_err());
    }
}
