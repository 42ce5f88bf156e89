//! Headers that tell browsers to refuse all but our own files on our pages.

use http::header::{
    CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderValue};

/// Everything comes from here. Style attributes are let through, since the libraries of bpmn.io set them.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; \
                      font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; \
                      img-src 'self' data: blob:";

/// The policy (CSP level 3) with the origins that may show us in a frame, and those of images in forms.
pub(crate) fn header(frame_ancestors: &[String], image_origins: &[String]) -> HeaderValue {
    let ancestors = if frame_ancestors.is_empty() { "'none'".to_owned() } else { frame_ancestors.join(" ") };
    let images = image_origins.join(" ");
    let policy = format!("{POLICY} {images}; frame-ancestors {ancestors}").replace(" ;", ";");
    HeaderValue::from_str(&policy).expect("origins are visible ASCII")
}

pub(crate) fn write(policy: &HeaderValue, headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, policy.clone());
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    );
    if policy.as_bytes().ends_with(b"'none'") {
        // For browsers that do not know `frame-ancestors`.
        headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
}
