//! A server that answers as a test says.

use parking_lot::Mutex;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Method and path.
    pub line: String,
    pub authorization: Option<String>,
    pub body: String,
}

impl Request {
    /// IDs of the documents of a bulk request.
    pub fn ids(&self) -> Vec<String> {
        let lines = self.body.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter_map(|line| line["index"]["_id"].as_str().map(str::to_owned)).collect()
    }
}

pub enum Answer {
    Body(u16, Value),
    /// The connection breaks.
    Break,
    /// The connection breaks after this, without a word about it.
    Last(u16, Value),
}

type Handler = Arc<dyn Fn(&Request) -> Answer + Send + Sync>;

/// Requests arrive in a channel, too.
pub struct Stub {
    pub authority: String,
    pub asked: Receiver<Request>,
}

impl Stub {
    pub fn start(handler: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        Self::serve(None, handler)
    }

    pub fn serve(
        tls: Option<Arc<ServerConfig>>,
        handler: impl Fn(&Request) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let authority = format!("localhost:{}", listener.local_addr().unwrap().port());
        let (sender, asked) = channel();
        let handler: Handler = Arc::new(move |request| {
            // The test may have ended.
            let _ = sender.send(request.clone());
            handler(request)
        });
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (tls, handler) = (tls.clone(), Arc::clone(&handler));
                std::thread::spawn(move || match tls {
                    None => converse(stream, &handler),
                    Some(tls) => {
                        converse(StreamOwned::new(ServerConnection::new(tls).unwrap(), stream), &handler);
                    }
                });
            }
        });
        Self { authority, asked }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.authority)
    }
}

/// Answers requests until the other side has enough.
fn converse(stream: impl Read + Write, handler: &Handler) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream) {
        let (status, body, is_last) = match handler(&request) {
            Answer::Body(status, body) => (status, body, false),
            Answer::Last(status, body) => (status, body, true),
            Answer::Break => return,
        };
        let body = body.to_string();
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n", body.len());
        let stream = stream.get_mut();
        let written = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
        if written.and_then(|()| stream.flush()).is_err() || is_last {
            return;
        }
    }
}

fn read(stream: &mut BufReader<impl Read>) -> Option<Request> {
    let mut line = || {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        Some(line.trim_end().to_owned()).filter(|line| !line.is_empty())
    };
    let first = line()?;
    let (mut length, mut authorization) = (0, None);
    while let Some(header) = line() {
        let (name, value) = header.split_once(": ")?;
        match name {
            "content-length" => length = value.parse().ok()?,
            "authorization" => authorization = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let line = first.trim_end_matches(" HTTP/1.1").to_owned();
    Some(Request { line, authorization, body: String::from_utf8(body).ok()? })
}

/// The answer to a bulk request: a status for each document.
pub fn items(statuses: &[u16]) -> Answer {
    let item = |status: &u16| match status {
        200..300 => json!({ "index": { "status": status } }),
        _ => json!({ "index": { "status": status, "error": { "type": "stub", "reason": "so it is" } } }),
    };
    Answer::Body(200, json!({ "items": statuses.iter().map(item).collect::<Vec<_>>() }))
}

/// All is well.
pub fn good(request: &Request) -> Answer {
    items(&vec![200; request.ids().len()])
}

/// Answers by a list, then as if all were well.
pub fn script(answers: Vec<Answer>) -> impl Fn(&Request) -> Answer {
    let answers = Mutex::new(answers.into_iter());
    move |request| {
        let is_bulk = request.line.contains("_bulk");
        let next = if is_bulk { answers.lock().next() } else { None };
        next.unwrap_or_else(|| if is_bulk { good(request) } else { Answer::Body(200, json!({})) })
    }
}
