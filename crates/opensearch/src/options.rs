//! Where the nodes are, and who we are.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use http::Uri;

/// Text that is never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the one who needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// How to reach the nodes.
#[derive(Debug, Clone)]
pub struct Options {
    /// Nodes of one cluster; the next one is asked when one cannot be reached.
    pub urls: Vec<String>,
    /// Name for basic authentication; none if absent.
    pub username: Option<String>,
    /// Its password.
    pub password: Secret,
    /// Authorities to trust, as a PEM file; without it those that the machine trusts.
    pub authorities: Option<PathBuf>,
    /// Time limit for a connection, TLS included.
    pub connect_timeout: Duration,
    /// How long an answer may take.
    pub request_timeout: Duration,
}

impl Options {
    /// The defaults, for one node.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            urls: vec![url.into()],
            username: None,
            password: Secret::default(),
            authorities: None,
            connect_timeout: Duration::from_secs(5),
            request_timeout: Duration::from_secs(60),
        }
    }

    /// Whether a client can be made of them.
    pub fn check(&self) -> Result<(), OptionsError> {
        Node::all(&self.urls).map(|_| ())
    }
}

/// Errors of options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// There is no node.
    #[error("there is no URL")]
    NoUrl,
    /// A URL that cannot be used. It is not repeated: it may hold a password.
    #[error("URL {number}: {reason}")]
    Url {
        /// Which, from 1.
        number: usize,
        /// Why.
        reason: &'static str,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub is_https: bool,
    /// Without the brackets of an IPv6 address.
    pub host: String,
    pub port: u16,
    /// For the Host header.
    pub authority: String,
    /// Prefix of paths; no slash at the end.
    pub base: String,
}

impl Node {
    pub fn all(urls: &[String]) -> Result<Vec<Self>, OptionsError> {
        if urls.is_empty() {
            return Err(OptionsError::NoUrl);
        }
        let numbered = urls.iter().enumerate();
        numbered
            .map(|(at, url)| Self::of(url).map_err(|reason| OptionsError::Url { number: at + 1, reason }))
            .collect()
    }

    fn of(url: &str) -> Result<Self, &'static str> {
        let uri: Uri = url.trim().parse().map_err(|_| "it cannot be read")?;
        let is_https = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err("it does not begin with http:// or https://"),
        };
        let authority = uri.authority().ok_or("it has no host")?;
        if authority.as_str().contains('@') {
            return Err("name and password have settings of their own");
        }
        if uri.query().is_some() {
            return Err("it has a query");
        }
        Ok(Self {
            is_https,
            host: authority.host().trim_start_matches('[').trim_end_matches(']').to_owned(),
            port: authority.port_u16().unwrap_or(if is_https { 443 } else { 9200 }),
            authority: authority.to_string(),
            base: uri.path().trim_end_matches('/').to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_read() {
        let nodes =
            Node::all(&["http://localhost".to_owned(), "https://[::1]:9201/search/".to_owned()]).unwrap();
        assert_eq!((nodes[0].port, nodes[0].is_https, &*nodes[0].base), (9200, false, ""));
        assert_eq!((&*nodes[1].host, nodes[1].port, &*nodes[1].base), ("::1", 9201, "/search"));
        assert_eq!(nodes[1].authority, "[::1]:9201");
    }

    #[test]
    fn wrong_nodes_are_refused_without_being_repeated() {
        for url in ["localhost:9200", "ftp://a", "http://me:hidden@a", "http://a?x=hidden", "http://", ""] {
            let error = Node::all(&["http://a".to_owned(), url.to_owned()]).unwrap_err().to_string();
            assert!(error.starts_with("URL 2: ") && !error.contains("hidden"), "{url}: {error}");
        }
        assert_eq!(Node::all(&[]), Err(OptionsError::NoUrl));
    }

    #[test]
    fn a_password_is_not_shown() {
        let options = Options { password: Secret::new("hidden"), ..Options::new("http://a") };
        assert!(!format!("{options:?}").contains("hidden"));
    }
}
