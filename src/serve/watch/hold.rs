//! Divides a stream into bytes that are sent at once and bytes that wait for their release.

use bytes::Bytes;

use super::frames::Frames;
use crate::model::relay::{Holds, Release};
use crate::wire::{WireFormat, changed};

/// The bytes of an answer that wait.
pub struct Hold {
    format: WireFormat,
    holds: Holds,
    form: StreamForm,
    hides_usage: bool,
}

enum StreamForm {
    /// Only spaces have arrived.
    Open,
    Events(Frames),
    /// A document of a server that does not stream. It is read when it is complete, and may have to wait then.
    Document {
        text: Vec<u8>,
        waits: bool,
    },
    /// All bytes are sent at once: the body is not an answer, is too large, or was released.
    Free,
}

impl Hold {
    /// Holds an answer in this format. `hides_usage`: the chunk with the usage is dropped.
    pub fn new(format: WireFormat, holds: Holds, hides_usage: bool) -> Self {
        Self { format, holds, form: StreamForm::Open, hides_usage }
    }

    /// Holds nothing: all bytes are sent at once.
    pub fn nothing(format: WireFormat) -> Self {
        Self { form: StreamForm::Free, ..Self::new(format, Holds::Calls, false) }
    }

    /// Whether something waits for its release.
    pub fn waits(&self) -> bool {
        match &self.form {
            StreamForm::Events(frames) => frames.waits(),
            StreamForm::Document { waits, .. } => *waits,
            StreamForm::Open | StreamForm::Free => false,
        }
    }

    /// Whether more events may be sent meanwhile.
    pub fn is_stream(&self) -> bool {
        matches!(self.form, StreamForm::Events(_))
    }

    /// Adds the next bytes; returns those to send now.
    pub fn take(&mut self, bytes: &Bytes) -> Bytes {
        if let (StreamForm::Open, Some(first)) =
            (&self.form, bytes.iter().find(|byte| !byte.is_ascii_whitespace()))
        {
            self.form = match first {
                b'{' | b'[' if self.format.codec().is_sequence => {
                    StreamForm::Events(Frames::of_objects(self.format, self.holds))
                }
                b'{' | b'[' => StreamForm::Document { text: Vec::new(), waits: false },
                b'<' => StreamForm::Free,
                _ => {
                    StreamForm::Events(Frames::new(self.format, Some(self.holds), self.hides_usage))
                }
            };
        }
        match &mut self.form {
            // Some servers send spaces while a model works, to keep the connection open.
            StreamForm::Open | StreamForm::Free => bytes.clone(),
            StreamForm::Document { text, .. } => {
                text.extend_from_slice(bytes);
                Bytes::new()
            }
            StreamForm::Events(frames) => frames.take(bytes).into(),
        }
    }

    /// The number of bytes that wait.
    pub fn waiting(&self) -> usize {
        match &self.form {
            StreamForm::Document { text, .. } => text.len(),
            StreamForm::Events(frames) => frames.waiting(),
            StreamForm::Open | StreamForm::Free => 0,
        }
    }

    /// Ends the body. A whole document is checked now.
    pub fn end(&mut self) {
        if let StreamForm::Document { text, waits } = &mut self.form {
            let text = String::from_utf8_lossy(text);
            *waits = self.holds > Holds::Calls || self.format.has_call(&text);
        }
    }

    /// Releases the waiting bytes, and lets all later ones pass. `is_over`: nothing follows.
    pub fn release(&mut self, release: Release, is_over: bool) -> Bytes {
        let before = match &mut self.form {
            StreamForm::Events(frames) => frames.before().to_owned(),
            StreamForm::Open | StreamForm::Document { .. } | StreamForm::Free => String::new(),
        };
        let held = match &mut self.form {
            StreamForm::Events(frames) if !is_over => frames.release().into(),
            StreamForm::Open
            | StreamForm::Events(_)
            | StreamForm::Document { .. }
            | StreamForm::Free => self.rest(),
        };
        match release {
            Release::Calls(calls) => changed(self.format, &held, &before, &calls).into(),
            Release::AsCame | Release::Instead(_) | Release::Again(_) => held,
        }
    }

    /// Returns all bytes that wait, after the last byte.
    pub fn rest(&mut self) -> Bytes {
        match std::mem::replace(&mut self.form, StreamForm::Free) {
            StreamForm::Events(mut frames) => frames.rest().into(),
            StreamForm::Document { text, .. } => text.into(),
            StreamForm::Open | StreamForm::Free => Bytes::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Reply, ToolCall};
    use crate::wire::{AnswerForm, Answering, FunctionNames};

    fn call(id: &str, number: u32) -> ToolCall {
        ToolCall { id: id.into(), tool: "t".into(), arguments: serde_json::json!({"n": number}) }
    }

    /// However a stream is cut, its calls change in the same way, and its text is sent before.
    #[test]
    fn cuts_change_nothing() {
        let calls = vec![call("a", 1), call("b", 2)];
        let reply = Reply { calls, ..Reply::of_text("Look: ") };
        let answering =
            Answering { id: "x", model: "m", names: &FunctionNames::default(), created: 1 };
        let released = || Release::Calls(vec![call("b", 3), call("c", 4)]);
        let forms = WireFormat::ALL.map(|format| (format, format.codec().streamed));
        let forms = forms.into_iter().filter(|(format, _)| *format != WireFormat::Generate);
        for (format, form) in forms.chain([(WireFormat::Gemini, AnswerForm::List)]) {
            let stream = Bytes::from(format.write_answer(&reply, &answering, form));
            let run = |cut: usize, is_over: bool| {
                let mut hold = Hold::new(format, Holds::Calls, false);
                let before = [hold.take(&stream.slice(..cut)), hold.take(&stream.slice(cut..))];
                assert!(hold.waits());
                if is_over {
                    hold.end();
                }
                let after = [hold.release(released(), is_over), hold.rest()];
                (before.concat(), after.concat())
            };
            let whole = run(0, true);
            assert!(String::from_utf8_lossy(&whole.0).contains("Look: "));
            assert!(String::from_utf8_lossy(&whole.1).contains("\"c\""));
            for cut in 0..=stream.len() {
                assert_eq!(run(cut, cut % 2 == 0), whole, "{format} {cut}");
            }
        }
    }
}
