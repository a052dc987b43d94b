//! The path of a place in a JSON text. A parser says at which byte it failed; a person wants the field.

/// Returns the path of the value that serde_json could not read in this text, such as `a.b[2]`; empty for the whole text.
pub fn path_of(text: &str, error: &serde_json::Error) -> String {
    let before = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len);
    path_at(text, before.sum::<usize>() + error.column())
}

/// The path of the value that begins or ends at this byte.
fn path_at(text: &str, byte: usize) -> String {
    let mut open: Vec<Open> = Vec::new();
    let mut rest = text.get(..byte).unwrap_or(text).char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            '{' => open.push(Open::Object(None)),
            '[' => open.push(Open::List(0)),
            '}' | ']' => _ = open.pop(),
            ',' => match open.last_mut() {
                Some(Open::Object(key)) => *key = None,
                Some(Open::List(index)) => *index += 1,
                None => {}
            },
            '"' => {
                let end = end_of_text(text, at);
                while rest.offset() < end && rest.next().is_some() {}
                if let Some(Open::Object(key @ None)) = open.last_mut() {
                    *key = text.get(at..end).and_then(|raw| serde_json::from_str(raw).ok());
                }
            }
            _ => {}
        }
    }
    open.iter().fold(String::new(), |path, open| match open {
        Open::Object(None) => path,
        Open::Object(Some(key)) if path.is_empty() => key.clone(),
        Open::Object(Some(key)) => format!("{path}.{key}"),
        Open::List(index) => format!("{path}[{index}]"),
    })
}

/// A list or an object that has begun.
enum Open {
    /// The key of its present value.
    Object(Option<String>),
    /// The number of its present item.
    List(usize),
}

/// The byte behind the text that begins here with a quote.
fn end_of_text(text: &str, start: usize) -> usize {
    let mut is_escaped = false;
    let end = text[start + 1..].bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| start + 1 + end + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[expect(dead_code, reason = "it is only read")]
        inner: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    struct Inner {
        #[expect(dead_code, reason = "it is only read")]
        small: u8,
    }

    fn place(text: &str) -> String {
        let error = serde_json::from_str::<Outer>(text).unwrap_err();
        path_of(text, &error)
    }

    #[test]
    fn errors_of_types_have_their_field() {
        for (text, path) in [
            ("{\"inner\": [{\"small\": 1}, {\"small\": \"x\"}]}", "inner[1].small"),
            ("{\"inner\":\n [{\"small\": 300}\n]}", "inner[0].small"),
            ("{\"inner\": [{\"a\\\"}b\": [1, {}], \"small\": []}]}", "inner[0].small"),
            ("{\"inner\": [{}]}", "inner[0]"),
            ("{\"inner\": [[]]}", "inner[0]"),
            ("{\"inner\": {\"a\": 1}}", "inner"),
            ("{\"inner\": [], \"outer\": 1}", "outer"),
            ("{}", ""),
            ("[]", ""),
        ] {
            assert_eq!(place(text), path, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_place(text in "[\\[\\]{}\":,\\\\a1ü ]{0,40}", byte in 0usize..60) {
            path_at(&text, byte);
        }
    }
}
