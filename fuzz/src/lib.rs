//! Fuzz targets: every parser of outside input, as a function of bytes that must not panic.
//!
//! Used by the libFuzzer targets in `fuzz_targets` and by the smoke runner, which needs no nightly compiler.

mod engine;

use bytes::Bytes;

pub use engine::engine;

/// A function that must survive any input.
pub type Target = fn(&[u8]);

/// All targets by name.
pub const TARGETS: [(&str, Target); 7] = [
    ("bpmn", bpmn),
    ("dmn", dmn),
    ("feel", feel),
    ("json", json),
    ("batch", batch),
    ("engine", engine),
    ("peer", peer),
];

/// A BPMN file: reading it ends with processes or with findings of bounded length.
pub fn bpmn(data: &[u8]) {
    match bpmn::parse(data, &bpmn::Limits::default()) {
        Ok(processes) => assert!(!processes.is_empty(), "a file without a process is refused"),
        Err(problems) => {
            assert!(!problems.0.is_empty(), "a refusal has a reason");
            assert!(problems.to_string().len() <= bpmn::MAX_DISPLAY_BYTES, "a refusal is short");
        }
    }
}

/// A DMN file: reading it ends with decisions or with findings of bounded length, and each decision that was read
/// ends within its limits, with a result that is valid JSON or with a reason; the outcome without the trail is the
/// same.
pub fn dmn(data: &[u8]) {
    let limits = dmn::Limits { max_evaluated_decisions: 200, ..dmn::Limits::default() };
    let parser = dmn::Parser::new(limits);
    let read =
        |text: &str| parser.read(text).map(|file| (file.namespace().to_owned(), file.imports().count()));
    let head = parser.decode(data).and_then(|text| read(&text));
    let model = match parser.parse(data) {
        Ok(model) => {
            let (namespace, imports) = head.expect("a file that compiles can be read");
            assert_eq!(namespace, model.namespace());
            assert_eq!(imports, 0, "no model is there to import");
            model
        }
        Err(problems) => {
            assert!(!problems.0.is_empty(), "a refusal has a reason");
            assert!(problems.to_string().len() <= dmn::MAX_DISPLAY_BYTES, "a refusal is short");
            return;
        }
    };
    let limits = feel::Limits { fuel: 100_000, ..feel::Limits::default() };
    let environment = feel::Environment { now_ms: 1_700_000_000_000, limits, ..feel::Environment::default() };
    let variables = std::collections::BTreeMap::from([
        ("a".to_owned(), feel::Value::string("winter")),
        ("n".to_owned(), feel::Value::from_json_lazy(Bytes::from_static(b"[1, {\"b\": null}]"))),
    ]);
    for decision in model.decisions().take(20) {
        let alone = model.output(decision.id, &variables, &environment);
        match model.evaluate(decision.id, &variables, &environment) {
            Ok(evaluation) => {
                let mut written = Vec::new();
                evaluation.output.to_json(&mut written);
                let mut again = Vec::new();
                alone.expect("the same result without the trail").to_json(&mut again);
                assert_eq!(written, again, "the trail changes nothing");
                assert!(feel::Value::from_json(Bytes::from(written)).is_ok(), "a result is valid JSON");
            }
            Err(failure) => {
                assert!(!failure.reason.is_empty(), "a failure has a reason");
                assert!(alone.is_err(), "the trail changes nothing");
            }
        }
    }
}

/// A FEEL expression: parsing ends with an expression or with an error that lies inside the text, and a parsed
/// expression can be evaluated within its limits with a result that is valid JSON.
pub fn feel(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let expression = match feel::Expression::parse(text) {
        Ok(expression) => expression,
        Err(error) => {
            assert!(error.position <= text.len(), "the position of an error lies inside the text");
            return;
        }
    };
    let limits = feel::Limits { fuel: 100_000, ..feel::Limits::default() };
    let environment = feel::Environment { now_ms: 1_700_000_000_000, limits, ..feel::Environment::default() };
    if let Ok(evaluation) = expression.evaluate(&(), &environment) {
        let mut written = Vec::new();
        evaluation.value.to_json(&mut written);
        assert!(feel::Value::from_json(Bytes::from(written)).is_ok(), "a result is valid JSON");
    }
}

/// A JSON document: each value that is read can be written and read again.
pub fn json(data: &[u8]) {
    let Ok(value) = feel::Value::from_json(Bytes::copy_from_slice(data)) else { return };
    let mut written = Vec::new();
    value.to_json(&mut written);
    assert!(feel::Value::from_json(Bytes::from(written)).is_ok(), "written JSON can be read");
}

/// Bytes of another broker: frames as they are, and messages as in frames whose checksums fit. A message that can be
/// read can be written again.
pub fn peer(data: &[u8]) {
    // Frames are longer than their input only where they are compressed, and then bounded.
    let _ = transport::read_all(data);
    let _ = transport::read_handshake(data);
    let _ = transport::read_sealed(data);
    let bytes = Bytes::copy_from_slice(data);
    for snapshot in [None, Some("snapshot".into())] {
        if let Ok(request) = replication::PeerRequest::from_message(&bytes, snapshot.clone()) {
            let again = request.into_message().head;
            let request =
                replication::PeerRequest::from_message(&again, snapshot).expect("a written request");
            assert_eq!(request.into_message().head, again, "a request is the same again");
        }
    }
    if let Ok(response) = replication::PeerResponse::decode(data) {
        let again = response.encode();
        let response = replication::PeerResponse::decode(&again).expect("a written response");
        assert_eq!(response.encode(), again, "a response is the same again");
    }
}

/// A batch of the log: decoding ends with a batch, which can be encoded again, or with an error.
pub fn batch(data: &[u8]) {
    if let Ok(batch) = protocol::Batch::decode(data) {
        let again = protocol::Batch::decode(&batch.encode()).expect("an encoded batch");
        assert_eq!(again, batch, "leader and followers apply the same");
    }
}

/// `SplitMix64`: small, fast, and the same everywhere.
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound, which must not be zero.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound as u64) as usize
    }
}
