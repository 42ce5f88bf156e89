//! The web application: files that are built of `ui/` and embedded here, and the answers that browsers get.
//!
//! A request enters at [`Pages::answer`]. Nothing here reads a file, knows the API or who is asking: the application
//! is the same for everybody, and all that it shows comes over the API.

mod cache;
mod page;
mod policy;

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, VARY};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

use cache::{is_known, takes_gzip, unpack};
use page::FrontPage;

include!(concat!(env!("OUT_DIR"), "/table.rs"));

const ASSETS: &str = "/assets/";
const HTML: &str = "text/html; charset=utf-8";
/// Names of files have a hash of their content, so what a name stands for never changes.
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");

/// A file below `/assets/`.
struct Asset {
    path: &'static str,
    media: &'static str,
    tag: &'static str,
    packed: &'static [u8],
}

/// Settings of the application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSettings {
    /// The name in the title of the browser's window.
    pub title: String,
    /// Origins whose pages may show this one in a frame.
    pub frame_ancestors: Vec<String>,
    /// Origins from which forms may show images.
    pub image_origins: Vec<String>,
    /// The path before all paths in the address that browsers use, without a slash at its end; empty at the root.
    pub base: String,
}

impl Default for PageSettings {
    fn default() -> Self {
        Self {
            title: "Baton".to_owned(),
            frame_ancestors: Vec::new(),
            image_origins: Vec::new(),
            base: String::new(),
        }
    }
}

/// The application, ready to be sent.
#[derive(Debug, Clone)]
pub struct Pages {
    page: FrontPage,
    title: String,
    policy: HeaderValue,
}

impl Pages {
    /// The application with these settings.
    ///
    /// # Panics
    /// If an origin has characters that no header may have.
    pub fn new(settings: &PageSettings) -> Self {
        Self {
            page: FrontPage::new(INDEX, &settings.title, &settings.base),
            title: settings.title.clone(),
            policy: policy::header(&settings.frame_ancestors, &settings.image_origins),
        }
    }

    /// The name of the application.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The answer to a request that is none of the API. `None`: neither a page nor a file has this path, and no browser
    /// asks for a page.
    pub fn answer(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<Response<Bytes>> {
        let is_read = method == Method::GET || method == Method::HEAD;
        if let Some(name) = path.strip_prefix(ASSETS) {
            // The table is sorted.
            let file = FILES.binary_search_by(|file| file.path.cmp(name)).ok().map(|at| &FILES[at]);
            return Some(match file {
                Some(_) if !is_read => self.wrong_method(),
                Some(file) => self.file(file, headers),
                None => self.missing(headers),
            });
        }
        if is_page(path) {
            return Some(if is_read { self.page(StatusCode::OK, headers) } else { self.wrong_method() });
        }
        // A browser shows the page, which says that there is nothing. Programs get the problem of the API.
        (is_read && wants_html(headers)).then(|| self.page(StatusCode::NOT_FOUND, headers))
    }

    fn file(&self, file: &Asset, headers: &HeaderMap) -> Response<Bytes> {
        let content = Content { media: file.media, tag: file.tag, body: Sent::Packed(file.packed) };
        self.send(StatusCode::OK, content, IMMUTABLE, headers)
    }

    fn page(&self, status: StatusCode, headers: &HeaderMap) -> Response<Bytes> {
        let content = Content { media: HTML, tag: &self.page.tag, body: Sent::Plain(&self.page.text) };
        self.send(status, content, ASK_AGAIN, headers)
    }

    fn send(
        &self,
        status: StatusCode,
        content: Content<'_>,
        caching: HeaderValue,
        request: &HeaderMap,
    ) -> Response<Bytes> {
        let mut response = self.empty(status);
        let headers = response.headers_mut();
        let tag = format!("\"{}\"", content.tag);
        headers.insert(ETAG, HeaderValue::from_str(&tag).expect("digits"));
        headers.insert(CACHE_CONTROL, caching);
        if matches!(content.body, Sent::Packed(_)) {
            headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        }
        if status == StatusCode::OK && is_known(request, &tag) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return response;
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content.media));
        *response.body_mut() = match content.body {
            Sent::Packed(packed) if takes_gzip(request) => {
                headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                Bytes::from_static(packed)
            }
            Sent::Packed(packed) => unpack(packed),
            Sent::Plain(text) => text.clone(),
        };
        response
    }

    fn missing(&self, headers: &HeaderMap) -> Response<Bytes> {
        if wants_html(headers) {
            return self.page(StatusCode::NOT_FOUND, headers);
        }
        let mut response = self.empty(StatusCode::NOT_FOUND);
        // A file of an older program must not be remembered as missing, nor as being there.
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }

    fn wrong_method(&self) -> Response<Bytes> {
        let mut response = self.empty(StatusCode::METHOD_NOT_ALLOWED);
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        response
    }

    fn empty(&self, status: StatusCode) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = status;
        policy::write(&self.policy, response.headers_mut());
        response
    }
}

struct Content<'a> {
    media: &'static str,
    tag: &'a str,
    body: Sent<'a>,
}

/// The form in which content is kept.
enum Sent<'a> {
    Packed(&'static [u8]),
    Plain(&'a Bytes),
}

/// Whether the application has a page at this path.
fn is_page(path: &str) -> bool {
    let path = if path.len() > 1 { path.strip_suffix('/').unwrap_or(path) } else { path };
    PAGES.iter().any(|page| matches(page, path))
}

fn matches(page: &str, path: &str) -> bool {
    let mut segments = path.split('/');
    let all = page.split('/').all(|expected| {
        segments.next().is_some_and(|segment| match expected.strip_prefix(':') {
            Some(_) => !segment.is_empty(),
            None => segment == expected,
        })
    });
    all && segments.next().is_none()
}

fn wants_html(headers: &HeaderMap) -> bool {
    let mut ranges =
        headers.get_all(ACCEPT).iter().flat_map(|value| value.as_bytes().split(|&byte| byte == b','));
    ranges.any(|range| range.trim_ascii_start().starts_with(b"text/html"))
}

#[cfg(test)]
mod tests;
