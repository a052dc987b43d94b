//! Thoughts and end marks in the text itself, from open models whose server does not remove them.

/// The tags that open and close thoughts.
const TAGS: [(&str, &str); 8] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
];

/// Tokens after the thoughts of a model that has a separate channel for its answer.
const FINAL: [&str; 2] =
    ["<|start|>assistant<|channel|>final<|message|>", "<|channel|>final<|message|>"];

/// The thoughts at the beginning of a text, and the text after them. A template may have opened them before the text,
/// and a model may never close them: then the whole text is thoughts. `None` if the text has none.
pub fn without_thoughts(text: &str) -> Option<(String, &str)> {
    let mut thoughts = Vec::new();
    let mut rest = text.trim_start();
    while let Some((thought, after)) = first(rest, thoughts.is_empty()) {
        thoughts.push(thought.trim());
        rest = after.trim_start();
    }
    let answer = FINAL.iter().find_map(|token| rest.strip_prefix(token));
    let has_any = !thoughts.is_empty() || answer.is_some();
    thoughts.retain(|thought| !thought.is_empty());
    has_any.then(|| (thoughts.join("\n"), answer.unwrap_or(rest)))
}

/// Tokens that end a model's turn.
const ENDS: [&str; 14] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|end|>",
    "<|return|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|end_of_turn|>",
    "<|END_OF_TURN_TOKEN|>",
    "<｜end▁of▁sentence｜>",
    "<end_of_turn>",
    "<eos>",
    "</s>",
];

/// The text before the tokens that end it. `None` if it has none.
pub fn without_end(text: &str) -> Option<&str> {
    let before = ENDS.iter().find_map(|end| text.trim_end().strip_suffix(end))?;
    // In HTML, such a tag ends struck text.
    let is_html = text.contains("<s>");
    (!is_html).then(|| without_end(before).unwrap_or(before.trim_end()))
}

fn first(text: &str, may_be_open: bool) -> Option<(&str, &str)> {
    let opened = TAGS.iter().find_map(|(open, close)| Some((text.strip_prefix(open)?, close)));
    if let Some((inside, close)) = opened {
        return Some(inside.split_once(close).unwrap_or((inside, "")));
    }
    // The template opened these. In the middle of a line, the tag is a word of a sentence.
    let closes = TAGS.iter().take(7).filter(|_| may_be_open);
    let closed = closes.filter_map(|(_, close)| {
        let at = text.find(close)?;
        let is_alone =
            at == 0 || text[..at].ends_with('\n') || text[at + close.len()..].starts_with('\n');
        is_alone.then_some((at, close.len()))
    });
    let (at, length) = closed.min()?;
    Some((&text[..at], &text[at + length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_at_the_end_are_taken_out() {
        for end in ENDS {
            assert_eq!(without_end(&format!("Sunny.{end}")), Some("Sunny."));
            assert_eq!(without_end(&format!("Sunny.\n{end}<|endoftext|>\n")), Some("Sunny."));
        }
        for text in ["Sunny.", "", "`</s>` ends it.", "It ends with `<|im_end|>`", "<s>rain</s>"] {
            assert_eq!(without_end(text), None, "{text}");
        }
        assert_eq!(without_end("<|im_end|>"), Some(""));
    }

    #[test]
    fn thoughts_are_taken_out() {
        fn said(text: &str) -> Option<(String, String)> {
            without_thoughts(text).map(|(thoughts, rest)| (thoughts, rest.to_owned()))
        }
        let both = |thoughts: &str, rest: &str| Some((thoughts.to_owned(), rest.to_owned()));
        let rain = "It said sunny. Final Answer: rain";
        for text in [
            format!("<think>\n{rain}\n</think>\n\nSunny."),
            format!("\n<thinking>{rain}</thinking>Sunny."),
            format!("[THINK]{rain}[/THINK]\nSunny."),
            format!("◁think▷{rain}◁/think▷Sunny."),
            format!("{rain}\n</think>\n\nSunny."),
            format!("<think>{rain}</think><think>\n\n</think>\n\nSunny."),
            format!(
                "<|channel|>analysis<|message|>{rain}<|end|><|start|>assistant<|channel|>final<|message|>Sunny."
            ),
        ] {
            assert_eq!(said(&text), both(rain, "Sunny."), "{text}");
        }
        assert_eq!(said("<think>\n\n</think>\n\nSunny."), both("", "Sunny."));
        assert_eq!(said("<think>it never ends"), both("it never ends", ""));
        for text in ["Sunny.", "Use the </think> tag.", "It is <think>x</think>.", ""] {
            assert_eq!(said(text), None, "{text}");
        }
    }
}
