//! The frames of an answer, `application/vnd.amazon.eventstream`. AWS's own crate reads and writes them; here each keeps
//! its bytes, and none is lost where a stream is damaged.

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder, write_message_to};
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};

/// The longest frame in bytes: a payload of 16 MiB, and headers of 128 KiB.
const LONGEST: usize = (16 << 20) + (128 << 10);

/// Splits a stream into its frames.
#[derive(Debug, Default)]
pub(super) struct FrameParser {
    open: Vec<u8>,
    /// Whether a frame was damaged: from there on nothing can be read.
    is_damaged: bool,
}

impl FrameParser {
    /// The frames that these bytes complete, each with all its bytes; `None` is a part that cannot be read.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<(Option<Message>, Vec<u8>)> {
        self.open.extend_from_slice(bytes);
        let open = std::mem::take(&mut self.open);
        let (mut frames, mut rest) = (Vec::new(), &open[..]);
        while !self.is_damaged {
            let mut after = rest;
            match MessageFrameDecoder::new().decode_frame(&mut after) {
                Ok(DecodedFrame::Complete(message)) => {
                    let length = rest.len() - after.len();
                    frames.push((Some(message), rest[..length].to_vec()));
                    rest = after;
                }
                Ok(DecodedFrame::Incomplete) if rest.len() <= LONGEST => break,
                Ok(DecodedFrame::Incomplete) | Err(_) => self.is_damaged = true,
            }
        }
        match self.is_damaged && !rest.is_empty() {
            true => frames.push((None, rest.to_vec())),
            false => self.open = rest.to_vec(),
        }
        frames
    }

    /// The bytes of a frame that has no end.
    pub fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.open)
    }
}

/// The value of a header that is a text.
pub(super) fn header<'m>(message: &'m Message, name: &str) -> Option<&'m str> {
    let found = message.headers().iter().find(|header| header.name().as_str() == name)?;
    found.value().as_string().ok().map(|text| text.as_str())
}

/// The bytes of an event, or of an exception, of this name; `None` if it is too long for a frame.
pub(super) fn frame(kind: &'static str, name: &str, payload: String) -> Option<Vec<u8>> {
    let header =
        |name: String, value: &str| Header::new(name, HeaderValue::String(value.to_owned().into()));
    let message = Message::new(payload)
        .add_header(header(format!(":{kind}-type"), name))
        .add_header(header(":content-type".to_owned(), "application/json"))
        .add_header(header(":message-type".to_owned(), kind));
    let mut bytes = Vec::new();
    write_message_to(&message, &mut bytes).ok().map(|()| bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The example of a message without headers from the specification of Smithy's event streams.
    #[test]
    fn the_frame_of_the_specification_is_read() {
        let bytes = [0, 0, 0, 0x10, 0, 0, 0, 0, 5, 0xc2, 0x48, 0xeb, 0x7d, 0x98, 0xc8, 0xff];
        let frames = FrameParser::default().feed(&bytes);
        assert_eq!(frames, [(Some(Message::new(Vec::new())), bytes.to_vec())]);
    }

    proptest! {
        #[test]
        fn cuts_change_nothing_and_damage_loses_no_byte(
            payloads in prop::collection::vec(".{0,20}", 1..4),
            step in 1..40_usize,
            damaged in prop::option::of((any::<prop::sample::Index>(), 1..=255_u8)),
        ) {
            let frames = payloads.iter().map(|it| frame("event", "chunk", it.clone()).unwrap());
            let mut bytes: Vec<u8> = frames.flatten().collect();
            if let Some((at, by)) = &damaged {
                let at = at.index(bytes.len());
                bytes[at] ^= by;
            }
            let mut parser = FrameParser::default();
            let mut read = Vec::new();
            for chunk in bytes.chunks(step) {
                read.extend(parser.feed(chunk));
            }
            let mut all: Vec<u8> = read.iter().flat_map(|(_, raw)| raw.clone()).collect();
            all.extend(parser.rest());
            prop_assert_eq!(&all, &bytes);
            let read = read.into_iter().filter_map(|(message, _)| message);
            let read: Vec<_> = read.map(|it| String::from_utf8(it.payload().to_vec()).unwrap()).collect();
            prop_assert!(payloads.starts_with(&read));
            prop_assert!(damaged.is_some() || payloads.len() == read.len());
        }

        #[test]
        fn hostile_bytes_are_read(chunks in prop::collection::vec(any::<Vec<u8>>(), 0..5)) {
            let mut parser = FrameParser::default();
            let mut all: Vec<u8> =
                chunks.iter().flat_map(|it| parser.feed(it)).flat_map(|(_, raw)| raw).collect();
            all.extend(parser.rest());
            prop_assert_eq!(all, chunks.concat());
        }
    }
}
