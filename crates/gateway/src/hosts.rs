//! Which names a port may be called by in a browser.
//!
//! A page can have the name of its own site lead to this machine (DNS rebinding) and then reads and writes here as
//! if it were ours. Addresses and names of the loopback interface cannot be taken over like that.

use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr as _;

use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;

/// The names that the `Host` of a request may have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Hosts {
    /// Any.
    #[default]
    Any,
    /// Addresses, names of the loopback interface, and these names, in small letters and without ports.
    Only(Vec<String>),
}

impl Hosts {
    /// These names, in any letters.
    pub fn only<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        Self::Only(names.map(plain).collect())
    }

    /// Checks the head of a request. Without `Host`, no browser sent it.
    ///
    /// # Errors
    /// The answer to a refused host.
    pub(crate) fn check(&self, head: &Parts) -> Result<(), String> {
        let Self::Only(allowed) = self else { return Ok(()) };
        let of_target = head.uri.authority().map(Authority::as_str);
        let of_headers = head.headers.get_all(HOST).iter().map(|value| value.to_str().unwrap_or_default());
        match of_target.into_iter().chain(of_headers).find(|host| !is_known(host, allowed)) {
            None => Ok(()),
            Some(host) => Err(format!(
                "the host '{host}' is not allowed; to allow it, add it to security.allowed_hosts"
            )),
        }
    }
}

/// A name in small letters, without the dot of the root.
fn plain(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

fn is_known(host: &str, allowed: &[String]) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = plain(authority.host());
    let name = name.as_str();
    let has_port = authority.as_str().len() > authority.host().len();
    let is_port = authority.port_u16().is_some() || authority.as_str().ends_with(':');
    let long = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_address = IpAddr::from_str(name).is_ok() || long.is_some_and(|it| Ipv6Addr::from_str(it).is_ok());
    let is_plain = !authority.as_str().contains('@') && (!has_port || is_port);
    let is_loopback = name == "localhost" || name.ends_with(".localhost");
    is_plain && (is_address || is_loopback || allowed.iter().any(|one| one == name))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn check(target: &str, hosts: &[&str]) -> bool {
        let mut request = Request::builder().uri(target);
        for host in hosts {
            request = request.header(HOST, *host);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        Hosts::only(["Baton.example.com."].into_iter()).check(&head).is_ok()
    }

    #[test]
    fn names_of_others_are_refused() {
        for host in [
            "localhost",
            "LocalHost:8080",
            "localhost.:8080",
            "app.localhost:8080",
            "127.0.0.1:9600",
            "10.1.2.3",
            "[::1]:8080",
            "baton.example.com",
            "baton.example.com.:80",
            "localhost:",
            "[::ffff:127.0.0.1]:8080",
            "Baton.Example.com:8443",
        ] {
            assert!(check("/ready", &[host]), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example",
            "notlocalhost",
            "127.0.0.1.evil.example",
            "baton.example.com.evil.example",
            "localhost@evil.example",
            "evil.example@localhost",
            "",
            "a b",
            "localhost:evil",
            "localhost:99999",
            "localhost..",
            "[::1].evil.example",
            "::1",
            "baton.example.com..",
        ] {
            assert!(!check("/ready", &[host]), "{host}");
        }
        assert!(check("/ready", &[]), "no browser leaves it out");
        assert!(!check("/ready", &["localhost", "evil.example"]));
        assert!(!check("http://evil.example/ready", &["localhost"]));
        assert!(check("http://localhost/ready", &["localhost"]));
    }
}
