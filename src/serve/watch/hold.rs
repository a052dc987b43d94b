//! What of an answer goes on at once, and what waits for its release.

use bytes::Bytes;

use super::LONGEST;
use super::frames::Frames;
use crate::wire::Format;

/// The bytes of an answer that wait.
pub struct Hold {
    format: Format,
    form: Form,
    /// Bytes that wait, where they are not in [`Frames`]: those of a document, or of a compressed stream.
    kept: Vec<u8>,
    /// The text of a compressed document.
    text: Vec<u8>,
    has_call: bool,
    hides_usage: bool,
    is_compressed: bool,
}

enum Form {
    /// Nothing but spaces has arrived.
    Open,
    Events(Frames),
    /// It is read when it is whole.
    Document,
    /// All goes on at once: it is no answer, too large, or released.
    Free,
}

impl Hold {
    /// Of an answer in this format. `hides_usage`: the chunk of the usage does not go on.
    pub fn new(format: Format, hides_usage: bool) -> Self {
        let (kept, text) = (Vec::new(), Vec::new());
        let form = Form::Open;
        Self { format, form, kept, text, has_call: false, hides_usage, is_compressed: false }
    }

    /// Of what goes on at once, all of it.
    pub fn nothing(format: Format) -> Self {
        Self { form: Form::Free, ..Self::new(format, false) }
    }

    /// Whether a part of a call waits.
    pub fn has_call(&self) -> bool {
        self.has_call
    }

    /// Takes the next bytes; returns those that go on now. `text` is what compressed bytes mean.
    pub fn take(&mut self, bytes: &Bytes, text: Option<&[u8]>) -> Bytes {
        self.is_compressed = text.is_some();
        let plain = text.unwrap_or(bytes);
        if let (Form::Open, Some(first)) =
            (&self.form, plain.iter().find(|byte| !byte.is_ascii_whitespace()))
        {
            self.form = match first {
                b'{' | b'[' => Form::Document,
                b'<' => Form::Free,
                _ => Form::Events(Frames::new(self.format, self.hides_usage)),
            };
        }
        let now = match &mut self.form {
            // Some servers send spaces while a model works, so that nobody hangs up.
            Form::Open | Form::Free => bytes.clone(),
            Form::Document => {
                self.kept.extend_from_slice(bytes);
                self.text.extend_from_slice(text.unwrap_or_default());
                Bytes::new()
            }
            Form::Events(frames) => {
                let ready = frames.take(plain);
                self.has_call = frames.has_call();
                match text {
                    None => ready.into(),
                    // Compressed bytes cannot be cut. A part of an event that goes on early is of no use to a client.
                    Some(_) if !self.has_call => bytes.clone(),
                    Some(_) => {
                        self.kept.extend_from_slice(bytes);
                        Bytes::new()
                    }
                }
            }
        };
        if self.waiting() > LONGEST { self.rest() } else { now }
    }

    /// The number of bytes that wait.
    fn waiting(&self) -> usize {
        let frames = if let Form::Events(frames) = &self.form { frames.waiting() } else { 0 };
        self.kept.len().max(self.text.len()).max(frames)
    }

    /// No more bytes come. A whole document is looked at now.
    pub fn end(&mut self) {
        if let Form::Document = self.form {
            let text = if self.is_compressed { &self.text } else { &self.kept };
            let text = String::from_utf8_lossy(text);
            self.has_call = !self.format.calls_in(&text).is_empty();
        }
    }

    /// Releases what waits, and lets all that follows go on.
    pub fn release(&mut self) -> Bytes {
        self.has_call = false;
        match &mut self.form {
            Form::Events(frames) if !self.is_compressed => frames.release().into(),
            Form::Open | Form::Document | Form::Events(_) | Form::Free => {
                self.form = Form::Free;
                std::mem::take(&mut self.kept).into()
            }
        }
    }

    /// All that waits, after the last byte.
    pub fn rest(&mut self) -> Bytes {
        self.has_call = false;
        match std::mem::replace(&mut self.form, Form::Free) {
            Form::Events(mut frames) if !self.is_compressed => frames.rest().into(),
            Form::Open | Form::Document | Form::Events(_) | Form::Free => {
                std::mem::take(&mut self.kept).into()
            }
        }
    }
}
