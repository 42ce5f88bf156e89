//! Which site a browser's request comes from.
//!
//! Browsers say so themselves (`Sec-Fetch-Site`), where pages came over TLS or from the machine itself. Elsewhere there
//! is only the `Origin` of the page, which must be where the request goes to, or be allowed. Programs that are no
//! browsers send neither.

use http::Uri;
use http::uri::Authority;

use crate::presented::Presented;

/// An origin (RFC 6454): scheme, host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

impl Origin {
    /// Reads `https://host` or `http://host:port`.
    pub fn parse(text: &str) -> Option<Self> {
        let uri: Uri = text.parse().ok()?;
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let default_port = default_port(&scheme)?;
        let authority = uri.authority()?;
        let is_bare = matches!(uri.path(), "" | "/") && uri.query().is_none() && !text.ends_with('/');
        let is_alone = !authority.as_str().contains('@');
        (is_bare && is_alone).then(|| Self {
            host: authority.host().to_ascii_lowercase(),
            port: authority.port_u16().unwrap_or(default_port),
            scheme,
        })
    }

    /// Whether a request that names this host goes to this origin. Whether it came over TLS, a proxy may have hidden.
    fn is_of_host(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else { return false };
        let port = authority.port_u16().or_else(|| default_port(&self.scheme));
        authority.host().eq_ignore_ascii_case(&self.host) && port == Some(self.port)
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}

/// The origins whose pages may do what our own may.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(pub Vec<Origin>);

impl Origins {
    /// Whether a page of another site made a browser send this.
    pub fn is_cross_site(&self, presented: &Presented<'_>) -> bool {
        // Pages cannot set it, so it goes before everything else: a proxy may have changed the host.
        if matches!(presented.fetch_site, Some("same-origin" | "none")) {
            return false;
        }
        let Some(text) = presented.origin else {
            return presented.fetch_site == Some("cross-site");
        };
        // Pages without an origin (`null`) are nobody's.
        let Some(origin) = Origin::parse(text) else { return true };
        let is_ours = presented.fetch_site != Some("cross-site")
            && presented.host.is_some_and(|host| origin.is_of_host(host));
        !is_ours && !self.0.contains(&origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_cross_site(fetch_site: Option<&str>, origin: Option<&str>, host: &str) -> bool {
        let allowed = Origin::parse("https://desk.example.com").unwrap();
        let presented = Presented { fetch_site, origin, host: Some(host), ..Presented::default() };
        Origins(vec![allowed]).is_cross_site(&presented)
    }

    #[test]
    fn without_the_word_of_the_browser_the_origin_counts() {
        for (origin, host, expected) in [
            (None, "baton:8080", false),
            (Some("http://baton:8080"), "baton:8080", false),
            (Some("http://BATON:8080"), "Baton:8080", false),
            (Some("http://baton"), "baton", false),
            (Some("http://baton"), "baton:80", false),
            (Some("http://baton:80"), "baton", false),
            (Some("http://[::1]:8080"), "[::1]:8080", false),
            // TLS ended at a proxy that kept the host.
            (Some("https://baton.example.com"), "baton.example.com", false),
            (Some("https://desk.example.com"), "baton:8080", false),
            (Some("http://desk.example.com"), "baton:8080", true),
            (Some("http://evil.example"), "baton:8080", true),
            (Some("http://baton:3000"), "baton:8080", true),
            (Some("http://baton.evil.example:8080"), "baton:8080", true),
            (Some("http://baton:8080@evil.example"), "baton:8080", true),
            (Some("null"), "baton:8080", true),
            (Some("file://"), "baton:8080", true),
            (Some(""), "baton:8080", true),
            (Some("http://baton:8080"), "", true),
        ] {
            assert_eq!(is_cross_site(None, origin, host), expected, "{origin:?} {host}");
        }
    }

    #[test]
    fn the_word_of_the_browser_goes_first() {
        let (ours, other) = (Some("http://baton:8080"), Some("http://evil.example"));
        assert!(
            !is_cross_site(Some("same-origin"), Some("https://outside"), "inside:8080"),
            "behind a proxy"
        );
        assert!(!is_cross_site(Some("none"), None, "baton:8080"));
        assert!(is_cross_site(Some("cross-site"), None, "baton:8080"));
        assert!(is_cross_site(Some("cross-site"), other, "baton:8080"));
        assert!(is_cross_site(Some("cross-site"), ours, "baton:8080"));
        assert!(!is_cross_site(Some("cross-site"), Some("https://desk.example.com"), "baton:8080"));
        // Another port or name of the same site.
        assert!(is_cross_site(Some("same-site"), Some("http://baton:3000"), "baton:8080"));
        assert!(!is_cross_site(Some("same-site"), ours, "baton:8080"));
    }

    #[test]
    fn what_is_no_origin_is_not_allowed() {
        for text in [
            "desk.example.com",
            "https://desk.example.com/",
            "https://a/b",
            "ftp://a",
            "https://a@b",
            "*",
            "",
        ] {
            assert_eq!(Origin::parse(text), None, "{text}");
        }
    }
}
