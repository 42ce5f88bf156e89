//! Media types: what a request may send and what it must take.

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};

use super::contract::{Media, Operation};
use super::problem::Failure;
use super::problem_code::Code;

/// Checks the type of a body that is there.
pub(crate) fn check_content_type(headers: &HeaderMap, media: Media) -> Result<(), Failure> {
    let expected = match media {
        Media::Json => "application/json",
        Media::Multipart => "multipart/form-data",
    };
    if let Some(encoding) = headers.get(CONTENT_ENCODING)
        && !encoding.as_bytes().eq_ignore_ascii_case(b"identity")
    {
        return Err(Failure::unsupported_media_type(
            "encoded request bodies are not supported: send it as it is",
        ));
    }
    let Some(value) = headers.get(CONTENT_TYPE) else {
        return Err(Failure::unsupported_media_type(format!(
            "the request has a body but no Content-Type: use {expected}"
        )));
    };
    let essence = value.as_bytes().split(|&b| b == b';').next().unwrap_or_default().trim_ascii();
    let matches = match media {
        _ if essence.eq_ignore_ascii_case(expected.as_bytes()) => true,
        Media::Json => essence.len() > 5 && essence[essence.len() - 5..].eq_ignore_ascii_case(b"+json"),
        Media::Multipart => false,
    };
    if matches {
        Ok(())
    } else {
        Err(Failure::unsupported_media_type(format!("this operation takes {expected}")))
    }
}

/// Refuses requests that take neither any kind of JSON nor what the operation answers with. Quality values are not
/// weighed: there is nothing to choose from.
pub(crate) fn check_accept(headers: &HeaderMap, operation: Operation) -> Result<(), Failure> {
    let mut accepts = headers.get_all(ACCEPT).iter().peekable();
    if accepts.peek().is_none() {
        return Ok(());
    }
    let mut ranges = accepts
        .flat_map(|value| value.as_bytes().split(|&b| b == b','))
        .map(|range| range.split(|&b| b == b';').next().unwrap_or_default().trim_ascii());
    let is_xml = matches!(
        operation,
        Operation::GetProcessDefinitionXML
            | Operation::GetDecisionDefinitionXML
            | Operation::GetDecisionRequirementsXML
    );
    let is_binary = matches!(operation, Operation::GetResourceContent | Operation::GetResourceContentBinary);
    let is_taken = |range: &[u8]| {
        matches!(range, b"*/*" | b"application/*" | b"*")
            || is_xml && matches!(range, b"text/xml" | b"text/*")
            || is_binary
            || range.len() >= 4 && range[range.len() - 4..].eq_ignore_ascii_case(b"json")
    };
    if ranges.any(is_taken) {
        Ok(())
    } else {
        let detail = "answers are application/json, problems application/problem+json";
        Err(Failure::new(Code::NotAcceptable, detail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: http::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn what_the_official_clients_send_is_taken() {
        for value in [
            "application/json",
            "application/json; charset=UTF-8",
            "application/vnd.x+json",
            "APPLICATION/JSON",
        ] {
            assert_eq!(check_content_type(&headers(CONTENT_TYPE, value), Media::Json), Ok(()), "{value}");
        }
        let form = headers(CONTENT_TYPE, "multipart/form-data; charset=ISO-8859-1; boundary=x");
        assert_eq!(check_content_type(&form, Media::Multipart), Ok(()));
        for value in ["*/*", "application/json, application/problem+json", "text/html, */*;q=0.1"] {
            assert_eq!(check_accept(&headers(ACCEPT, value), Operation::GetTopology), Ok(()), "{value}");
        }
        assert_eq!(check_accept(&HeaderMap::new(), Operation::GetTopology), Ok(()));
    }

    #[test]
    fn other_types_are_refused() {
        for value in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json", ""] {
            let failure = check_content_type(&headers(CONTENT_TYPE, value), Media::Json).unwrap_err();
            assert_eq!(failure.status(), 415, "{value}");
        }
        assert_eq!(check_content_type(&HeaderMap::new(), Media::Json).unwrap_err().status(), 415);
        assert_eq!(
            check_content_type(&headers(CONTENT_ENCODING, "gzip"), Media::Json).unwrap_err().status(),
            415
        );
        let html = headers(ACCEPT, "text/html");
        assert_eq!(check_accept(&html, Operation::GetTopology).unwrap_err().status(), 406);
        assert_eq!(check_accept(&html, Operation::GetProcessDefinitionXML).unwrap_err().status(), 406);
        let xml = headers(ACCEPT, "text/xml");
        assert_eq!(check_accept(&xml, Operation::GetTopology).unwrap_err().status(), 406);
        assert_eq!(check_accept(&xml, Operation::GetProcessDefinitionXML), Ok(()));
    }
}
