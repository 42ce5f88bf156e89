//! Signing in at the issuer: `GET /oauth2/login` sends a browser there, `GET /sso-callback` is where it comes back.

use auth::SignInFailure;
use http::header::{CACHE_CONTROL, HOST, LOCATION, REFERRER_POLICY};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderValue, Method, Response, StatusCode};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::gateway::Gateway;
use super::problem::Failure;
use super::refusal::Refusal;
use super::reply::ReplyBody;
use super::session::set_cookies;

const DEPARTURE: &str = "/oauth2/login";
const CALLBACK: &str = "/sso-callback";
const LOGIN_PAGE: &str = "/login";
/// The longest query of an answer of the issuer, in bytes.
const QUERY_BYTES_MAX: usize = 16 * 1024;

/// The two requests, by path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignInCall {
    Depart,
    Arrive,
}

impl SignInCall {
    pub(super) fn of(head: &Parts) -> Option<Self> {
        match head.uri.path() {
            _ if head.method != Method::GET => None,
            DEPARTURE => Some(Self::Depart),
            CALLBACK => Some(Self::Arrive),
            _ => None,
        }
    }
}

impl Gateway {
    /// Sends a browser to the issuer, or to a page of ours when it comes back.
    pub(super) async fn sign_in(
        &self,
        call: SignInCall,
        head: &Parts,
    ) -> Result<Response<ReplyBody>, Refusal> {
        let access = &self.options.access;
        if access.entry() != auth::SignInWay::Redirect {
            return Err(Failure::not_found("nobody signs in at an issuer here").into());
        }
        let query = head.uri.query().unwrap_or_default();
        if query.len() > QUERY_BYTES_MAX {
            return Err(Failure::invalid("the query is too long").into());
        }
        let next = field(query, "next").unwrap_or_default();
        match call {
            SignInCall::Depart => match access.depart(&next, self.redirect_uri(head)?).await {
                Ok(departed) => Ok(redirect(StatusCode::FOUND, &departed.location, &departed.cookies)),
                Err(failure) => Ok(self.not_signed_in(failure, &next, &[])),
            },
            SignInCall::Arrive => match access.arrive(head, |name| field(query, name)).await? {
                Ok(departed) => {
                    let location = format!("{}{}", self.options.base_path.prefix(), departed.location);
                    Ok(redirect(StatusCode::SEE_OTHER, &location, &departed.cookies))
                }
                Err((failure, departed)) => {
                    Ok(self.not_signed_in(failure, &departed.location, &departed.cookies))
                }
            },
        }
    }

    /// To the login page, which says why.
    fn not_signed_in(&self, failure: SignInFailure, next: &str, cookies: &[String]) -> Response<ReplyBody> {
        let next = utf8_percent_encode(next, NON_ALPHANUMERIC);
        let page =
            format!("{}{LOGIN_PAGE}?error={}&next={next}", self.options.base_path.prefix(), failure.name());
        redirect(StatusCode::SEE_OTHER, &page, cookies)
    }

    /// Where the issuer sends the browser back to, by the address that the browser came by.
    fn redirect_uri(&self, head: &Parts) -> Result<String, Failure> {
        let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(HOST.as_str()).filter(|host| host.parse::<Authority>().is_ok());
        let host = host.ok_or_else(|| Failure::invalid("Host: is required, but missing"))?;
        // A proxy that ends TLS says so. A client that makes it up misleads only itself: the issuer knows its
        // addresses.
        let scheme = match text("x-forwarded-proto") {
            Some(scheme @ ("http" | "https")) => scheme,
            _ if self.options.tls.is_some() => "https",
            _ => "http",
        };
        Ok(format!("{scheme}://{host}{}{CALLBACK}", self.options.base_path.prefix()))
    }
}

fn redirect(status: StatusCode, location: &str, cookies: &[String]) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::default());
    *response.status_mut() = status;
    set_cookies(cookies, &mut response);
    let headers = response.headers_mut();
    headers.insert(LOCATION, HeaderValue::from_str(location).expect("addresses are visible ASCII"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // The code stands in the address.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// A field of the query; the first, if there are several.
fn field(query: &str, name: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(key, _)| *key == name)?;
    let value = value.replace('+', " ");
    percent_decode_str(&value).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}
