//! Why an answer ended, in the words of this format.

use crate::domain::Finish;

/// The longest reason that is kept, in characters.
const LONGEST: usize = 64;

/// How an answer with this reason ended.
pub(super) fn finish(reason: &str, has_calls: bool) -> Finish {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "refusal" => Finish::Refused,
        _ if has_calls => Finish::Calls,
        "end_turn" | "stop_sequence" | "tool_use" => Finish::Stop,
        reason => Finish::Other(reason.chars().take(LONGEST).collect()),
    }
}

/// The reason to send.
pub(super) fn reason(finish: &Finish) -> &str {
    match finish {
        Finish::Stop | Finish::Judged => "end_turn",
        Finish::Calls => "tool_use",
        Finish::Length => "max_tokens",
        // This format has no other reason for filters.
        Finish::Refused | Finish::Filtered => "refusal",
        Finish::Other(reason) => reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_understood_and_written() {
        for (word, has_calls, expected) in [
            ("end_turn", false, Finish::Stop),
            ("stop_sequence", false, Finish::Stop),
            ("tool_use", true, Finish::Calls),
            ("end_turn", true, Finish::Calls),
            ("tool_use", false, Finish::Stop),
            ("max_tokens", true, Finish::Length),
            ("model_context_window_exceeded", false, Finish::Length),
            ("refusal", true, Finish::Refused),
            ("pause_turn", false, Finish::Other("pause_turn".into())),
        ] {
            let read = finish(word, has_calls);
            assert_eq!(read, expected, "{word}");
            assert_eq!(finish(reason(&read), has_calls), expected, "{word}");
        }
    }
}
