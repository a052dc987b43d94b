//! The lines between the client and a server's program.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::log::Log;
use super::message_repair::Asked;
use crate::wire::json::{self, Scan};

/// The longest message in bytes.
const LONGEST: usize = 16 << 20;
/// The bytes that are kept of a longer one, for people.
const KEPT: usize = 4096;
const TOO_LONG: &str = "more than 16 MiB in one line: ";
/// How long the rest of a message may take, that is written in several lines or without the end of its line.
const REST: Duration = Duration::from_millis(500);

/// The pipes of a program as the transport of a connection.
pub struct Lines<R, W> {
    from: BufReader<R>,
    to: Arc<Mutex<Option<W>>>,
    asked: Asked,
    log: Arc<Log>,
    /// The part of a line that has come.
    line: Vec<u8>,
    /// Whether the line is longer than what is kept of it.
    is_too_long: bool,
    /// Lines that begin a message, and their brackets.
    begun: Vec<u8>,
    brackets: Scan,
    messages: VecDeque<ServerJsonRpcMessage>,
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    pub fn new(from: R, to: W, log: Arc<Log>) -> Self {
        Self {
            from: BufReader::new(from),
            to: Arc::new(Mutex::new(Some(to))),
            asked: Asked::default(),
            log,
            line: Vec::new(),
            is_too_long: false,
            begun: Vec::new(),
            brackets: Scan::default(),
            messages: VecDeque::new(),
        }
    }

    /// Reads on, at most to the end of a line; whether that has come, or `None` at the end of the stream. Nothing is lost
    /// if this is dropped.
    async fn fill(&mut self) -> Option<bool> {
        let came = self.from.fill_buf().await.ok().filter(|came| !came.is_empty())?;
        let end = came.iter().position(|byte| *byte == b'\n');
        let (taken, _) = came.split_at(end.unwrap_or(came.len()));
        let length = taken.len() + usize::from(end.is_some());
        self.is_too_long |= self.line.len() + self.begun.len() + taken.len() > LONGEST;
        match self.is_too_long {
            false => self.line.extend_from_slice(taken),
            true => self.line.truncate(KEPT),
        }
        self.from.consume(length);
        Some(end.is_some())
    }

    /// Takes the messages of the line that has come.
    fn take(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_too_long) {
            line.splice(..0, TOO_LONG.bytes());
        }
        if let Some(heard) = self.asked.read(&line, None) {
            self.give_up();
            return self.messages.extend(heard);
        }
        if self.begun.is_empty() && line.trim_ascii().is_empty() {
            return;
        }
        line.push(b'\n');
        self.brackets.feed(&line);
        self.begun.append(&mut line);
        if self.begun.trim_ascii_start().starts_with(b"{") {
            if !self.brackets.is_whole() {
                return;
            }
            if let Some(heard) = self.asked.read(&self.begun, None) {
                self.begun.clear();
                self.messages.extend(heard);
            }
        }
        self.give_up();
    }

    /// Ends the message that has begun: it is none.
    fn give_up(&mut self) {
        let begun = std::mem::take(&mut self.begun);
        self.brackets = Scan::default();
        if !begun.is_empty() {
            self.log.unread(&begun);
            self.messages.extend(self.asked.unread(&begun, None));
        }
    }

    /// Takes an answer without the end of its line, after a while in which nothing has come.
    fn pause(&mut self) {
        if self.line.is_empty() {
            self.give_up();
        } else if self.line.trim_ascii_end().ends_with(b"}")
            && json::is_whole(&String::from_utf8_lossy(&self.line))
        {
            self.take();
        }
    }
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.asked.sent(&message);
        let to = self.to.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut to = to.lock().await;
            let to = to.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            to.write_all(&line).await?;
            to.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.messages.pop_front() {
                return Some(message);
            }
            let is_begun = !self.begun.is_empty() || !self.line.is_empty();
            let came = match is_begun {
                false => Ok(self.fill().await),
                true => timeout(REST, self.fill()).await,
            };
            match came {
                Ok(Some(true)) => self.take(),
                Ok(Some(false)) => {}
                Ok(None) if !is_begun => return None,
                Ok(None) => {
                    self.take();
                    self.give_up();
                }
                Err(_) => self.pause(),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        drop(self.to.lock().await.take());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, RequestId};
    use serde_json::json;
    use tokio::io::DuplexStream;

    use super::*;

    const GOOD: &str = "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"sunny\"}]}}";

    /// A server that writes these pieces once it has a call, and what the client then has at once: not after a limit.
    async fn answered(pieces: &[&str]) -> (Option<String>, Arc<Log>) {
        let ((from, mut server), log) = (tokio::io::duplex(1 << 16), Arc::<Log>::default());
        let mut lines = Lines::<DuplexStream, _>::new(from, tokio::io::sink(), log.clone());
        let call: ClientRequest = CallToolRequest::new(CallToolRequestParams::new("t")).into();
        lines.send(ClientJsonRpcMessage::request(call, RequestId::Number(2))).await.unwrap();
        let pieces: Vec<String> = pieces.iter().map(|piece| (*piece).to_owned()).collect();
        let writes = tokio::spawn(async move {
            for piece in pieces {
                server.write_all(piece.as_bytes()).await.unwrap();
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            tokio::time::sleep(Duration::from_secs(30)).await;
        });
        let message = timeout(Duration::from_secs(2), lines.receive()).await;
        writes.abort();
        let text = message.ok().flatten().map(|message| {
            let message = json!(message);
            let text = message["result"]["content"][0]["text"].as_str();
            text.or(message["error"]["message"].as_str()).unwrap_or_default().to_owned()
        });
        (text, log)
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_read_in_whatever_pieces_it_comes() {
        let pretty = GOOD.replace(",", ",\n ").replace("{", "{\n");
        let (cut, rest) = GOOD.split_at(40);
        for pieces in [
            vec![GOOD, "\n"],
            vec![GOOD],
            vec![cut, rest, "\n"],
            vec!["Listening\n\n", GOOD, "\r\n"],
            vec![&pretty, "\n"],
            vec!["{\n", "\n", GOOD, "\n"],
        ] {
            let (text, _) = answered(&pieces).await;
            assert_eq!(text.as_deref(), Some("sunny"), "{pieces:?}");
        }
        let broken = GOOD.replace("sunny", "sunny\nin Lisbon");
        assert_eq!(answered(&[&broken, "\n"]).await.0.as_deref(), Some("sunny\nin Lisbon"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_fails_at_once_with_the_beginning_of_its_broken_answer() {
        let long = format!("{}{}", &GOOD[..75], "x".repeat(LONGEST));
        for (pieces, expected) in [
            (vec![&GOOD[..60], "\n"], "cannot be read: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\""),
            (vec!["{\"id\":2,\"result\":oops}\n"], "cannot be read: {\"id\":2,\"result\":oops}"),
            (vec![&*long, "\n"], "more than 16 MiB in one line: {\"jsonrpc\""),
        ] {
            let (text, log) = answered(&pieces).await;
            assert!(text.as_ref().is_some_and(|text| text.contains(expected)), "{text:?}");
            assert!(
                log.unread_lines().unwrap().starts_with("it wrote 1 line that is no message: ")
            );
        }
        let (none, log) = answered(&["one\n", "two\n{\"level\":3}\n"]).await;
        assert_eq!(none, None);
        assert_eq!(log.unread_lines().unwrap(), "it wrote 3 lines that are no messages: one");
    }
}
