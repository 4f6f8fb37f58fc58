//! As much of HTTP as the tests need: a request on a connection of its own, and the whole answer.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// An answer, taken apart.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(each, _)| each.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }
}

/// Sends `GET /path` or the like, with more header lines and a body.
pub(crate) fn send(address: &str, request: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    try_send(address, request, headers, body).expect("the service answers")
}

/// The same, with nothing for an answer where the service goes away.
pub(crate) fn try_send(address: &str, request: &str, headers: &[(&str, &str)], body: &str) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    let mut text = format!("{request} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    for (name, value) in headers {
        text.push_str(&[name, ": ", value, "\r\n"].concat());
    }
    if !body.is_empty() {
        text.push_str("Content-Type: application/json\r\n");
    }
    text.push_str(&["Content-Length: ", &body.len().to_string(), "\r\n\r\n", body].concat());
    stream.write_all(text.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok().filter(|length| *length > 0)?;
    Some(parse(&answer))
}

fn parse(answer: &str) -> Answer {
    let (head, body) = answer.split_once("\r\n\r\n").expect("headers and a body");
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status");
    let headers = lines.filter_map(|line| line.split_once(": ")).map(|(name, value)| (name.into(), value.into()));
    let body = if body.is_empty() { Value::Null } else { serde_json::from_str(body).expect("JSON") };
    Answer { status, headers: headers.collect(), body }
}
