//! A server that answers as a script says.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What the server does with one request, after it has read the whole of it.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Answer(Reply),
    /// Closes the connection without a word.
    Drop,
    /// Sends the head and half of the body, and closes the connection.
    Half(Reply),
    /// Never answers.
    Hang,
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Reply {
    pub(crate) fn new(status: u16) -> Self {
        Self { status, headers: vec![("x-ms-request-id".into(), "request-1".into())], body: String::new() }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn body(mut self, content_type: &str, body: &str) -> Self {
        self.body = body.into();
        self.header("content-type", content_type)
    }

    pub(crate) fn json(status: u16, body: &str) -> Self {
        Self::new(status).body("application/json;odata=minimalmetadata", body)
    }

    /// An error of the table service.
    pub(crate) fn error(status: u16, code: &str) -> Self {
        let body = format!(r#"{{"odata.error":{{"code":"{code}","message":{{"lang":"en-US","value":"Said so."}}}}}}"#);
        Self::json(status, &body)
    }

    /// A write that was done.
    pub(crate) fn written(etag: &str) -> Self {
        Self::new(204).header("etag", etag)
    }

    fn head(&self) -> String {
        let headers: String = self.headers.iter().map(|(name, value)| name.clone() + ": " + value + "\r\n").collect();
        format!("HTTP/1.1 {} Scripted\r\ncontent-length: {}\r\n{headers}\r\n", self.status, self.body.len())
    }
}

impl From<Reply> for Step {
    fn from(reply: Reply) -> Self {
        Self::Answer(reply)
    }
}

/// A request that the server has read.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) head: String,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

/// The server. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Answers the requests that come, in their order; the last step answers all that come after it.
    pub(crate) async fn start<S: Into<Step>>(steps: impl IntoIterator<Item = S>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let steps: VecDeque<Step> = steps.into_iter().map(Into::into).collect();
        let script = Arc::new(Mutex::new(steps));
        let noted = seen.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, script.clone(), noted.clone()));
            }
        });
        Self { port, seen, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Every request so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, script: Arc<Mutex<VecDeque<Step>>>, noted: Arc<Mutex<Vec<Seen>>>) -> Option<()> {
    loop {
        let seen = read(&mut stream).await?;
        noted.lock().unwrap().push(seen);
        let step = {
            let mut script = script.lock().unwrap();
            if script.len() > 1 { script.pop_front()? } else { script.front()?.clone() }
        };
        match step {
            Step::Answer(reply) => {
                stream.write_all((reply.head() + &reply.body).as_bytes()).await.ok()?;
            }
            Step::Half(reply) => {
                let half = &reply.body[..reply.body.len() / 2];
                stream.write_all((reply.head() + half).as_bytes()).await.ok()?;
                return None;
            }
            Step::Drop => return None,
            Step::Hang => std::future::pending().await,
        }
    }
}

/// Reads one request, if the client sends one.
async fn read(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let seen = Seen { head };
    let length: usize = seen.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut rest = vec![0; (end + length).saturating_sub(bytes.len())];
    stream.read_exact(&mut rest).await.ok()?;
    Some(seen)
}
