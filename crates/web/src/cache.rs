//! Headers of a request that tell which encodings its sender takes, and which content it has already.

use std::io::Read as _;

use bytes::Bytes;
use flate2::read::GzDecoder;
use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, IF_NONE_MATCH};

/// Whether gzip is among the encodings that are taken (RFC 9110 §12.5.3).
pub(crate) fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut any = false;
    for coding in values.flat_map(|value| value.split(',')) {
        let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
        let quality = parameters.trim().strip_prefix("q=").and_then(|text| text.trim().parse::<f32>().ok());
        let is_taken = quality.is_none_or(|quality| quality > 0.0);
        match name.trim() {
            name if name.eq_ignore_ascii_case("gzip") => return is_taken,
            "*" => any = is_taken,
            _ => {}
        }
    }
    any
}

/// Whether the sender has the content with this tag (RFC 9110 §13.1.2).
pub(crate) fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let values = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = values.flat_map(|value| value.split(',')).map(str::trim);
    tags.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

/// The content of a packed file of ours.
pub(crate) fn unpack(packed: &[u8]) -> Bytes {
    let mut content = Vec::with_capacity(4 * packed.len());
    GzDecoder::new(packed).read_to_end(&mut content).expect("files of dist/ are packed whole");
    content.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: http::HeaderName, value: &str) -> HeaderMap {
        std::iter::once((name, value.parse().unwrap())).collect()
    }

    #[test]
    fn gzip_is_sent_to_whom_it_suits() {
        for (value, expected) in [
            ("gzip", true),
            ("deflate, gzip;q=0.5, br", true),
            ("GZIP", true),
            ("*", true),
            ("br", false),
            ("gzip;q=0", false),
            ("*;q=0", false),
            ("*, gzip;q=0.0", false),
            ("identity", false),
            ("", false),
        ] {
            assert_eq!(takes_gzip(&with(ACCEPT_ENCODING, value)), expected, "{value}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }

    #[test]
    fn tags_are_compared() {
        for (value, expected) in [
            ("\"a\"", true),
            ("W/\"a\"", true),
            ("\"b\", \"a\"", true),
            ("*", true),
            ("\"b\"", false),
            ("a", false),
        ] {
            assert_eq!(is_known(&with(IF_NONE_MATCH, value), "\"a\""), expected, "{value}");
        }
    }
}
