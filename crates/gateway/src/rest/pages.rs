//! Paths beside the API: the web application, and what its pages must know before anybody has signed in.

use http::header::CACHE_CONTROL;
use http::request::Parts;
use http::{HeaderValue, Method, Response};
use http_body_util::Full;
use serde_json::json;

use super::gateway::Gateway;
use super::reply::{Reply, ReplyBody};

/// Paths of programs, where no page is.
const PROGRAMS: [&str; 3] = ["/v2", "/cluster", "/baton"];
const BOOT: &str = "/baton/v1/boot";

impl Gateway {
    /// The answer to a browser. `None`: it is for the API.
    pub(super) fn answer_page(&self, head: &Parts) -> Option<Response<ReplyBody>> {
        let pages = self.options.pages.as_ref()?;
        let path = head.uri.path();
        if path == BOOT && (head.method == Method::GET || head.method == Method::HEAD) {
            return Some(self.boot(pages));
        }
        let is_below = |start: &str| {
            path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if PROGRAMS.iter().any(|start| is_below(start)) {
            return None;
        }
        let response = pages.answer(&head.method, path, &head.headers)?;
        Some(response.map(|body| ReplyBody::Whole(Full::new(body))))
    }

    /// How people sign in here. It is told to everybody, so it says nothing that the login page does not show.
    fn boot(&self, pages: &web::Pages) -> Response<ReplyBody> {
        let answer = json!({
            "title": pages.title(),
            "version": env!("CARGO_PKG_VERSION"),
            "authentication": self.options.access.method_name(),
        });
        let mut response = Reply::json(answer.to_string().into_bytes()).into_http(None);
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}
