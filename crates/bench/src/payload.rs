//! Start variables of the size asked for.

use crate::{Error, Options, mix::Mix, model::Model};

/// Start variables where neither options nor model say anything, bytes.
const PAYLOAD_BYTES_DEFAULT: usize = 200;

/// The start variables, JSON objects as text: one, or one for each size.
pub(crate) fn variables(options: &Options, model: &Model) -> Result<Mix<String>, Error> {
    match &options.payload_sizes {
        Some(sizes) => sizes.map(|bytes| one(options, model, Some(*bytes))),
        None => one(options, model, options.payload_bytes).map(Mix::only),
    }
}

fn one(options: &Options, model: &Model, bytes: Option<usize>) -> Result<String, Error> {
    if let Some(path) = &options.payload {
        let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
        return match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text) {
            Ok(_) => Ok(text),
            Err(error) => Err(Error::Options(format!("{}: not a JSON object: {error}", path.display()))),
        };
    }
    Ok(match (model.variables, bytes) {
        (Some(variables), None) => variables.to_owned(),
        (Some(variables), Some(bytes)) => pad(variables, bytes),
        (None, bytes) => pad("{}", bytes.unwrap_or(PAYLOAD_BYTES_DEFAULT)),
    })
}

/// Adds a variable `payload` to the object, so that it has `bytes` bytes; what is that large already stays.
fn pad(object: &str, bytes: usize) -> String {
    let text = object.trim();
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default();
    let comma = if inner.is_empty() { "" } else { "," };
    let frame = format!("{{{inner}{comma}\"payload\":\"\"}}");
    let Some(missing) = bytes.checked_sub(frame.len()) else { return object.to_owned() };
    // Letters in an order that compresses about as badly as real documents do.
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let letters = (0..missing).map(|_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + ((seed >> 59) as u8 % 26))
    });
    let filling: String = letters.collect();
    format!("{{{inner}{comma}\"payload\":\"{filling}\"}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_size_asked_for_and_is_an_object() {
        for (object, bytes) in [("{}", 200), ("{}", 32 * 1024), (r#"{"a":{"b":1}}"#, 100), ("{}", 14)] {
            let text = pad(object, bytes);
            assert_eq!(text.len(), bytes);
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert!(value["payload"].is_string());
        }
    }

    #[test]
    fn what_is_larger_stays() {
        assert_eq!(pad("{}", 3), "{}");
        assert_eq!(pad(r#"{"a":1}"#, 10), r#"{"a":1}"#);
    }

    #[test]
    fn a_payload_file_must_be_an_object() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let options = Options { payload: Some(file.path().to_owned()), ..Options::default() };
        let model = Model::of("benchmark", &options).unwrap();
        std::fs::write(file.path(), "[1]").unwrap();
        assert!(matches!(variables(&options, &model), Err(Error::Options(_))));
        std::fs::write(file.path(), r#"{"a": 1.0}"#).unwrap();
        assert_eq!(variables(&options, &model).unwrap().of(0), r#"{"a": 1.0}"#);
    }
}
