use super::*;

#[test]
fn a_known_key_is_in_no_text_however_it_is_spelt() {
    remember("Bearer pl4nted/\"k3y+of=tests");
    for text in [
        "Authorization: Bearer pl4nted/\"k3y+of=tests!",
        "only pl4nted/\"k3y+of=tests",
        "{\"k\":\"pl4nted/\\\"k3y+of=tests\"}",
        "?k=pl4nted%2F%22k3y%2Bof%3Dtests",
    ] {
        let clean = without_known(text);
        assert!(clean.contains("[key]") && !clean.contains("k3y"), "{clean}");
    }
    let value = serde_json::json!({"a": [{"pl4nted/\"k3y+of=tests": "x"}], "n": 1.5});
    let clean = redacted(&value, |json| serde_json::from_str(json).ok());
    assert_eq!(clean, Some(serde_json::json!({"a": [{"[key]": "x"}], "n": 1.5})));
    let other = serde_json::json!("nothing here");
    assert_eq!(redacted(&other, |json| serde_json::from_str(json).ok()), None);
}

/// A key, and the forms in which programs write or hide it.
fn spelt(key: &str) -> Vec<String> {
    let bytes = |text: &dyn Fn(u8) -> String| key.bytes().map(text).collect::<String>();
    let between = |what: &str| {
        let chars = key.chars().map(String::from).collect::<Vec<_>>();
        chars.join(what)
    };
    let hidden = [
        "\u{200b}",
        "\u{ad}",
        "\u{202e}",
        "\u{2066}",
        "\u{feff}",
        "\u{301}",
        "\u{fe0f}",
        "\u{e0041}",
        "\0",
        "\x07",
        "\r",
        "\x1b[31m",
        "\x1b[0m\x1b[1;4m",
        "\x1b]8;;http://x\x1b\\",
        "\u{9b}m",
        "\u{7f}",
        "␛",
        "�",
    ];
    let escaped = [
        key.to_owned(),
        Value::from(key).to_string(),
        Value::from(Value::from(key).to_string()).to_string(),
        bytes(&|byte| format!("\\u{byte:04X}")),
        bytes(&|byte| format!("\\x{byte:02x}")),
        bytes(&|byte| format!("%{byte:02x}")),
        bytes(&|byte| format!("%{byte:02X}")),
        bytes(&|byte| format!("%25{byte:02X}")),
        bytes(&|byte| format!("&#{byte};")),
        bytes(&|byte| format!("&#x{byte:x};")),
        bytes(&|byte| format!("{byte:02x}")),
        bytes(&|byte| format!("{byte:02X}")),
        bytes(&|byte| format!("{byte:02x}:")),
        bytes(&|byte| format!("{byte:02X} ")),
        key.replace('/', "\\/"),
        key.replace('"', "&quot;"),
        between("\\u200b"),
        between("\\u001b[0m"),
        format!("{}\n{}", &key[..7], &key[7..]),
    ];
    hidden.iter().map(|what| between(what)).chain(escaped).collect()
}

#[test]
fn a_known_key_is_found_however_it_is_hidden_or_encoded() {
    let key = "pl4nted/\"k3y+of=spellings";
    remember(key);
    for text in spelt(key) {
        let text = format!("before {text} behind");
        let clean = without_known(&text);
        assert!(clean.starts_with("before ") && clean.ends_with(" behind"), "{text:?}: {clean:?}");
        assert!(clean.contains("[key]") && clean.len() < 30, "{text:?}: {clean:?}");
        // The same in a record, where JSON escapes it once more.
        let value = serde_json::json!({ "a": [text] });
        let clean = redacted(&value, |json| serde_json::from_str::<Value>(json).ok());
        assert!(clean.unwrap().to_string().len() < 45, "{value}");
    }
}

#[test]
fn base64_of_a_key_is_found_at_every_offset_and_in_both_alphabets() {
    remember("~~p?base64>>of~tests?");
    // Base64 of `Basic`, `user:` and `u:` followed by the key, and the last one over two lines.
    for text in [
        "fn5wP2Jhc2U2ND4+b2Z+dGVzdHM/",
        "fn5wP2Jhc2U2ND4-b2Z-dGVzdHM_",
        "dXNlcjp+fnA/YmFzZTY0Pj5vZn50ZXN0cz8=",
        "dXNlcjp-fnA_YmFzZTY0Pj5vZn50ZXN0cz8",
        "Ojp+fnA/YmFzZTY0Pj5vZn50ZXN0cz8=",
        "dTp+fnA/YmFzZTY0Pj5vZn50ZXN0\r\n cz8=",
        "dXNlcjp%2BfnA%2FYmFzZTY0Pj5vZn50ZXN0cz8%3D",
    ] {
        let clean = without_known(text);
        assert!(clean.contains("[key]") && clean.len() < 20, "{text}: {clean}");
    }
}

#[test]
fn ordinary_texts_stay_as_they_are() {
    remember("notneeded");
    remember("no-key-required");
    for text in [
        "It is not needed, and no key required: not\nneeded.",
        "50% of C:\\new\\table &amp; R&D, größer 日本 🦀 \u{200b}e\u{301}\x1b[31mred\x1b[0m",
        "dGhpcyBpcyBvcmRpbmFyeSB0ZXh0 6f7264696e617279",
    ] {
        assert!(matches!(without_known(text), Cow::Borrowed(same) if same == text));
    }
}

#[test]
fn a_key_of_digits_is_found_in_numbers_unless_the_value_needs_them() {
    remember("8391746250");
    let value = serde_json::json!({ "id": 8_391_746_250_u64, "n": 17 });
    let clean = redacted(&value, |json| serde_json::from_str(json).ok());
    assert_eq!(clean, Some(serde_json::json!({ "id": "[key]", "n": 17 })));
    let typed = ("is 8391746250".to_owned(), 8_391_746_250_u64);
    let clean = redacted(&typed, |json| serde_json::from_str(json).ok());
    assert_eq!(clean, Some(("is [key]".to_owned(), 8_391_746_250)));
}

#[test]
fn a_key_that_arrives_in_pieces_is_held_back_in_every_spelling() {
    let key = "p1ecew1se/spelling-tests";
    remember(key);
    for text in spelt(key) {
        for (cut, _) in text.char_indices().skip(1) {
            let begin = format!("it is {}", &text[..cut]);
            let told = without_known(&begin[..begin.len() - begun(&begin)]);
            assert!(told.replace(HIDDEN, "").len() < 14, "{told:?} of {begin:?}");
        }
    }
}

#[test]
fn a_key_that_arrives_in_pieces_is_held_back() {
    remember("p1ecew1se-tests");
    assert_eq!(begun("it is p1ecew1"), 7);
    assert_eq!(begun("nothing of it x"), 0);
    assert_eq!((left_of_key("it is p1ecew1"), left_of_key("it is p1ec")), (7, 0));
}

#[test]
fn a_whole_key_is_not_divided_where_a_key_of_the_other_search_may_begin() {
    let mut known = KnownKeys::none();
    known.add(None, parts("wh0le/other-tests"));
    for n in 0..FRESH {
        known.add(None, parts(&format!("0ther-key-{n:04}")));
    }
    known.add(None, parts("s3cond-search"));
    assert!(!known.fresh.contains("wh0le/other-tests") && known.fresh.contains("s3cond-search"));
    for text in ["it is wh0le/other-tests", "it is wh0le/other-tests3cond"] {
        assert_eq!(known.searches.begun(text, 1), text.len() - "it is ".len(), "{text}");
    }
}

#[test]
fn the_newest_values_of_a_header_are_hidden_and_the_others_forgotten() {
    let mut known = KnownKeys::none();
    known.add(None, parts("k3pt-for-ever"));
    let value = |n: usize| format!("v4lue-of-header-{n:04}");
    for n in 0..5000 {
        known.add(Some("X-Session"), parts(&value(n)));
        known.add(Some("authorization"), parts("Bearer the-s4me-key"));
    }
    let all = known.passing.values().flatten().flatten().count();
    assert!(all <= 2 * NEWEST && known.fresh.len() <= FRESH, "{all}");
    let is_hidden = |text: &str| known.searches.is_in(text);
    for hidden in [&*value(4999), &value(4999 - NEWEST / 2), "k3pt-for-ever", "the-s4me-key"] {
        assert!(is_hidden(hidden), "{hidden}");
    }
    assert!(!is_hidden(&value(1000)));
}

#[test]
fn only_the_signature_of_a_signed_request_is_a_key() {
    let signed = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE1/20261128/eu/bedrock/aws4_request, SignedHeaders=host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6";
    assert_eq!(parts(signed), ["5d672d79c15b13162d9279b0855cfba6"]);
}

#[test]
fn words_that_look_like_keys_are_hidden_in_errors() {
    remember("hunter22");
    let echo =
        "Bearer hunter22 refused; Incorrect API key provided: sk-proj-ab1****9xyz. See sk-y.";
    let clean = "Bearer [key] refused; Incorrect API key provided: [key]. See sk-y.";
    assert_eq!(without_keys(echo), clean);
}

#[test]
fn the_password_of_a_basic_header_is_hidden_and_schemes_are_not() {
    // `me:b4sic-pass-word`, and a key in place of the name.
    remember("Basic bWU6YjRzaWMtcGFzcy13b3Jk");
    remember("basic azN5LWFzLXRoZS1uYW1lLTE6");
    remember("Negotiate n3gotiated-k3y");
    for (text, clean) in [
        ("b4sic-pass-word", "[key]"),
        ("as me:b4sic-pass-word", "as [key]"),
        ("bWU6YjRzaWMtcGFzcy13b3Jk", "[key]"),
        ("k3y-as-the-name-1 is wrong", "[key] is wrong"),
        ("Negotiate failed: n3gotiated-k3y", "Negotiate failed: [key]"),
    ] {
        assert_eq!(without_known(text), clean, "{text}");
    }
}

#[test]
fn keys_of_an_address_are_hidden_by_their_names_and_the_password_as_it_is_sent() {
    let url = "http://bob:p%40ss-w0rd@h/?token=qu3ry-t0k&sig=s1gnature%2B&q=elephants&key=k";
    remember_address(&Url::parse(url).unwrap());
    remember_address(&Url::parse("http://somebody-ordinary@h/").unwrap());
    let text = "p@ss-w0rd qu3ry-t0k s1gnature+ elephants somebody-ordinary";
    assert_eq!(without_known(text), "[key] [key] [key] elephants somebody-ordinary");
}

#[test]
fn words_that_local_servers_take_and_versions_are_no_keys() {
    remember("ollama");
    let url = "https://h/v1?api-version=2024-12-01-preview&sig=a1b2c3d4e5f6a7b8c9";
    remember_address(&Url::parse(url).unwrap());
    let text = "ollama 2024-12-01-preview a1b2c3d4e5f6a7b8c9";
    assert_eq!(without_known(text), "ollama 2024-12-01-preview [key]");
    // Claude Code names its model in an address.
    let url =
        "https://h/bootstrap?model=claude-sonnet-4-5-20250929&after_id=gpt-4.1-mini-2025-04-14";
    remember_request(&Url::parse(url).unwrap());
    let text = "claude-sonnet-4-5-20250929 gpt-4.1-mini-2025-04-14";
    assert_eq!(without_known(text), text);
}

#[test]
fn a_long_random_part_of_a_path_is_a_key_and_names_are_none() {
    for (path, key) in [
        ("mcp/s/p4thKeyOfTestsAndMore/mcp", "p4thKeyOfTestsAndMore"),
        ("p4th-key%2Dof-tests-0a1b2c3d4e5f6/v1", "p4th-key-of-tests-0a1b2c3d4e5f6"),
        ("bot123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11/x", "ABC-DEF1234ghIkl-zyx57W2v1u123ew11"),
        ("u/3f1c0e1a-57a1-4b39-9d0a-2b7f3c4d5e6f/sse", "3f1c0e1a-57a1-4b39-9d0a-2b7f3c4d5e6f"),
    ] {
        let url = Url::parse(&format!("https://h/{path}")).unwrap();
        assert!(adds_key(&url), "{path}");
        remember_request(&url);
        assert_eq!(without_known(key), key, "ids in paths of requests");
        remember_address(&url);
        assert_eq!(without_known(key), "[key]", "{path}");
    }
    for path in [
        "v1",
        "openai/deployments/gpt-4.1-mini-2025-04-14/chat",
        "v1/projects/my-project-2026-of-tests/locations/europe-west4/publishers/google",
        "models/Meta-Llama-3.1-405B-Instruct-Turbo-fp8",
        "model/anthropic.claude-3-5-sonnet-20241022-v2:0/invoke",
        "a-very-long-name-of-letters-only",
        "01234567890123456789",
    ] {
        assert!(!adds_key(&Url::parse(&format!("https://h/{path}")).unwrap()), "{path}");
    }
}
