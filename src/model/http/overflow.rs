//! Recognises prompts that are too long by the words of many servers. Each server uses other words, so their
//! combination counts: a quantity, and that it is too large.

/// Codes and types of known servers.
const CODES: [&str; 11] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "context_window_exceeded",
    "contextwindowexceeded",
    "model_context_window_exceeded",
    "max_prompt_tokens_exceeded",
    "tokens_limit_reached",
    "prompt_too_long",
    "input_too_long",
    "max_context",
    "context_overflow",
];

/// Words of rate limits, which are another matter.
const RATES: [&str; 16] = [
    "per minute",
    "per min",
    "per second",
    "per hour",
    "per day",
    "/min",
    "/ min",
    "tokens_per",
    "(tpm)",
    "tpm",
    "rate limit",
    "rate_limit",
    "ratelimit",
    "quota",
    "throttl",
    "please wait",
];

/// Names of the limit of an answer. A server that refuses such a value says nothing about the prompt.
const ANSWER_LIMITS: [&str; 6] = [
    "max_tokens",
    "max_new_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "maxoutputtokens",
    "maximum tokens you requested",
];

/// Words for the window of a model.
const WINDOWS: [&str; 12] = [
    "context length",
    "context_length",
    "context window",
    "context_window",
    "context size",
    "context limit",
    "context the overflow",
    "context overflow",
    "token limit",
    "maximum model length",
    "max model length",
    "prompt length",
];

/// Words for an excess.
const EXCESSES: [&str; 22] = [
    "exceed",
    "too long",
    "too large",
    "too big",
    "too many tokens",
    "too many input tokens",
    "too many prompt tokens",
    "longer than",
    "larger than",
    "greater than",
    "more than",
    "bigger than",
    "overflow",
    "over the",
    "above the",
    "beyond",
    "maximum",
    "must be <=",
    "must be less",
    "must have less",
    "must not be longer",
    "fit",
];

/// Words for a prompt, and for its measured quantities.
const PROMPTS: [&str; 4] = ["prompt", "prompts", "input", "inputs"];
const MEASURES: [&str; 6] = ["token", "tokens", "length", "long", "context", "window"];

/// Words for possible prompts: other things of these names have a length too.
const REQUESTS: [&str; 3] = ["messages", "conversation", "request"];
const TOKENS: [&str; 4] = ["token", "tokens", "context", "window"];

/// Phrases of servers that suffice without other words.
const SENTENCES: [&str; 5] = [
    "reduce the length of",
    "range of input length",
    "is too long for requested model",
    // vLLM's error if the prompt leaves no room for an answer.
    "max_tokens must be at least 1, got -",
    "too large for model with",
];

/// Whether this code, or this message, of a server says that the prompt is too long. Under a rate limit
/// only codes and windows count.
pub(super) fn is_overflow(words: &str, message: &str, is_limited: bool) -> bool {
    let text = message.to_lowercase();
    let has = |any: &[&str]| any.iter().any(|phrase| text.contains(phrase));
    if CODES.iter().any(|code| words.contains(code)) {
        return true;
    }
    // An id, a name or a list that is too long is a mistake in the request.
    let is_of_text = has(&["string too long"]) && has(&[".content"]);
    if has(&RATES) || has(&["array too long", "string too long"]) && !is_of_text {
        return false;
    }
    if has(&SENTENCES) || is_of_text {
        return true;
    }
    // These phrases do not mean a prompt.
    let plain = ["input validation error", "invalid input", "input should", "invalid request"]
        .iter()
        .fold(text.clone(), |text, phrase| text.replace(phrase, ""));
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let of = |words: &[&str]| plain.split(|c| !is_part(c)).any(|word| words.contains(&word));
    let is_of_prompt = of(&PROMPTS) || of(&REQUESTS);
    if has(&ANSWER_LIMITS) && !is_of_prompt {
        return false;
    }
    let is_too_much = has(&EXCESSES);
    let has_window = has(&WINDOWS) && (is_too_much || has(&["only", "reached", "limit"]));
    has_window && (is_of_prompt || !has(&["token limit"]))
        || !is_limited
            && is_too_much
            && (of(&PROMPTS) && of(&MEASURES) || of(&REQUESTS) && of(&TOKENS))
        || !is_limited && has(&["too many tokens", "too many input tokens"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_that_are_too_long_are_told_in_the_words_of_many_servers() {
        for text in [
            "input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000, decrease input length or `max_tokens` and try again",
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`",
            "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            "Input is too long for requested model.",
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            "The input (40001 tokens) is longer than the model's context length (32768 tokens).",
            "prompt too long; exceeded max context length by 153 tokens",
            "too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 130001.",
            "invalid params, context window exceeds limit (2013)",
            "Trying to keep the first 5200 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
            "This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
            "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 500 input tokens",
            "max_tokens must be at least 1, got -512.",
            "the request exceeds the available context size. try increasing the context size or enable context shift",
            "prompt is too long: 210000 tokens > 200000 maximum",
            "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            "Your request exceeded model token limit: 8192 (requested: 9000)",
            "Please reduce the length of the messages or completion. Current length is 10000 while limit is 8192",
            "Requested token count exceeds the model's maximum context length of 4096 tokens.",
            "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
            "Range of input length should be [1, 30720]",
            "prompt token count of 130000 exceeds the limit of 128000",
            "Request body too large for gpt-4o model. Max size: 8000 tokens.",
            "Prompt exceeds max length",
            "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
            "Reached context length of 4096 tokens with model, but this model does not currently support mid-generation context overflow.",
            "The number of tokens to keep from the initial prompt is greater than the context length.",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            "the prompt does not fit into the context window",
            "Too many input tokens",
            "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens (149000 of text input, 1000 in the output).",
            "Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576, but got a string with length 2000000 instead.",
        ] {
            assert!(is_overflow("", text, false), "{text}");
        }
        for code in
            ["context_length_exceeded", "invalid_request_error model_max_prompt_tokens_exceeded"]
        {
            assert!(is_overflow(code, "", true), "{code}");
        }
    }

    #[test]
    fn other_refusals_are_not_taken_for_long_prompts() {
        for text in [
            "max_tokens is too large: 5000. This model supports at most 4096 completion tokens, whereas you provided 5000.",
            "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
            "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
            "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for this model",
            "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.",
            "Input validation error: `max_new_tokens` must be <= 1024. Given: 4096",
            "[\"body\",\"max_tokens\"]: Input should be less than or equal to 4096",
            "Range of max_tokens should be [1, 8192]",
            "max_tokens=100000 cannot be greater than max_model_len=32768",
            "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 4000. Please try again in 6s.",
            "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully.",
            "Too many tokens, please wait before trying again.",
            "Too many tokens per day, please wait before trying again.",
            "Your request exceeded the token quota of this account",
            "Too many requests. Your request exceeds the limit.",
            "Request entity too large",
            "messages.0.content.1.image: image exceeds 5 MB maximum",
            "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024",
            "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40",
            "This request's tool names exceed the maximum length of 64",
            "Invalid 'messages': array too long. Expected an array with maximum length 2048",
            "Unsupported value: 'temperature' does not support 0.0 with this model.",
            "The response was filtered due to the prompt triggering the content management policy.",
            "Your credit balance is too low to access the API.",
            "no such model",
            "",
        ] {
            assert!(!is_overflow("", text, false), "{text}");
        }
        assert!(!is_overflow("", "too many tokens in the prompt", true));
        assert!(is_overflow("", "the prompt exceeds the context window", true));
    }
}
