//! `POST /login` and `POST /logout`: sessions of browsers. Beside the API, as browsers know them.

use super::reply::ReplyBody;
use auth::{CSRF_HEADER, SignIn};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, SET_COOKIE};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};
use percent_encoding::percent_decode_str;
use protocol::{Caller, Command, IdentityCommand, Name, Principal, UserChange};

use super::gateway::Gateway;
use super::operation::identity::user::{check_password, hash};
use super::problem::Failure;
use super::refusal::Refusal;

/// The longest body of a login, in bytes.
pub(super) const LOGIN_BYTES_MAX: usize = 16 * 1024;
/// Where the browser goes to sign out at the issuer, too.
const LOGOUT_LOCATION: HeaderName = HeaderName::from_static("baton-logout-location");
const LOGIN: &str = "/login";
const LOGOUT: &str = "/logout";

/// Session operations by path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionCall {
    Login,
    Logout,
}

impl SessionCall {
    pub(super) fn of(path: &str) -> Option<Self> {
        match path {
            LOGIN => Some(Self::Login),
            LOGOUT => Some(Self::Logout),
            _ => None,
        }
    }
}

impl Gateway {
    /// Begins or ends a session.
    pub(super) async fn change_session(
        &self,
        call: SessionCall,
        head: &Parts,
        body: &Bytes,
    ) -> Result<Response<ReplyBody>, Refusal> {
        let access = &self.options.access;
        if !access.has_sessions() {
            return Err(Failure::not_found("there are no sessions here").into());
        }
        let mut elsewhere = None;
        let (cookies, csrf_token) = match call {
            SessionCall::Login => {
                let form = Form::read(head, body)?;
                // Before the session of the browser gives way to another one.
                if let Some(password) = &form.new_password {
                    check_password(self, "newPassword", password)?;
                }
                let mut signed_in = access.sign_in(head, form.sign_in(head)?).await?;
                if let (Some(user), Some(password)) = (&form.username, &form.new_password) {
                    self.change_own_password(user, password).await?;
                    signed_in = access.sign_in(head, SignIn::Password { user, password }).await?;
                }
                (signed_in.cookies.to_vec(), Some(signed_in.csrf_token))
            }
            SessionCall::Logout => {
                let signed_out = access.sign_out(head)?;
                elsewhere = signed_out.location;
                (signed_out.cookies, None)
            }
        };
        let mut response = Response::new(ReplyBody::default());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let value = |text: &str| HeaderValue::from_str(text).expect("cookies are visible ASCII");
        set_cookies(&cookies, &mut response);
        if let Some(location) = elsewhere {
            response.headers_mut().insert(LOGOUT_LOCATION, value(&location));
        }
        if let Some(token) = csrf_token {
            response.headers_mut().insert(HeaderName::from_static(CSRF_HEADER), value(&token));
        }
        Ok(response)
    }
}

impl Gateway {
    /// Gives a user another password, which the user may do by knowing the present one. Sessions that began with that
    /// end.
    async fn change_own_password(&self, user: &str, password: &str) -> Result<(), Failure> {
        let change = UserChange {
            username: Name::from(user),
            name: None,
            email: None,
            password_hash: Some(hash(self, "newPassword", password).await?),
        };
        let itself = Caller::unchecked(Principal::user(user));
        let command = Command::Identity(IdentityCommand::UpdateUser(change)).asked_by(Some(itself));
        self.broker.submit(command).await.map_err(|error| Failure::submit(error, "UPDATE"))?;
        Ok(())
    }
}

/// Has a browser keep cookies, or forget them.
pub(super) fn set_cookies(cookies: &[String], response: &mut Response<ReplyBody>) {
    for cookie in cookies {
        let value = HeaderValue::from_str(cookie).expect("cookies are visible ASCII");
        response.headers_mut().append(SET_COOKIE, value);
    }
}

/// Fields of a login form.
#[derive(Default)]
struct Form {
    username: Option<String>,
    password: Option<String>,
    /// The password from now on, of who changes it.
    new_password: Option<String>,
}

impl Form {
    fn read(head: &Parts, body: &Bytes) -> Result<Self, Failure> {
        let mut form = Self::default();
        if body.is_empty() {
            return Ok(form);
        }
        let media = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !media.starts_with("application/x-www-form-urlencoded") {
            return Err(Failure::unsupported_media_type(
                "expected a form (application/x-www-form-urlencoded)",
            ));
        }
        let text = std::str::from_utf8(body).map_err(|_| Failure::invalid("the form is not UTF-8"))?;
        for (name, value) in text.split('&').filter_map(|pair| pair.split_once('=')) {
            let place = match name {
                "username" => &mut form.username,
                "password" => &mut form.password,
                "newPassword" => &mut form.new_password,
                _ => continue,
            };
            let value = value.replace('+', " ");
            let decoded = percent_decode_str(&value).decode_utf8();
            *place =
                Some(decoded.map_err(|_| Failure::invalid(format!("{name}: is not UTF-8")))?.into_owned());
        }
        Ok(form)
    }

    /// Name and password of the form, or else the token in the header.
    fn sign_in<'a>(&'a self, head: &'a Parts) -> Result<SignIn<'a>, Failure> {
        if let (Some(user), Some(password)) = (&self.username, &self.password) {
            return Ok(SignIn::Password { user, password });
        }
        let header = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = header.and_then(|text| text.split_once(' '));
        match token {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(SignIn::Token(token.trim())),
            _ => Err(Failure::invalid("expected a form with username and password, or a bearer token")),
        }
    }
}
