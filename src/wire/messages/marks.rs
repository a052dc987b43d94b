//! Cache marks: the places of the prompt up to which an endpoint caches it.

use serde_json::{Value, json};

/// The approximate number of bytes of a token.
const BYTES_PER_TOKEN: usize = 4;
/// The turns of the user that are marked: the last one for the next request, and the one before for this one.
const TURNS: usize = 2;

/// Places the marks, four at most: after the tools, after the instructions, and after the last turns of the user. An
/// endpoint caches no prefix that is too short, and would refuse a fifth mark.
pub(super) fn place(
    model: &str,
    tools: &mut [Value],
    system: &mut [Value],
    messages: &mut [Value],
) {
    let least = least(model) * BYTES_PER_TOKEN;
    let mut bytes = 0;
    for part in [tools, system] {
        bytes += part.iter().map(size).sum::<usize>();
        if bytes >= least {
            mark(part.last_mut());
        }
    }
    let is_user = |message: &Value| message["role"] == "user";
    let mut later = messages.iter().filter(|message| is_user(message)).count();
    for message in messages {
        bytes += size(message);
        if is_user(message) {
            later -= 1;
            if later < TURNS && bytes >= least {
                mark(message["content"].as_array_mut().and_then(|content| content.last_mut()));
            }
        }
    }
}

fn size(part: &Value) -> usize {
    part.to_string().len()
}

fn mark(part: Option<&mut Value>) {
    if let Some(part) = part {
        part["cache_control"] = json!({"type": "ephemeral"});
    }
}

/// The tokens of the shortest prefix that is cached.
fn least(model: &str) -> usize {
    let model = model.to_ascii_lowercase();
    let words: Vec<&str> = model.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let behind = |family: &str| {
        let at = words.iter().position(|word| *word == family)?;
        Some(version(&words[at + 1..]))
    };
    match (behind("opus"), behind("haiku")) {
        (Some(version), _) | (_, Some(version)) if version >= (4, 5) => 4096,
        (_, Some(_)) => 2048,
        _ => 1024,
    }
}

/// The version at the beginning of these words. Older models have it before their family, and a date after it.
fn version(words: &[&str]) -> (u8, u8) {
    let number = |at: usize| words.get(at).filter(|word| word.len() <= 2)?.parse().ok();
    let major = number(0);
    (major.unwrap_or(0), major.and_then(|_| number(1)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_differ_in_the_shortest_prefix() {
        for (model, expected) in [
            ("claude-sonnet-4-5-20250929", 1024),
            ("claude-3-opus-20240229", 1024),
            ("claude-opus-4-20250514", 1024),
            ("claude-opus-4-1", 1024),
            ("claude-opus-4-5-20251101", 4096),
            ("anthropic/claude-opus-4.6", 4096),
            ("claude-opus-5", 4096),
            ("us.anthropic.claude-haiku-4-5-20251001-v1:0", 4096),
            ("claude-3-5-haiku-latest", 2048),
            ("claude-3-haiku-20240307", 2048),
            ("local", 1024),
        ] {
            assert_eq!(least(model), expected, "{model}");
        }
    }

    fn text(bytes: usize) -> Value {
        json!({"type": "text", "text": "x".repeat(bytes)})
    }

    fn marks(value: &[Value]) -> usize {
        serde_json::to_string(value).unwrap().matches("cache_control").count()
    }

    #[test]
    fn four_places_are_marked_and_no_short_prefix() {
        for (tool, expected) in [(5000, [1, 1, 2]), (100, [0, 1, 2]), (0, [0, 0, 2])] {
            let mut tools = [json!({"name": "a"}), json!({"name": "x".repeat(tool)})];
            let mut system = [text(tool), text(4096_usize.saturating_sub(100).min(tool * 40))];
            let user = json!({"role": "user", "content": [text(1), text(2000)]});
            let model = json!({"role": "assistant", "content": [text(1)]});
            let mut messages = [user.clone(), model.clone(), user.clone(), model, user];
            place("claude-sonnet-4-5", &mut tools, &mut system, &mut messages);
            assert_eq!([marks(&tools), marks(&system), marks(&messages)], expected, "{tool}");
            assert_eq!(marks(&messages[..1]), 0);
            assert!(messages[4]["content"][1]["cache_control"].is_object());
        }
    }
}
