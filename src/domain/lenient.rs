//! JSON that is nearly right, as models write it. Only unambiguous text is read; a text that was cut off is not.

use serde_json::{Map, Value};

use super::arguments::{single_quoted, unfenced};

/// A value that was read, the text after it, and what was wrong.
#[derive(Debug, PartialEq)]
pub struct Lenient<'a> {
    pub value: Value,
    pub rest: &'a str,
    pub wrong: Vec<&'static str>,
}

/// The object or list at the beginning of a text. It may have commas before closing brackets, and line breaks in texts.
pub fn first(text: &str) -> Option<Lenient<'_>> {
    let (strict, end, wrong) = strict(text)?;
    let whole = || serde_json::from_str(&without_halves(&strict)?).ok();
    let value = serde_json::from_str(&strict).ok().or_else(whole)?;
    Some(Lenient { value, rest: &text[end..], wrong })
}

/// The object that a text is meant to be, and the errors in the text, such as `a comma too many`. Text after the
/// object is markup, or the same object once more.
pub fn object(text: &str) -> Option<(Map<String, Value>, String)> {
    let bare = unfenced(text);
    let mut wrong = Vec::new();
    if bare != text.trim() {
        wrong.push("a code fence around them");
    }
    if let Some(Value::Object(fields)) = single_quoted(bare) {
        wrong.push("single quotes");
        return Some((fields, wrong.join(", ")));
    }
    let Lenient { value, rest, wrong: more } = first(bare)?;
    wrong.extend(more);
    let again = first(rest.trim_start()).filter(|again| again.value == value);
    let rest = again.map_or(rest, |again| again.rest).trim();
    if !rest.is_empty() || again_is(bare, &value) {
        wrong.push("something after them");
    }
    let Value::Object(fields) = value else { return None };
    after_markup(rest).is_empty().then(|| (fields, wrong.join(", ")))
}

/// JSON with U+FFFD for each escape of half a character whose other half is missing. `None` if there is none.
pub fn without_halves(json: &str) -> Option<String> {
    let unit = |at: usize| {
        let hex = json.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(hex, 16).ok()
    };
    let (mut whole, mut from, mut at) = (String::new(), 0, 0);
    while let Some(next) = json[at..].find('\\') {
        let start = at + next;
        at = match (unit(start), unit(start + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => start + 12,
            (Some(0xD800..=0xDFFF), _) => {
                whole.push_str(&json[from..start]);
                whole.push_str("\\ufffd");
                from = start + 6;
                from
            }
            _ => start + 1 + json[start + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    (from > 0).then(|| whole + &json[from..])
}

/// Whether the text repeats this value.
fn again_is(text: &str, value: &Value) -> bool {
    first(text).and_then(|it| first(it.rest.trim_start())).is_some_and(|it| it.value == *value)
}

/// The text after closing tags, special tokens, brackets and fences at its beginning.
pub fn after_markup(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let next = token(text)
            .filter(|(token, _)| token.starts_with("</") || is_special(token))
            .map(|(_, rest)| rest)
            .or_else(|| text.strip_prefix("```"))
            .or_else(|| text.strip_prefix(['}', ']', ')', ';']));
        match next {
            Some(rest) => text = rest,
            None => return text,
        }
    }
}

/// The tag or the special token at the beginning of a text, and the rest.
pub fn token(text: &str) -> Option<(&str, &str)> {
    const LONGEST: usize = 80;
    let mut inside = text.strip_prefix('<')?.char_indices().take(LONGEST);
    let (end, close) = inside.find(|(_, c)| matches!(c, '<' | '>' | '\n'))?;
    (close == '>').then(|| text.split_at(end + "<>".len()))
}

/// Whether this is a token that no person writes, such as `<|im_end|>` or `<end_of_turn>`.
pub fn is_special(token: &str) -> bool {
    let inside = token.trim_start_matches('<').trim_end_matches('>');
    inside.starts_with(['|', '｜'])
        || ["end_of_turn", "eos", "s", "end_function_call"].contains(&inside)
}

/// A value as strict JSON, where it ends, and what was wrong.
fn strict(text: &str) -> Option<(String, usize, Vec<&'static str>)> {
    let mut strict = String::with_capacity(text.len());
    let (mut depth, mut is_text, mut is_escaped) = (0usize, false, false);
    let (mut has_break, mut has_comma) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_text => is_escaped = true,
            '"' => is_text = !is_text,
            _ if is_text && c < ' ' => {
                has_break = true;
                strict.push_str(&format!("\\u{:04x}", u32::from(c)));
                continue;
            }
            _ if is_text => {}
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.checked_sub(1)?,
            ',' if text[at + 1..].trim_start().starts_with(['}', ']']) => {
                has_comma = true;
                continue;
            }
            _ => {}
        }
        strict.push(c);
        if depth == 0 {
            let wrong = [(has_comma, "a comma too many"), (has_break, "line breaks in a text")];
            let wrong = wrong.into_iter().filter_map(|(is_so, what)| is_so.then_some(what));
            return Some((strict, at + c.len_utf8(), wrong.collect()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_has_one_meaning_is_read() {
        let lisbon = json!({"city": "Lisbon"});
        for (text, wrong) in [
            (r#"{"city": "Lisbon",}"#, "a comma too many"),
            (r#"{"city": "Lisbon"}</tool_call>"#, "something after them"),
            (r#"{"city": "Lisbon"}<|im_end|>"#, "something after them"),
            (r#"{"city": "Lisbon"}}"#, "something after them"),
            (r#"{"city": "Lisbon"}{"city": "Lisbon"}"#, "something after them"),
            ("```json\n{\"city\": \"Lisbon\"}\n```", "a code fence around them"),
            ("{'city': 'Lisbon'}", "single quotes"),
        ] {
            let (fields, said) = object(text).unwrap();
            assert_eq!((Value::Object(fields), said.as_str()), (lisbon.clone(), wrong), "{text}");
        }
        let (fields, wrong) = object("{\"city\": \"Lis\nbon\", \"x\": [1,]}").unwrap();
        assert_eq!(Value::Object(fields), json!({"city": "Lis\nbon", "x": [1]}));
        assert_eq!(wrong, "a comma too many, line breaks in a text");
    }

    #[test]
    fn nothing_is_guessed() {
        for text in [
            "",
            "Lisbon",
            r#"{"city": "Lisbon""#,
            r#"{"city": "Lisbon"#,
            r#"{"city": "Lisbon"} or {"city": "Porto"}"#,
            r#"{"city": "Lisbon"}{"city": "Porto"}"#,
            r#"{"city": Lisbon}"#,
            r#"{city: "Lisbon"}"#,
            r#"["Lisbon"]"#,
            r#"{"city": "a "quoted" word"}"#,
            r#"{"a": 1,,}"#,
            "}",
        ] {
            assert_eq!(object(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_not(text in ".{0,60}|[\\[\\]{}\",:\\\\<|>a\n ]{0,60}") {
            object(&text);
            after_markup(&text);
        }

        #[test]
        fn json_is_read_as_it_is(key in ".{0,9}", value in ".{0,9}", number: i64) {
            let value = json!({key: [value, number, {"x": null}]});
            let text = format!("{value} rest");
            let read = first(&text).unwrap();
            prop_assert_eq!((read.value, read.rest, read.wrong), (value, " rest", Vec::new()));
        }
    }
}
