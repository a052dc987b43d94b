//! Reads the bytes of one answer. Its first bytes decide the form; the content type counts only if they leave it open:
//! servers send streams as JSON, JSON as streams, and either without a type.

use std::time::SystemTime;

use reqwest::{StatusCode, header::HeaderMap};

use super::failure::{EndpointLabel, Failure};
use super::line::{LONGEST_BODY, LONGEST_REFUSAL};
use super::retry::Again;
use crate::ModelProgress;
use crate::domain::ModelErrorKind;
use crate::wire::json::{self, Scan};
use crate::wire::sse::Event;
use crate::wire::{AnswerPiece, EventParser, GrowingAnswer, HttpFacts};

/// The bytes that count as one token if tokens do not come one by one.
const BYTES_PER_TOKEN: usize = 4;
/// The most bytes of a stream without events that are kept to be shown.
const SHOWN: usize = 512;

/// The progress of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Open,
    /// The answer is complete; its usage may follow.
    Finished,
    /// Only the end of the connection is awaited: the last event has come, or the body has its largest size.
    Last,
}

/// An answer, as far as its bytes have arrived.
pub(super) struct HttpAnswer<'a> {
    place: &'a EndpointLabel<'a>,
    /// The longest answer, in tokens.
    longest: u64,
    status: StatusCode,
    /// The content type, in lower case.
    kind: String,
    form: HttpAnswerForm,
    answer: Box<dyn GrowingAnswer>,
    tokens: usize,
    was_last: bool,
    /// The beginning of a stream, as long as it had no event.
    stray: Vec<u8>,
    has_event: bool,
}

enum HttpAnswerForm {
    /// Only spaces have arrived.
    Unknown(Vec<u8>),
    Document(Vec<u8>, Scan),
    Events(EventParser),
    Page(Vec<u8>),
}

impl HttpAnswerForm {
    /// The form of a body that begins with this byte; 0 for an empty one.
    fn of(kind: &str, first: u8, is_sequence: bool) -> Self {
        // These are the first letters of `data`, `event`, `id`, `retry`, and a comment.
        let may_be_event = b"deir:".contains(&first);
        match first {
            b'{' | b'[' if is_sequence => HttpAnswerForm::Events(EventParser::of(true)),
            b'{' | b'[' => HttpAnswerForm::Document(Vec::new(), Scan::default()),
            b'<' => HttpAnswerForm::Page(Vec::new()),
            _ if may_be_event => HttpAnswerForm::Events(EventParser::of(false)),
            _ if kind.contains("html") => HttpAnswerForm::Page(Vec::new()),
            _ if kind.contains("json") => HttpAnswerForm::Document(Vec::new(), Scan::default()),
            _ => HttpAnswerForm::Events(EventParser::of(false)),
        }
    }
}

impl<'a> HttpAnswer<'a> {
    pub fn new(
        place: &'a EndpointLabel<'a>,
        longest: u64,
        status: StatusCode,
        kind: &str,
        answer: Box<dyn GrowingAnswer>,
    ) -> Self {
        let (kind, form) = (kind.to_ascii_lowercase(), HttpAnswerForm::Unknown(Vec::new()));
        let (stray, tokens) = (Vec::new(), 0);
        let (was_last, has_event) = (false, false);
        Self { place, longest, status, kind, form, answer, tokens, was_last, stray, has_event }
    }

    pub fn stage(&self) -> Stage {
        match &self.form {
            // More documents may follow, one per line.
            HttpAnswerForm::Document(_, scan) if scan.is_whole() => Stage::Finished,
            HttpAnswerForm::Document(body, _) if body.len() >= LONGEST_BODY => Stage::Last,
            HttpAnswerForm::Page(body) if body.len() >= LONGEST_REFUSAL => Stage::Last,
            HttpAnswerForm::Events(_) if self.was_last => Stage::Last,
            HttpAnswerForm::Events(_) if self.answer.is_finished() => Stage::Finished,
            HttpAnswerForm::Unknown(_)
            | HttpAnswerForm::Document(..)
            | HttpAnswerForm::Page(_)
            | HttpAnswerForm::Events(_) => Stage::Open,
        }
    }

    /// Whether this is a web page, which counts even if it is incomplete.
    pub fn is_page(&self) -> bool {
        matches!(self.form, HttpAnswerForm::Page(_))
    }

    /// The text so far.
    pub fn text(&self) -> &str {
        self.answer.text()
    }

    /// The bytes of the answer so far.
    pub fn size(&self) -> usize {
        self.answer.size()
    }

    /// Reads more bytes.
    ///
    /// # Errors
    /// The answer reports an error, makes no sense, or is too long.
    pub fn feed(
        &mut self,
        chunk: &[u8],
        progress: &mut dyn FnMut(ModelProgress),
    ) -> Result<(), Failure> {
        let read = self.add(chunk, progress);
        read.map_err(|failed| failed.with_partial(self.answer.text()))
    }

    fn add(
        &mut self,
        chunk: &[u8],
        progress: &mut dyn FnMut(ModelProgress),
    ) -> Result<(), Failure> {
        match &mut self.form {
            HttpAnswerForm::Unknown(begin) => {
                begin.extend_from_slice(chunk);
                // Some servers send empty lines while a model works.
                begin.drain(..blank(begin));
                let is_marked = MARK.starts_with(begin);
                let Some(first) = begin.first().copied().filter(|_| !is_marked) else {
                    return Ok(());
                };
                let begin = std::mem::take(begin);
                self.form = HttpAnswerForm::of(&self.kind, first, self.answer.is_sequence());
                self.add(&begin, progress)
            }
            HttpAnswerForm::Document(body, scan) => {
                let room = LONGEST_BODY - body.len();
                let chunk = &chunk[..chunk.len().min(room)];
                scan.feed(chunk);
                body.extend_from_slice(chunk);
                Ok(())
            }
            HttpAnswerForm::Page(body) => {
                let room = LONGEST_REFUSAL - body.len();
                body.extend_from_slice(&chunk[..chunk.len().min(room)]);
                Ok(())
            }
            HttpAnswerForm::Events(parser) => {
                if !self.has_event {
                    let room = SHOWN.saturating_sub(self.stray.len());
                    self.stray.extend_from_slice(&chunk[..chunk.len().min(room)]);
                }
                let events =
                    parser.feed(chunk).map_err(|error| Failure::bad(format!("{error}.")))?;
                events.iter().try_for_each(|event| self.event(event, progress))
            }
        }
    }

    fn event(
        &mut self,
        event: &Event,
        progress: &mut dyn FnMut(ModelProgress),
    ) -> Result<(), Failure> {
        if self.was_last || event.data.trim().is_empty() {
            return Ok(());
        }
        self.has_event = true;
        let (before, was_finished) = (self.answer.size(), self.answer.is_finished());
        match self.answer.event(event, &mut |piece| progress(seen(piece))) {
            Ok(is_last) => self.was_last = is_last,
            // The answer is complete: further data, such as `data: DONE`, does not change it.
            Err(_) if was_finished => self.was_last = true,
            Err(fault) => self.place.fault(fault).map_or(Ok(()), Err)?,
        }
        // Most servers send each token separately, however short it is.
        let more = self.answer.size().saturating_sub(before);
        self.tokens += more.min(1).max(more / BYTES_PER_TOKEN);
        self.expect_short(self.tokens)
    }

    /// The whole answer, after its last byte.
    ///
    /// # Errors
    /// As [`Self::feed`]; also the answer has no end.
    pub fn end(
        mut self,
        progress: &mut dyn FnMut(ModelProgress),
    ) -> Result<Box<dyn GrowingAnswer>, Failure> {
        let ended = self.finish(progress);
        ended.map_err(|failed| failed.with_partial(self.answer.text()))?;
        Ok(self.answer)
    }

    fn finish(&mut self, progress: &mut dyn FnMut(ModelProgress)) -> Result<(), Failure> {
        match std::mem::replace(&mut self.form, HttpAnswerForm::Unknown(Vec::new())) {
            HttpAnswerForm::Unknown(_) => {
                self.form = HttpAnswerForm::of(&self.kind, 0, false);
                self.finish(progress)
            }
            HttpAnswerForm::Page(body) => Err(self.page(&body)),
            HttpAnswerForm::Document(body, _) => self.document(&body, progress),
            HttpAnswerForm::Events(parser) => self.last_events(parser, progress),
        }
    }

    fn document(
        &mut self,
        body: &[u8],
        progress: &mut dyn FnMut(ModelProgress),
    ) -> Result<(), Failure> {
        if json::read(body).is_err() && has_lines(body) {
            let mut parser = EventParser::of(false);
            let events = parser.feed(body).map_err(|error| Failure::bad(format!("{error}.")))?;
            events.iter().try_for_each(|event| self.event(event, progress))?;
            return self.last_events(parser, progress);
        }
        let document = self.place.document(body)?;
        let read = self.answer.whole(&document, &mut |piece| progress(seen(piece)));
        read.map_err(|fault| self.place.no_answer(fault))?;
        self.expect_short(self.answer.size() / BYTES_PER_TOKEN)
    }

    fn last_events(
        &mut self,
        parser: EventParser,
        progress: &mut dyn FnMut(ModelProgress),
    ) -> Result<(), Failure> {
        // An event that was cut contains half of its data; the check below reports it. Half of an error is one.
        let is_whole = |event: &Event| json::is_whole(&event.data) || event.name == "error";
        let events = parser.finish();
        events
            .iter()
            .filter(|event| is_whole(event) || event.is_last())
            .try_for_each(|event| self.event(event, progress))?;
        if self.answer.is_finished() {
            return Ok(());
        }
        let host = self.place.host;
        let said = String::from_utf8_lossy(&self.stray);
        let is_stream = said.trim_start().starts_with(['d', 'e', 'i', 'r', ':'])
            && said.lines().next().is_some_and(|line| line.contains(':'));
        let text = if self.has_event || said.trim().is_empty() || is_stream {
            format!("the stream of {host} ended before the answer did.")
        } else {
            let said = self.place.clean(&said);
            format!("the answer of {host} is neither JSON nor a stream of events: {said}")
        };
        Err(Failure::bad(text))
    }

    /// Stops an answer that has become too long: a model that repeats itself does not stop.
    fn expect_short(&self, tokens: usize) -> Result<(), Failure> {
        if tokens as u64 <= self.longest {
            return Ok(());
        }
        let (host, longest) = (self.place.host, self.longest);
        let text = format!(
            "the answer of {host} is longer than {longest} tokens, and was ended. Set `answer_limit` \
             of this model if it needs more."
        );
        Err(Failure::new(ModelErrorKind::TooLong, text, Again::Never))
    }

    /// A web page instead of an answer; a retry would not help.
    fn page(&self, body: &[u8]) -> Failure {
        let headers = HeaderMap::new();
        let mut failed = self.place.refused(self.status, &headers, body, SystemTime::now());
        failed.error.kind = ModelErrorKind::BadAnswer;
        failed.error.text += &self.place.address_advice();
        failed.again = Again::Never;
        failed
    }
}

/// The progress report of a piece.
fn seen(piece: AnswerPiece) -> ModelProgress {
    match piece {
        AnswerPiece::Text(text) => ModelProgress::Text(text),
        AnswerPiece::Reasoning(text) => ModelProgress::Reasoning(text),
    }
}

/// Reads the body of a successful response that comes in these pieces, without a network.
///
/// # Errors
/// The failure of this one attempt.
pub fn read_pieces<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
    kind: &str,
    wire: &HttpFacts,
    answer: Box<dyn GrowingAnswer>,
    progress: &mut dyn FnMut(ModelProgress),
) -> Result<Box<dyn GrowingAnswer>, crate::domain::ModelError> {
    let place = EndpointLabel { host: "h", model: "m", key: None, wire };
    let mut reading = HttpAnswer::new(&place, 32_768, StatusCode::OK, kind, answer);
    for piece in pieces {
        reading.feed(piece, progress).map_err(|failed| failed.error)?;
    }
    reading.end(progress).map_err(|failed| failed.error)
}

/// The byte order mark.
const MARK: &[u8] = "\u{FEFF}".as_bytes();

/// The length of the meaningless beginning of a body.
fn blank(body: &[u8]) -> usize {
    let mut rest = body;
    loop {
        rest = match rest {
            [byte, more @ ..] if byte.is_ascii_whitespace() || *byte == 0 => more,
            _ => match rest.strip_prefix(MARK) {
                Some(more) => more,
                None => return body.len() - rest.len(),
            },
        };
    }
}

/// Whether these are several JSON documents, one per line.
fn has_lines(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body);
    let is_blank = |c: char| c.is_whitespace() || matches!(c, '\u{FEFF}' | '\0');
    let mut lines = text.lines().filter(|line| !line.chars().all(is_blank));
    lines.next().is_some_and(json::is_whole) && lines.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_nothing_at_the_beginning_is_skipped() {
        for (body, expected) in [
            (&b""[..], 0),
            (b" \n\0", 3),
            (b"\xEF", 0),
            (b"\n\xEF\xBB\xBF", 4),
            (b"\xEF\xBB\xBF {", 4),
            (b"  data", 2),
        ] {
            assert_eq!(blank(body), expected, "{}", body.escape_ascii());
        }
    }
}
