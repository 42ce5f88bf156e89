//! Credentials that a request presents.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, COOKIE, ORIGIN};
use http::{HeaderMap, Method};

use crate::refusal::Reason;

/// The header with the CSRF token.
pub const CSRF_HEADER: &str = "x-csrf-token";
/// The longest `Authorization` header, in bytes.
const AUTHORIZATION_BYTES_MAX: usize = 16 * 1024;
/// The longest password, in bytes.
const PASSWORD_BYTES_MAX: usize = 1024;
/// The longest user name, in bytes.
const USER_BYTES_MAX: usize = 256;

/// Credentials of a request.
#[derive(Debug, Clone, Default)]
pub struct Presented<'a> {
    /// The `Authorization` header.
    pub authorization: Option<&'a str>,
    /// The `Cookie` headers; HTTP/2 may send several.
    pub cookies: Vec<&'a str>,
    /// The header [`CSRF_HEADER`].
    pub csrf_token: Option<&'a str>,
    /// The header `Sec-Fetch-Site`, which browsers send and pages cannot set.
    pub fetch_site: Option<&'a str>,
    /// The header `Origin`, which browsers send and pages cannot set. A value that is not text is a foreign origin.
    pub origin: Option<&'a str>,
    /// The header `Host`.
    pub host: Option<&'a str>,
    /// The address that the request comes from, or that of a proxy.
    pub address: Option<IpAddr>,
    /// Whether the request may change something. Requests with a method that is safe (RFC 9110 §9.2.1) do not.
    pub changes: bool,
}

impl<'a> Presented<'a> {
    /// Reads the headers of a request.
    ///
    /// # Errors
    /// [`Reason::Malformed`], if `Authorization` is there more than once or is no text.
    pub fn from_headers(method: &Method, headers: &'a HeaderMap) -> Result<Self, Reason> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let mut authorizations = headers.get_all(AUTHORIZATION).iter();
        let authorization = match (authorizations.next(), authorizations.next()) {
            (None, _) => None,
            (Some(one), None) => {
                Some(one.to_str().map_err(|_| Reason::Malformed("Authorization is no text"))?)
            }
            (Some(_), Some(_)) => return Err(Reason::Malformed("there is more than one Authorization")),
        };
        Ok(Self {
            authorization,
            cookies: headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()).collect(),
            csrf_token: text(CSRF_HEADER),
            fetch_site: text("sec-fetch-site"),
            origin: headers.get(ORIGIN).map(|value| value.to_str().unwrap_or_default()),
            host: text("host"),
            address: None,
            changes: !method.is_safe(),
        })
    }

    /// The value of a cookie (RFC 6265 §5.4); the first, if there are several.
    pub(crate) fn cookie(&self, name: &str) -> Option<&'a str> {
        self.cookies.iter().flat_map(|line| line.split(';')).find_map(|pair| {
            let (found, value) = pair.split_once('=')?;
            (found.trim() == name).then(|| value.trim())
        })
    }
}

/// The credentials in an `Authorization` header.
pub(crate) enum Credentials<'a> {
    Basic { user: String, password: String },
    Bearer(&'a str),
}

impl<'a> Credentials<'a> {
    /// Reads the header (RFC 9110 §11.6.2, RFC 7617, RFC 6750 §2.1). `expected` is the scheme that the server takes.
    pub fn parse(header: &'a str, expected: &'static str) -> Result<Self, Reason> {
        if header.len() > AUTHORIZATION_BYTES_MAX {
            return Err(Reason::Malformed("Authorization is too long"));
        }
        let (scheme, rest) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
        let rest = rest.trim();
        if !scheme.eq_ignore_ascii_case(expected) {
            return Err(Reason::Scheme(expected));
        }
        if rest.is_empty() {
            return Err(Reason::Malformed("nothing follows the scheme"));
        }
        if expected == BEARER {
            return Ok(Self::Bearer(rest));
        }
        let bytes = STANDARD.decode(rest).map_err(|_| Reason::Malformed("not base64"))?;
        let text = String::from_utf8(bytes).map_err(|_| Reason::Malformed("not UTF-8"))?;
        let (user, password) =
            text.split_once(':').ok_or(Reason::Malformed("no colon after the user name"))?;
        check_lengths(user, password)?;
        Ok(Self::Basic { user: user.to_owned(), password: password.to_owned() })
    }
}

/// Longer values are refused without a hash.
pub(crate) fn check_lengths(user: &str, password: &str) -> Result<(), Reason> {
    if user.len() > USER_BYTES_MAX {
        return Err(Reason::Malformed("the user name is too long"));
    }
    if password.len() > PASSWORD_BYTES_MAX {
        return Err(Reason::Malformed("the password is too long"));
    }
    Ok(())
}

/// The scheme of user name and password.
pub(crate) const BASIC: &str = "Basic";
/// The scheme of tokens.
pub(crate) const BEARER: &str = "Bearer";

#[cfg(test)]
mod tests {
    use super::*;

    fn basic(header: &str) -> Result<(String, String), Reason> {
        match Credentials::parse(header, BASIC)? {
            Credentials::Basic { user, password } => Ok((user, password)),
            Credentials::Bearer(_) => panic!("not what was asked for"),
        }
    }

    #[test]
    fn the_password_may_have_colons() {
        let header = format!("basic  {}", STANDARD.encode("ann:a:b"));
        assert_eq!(basic(&header).unwrap(), ("ann".to_owned(), "a:b".to_owned()));
    }

    #[test]
    fn what_cannot_be_read_is_refused_by_name() {
        assert_eq!(basic("Basic ***"), Err(Reason::Malformed("not base64")));
        assert_eq!(basic("Basic"), Err(Reason::Malformed("nothing follows the scheme")));
        assert_eq!(basic("Bearer abc"), Err(Reason::Scheme(BASIC)));
        let no_colon = format!("Basic {}", STANDARD.encode("ann"));
        assert_eq!(basic(&no_colon), Err(Reason::Malformed("no colon after the user name")));
        let latin = format!("Basic {}", STANDARD.encode(b"\xe4:x"));
        assert_eq!(basic(&latin), Err(Reason::Malformed("not UTF-8")));
        let long = format!("Basic {}", STANDARD.encode(format!("ann:{}", "x".repeat(2000))));
        assert_eq!(basic(&long), Err(Reason::Malformed("the password is too long")));
        let longer = format!("Basic {}", "A".repeat(20_000));
        assert_eq!(basic(&longer), Err(Reason::Malformed("Authorization is too long")));
    }

    #[test]
    fn cookies_are_found_by_their_whole_name() {
        let presented = Presented {
            cookies: vec!["xsession=1; other=2", " session = a=b ;session=c"],
            ..Default::default()
        };
        assert_eq!(presented.cookie("session"), Some("a=b"));
        assert_eq!(presented.cookie("other"), Some("2"));
        assert_eq!(presented.cookie("missing"), None);
    }

    #[test]
    fn two_authorizations_are_none() {
        let mut headers = HeaderMap::new();
        headers.append(AUTHORIZATION, "Basic a".parse().unwrap());
        assert!(Presented::from_headers(&Method::GET, &headers).unwrap().authorization.is_some());
        headers.append(AUTHORIZATION, "Basic b".parse().unwrap());
        assert_eq!(
            Presented::from_headers(&Method::GET, &headers).unwrap_err(),
            Reason::Malformed("there is more than one Authorization")
        );
    }

    #[test]
    fn methods_that_change_are_told_from_those_that_do_not() {
        let headers = HeaderMap::new();
        let changes = |method| Presented::from_headers(&method, &headers).unwrap().changes;
        assert!(changes(Method::POST) && changes(Method::DELETE) && changes(Method::PATCH));
        assert!(!changes(Method::GET) && !changes(Method::HEAD) && !changes(Method::OPTIONS));
    }
}
