//! The path before all paths of ours, where a proxy shares one address between programs.
//!
//! Browsers see it in every address: of pages and files, of requests, cookies and redirects. A proxy may pass it on or
//! take it off, so requests are taken with it and without.

use http::Uri;
use http::uri::PathAndQuery;

/// The first parts of paths of ours: below one of these it could not be told whether a proxy has taken it off.
const OURS: [&str; 11] = [
    "admin",
    "assets",
    "cluster",
    "identity",
    "login",
    "logout",
    "oauth2",
    "operate",
    "sso-callback",
    "tasklist",
    "v2",
];
/// Operations of ours, which begin with what a path may be, too.
const OWN_OPERATIONS: &str = "/baton/v1/";

/// A path that begins and ends with a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BasePath(String);

impl Default for BasePath {
    fn default() -> Self {
        Self("/".to_owned())
    }
}

impl BasePath {
    /// Reads `/`, or a path such as `/tools/baton/`: parts of unreserved characters (RFC 3986 §2.3), of which the first
    /// is none that paths of ours begin with.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "/" {
            return Some(Self::default());
        }
        let parts: Vec<_> = text.strip_prefix('/')?.strip_suffix('/')?.split('/').collect();
        let is_part = |part: &&str| {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            !matches!(*part, "" | "." | "..") && part.bytes().all(is_plain)
        };
        let is_taken = OURS.contains(&parts[0]) || parts[..2.min(parts.len())] == ["baton", "v1"];
        (parts.iter().all(is_part) && !is_taken).then(|| Self(text.to_owned()))
    }

    /// As it is set.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The beginning of addresses: without the slash at its end.
    pub fn prefix(&self) -> &str {
        self.0.trim_end_matches('/')
    }

    /// The address without the base path; `None` if it does not begin with it.
    pub(crate) fn strip(&self, uri: &Uri) -> Option<Uri> {
        let prefix = self.prefix();
        if prefix.is_empty() || uri.path().starts_with(OWN_OPERATIONS) {
            return None;
        }
        let path = uri.path().strip_prefix(prefix).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
        let mut rest = if path.is_empty() { "/".to_owned() } else { path.to_owned() };
        if let Some(query) = uri.query() {
            rest.push('?');
            rest.push_str(query);
        }
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(rest).ok()?);
        Uri::from_parts(parts).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_and_ends_with_a_slash() {
        for (good, prefix) in
            [("/", ""), ("/baton/", "/baton"), ("/a/B-1.x_~/", "/a/B-1.x_~"), ("/v3/", "/v3")]
        {
            assert_eq!(BasePath::parse(good).unwrap().prefix(), prefix);
        }
        for bad in [
            "",
            "baton",
            "/baton",
            "baton/",
            "//",
            "/a//b/",
            "/a/../",
            "/./",
            "/a b/",
            "/ä/",
            "/%41/",
            "/a?/",
            "/\"/",
            "/v2/",
            "/operate/x/",
            "/assets/",
            "/login/",
            "/baton/v1/",
            "/baton/v1/x/",
        ] {
            assert_eq!(BasePath::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn addresses_are_taken_with_it_and_without() {
        let strip = |base: &str, uri: &str| {
            let found = BasePath::parse(base).unwrap().strip(&uri.parse().unwrap());
            found.map(|uri| uri.to_string())
        };
        for (uri, expected) in [
            ("/baton", Some("/")),
            ("/baton/", Some("/")),
            ("/baton?a=1", Some("/?a=1")),
            ("/baton/operate?x=%2F", Some("/operate?x=%2F")),
            ("/baton/v2/topology", Some("/v2/topology")),
            ("/baton/baton/v1/boot", Some("/baton/v1/boot")),
            ("/baton//evil", Some("//evil")),
            ("/baton/v1/boot", None),
            ("/batonic/operate", None),
            ("/operate", None),
            ("/", None),
        ] {
            assert_eq!(strip("/baton/", uri).as_deref(), expected, "{uri}");
        }
        assert_eq!(strip("/", "/operate"), None);
        assert_eq!(strip("/x/", "http://host/x/v2?a=b").as_deref(), Some("http://host/v2?a=b"));
    }
}
