//! Paths beside the API: the web application.

use http::Response;
use http::request::Parts;
use http_body_util::Full;

use super::gateway::Gateway;
use super::reply::ReplyBody;

/// Paths of programs, where no page is.
const PROGRAMS: [&str; 3] = ["/v2", "/cluster", "/baton"];

impl Gateway {
    /// The answer to a browser. `None`: it is for the API.
    pub(super) fn answer_page(&self, head: &Parts) -> Option<Response<ReplyBody>> {
        let pages = self.options.pages.as_ref()?;
        let path = head.uri.path();
        let is_below = |start: &str| {
            path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if PROGRAMS.iter().any(|start| is_below(start)) {
            return None;
        }
        let response = pages.answer(&head.method, path, &head.headers)?;
        Some(response.map(|body| ReplyBody::Whole(Full::new(body))))
    }
}
