//! JSON that the step at work has checked or written already: to read it again is cheap.
//!
//! Input mappings read what mappings before them have made, each by its own evaluation. Checking a document takes
//! far longer than handing on its bytes, so a step remembers the large ones. The result of reading them is the same
//! either way.

use std::cell::RefCell;
use std::collections::VecDeque;

use bytes::Bytes;
use feel::Value;

/// Documents below this size are not worth remembering.
const LEAST_BYTES: usize = 1024;
/// Documents that are remembered; the oldest is forgotten.
const MOST_DOCUMENTS: usize = 16;

/// Large documents with their depth.
#[derive(Debug, Default)]
pub(crate) struct KnownJson(RefCell<VecDeque<(Bytes, u16)>>);

impl KnownJson {
    /// The value of a document, which is checked unless it is known; nothing if it is nested too deeply or too large.
    pub fn read(&self, json: &Bytes) -> Option<Value> {
        if let Some(depth) = self.depth_of(json) {
            return Some(Value::from_checked_json(json.clone(), depth));
        }
        let value = Value::from_json(json.clone()).ok()?;
        self.remember(json, value.json_depth());
        Some(value)
    }

    /// Takes note of a document that was written from a value.
    pub fn note(&self, json: &Bytes, value: &Value) {
        if usize::from(value.json_depth()) <= feel::JSON_DEPTH_MAX && json.len() <= feel::JSON_SIZE_MAX {
            self.remember(json, value.json_depth());
        }
    }

    /// Forgets all, so that nothing is kept alive beyond its step.
    pub fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    fn depth_of(&self, json: &Bytes) -> Option<u16> {
        let is_it = |known: &Bytes| known.as_ptr() == json.as_ptr() && known.len() == json.len();
        self.0.borrow().iter().find(|(known, _)| is_it(known)).map(|(_, depth)| *depth)
    }

    fn remember(&self, json: &Bytes, depth: u16) {
        if json.len() < LEAST_BYTES {
            return;
        }
        let mut known = self.0.borrow_mut();
        if known.len() == MOST_DOCUMENTS {
            known.pop_front();
        }
        known.push_back((json.clone(), depth));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_documents_are_read_alike_and_forgotten_in_time() {
        let known = KnownJson::default();
        let value = Value::list(vec![Value::string(&"x".repeat(2000)), Value::list(vec![])]);
        let json = Bytes::from(value.to_json_string());
        known.note(&json, &value);
        assert_eq!(known.depth_of(&json), Some(2));
        assert_eq!(known.read(&json), Value::from_json(json.clone()).ok());
        assert_eq!(known.depth_of(&Bytes::copy_from_slice(&json)), None, "other bytes, though equal");
        for _ in 0..MOST_DOCUMENTS {
            assert!(known.read(&Bytes::copy_from_slice(&json)).is_some());
        }
        assert_eq!(known.depth_of(&json), None);
        known.clear();
        assert!(known.0.borrow().is_empty());
    }

    #[test]
    fn what_is_nested_too_deeply_is_not_known() {
        let known = KnownJson::default();
        let depth = feel::JSON_DEPTH_MAX;
        let text = format!("{}\"{}\"{}", "[".repeat(depth), "x".repeat(2000), "]".repeat(depth));
        let inner = Value::from_json(Bytes::from(text)).unwrap();
        let value = Value::list(vec![inner]);
        let json = Bytes::from(value.to_json_string());
        known.note(&json, &value);
        assert_eq!(known.read(&json), None);
    }
}
