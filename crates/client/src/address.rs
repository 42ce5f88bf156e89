//! Addresses as users write them: `http://host:port/base`, `host:port` or only `host`.

use crate::Error;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Host name or IP address, IPv6 without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Path before the API's own, without trailing slash; often empty.
    pub base: String,
    /// Whether to speak TLS: the scheme is `https` or `grpcs`.
    pub tls: bool,
}

impl Address {
    /// Parses `text`; a missing port becomes `port_default`.
    ///
    /// Fails on another scheme than `http` and `https`, or those of gRPC, an empty host or a port that is no number.
    pub fn parse(text: &str, port_default: u16) -> Result<Self, Error> {
        let invalid = |reason| Error::Address { address: text.to_owned(), reason };
        let (tls, rest) = match text.split_once("://") {
            None => (false, text),
            Some(("http" | "grpc", rest)) => (false, rest),
            Some(("https" | "grpcs", rest)) => (true, rest),
            Some(_) => return Err(invalid("the scheme must be http or https")),
        };
        let (authority, base) = match rest.find('/') {
            Some(at) => (&rest[..at], rest[at..].trim_end_matches('/')),
            None => (rest, ""),
        };
        let (host, port) = if let Some(inner) = authority.strip_prefix('[') {
            let (host, after) = inner.split_once(']').ok_or_else(|| invalid("the bracket is not closed"))?;
            (host, after.strip_prefix(':'))
        } else {
            match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            }
        };
        if host.is_empty() {
            return Err(invalid("the host is missing"));
        }
        let port = match port {
            Some(port) => port.parse().map_err(|_| invalid("the port must be a number up to 65535"))?,
            None => port_default,
        };
        Ok(Self { host: host.to_owned(), port, base: base.to_owned(), tls })
    }

    /// `host:port` as a `Host` header wants it.
    pub fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, u16, &str)>) {
        let parsed = Address::parse(text, 8080).ok();
        let expected = expected.map(|(host, port, base)| Address {
            host: host.to_owned(),
            port,
            base: base.to_owned(),
            tls: false,
        });
        assert_eq!(parsed, expected, "{text}");
    }

    #[test]
    fn every_way_to_write_an_address() {
        check("localhost", Some(("localhost", 8080, "")));
        check("localhost:1", Some(("localhost", 1, "")));
        check("http://10.0.0.1:99/", Some(("10.0.0.1", 99, "")));
        check("http://gate/cluster-a/v2/", Some(("gate", 8080, "/cluster-a/v2")));
        check("http://[::1]:7", Some(("::1", 7, "")));
        check("[::1]", Some(("::1", 8080, "")));
        check("ftp://localhost", None);
        check("http://:80", None);
        check("host:port", None);
        check("[::1", None);
    }

    #[test]
    fn the_scheme_says_whether_there_is_tls() {
        for (text, tls) in
            [("https://a:1", true), ("grpcs://a:1", true), ("grpc://a:1", false), ("a:1", false)]
        {
            assert_eq!(Address::parse(text, 8080).unwrap().tls, tls, "{text}");
        }
    }

    #[test]
    fn authority_brackets_ipv6_only() {
        assert_eq!(Address::parse("[::1]:7", 1).unwrap().authority(), "[::1]:7");
        assert_eq!(Address::parse("a:7", 1).unwrap().authority(), "a:7");
    }
}
