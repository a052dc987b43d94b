//! The right answers in the many forms of published sets.

use serde_json::Value;

/// Text before the list of answers in one published set of physics questions.
const ONE_OF: &str = "Can be one of ";

/// Text between the reasoning and the answer in a set of arithmetic problems.
const AFTER_REASONING: &str = "\n#### ";

/// All right answers in a value; empty if it has none.
pub fn golds(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Bool(flag) => vec![if *flag { "yes" } else { "no" }.to_owned()],
        Value::Number(number) => vec![number.to_string()],
        Value::String(text) => of_text(text),
        Value::Array(list) => list.iter().flat_map(golds).collect(),
        Value::Object(fields) => {
            let scores: Option<Vec<(&String, f64)>> =
                fields.iter().map(|(name, value)| Some((name, value.as_f64()?))).collect();
            if let Some(scores) = scores {
                return best(&scores);
            }
            let named = |names: &[&str]| {
                let found = fields
                    .iter()
                    .filter(|(name, _)| names.iter().any(|known| known.eq_ignore_ascii_case(name)));
                found.flat_map(|(_, value)| golds(value)).collect::<Vec<_>>()
            };
            named(&["text", "value", "answer", "aliases"])
        }
    }
}

/// The names with the highest score above 0.
fn best(scores: &[(&String, f64)]) -> Vec<String> {
    let most = scores.iter().map(|(_, score)| *score).fold(0.0, f64::max);
    let right = scores.iter().filter(|(_, score)| most > 0.0 && *score >= most);
    right.map(|(name, _)| (*name).clone()).collect()
}

fn of_text(text: &str) -> Vec<String> {
    let text = text.rsplit_once(AFTER_REASONING).map_or(text, |(_, answer)| answer).trim();
    let listed = list(text.strip_prefix(ONE_OF).unwrap_or(text));
    let all = listed.unwrap_or_else(|| vec![text.to_owned()]);
    all.into_iter().filter(|answer| !answer.trim().is_empty()).collect()
}

/// A list of texts in a cell, in the notation of JSON or Python: `['7187 m', '7 km']`.
pub fn list(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    if let Ok(list) = serde_json::from_str::<Vec<String>>(text) {
        return Some(list);
    }
    let mut rest = text.strip_prefix('[')?.strip_suffix(']')?.trim();
    let mut all = Vec::new();
    while !rest.is_empty() {
        let (item, after) = quoted(rest)?;
        all.push(item);
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(more) => more.trim_start(),
            None if after.is_empty() => after,
            None => return None,
        };
    }
    Some(all)
}

/// A text in single or double quotes, and the rest after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut chars = text.char_indices();
    let (_, quote) = chars.next().filter(|(_, quote)| matches!(quote, '\'' | '"'))?;
    let mut item = String::new();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => item.push(match chars.next()?.1 {
                'n' => '\n',
                't' => '\t',
                other => other,
            }),
            c if c == quote => return Some((item, &text[at + c.len_utf8()..])),
            c => item.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn right_answers_are_read_from_every_published_form() {
        for (value, right) in [
            (json!("Paris"), vec!["Paris"]),
            (json!(["a", "b"]), vec!["a", "b"]),
            (json!("Can be one of ['7187 m', '7 km']"), vec!["7187 m", "7 km"]),
            (json!(r#"["a", "b"]"#), vec!["a", "b"]),
            (json!(r#"['it\'s', "so"]"#), vec!["it's", "so"]),
            (json!("He has 2 and 3.\n#### 5"), vec!["5"]),
            (json!(true), vec!["yes"]),
            (json!(2.5), vec!["2.5"]),
            (json!({"text": ["a"], "answer_start": [3]}), vec!["a"]),
            (json!({"Value": "a", "Aliases": ["b"]}), vec!["a", "b"]),
            (json!({"plausible": 1, "implausible": 0}), vec!["plausible"]),
            (json!("[1, 2) is an interval"), vec!["[1, 2) is an interval"]),
            (json!("['open"), vec!["['open"]),
            (json!("[a]"), vec!["[a]"]),
            (json!("  "), vec![]),
            (json!(null), vec![]),
            (json!([]), vec![]),
        ] {
            assert_eq!(golds(&value), right, "{value}");
        }
    }
}
