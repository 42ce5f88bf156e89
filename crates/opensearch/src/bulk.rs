//! Many documents in one request.

use std::collections::HashMap;
use std::ops::Range;

use bytes::Bytes;
use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use crate::client::{Answer, Client, ClientError, reason_of};

/// Only what is looked at is answered.
const PATH: &str = "/_bulk?filter_path=items.*.status,items.*.error";

/// How much goes into one request.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Documents.
    pub count: usize,
    /// Bytes; a document that is larger goes alone.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { count: 1000, bytes: 10 * 1024 * 1024 }
    }
}

/// Outcome of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was written, or needed no change.
    Done,
    /// There is no such document to be changed or deleted.
    Missing,
    /// Not now: too much to do, or somebody else is at it.
    Busy(String),
    /// Not like this, however often it is tried.
    Refused(String),
}

/// Documents that wait to be sent.
#[derive(Debug)]
pub struct Bulk {
    limits: Limits,
    body: Vec<u8>,
    /// Where each document ends.
    ends: Vec<usize>,
}

#[derive(Deserialize)]
struct BulkAnswer {
    #[serde(default)]
    items: Vec<HashMap<String, Item>>,
}

#[derive(Deserialize)]
struct Item {
    status: u16,
    error: Option<Value>,
}

impl Bulk {
    /// No documents.
    pub fn new(limits: Limits) -> Self {
        Self { limits, body: Vec::new(), ends: Vec::new() }
    }

    /// Adds a document: what to do, and if it needs one a source, which has no line breaks.
    pub fn push(&mut self, action: &Value, source: Option<&[u8]>) {
        self.body.extend_from_slice(action.to_string().as_bytes());
        self.body.push(b'\n');
        if let Some(source) = source {
            debug_assert!(!source.contains(&b'\n'), "a line break ends a document");
            self.body.extend_from_slice(source);
            self.body.push(b'\n');
        }
        self.ends.push(self.body.len());
    }

    /// Documents that wait.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether it is worth a request of its own.
    pub fn is_full(&self) -> bool {
        self.ends.len() >= self.limits.count || self.body.len() >= self.limits.bytes
    }

    /// Forgets what waits; keeps the memory, unless it is much.
    pub fn clear(&mut self) {
        self.body.clear();
        self.body.shrink_to(2 * self.limits.bytes);
        self.ends.clear();
    }

    /// Sends what waits, in as many requests as it takes, and forgets it. Returns what became of each document, in
    /// their order; after a failure, some may have been written.
    pub async fn send(&mut self, client: &Client) -> Result<Vec<Outcome>, ClientError> {
        let body = Bytes::from(std::mem::take(&mut self.body));
        let ends = std::mem::take(&mut self.ends);
        let mut outcomes = Vec::with_capacity(ends.len());
        // Documents to send, the first one last.
        let mut waiting = parts(&ends, self.limits);
        waiting.reverse();
        while let Some(part) = waiting.pop() {
            let from = part.start.checked_sub(1).map_or(0, |before| ends[before]);
            let bytes = body.slice(from..ends[part.end - 1]);
            let answer = client.send(Method::POST, PATH, "application/x-ndjson", bytes).await?;
            if answer.status == StatusCode::PAYLOAD_TOO_LARGE && part.len() > 1 {
                let middle = part.start + part.len() / 2;
                waiting.push(middle..part.end);
                waiting.push(part.start..middle);
                continue;
            }
            outcomes.extend(outcomes_of(&answer, part.len())?);
        }
        Ok(outcomes)
    }
}

/// Splits documents so that each part is within the limits, or has one document.
fn parts(ends: &[usize], limits: Limits) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut first, mut from) = (0, 0);
    for (at, end) in ends.iter().enumerate() {
        if at > first && (at - first >= limits.count || end - from > limits.bytes) {
            parts.push(first..at);
            (first, from) = (at, ends[at - 1]);
        }
    }
    if first < ends.len() {
        parts.push(first..ends.len());
    }
    parts
}

fn outcomes_of(answer: &Answer, count: usize) -> Result<Vec<Outcome>, ClientError> {
    if !answer.status.is_success() {
        // Of a request as a whole; only one with a single document can say something about it.
        let outcome = match answer.status.as_u16() {
            413 => Outcome::Refused(answer.reason()),
            _ => Outcome::Busy(answer.reason()),
        };
        return Ok(vec![outcome; count]);
    }
    let read: BulkAnswer =
        serde_json::from_slice(&answer.body).map_err(|error| ClientError::Answer(error.to_string()))?;
    if read.items.len() != count {
        let reason = format!("{} documents were sent, {} are answered", count, read.items.len());
        return Err(ClientError::Answer(reason));
    }
    read.items
        .into_iter()
        .map(|item| item.into_values().next().map(outcome_of))
        .collect::<Option<_>>()
        .ok_or_else(|| ClientError::Answer("a document is answered with nothing".to_owned()))
}

fn outcome_of(item: Item) -> Outcome {
    let error = item.error.unwrap_or_default();
    let kind = error.get("type").and_then(Value::as_str).unwrap_or_default();
    match item.status {
        200..=299 => Outcome::Done,
        404 if kind.is_empty() || kind == "document_missing_exception" => Outcome::Missing,
        400 | 413 => Outcome::Refused(reason_of(&error)),
        // Among them 404 of an index that is gone: it may come back.
        status => Outcome::Busy(format!("{status}: {}", reason_of(&error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_within_the_limits() {
        let limits = Limits { count: 3, bytes: 100 };
        assert_eq!(parts(&[10, 20, 30, 40], limits), [0..3, 3..4]);
        assert_eq!(parts(&[90, 110, 500, 510], limits), [0..1, 1..2, 2..3, 3..4]);
        assert_eq!(parts(&[], limits), []);
    }

    #[test]
    fn each_document_has_its_own_outcome() {
        let body = r#"{"items":[{"update":{"status":200}},
            {"update":{"status":404,"error":{"type":"document_missing_exception","reason":"x"}}},
            {"delete":{"status":404}},
            {"update":{"status":404,"error":{"type":"index_not_found_exception","reason":"x"}}},
            {"index":{"status":429,"error":{"type":"rejected","reason":"x"}}},
            {"index":{"status":409,"error":{"type":"conflict","reason":"x"}}},
            {"index":{"status":400,"error":{"type":"mapper","reason":"x"}}}]}"#;
        let answer = Answer { status: StatusCode::OK, body: body.into() };
        let busy = |text: &str| Outcome::Busy(text.to_owned());
        assert_eq!(
            outcomes_of(&answer, 7).unwrap(),
            [
                Outcome::Done,
                Outcome::Missing,
                Outcome::Missing,
                busy("404: index_not_found_exception: x"),
                busy("429: rejected: x"),
                busy("409: conflict: x"),
                Outcome::Refused("mapper: x".to_owned())
            ]
        );
        assert!(outcomes_of(&answer, 6).is_err());
        let answer = Answer { status: StatusCode::TOO_MANY_REQUESTS, body: "{}".into() };
        assert!(matches!(outcomes_of(&answer, 2).unwrap()[..], [Outcome::Busy(_), Outcome::Busy(_)]));
    }
}
