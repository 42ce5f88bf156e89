//! The one multipart body the API takes: files to deploy (RFC 7578).

use bytes::Bytes;

use crate::Resource;

/// Writes `resources` and returns the content type (with its boundary) and the body.
pub(crate) fn encode(resources: &[Resource<'_>], tenant_id: Option<&str>) -> (String, Bytes) {
    let boundary = boundary(resources);
    let size: usize = resources.iter().map(|resource| resource.content.len() + 300).sum();
    let mut body = Vec::with_capacity(size + 300);
    for resource in resources {
        let name = quoted(resource.name);
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"resources\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(resource.content);
        body.extend_from_slice(b"\r\n");
    }
    if let Some(tenant_id) = tenant_id {
        let part = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"tenantId\"\r\n\r\n{tenant_id}\r\n"
        );
        body.extend_from_slice(part.as_bytes());
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), Bytes::from(body))
}

/// A boundary that occurs in none of the files.
fn boundary(resources: &[Resource<'_>]) -> String {
    let mut number = 0_u32;
    loop {
        let boundary = format!("baton-part-{number}");
        let bytes = boundary.as_bytes();
        let taken =
            |resource: &Resource<'_>| resource.content.windows(bytes.len()).any(|window| window == bytes);
        if !resources.iter().any(taken) {
            return boundary;
        }
        number += 1;
    }
}

/// A file name as browsers send it: quotes and line breaks percent-encoded.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_tenant() {
        let files = [
            Resource { name: "a.bpmn", content: b"<xml>baton-part-0</xml>" },
            Resource { name: "b\".dmn", content: b"\0\xff" },
        ];
        let (content_type, body) = encode(&files, Some("<default>"));
        assert_eq!(content_type, "multipart/form-data; boundary=baton-part-1");
        let expected: &[u8] = b"--baton-part-1\r\nContent-Disposition: form-data; name=\"resources\"; filename=\"a.bpmn\"\r\n\
            Content-Type: application/octet-stream\r\n\r\n<xml>baton-part-0</xml>\r\n\
            --baton-part-1\r\nContent-Disposition: form-data; name=\"resources\"; filename=\"b%22.dmn\"\r\n\
            Content-Type: application/octet-stream\r\n\r\n\0\xff\r\n\
            --baton-part-1\r\nContent-Disposition: form-data; name=\"tenantId\"\r\n\r\n<default>\r\n--baton-part-1--\r\n";
        assert_eq!(&body[..], expected);
    }
}
