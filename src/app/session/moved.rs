//! A record of an agent that runs again in another folder: what it says of the old folder is led to the new one. Otherwise no
//! request would be as recorded, and a recorded answer would let the agent write into the old folder. Pure.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::domain::{Event, ModelCallEvent, Record};

/// The folder of an agent in its record, and the one in which it runs again.
pub struct Moved {
    /// Each spelling of the old folder, with that of the new one.
    spellings: Vec<(String, String)>,
}

impl Moved {
    /// `None`: it runs in the same folder, or a folder has no name in UTF-8.
    pub fn between(from: &Path, to: &Path) -> Option<Self> {
        let (from, to) = (from.to_str()?, to.to_str()?);
        if from == to || Path::new(from).parent().is_none() {
            return None;
        }
        let plain = (from.to_owned(), to.to_owned());
        // Arguments are JSON in a text of JSON.
        let escaped = |text: &str| Value::from(text).to_string().trim_matches('"').to_owned();
        let inner = (escaped(from), escaped(to));
        let mut spellings = vec![plain];
        if inner != spellings[0] {
            spellings.push(inner);
        }
        // Claude Code names its folder for a project so. One word is too little to be a path.
        if from.matches('/').count() > 1 {
            spellings.push((dashed(from), dashed(to)));
        }
        Some(Self { spellings })
    }

    /// The records, as if the agent had been in the new folder. An answer of a model that names the folder loses its bytes as
    /// they came: it is written again.
    pub fn records(&self, records: Vec<Record>) -> Vec<Record> {
        let mut written = BTreeSet::new();
        let led: Vec<Record> = records
            .into_iter()
            .map(|record| {
                let led = self.value(&record.event);
                if let Some(Event::ModelCall(ModelCallEvent::ModelCallFinished {
                    effect, ..
                })) = &led
                {
                    written.insert(effect.id);
                }
                let event = led.unwrap_or(record.event);
                Record { event, ..record }
            })
            .collect();
        let is_kept = |record: &Record| match &record.event {
            Event::ModelCall(ModelCallEvent::ModelCallAnswered { effect, .. }) => {
                !written.contains(&effect.id)
            }
            _ => true,
        };
        led.into_iter().filter(is_kept).collect()
    }

    /// The value with the new folder; `None`: it does not name the old one.
    pub fn value<T: Serialize + DeserializeOwned>(&self, value: &T) -> Option<T> {
        let mut json = serde_json::to_value(value).ok()?;
        self.lead(&mut json).then(|| serde_json::from_value(json).ok()).flatten()
    }

    /// Whether a text below this value has changed.
    fn lead(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let led = self.text(text);
                let is_led = led.is_some();
                led.into_iter().for_each(|led| *text = led);
                is_led
            }
            Value::Array(items) => items.iter_mut().fold(false, |led, item| self.lead(item) | led),
            Value::Object(fields) => {
                fields.values_mut().fold(false, |led, item| self.lead(item) | led)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// The text with the new folder; `None`: it does not name the old one.
    fn text(&self, text: &str) -> Option<String> {
        let mut led = None;
        for (from, to) in &self.spellings {
            let now = led.as_deref().unwrap_or(text);
            if let Some(next) = replaced(now, from, to) {
                led = Some(next);
            }
        }
        led
    }
}

/// A path as one word: `-home-a-repo`.
fn dashed(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// The text with this path in place of that one, wherever that is not a part of a longer name.
fn replaced(text: &str, from: &str, to: &str) -> Option<String> {
    let (mut out, mut rest_at) = (String::new(), 0);
    for (at, _) in text.match_indices(from) {
        let (before, after) = (&text[..at], &text[at + from.len()..]);
        if at < rest_at || goes_on(before.chars().next_back()) || is_longer(after) {
            continue;
        }
        out.push_str(&text[rest_at..at]);
        out.push_str(to);
        rest_at = at + from.len();
    }
    (rest_at > 0).then(|| out + &text[rest_at..])
}

/// Whether a name goes on with this character.
fn goes_on(next: Option<char>) -> bool {
    next.is_some_and(|next| next.is_alphanumeric() || "-_".contains(next))
}

/// Whether a folder's name goes on with this text. A dot may end a sentence.
fn is_longer(after: &str) -> bool {
    let mut next = after.chars();
    let first = next.next();
    goes_on(first) || (first == Some('.') && goes_on(next.next()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn led(text: &str) -> Option<String> {
        Moved::between(Path::new("/home/a/repo"), Path::new("/w/1")).unwrap().text(text)
    }

    #[test]
    fn only_the_folder_itself_and_what_is_in_it_is_led() {
        for (text, right) in [
            ("/home/a/repo", "/w/1"),
            ("in /home/a/repo.", "in /w/1."),
            ("/home/a/repo/b.txt and file:///home/a/repo/c", "/w/1/b.txt and file:///w/1/c"),
            ("~/.claude/projects/-home-a-repo/memory", "~/.claude/projects/-w-1/memory"),
            ("{\"path\": \"/home/a/repo/x\"}", "{\"path\": \"/w/1/x\"}"),
            ("/home/a/repo:/home/a/repo2:/home/a/repo", "/w/1:/home/a/repo2:/w/1"),
        ] {
            assert_eq!(led(text).as_deref(), Some(right));
        }
        for text in [
            "/home/a/repository",
            "/home/a/repo.git",
            "/mnt/home/a/repo-2",
            "x/home/a/repo",
            "a-home-a-repo",
        ] {
            assert_eq!(led(text), None, "{text}");
        }
    }

    #[test]
    fn a_folder_with_quotes_is_found_in_arguments() {
        let moved = Moved::between(Path::new("/a \"b\""), Path::new("/w/\"2\"")).unwrap();
        let arguments = json!({"path": "/a \"b\"/x"}).to_string();
        let value = json!({"text": "/a \"b\"", "arguments": arguments});
        let right = json!({"path": "/w/\"2\"/x"}).to_string();
        assert_eq!(moved.value(&value), Some(json!({"text": "/w/\"2\"", "arguments": right})));
        assert_eq!(moved.value(&json!({"n": 1})), None);
        assert!(Moved::between(Path::new("/a"), Path::new("/a")).is_none());
        assert!(Moved::between(Path::new("/"), Path::new("/a")).is_none());
    }
}
