//! Counts and transforms texts.

use serde_json::Value;

use super::arguments;
use crate::tool::ToolError;

type Count = fn(&str) -> usize;
type TextChange = fn(&str) -> String;

/// The number of characters, words or the like in `text`.
pub fn measure(arguments: &Value) -> Result<String, ToolError> {
    let choices: [(&str, Count); 5] = [
        ("words", |text| text.split_whitespace().count()),
        ("characters", |text| text.chars().count()),
        ("letters", |text| text.chars().filter(|c| c.is_alphabetic()).count()),
        ("vowels", |text| text.to_lowercase().chars().filter(|c| "aeiou".contains(*c)).count()),
        ("digits", |text| text.chars().filter(char::is_ascii_digit).count()),
    ];
    let count = arguments::choice(arguments, "what", &choices)?;
    Ok(count(arguments::text(arguments, "text")?).to_string())
}

/// `text` after an `operation`.
pub fn transform(arguments: &Value) -> Result<String, ToolError> {
    let choices: [(&str, TextChange); 5] = [
        ("upper", str::to_uppercase),
        ("lower", str::to_lowercase),
        ("reverse", |text| text.chars().rev().collect()),
        ("initials", |text| {
            text.split_whitespace().filter_map(|word| word.chars().next()).collect()
        }),
        ("sort", |text| {
            let mut words: Vec<_> = text.split_whitespace().collect();
            words.sort_by_key(|word| word.to_lowercase());
            words.join(" ")
        }),
    ];
    let operation = arguments::choice(arguments, "operation", &choices)?;
    Ok(operation(arguments::text(arguments, "text")?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_and_turns() {
        let count =
            |what: &str| measure(&json!({ "text": "Ärger um 7 Uhr", "what": what })).unwrap();
        assert_eq!(["words", "letters", "vowels", "digits"].map(count), ["4", "10", "3", "1"]);
        let turn = |operation: &str| {
            transform(&json!({ "text": "old Grey fox", "operation": operation })).unwrap()
        };
        assert_eq!(
            ["upper", "reverse", "initials", "sort"].map(turn),
            ["OLD GREY FOX", "xof yerG dlo", "oGf", "fox Grey old"]
        );
        assert!(transform(&json!({ "text": "a", "operation": "eat" })).is_err());
    }
}
