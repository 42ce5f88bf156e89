//! A small S3: one bucket in memory that checks who asks, for tests.

use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use ring::digest::{SHA256, digest};
use ring::hmac::{HMAC_SHA256, Key, sign};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub const BUCKET: &str = "files";
pub const REGION: &str = "eu-central-1";
pub const ACCESS_KEY: &str = "fake-access-key";
pub const SECRET_KEY: &str = "fake-secret-key";
/// Objects that one answer to a listing has.
const PAGE: usize = 2;
/// Metadata of an object.
const KEPT_HEADERS: [&str; 2] = ["content-type", "content-disposition"];

type Answer = Response<Full<Bytes>>;

/// The store, as long as it lives.
pub struct FakeS3 {
    pub endpoint: String,
    state: Arc<Mutex<State>>,
    server: JoinHandle<()>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Object>,
    uploads: BTreeMap<String, (HeaderMap, BTreeMap<u32, Bytes>)>,
    log: Vec<String>,
    broken: u32,
    is_forgetful: bool,
}

#[derive(Clone, Default)]
struct Object {
    headers: HeaderMap,
    content: Bytes,
}

impl FakeS3 {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::<Mutex<State>>::default();
        let shared = Arc::clone(&state);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = Arc::clone(&shared);
                let service = service_fn(move |request| answer(Arc::clone(&shared), request));
                let http = hyper::server::conn::http1::Builder::new();
                tokio::spawn(http.serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { endpoint, state, server }
    }

    /// Names of the objects that are there.
    pub fn names(&self) -> Vec<String> {
        self.state().objects.keys().cloned().collect()
    }

    /// Uploads in parts that have neither been finished nor taken back.
    pub fn unfinished(&self) -> usize {
        self.state().uploads.len()
    }

    /// Requests since the last call: the method and the part of the query that tells operations apart.
    pub fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut self.state().log)
    }

    /// Fails so many requests.
    pub fn fail(&self, count: u32) {
        self.state().broken = count;
    }

    /// Does what the next creation asks for, but answers that it failed.
    pub fn lose_answer(&self) {
        self.state().is_forgetful = true;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Drop for FakeS3 {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(state: Arc<Mutex<State>>, request: Request<Incoming>) -> Result<Answer, Infallible> {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else { return Ok(error(StatusCode::BAD_REQUEST, "IncompleteBody")) };
    let body = body.to_bytes();
    let query: BTreeMap<String, String> = head
        .uri
        .query()
        .unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect();
    let mut state = state.lock();
    if state.broken > 0 {
        state.broken -= 1;
        return Ok(error(StatusCode::SERVICE_UNAVAILABLE, "SlowDown"));
    }
    if !is_signed(&head, &query, &body) {
        return Ok(error(StatusCode::FORBIDDEN, "AccessDenied"));
    }
    let path = decoded(head.uri.path());
    let path = path.trim_start_matches('/');
    let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
    if bucket != BUCKET {
        return Ok(error(StatusCode::NOT_FOUND, "NoSuchBucket"));
    }
    let kind = ["list-type", "delete", "uploads", "uploadId", "X-Amz-Signature"];
    let kind = kind.into_iter().find(|name| query.contains_key(*name)).unwrap_or_default();
    state.log.push(format!("{} {kind}", head.method).trim_end().to_owned());
    Ok(serve(&mut state, &head.method, key, &head.headers, &query, kind, body))
}

fn serve(
    state: &mut State,
    method: &Method,
    key: &str,
    headers: &HeaderMap,
    query: &BTreeMap<String, String>,
    kind: &str,
    body: Bytes,
) -> Answer {
    match (method.as_str(), kind) {
        ("GET", "list-type") => list(state, query),
        ("POST", "delete") => delete(state, &body),
        ("POST", "uploads") => {
            let id = format!("upload-{}", state.uploads.len());
            state.uploads.insert(id.clone(), (kept(headers), BTreeMap::new()));
            xml(&format!(
                "<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
            ))
        }
        ("PUT", "uploadId") => {
            let Some((_, parts)) = state.uploads.get_mut(&query["uploadId"]) else {
                return error(StatusCode::NOT_FOUND, "NoSuchUpload");
            };
            parts.insert(query["partNumber"].parse().unwrap(), body);
            tagged()
        }
        ("POST", "uploadId") => {
            let Some((headers, parts)) = state.uploads.remove(&query["uploadId"]) else {
                return error(StatusCode::NOT_FOUND, "NoSuchUpload");
            };
            let content = parts.into_values().collect::<Vec<_>>().concat().into();
            state.objects.insert(key.to_owned(), Object { headers, content });
            xml("<CompleteMultipartUploadResult><ETag>\"e\"</ETag></CompleteMultipartUploadResult>")
        }
        ("DELETE", "uploadId") => {
            state.uploads.remove(&query["uploadId"]);
            empty(StatusCode::NO_CONTENT)
        }
        ("PUT", "") => {
            let once = headers.get("if-none-match").is_some_and(|tag| tag == "*");
            if once && state.objects.contains_key(key) {
                return error(StatusCode::PRECONDITION_FAILED, "PreconditionFailed");
            }
            state.objects.insert(key.to_owned(), Object { headers: kept(headers), content: body });
            if once && std::mem::take(&mut state.is_forgetful) {
                return error(StatusCode::BAD_REQUEST, "Lost");
            }
            tagged()
        }
        ("GET" | "HEAD", _) => match state.objects.get(key) {
            Some(object) => part(told(object), object, headers),
            None => error(StatusCode::NOT_FOUND, "NoSuchKey"),
        },
        _ => error(StatusCode::NOT_IMPLEMENTED, "NotImplemented"),
    }
}

/// The names below a prefix, a page at a time.
fn list(state: &State, query: &BTreeMap<String, String>) -> Answer {
    let after = query.get("continuation-token").map_or("", String::as_str);
    let prefix = query.get("prefix").map_or("", String::as_str);
    let mut found = state.objects.iter().filter(|(key, _)| key.starts_with(prefix) && key.as_str() > after);
    let page: Vec<_> = found.by_ref().take(PAGE).collect();
    let contents = page.iter().map(|(key, object)| {
        let (key, size) = (escaped(key), object.content.len());
        format!("<Contents><Key>{key}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>\"e\"</ETag><Size>{size}</Size></Contents>")
    });
    let contents: String = contents.collect();
    let token = page.last().filter(|_| found.next().is_some()).map_or_else(String::new, |(key, _)| {
        format!("<NextContinuationToken>{}</NextContinuationToken>", escaped(key))
    });
    xml(&format!("<ListBucketResult>{contents}{token}</ListBucketResult>"))
}

fn delete(state: &mut State, body: &Bytes) -> Answer {
    let body = String::from_utf8(body.to_vec()).unwrap();
    let mut deleted = String::new();
    for key in body.split("<Key>").skip(1) {
        let key = key.split_once("</Key>").unwrap().0;
        state.objects.remove(key);
        deleted += &format!("<Deleted><Key>{key}</Key></Deleted>");
    }
    xml(&format!("<DeleteResult>{deleted}</DeleteResult>"))
}

/// Whether whoever sends a request knows the secret (AWS Signature Version 4), in its head or, for reading alone,
/// in its address.
fn is_signed(head: &Parts, query: &BTreeMap<String, String>, body: &[u8]) -> bool {
    signature_of(head, query, body).is_some_and(|(found, expected)| found == expected)
}

/// The signature that a request has, and the one that it should have.
fn signature_of(head: &Parts, query: &BTreeMap<String, String>, body: &[u8]) -> Option<(String, String)> {
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
    let (credential, signed, found, time, payload);
    if let Some(authorization) = header("authorization") {
        let parts: BTreeMap<&str, &str> = authorization
            .strip_prefix("AWS4-HMAC-SHA256 ")?
            .split(',')
            .filter_map(|part| part.trim().split_once('='))
            .collect();
        (credential, signed, found) =
            (*parts.get("Credential")?, *parts.get("SignedHeaders")?, *parts.get("Signature")?);
        (time, payload) = (header("x-amz-date")?, header("x-amz-content-sha256")?);
        if payload != hexadecimal(digest(&SHA256, body).as_ref()) {
            return None;
        }
    } else {
        let told = |name: &str| query.get(name).map(String::as_str);
        let life: u32 = told("X-Amz-Expires")?.parse().ok()?;
        if head.method != Method::GET || !(1..=604_800).contains(&life) {
            return None;
        }
        (credential, signed, found) =
            (told("X-Amz-Credential")?, told("X-Amz-SignedHeaders")?, told("X-Amz-Signature")?);
        (time, payload) = (told("X-Amz-Date")?, "UNSIGNED-PAYLOAD");
    }
    let scope = credential.strip_prefix(ACCESS_KEY)?.strip_prefix('/')?;
    let date = scope.strip_suffix(&format!("/{REGION}/s3/aws4_request"))?;
    let pairs = query.iter().filter(|(name, _)| *name != "X-Amz-Signature");
    let pairs: Vec<_> = pairs.map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    let headers = signed.split(';').map(|name| Some(format!("{name}:{}\n", header(name)?.trim())));
    let headers = headers.collect::<Option<String>>()?;
    let (method, path) = (&head.method, head.uri.path());
    let request = format!("{method}\n{path}\n{}\n{headers}\n{signed}\n{payload}", pairs.join("&"));
    let request = hexadecimal(digest(&SHA256, request.as_bytes()).as_ref());
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{request}");
    let mac = |key: &[u8], text: &str| sign(&Key::new(HMAC_SHA256, key), text.as_bytes());
    let mut key = mac(format!("AWS4{SECRET_KEY}").as_bytes(), date);
    for part in [REGION, "s3", "aws4_request"] {
        key = mac(key.as_ref(), part);
    }
    Some((found.to_owned(), hexadecimal(mac(key.as_ref(), &text).as_ref())))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

fn encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

fn told(object: &Object) -> Answer {
    let mut answer = Response::new(Full::new(object.content.clone()));
    answer.headers_mut().extend(object.headers.clone());
    answer.headers_mut().insert("etag", HeaderValue::from_static("\"e\""));
    answer.headers_mut().insert("content-length", object.content.len().into());
    let then = HeaderValue::from_static("Fri, 02 Jan 2026 03:04:05 GMT");
    answer.headers_mut().insert("last-modified", then);
    answer
}

/// The requested range of an object, if not all of it.
fn part(mut answer: Answer, object: &Object, headers: &HeaderMap) -> Answer {
    let range =
        headers.get("range").and_then(|range| range.to_str().ok()?.strip_prefix("bytes=")?.split_once('-'));
    let Some((first, last)) = range else { return answer };
    let size = object.content.len();
    let first: usize = first.parse().unwrap();
    let last = last.parse::<usize>().unwrap().min(size - 1);
    *answer.body_mut() = Full::new(object.content.slice(first..=last));
    *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
    answer.headers_mut().insert("content-length", (last + 1 - first).into());
    let told = format!("bytes {first}-{last}/{size}");
    answer.headers_mut().insert("content-range", HeaderValue::from_str(&told).unwrap());
    answer
}

fn kept(headers: &HeaderMap) -> HeaderMap {
    let kept = headers.iter().filter(|(name, _)| KEPT_HEADERS.contains(&name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn tagged() -> Answer {
    let mut answer = empty(StatusCode::OK);
    answer.headers_mut().insert("etag", HeaderValue::from_static("\"e\""));
    answer
}

fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Full::default());
    *answer.status_mut() = status;
    answer
}

fn xml(text: &str) -> Answer {
    Response::new(Full::new(Bytes::from(format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{text}"))))
}

fn error(status: StatusCode, code: &str) -> Answer {
    let mut answer = xml(&format!("<Error><Code>{code}</Code><Message>as told</Message></Error>"));
    *answer.status_mut() = status;
    answer
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let coded = (*first == b'%').then(|| std::str::from_utf8(after.get(..2)?).ok()).flatten();
        if let Some(byte) = coded.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The response to presigned addresses.
pub async fn fetch(url: &str) -> String {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    stream.write_all(format!("GET /{path} HTTP/1.0\r\nhost: {host}\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}
