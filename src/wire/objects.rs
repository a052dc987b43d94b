//! JSON objects one after the other: one document, one in each line, or the items of a list.

use crate::sse::{Event, TooLong};

/// The longest object, in bytes.
const LONGEST: usize = 16 * 1024 * 1024;

/// Finds the ends of objects, byte by byte.
#[derive(Debug, Default)]
pub struct ObjectScan {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

/// The place of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BytePlace {
    /// Between two objects.
    Between,
    Inside,
    /// The last byte of an object.
    Last,
}

impl ObjectScan {
    /// The place of the next byte.
    pub fn next(&mut self, byte: u8) -> BytePlace {
        if self.in_string {
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return BytePlace::Inside;
        }
        match byte {
            b'{' => self.depth += 1,
            b'}' if self.depth == 1 => {
                self.depth = 0;
                return BytePlace::Last;
            }
            b'}' if self.depth > 0 => self.depth -= 1,
            b'"' if self.depth > 0 => self.in_string = true,
            _ => {}
        }
        if self.depth > 0 { BytePlace::Inside } else { BytePlace::Between }
    }
}

/// Assembles bytes into objects.
#[derive(Debug, Default)]
pub struct ObjectParser {
    scan: ObjectScan,
    object: Vec<u8>,
}

impl ObjectParser {
    /// Reads bytes and returns the objects that they complete, as events.
    ///
    /// # Errors
    /// If the current object is longer than 16 MiB; no more can be read then.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        for byte in bytes {
            let place = self.scan.next(*byte);
            if place == BytePlace::Between {
                continue;
            }
            self.object.push(*byte);
            if self.object.len() > LONGEST {
                return Err(TooLong);
            }
            if place == BytePlace::Last {
                let data = crate::pieces::text_of(&self.object).into_owned();
                events.push(Event { name: String::new(), data });
                self.object.clear();
            }
        }
        Ok(events)
    }

    /// Whether a part of an object has come, but not its end.
    pub fn is_open(&self) -> bool {
        !self.object.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(chunks: &[&[u8]]) -> Vec<String> {
        let mut parser = ObjectParser::default();
        let events = chunks.iter().flat_map(|chunk| parser.feed(chunk).unwrap());
        events.map(|event| event.data).collect()
    }

    #[test]
    fn objects_of_lines_and_lists_are_found() {
        assert_eq!(all(&[b"{\"a\":1}\n{\"b\":\"}\"}\n"]), ["{\"a\":1}", "{\"b\":\"}\"}"]);
        let list = b"[{\n \"a\": [1, {\"c\": \"\\\"]}\"}]\n}\n,\r\n{}]\n";
        assert_eq!(all(&[list]), ["{\n \"a\": [1, {\"c\": \"\\\"]}\"}]\n}", "{}"]);
        assert_eq!(all(&[b" ", b"{\"a\":", b"{}", b"}"]), ["{\"a\":{}}"]);
        assert_eq!(all(&[b"}],\"", b"{}"]), ["{}"]);
    }

    #[test]
    fn an_object_without_an_end_is_refused() {
        let mut parser = ObjectParser::default();
        parser.feed(b"{\"x\": \"").unwrap();
        let chunk = vec![b'x'; 1024 * 1024];
        assert!((0..20).any(|_| parser.feed(&chunk).is_err()) && parser.is_open());
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(text in "[\\[\\]{},:\"\\\\a1é\n ]{0,40}", at in 0usize..60) {
            let bytes = text.as_bytes();
            let (first, second) = bytes.split_at(at.min(bytes.len()));
            prop_assert_eq!(all(&[first, second]), all(&[bytes]));
        }
    }
}
