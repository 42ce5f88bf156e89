//! Requests of browsers, which are told apart from those of programs.

use http::header::{ACCEPT, HeaderName, USER_AGENT};
use http::{HeaderMap, HeaderValue};

/// Headers that browsers send and pages cannot set.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The challenge of pages: a scheme that no browser knows, since the page asks.
const OF_PAGES: HeaderValue = HeaderValue::from_static("Session realm=\"Baton\"");

/// The challenge for the sender of a request. A browser answers the scheme `Basic` with a dialog of its own, over a
/// blank page, and keeps what is typed there until it is closed.
pub(crate) fn challenge_for(headers: &HeaderMap, challenge: HeaderValue) -> HeaderValue {
    let is_basic = challenge.as_bytes().starts_with(b"Basic");
    if is_basic && is_of_browser(headers) { OF_PAGES } else { challenge }
}

/// Whether a browser has sent a request: the navigation to a page, or a request of one. Over plain HTTP a browser sends
/// no `Sec-Fetch-Site`; the name that it gives itself begins as that of all browsers.
fn is_of_browser(headers: &HeaderMap) -> bool {
    let has = |name: HeaderName, fits: fn(&str) -> bool| {
        headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).any(fits)
    };
    headers.contains_key(FETCH_SITE)
        || has(USER_AGENT, |agent| agent.starts_with("Mozilla/"))
        || has(ACCEPT, |types| types.contains("text/html"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_told_from_programs() {
        let headers = |pairs: &[(HeaderName, &str)]| -> HeaderMap {
            pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
        };
        for (sent, expected) in [
            (&[][..], false),
            (&[(USER_AGENT, "curl/8.5.0"), (ACCEPT, "*/*")], false),
            (&[(USER_AGENT, "camunda-client-java/8.9.0"), (ACCEPT, "application/json")], false),
            (&[(USER_AGENT, "Mozilla/5.0 (X11; Linux x86_64)"), (ACCEPT, "*/*")], true),
            (&[(ACCEPT, "text/html,application/xhtml+xml")], true),
            (&[(ACCEPT, "application/json"), (ACCEPT, "text/html")], true),
            (&[(FETCH_SITE, "same-origin")], true),
            // A client in Node.js.
            (&[(HeaderName::from_static("sec-fetch-mode"), "cors"), (USER_AGENT, "node")], false),
        ] {
            assert_eq!(is_of_browser(&headers(sent)), expected, "{sent:?}");
        }
    }
}
