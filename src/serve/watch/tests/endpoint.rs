//! An endpoint that records its requests, and answers by a script.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use super::PATIENCE;

/// A step of the endpoint.
#[derive(Clone)]
pub enum EndpointStep {
    /// Sends these bytes.
    Write(Vec<u8>),
    /// Waits until the test says so.
    Wait,
    /// Ends the connection.
    Close,
}

/// A request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointRequest {
    /// The request line and the headers without the host, in their order; names in small letters.
    pub head: Vec<String>,
    pub body: Vec<u8>,
}

impl EndpointRequest {
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
}

pub struct Endpoint {
    pub address: SocketAddr,
    asked: mpsc::Receiver<EndpointRequest>,
    go: mpsc::Sender<()>,
    hung_up: mpsc::Receiver<()>,
}

impl Endpoint {
    /// Answers each request by the steps for it.
    pub fn new(
        script: impl Fn(&EndpointRequest) -> Vec<EndpointStep> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, asked) = mpsc::channel();
        let (go, wait) = mpsc::channel();
        let (tell_end, hung_up) = mpsc::channel();
        let shared = Arc::new((script, Mutex::new(wait)));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (shared, tell, tell_end) =
                    (Arc::clone(&shared), tell.clone(), tell_end.clone());
                thread::spawn(move || {
                    let stream = stream.unwrap();
                    stream.set_nodelay(true).unwrap();
                    let mut stream = BufReader::new(stream);
                    while let Some(asked) = read(&mut stream) {
                        let steps = (shared.0)(&asked);
                        let _ = tell.send(asked);
                        for step in steps {
                            match step {
                                EndpointStep::Write(bytes) => {
                                    if stream.get_mut().write_all(&bytes).is_err() {
                                        let _ = tell_end.send(());
                                        return;
                                    }
                                }
                                EndpointStep::Wait => {
                                    let _ = shared.1.lock().unwrap().recv_timeout(PATIENCE);
                                }
                                EndpointStep::Close => return,
                            }
                        }
                    }
                    let _ = tell_end.send(());
                });
            }
        });
        Self { address, asked, go, hung_up }
    }

    /// Answers every request with these bytes.
    pub fn answering(answer: Vec<u8>) -> Self {
        Self::new(move |_| vec![EndpointStep::Write(answer.clone())])
    }

    pub fn asked(&self) -> EndpointRequest {
        self.asked.recv_timeout(PATIENCE).unwrap()
    }

    pub fn was_not_asked(&self) -> bool {
        self.asked.try_recv().is_err()
    }

    /// Ends a wait.
    pub fn go(&self) {
        self.go.send(()).unwrap();
    }

    /// Waits until a connection ends from the other side.
    pub fn sees_hang_up(&self) -> bool {
        self.hung_up.recv_timeout(PATIENCE).is_ok()
    }
}

/// A whole answer.
pub fn whole(status: &str, kind: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    coded(status, kind, "", body.as_ref())
}

/// A whole answer with more headers: lines with their ends.
pub fn coded(status: &str, kind: &str, more: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ndate: today\r\ncontent-type: {kind}\r\nset-cookie: a=1\r\n\
         set-cookie: b=2\r\nx-request-id: r1\r\n{more}content-length: {length}\r\nx-last: 1\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// The head of a stream, and its chunks as they come.
pub fn stream(chunks: &[&str]) -> Vec<Vec<u8>> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: r1\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = |chunk: &&str| format!("{:x}\r\n{chunk}\r\n", chunk.len()).into_bytes();
    let end = b"0\r\n\r\n".to_vec();
    let head = head.as_bytes().to_vec();
    [head].into_iter().chain(chunks.iter().map(chunk)).chain([end]).collect()
}

fn read(stream: &mut BufReader<TcpStream>) -> Option<EndpointRequest> {
    let (mut head, mut length, mut is_chunked) = (Vec::new(), 0, false);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok().filter(|length| *length > 0)?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(": ") else {
            head.push(line.to_owned());
            continue;
        };
        let name = name.to_lowercase();
        match name.as_str() {
            "host" => continue,
            "content-length" => length = value.parse().unwrap(),
            "transfer-encoding" => is_chunked = true,
            _ => {}
        }
        head.push(format!("{name}: {value}"));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    while is_chunked {
        let mut size = String::new();
        stream.read_line(&mut size).ok()?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        let mut chunk = vec![0; size + 2];
        stream.read_exact(&mut chunk).ok()?;
        body.extend_from_slice(&chunk[..size]);
        is_chunked = size > 0;
    }
    Some(EndpointRequest { head, body })
}
