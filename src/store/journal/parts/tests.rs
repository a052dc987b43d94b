use proptest::prelude::*;
use serde_json::{Value, json};

use super::written::LINES;
use super::*;

/// The lines as a journal has them. Each is read back as it was.
fn both(lines: &[&str]) -> Vec<String> {
    let (mut written, mut read) = (PartsWriter::default(), PartsReader::default());
    let shorten = |line: &&str| {
        let mut out = Vec::new();
        written.shorten(line.as_bytes(), 0, true, &mut out);
        let whole = read.whole(&out).unwrap();
        assert_eq!(str::from_utf8(whole.text).unwrap(), *line);
        String::from_utf8(out).unwrap()
    };
    lines.iter().map(shorten).collect()
}

const LONG: &str = "a text that is longer than a reference";

#[test]
fn what_was_written_before_is_named_only() {
    let line = format!(r#"{{"a":"{LONG}","b":["{LONG}","short"]}}"#);
    let lines = both(&[&line, &line]);
    let first = format!(r#"{{"=0":{{"a":{{"=1":"{LONG}"}},"b":{{"=2":[{{"=":1}},"short"]}}}}}}"#);
    assert_eq!(lines, [&first, r#"{"=":0}"#]);
}

#[test]
fn an_object_is_like_an_earlier_one_with_the_same_keys() {
    let line = |n: usize, other: &str| format!(r#"{{"a":"{LONG}","n":{n},"{other}":"one"}}"#);
    let lines = both(&[&line(1, "b"), &line(2, "b"), &line(2, "c")]);
    assert_eq!(lines[1], r#"{"=":0,"n":2}"#);
    assert_eq!(lines[2], r#"{"=2":{"a":{"=":1},"n":2,"c":"one"}}"#);
    // The changed value would be taken for that of the first of two equal keys.
    let twice = |n: usize| format!(r#"{{"a":"{LONG}","n":1,"n":{n}}}"#);
    assert!(both(&[&twice(1), &twice(2)])[1].ends_with(r#""n":1,"n":2}}"#));
}

#[test]
fn an_array_goes_on_from_an_earlier_one() {
    let message = |n: usize| format!(r#""message {n}, which is a little longer than that""#);
    let line = |n: usize| format!("[{}]", (0..n).map(message).collect::<Vec<_>>().join(","));
    let lines = both(&[&line(2), &line(4)]);
    assert!(lines[1].starts_with(r#"{"=3":{"=+":[{"=":0},[{"=4":"#), "{}", lines[1]);
    assert!(lines[1].ends_with("]]}}"), "{}", lines[1]);
}

#[test]
fn a_text_is_made_of_earlier_texts() {
    let known =
        r#""The first line of a result, which has \"quotes\" and ends.\nAnother line of it""#;
    let new = r#""> The first line of a result, which has \"quotes\" and ends.\n> More""#;
    let lines = both(&[known, new]);
    assert_eq!(lines[1], r#"{"=1":{"=+":["> ",{"=":[0,0,60]},"> More"]}}"#);
    // Both sides of a cut are whole characters and whole escapes.
    let with = |end: &str| format!("\"{}{end}\"", "many words and more than enough ".repeat(2));
    both(&[
        &with("é"),
        &with("è"),
        &with(r"\u001f!"),
        &with(r"\u001e!"),
        &with(r"\\n"),
        &with(r"\n"),
    ]);
}

#[test]
fn a_value_that_looks_like_a_part_stays_what_it_is() {
    let hostile = [
        r#"{"a":{"=":0},"b":{"=0":"a text that is longer than a reference"}}"#,
        r#"{"a":{"==":1,"c":{"=1":2}},"t":"a text with {\"=\":0} and an end {","u":"="}"#,
        r#"{"a":[{"=":0},"a text that is longer than a reference",{"==":{"=":[]}}]}"#,
        r#"{"a":[{"=+":["a text that is longer than a reference"]},{"=":0,"a":1}]}"#,
    ];
    both(&[hostile, hostile].concat());
    let deep = format!("{}{}{}", "[".repeat(90), hostile[0], "]".repeat(90));
    both(&[&deep, &deep]);
}

#[test]
fn a_list_of_parts_ends_and_a_reader_can_begin_there() {
    let line = |n: usize| format!(r#"{{"n":{n},"a":"a text that is longer than a reference"}}"#);
    let lines: Vec<String> = (0..LINES + 2).map(line).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let short = both(&lines);
    let mut read = PartsReader::default();
    let begins = (0..short.len()).filter(|at| {
        read.whole(short[*at].as_bytes()).unwrap();
        read.has_begun()
    });
    assert_eq!(begins.collect::<Vec<_>>(), [0, LINES]);
    let mut read = PartsReader::default();
    assert!(read.whole(short[LINES + 1].as_bytes()).is_err(), "part 0 is not known yet");
    for at in LINES..LINES + 2 {
        assert_eq!(read.whole(short[at].as_bytes()).unwrap().text, lines[at].as_bytes());
    }
}

#[test]
fn damaged_parts_are_refused() {
    for (line, why) in [
        (r#"{"a":{"=":7}}"#, "no line before this one has part 7"),
        (r#"{"a":{"=3":1}}"#, "found part 3, expected part 0"),
        (r#"{"a":{"=0":{"=":0}}}"#, "no line before this one has part 0"),
        (r#"{"a":{"=x":1}}"#, "\"x\" is not the number of a part"),
        (r#"{"a":{"="#, "a part without a name"),
        (r#"{"a":{"=0":"x"#, "a part that does not end"),
        (r#"{"a":{"=0":"x","b":1}}"#, "a part that does not end"),
        (r#"{"a":{"=0":{"=1":}}}"#, "a part that does not end"),
        (r#"{"a":{"=0":[{"=1":[]]},1]}}"#, "a part that does not end"),
        (r#"{"=0":{"=1"}}}"#, "a part that does not end"),
        (r#"[{"=0":[1]},{"=":0,"a":1}]"#, "a part that is no object, but another is like it"),
        (r#"[{"=0":{"a":1}},{"=":0,"b":1}]"#, "a key that the part has not"),
        (r#"[{"=0":{"a":1}},{"=":0,"a":1,"a":2}]"#, "a key that the part has not"),
        (r#"[{"=0":{"a":1}},{"=":0,"a"}]"#, "a part that does not end"),
        (r#"[{"=0":{"a":1}},{"=":0,"a":1"#, "a part that does not end"),
        (r#"[{"=0":{"a":1}},{"=":0,}]"#, "a part that does not end"),
        (r#"[{"=0":{"a":1}},{"=":[0,0,1]}]"#, "a slice of a part that is no text"),
        (r#"[{"=0":"a text"},{"=":[0,5,2]}]"#, "a slice beyond the end of its part"),
        (r#"[{"=0":"a text"},{"=":[0,5]}]"#, "\"\" is not the number of a part"),
        (r#"{"=+":[1]}"#, "a joined part that is neither a text nor an array"),
        (r#"{"=+":["a",[]]}"#, "a text joined with an array"),
        (r#"{"=+":"ab"}"#, "joined parts that are no list"),
        (r#"{"=+":1}"#, "joined parts that are no list"),
    ] {
        assert_eq!(PartsReader::default().whole(line.as_bytes()).unwrap_err(), why, "{line}");
    }
    let mut read = PartsReader::default();
    read.whole(format!(r#"{{"=0":"{}"}}"#, "x".repeat(1000)).as_bytes()).unwrap();
    let doubled = |part: usize| format!(r#"{{"={}":[{{"=":{part}}},{{"=":{part}}}]}}"#, part + 1);
    let grown = (0..40).find_map(|part| read.whole(doubled(part).as_bytes()).err());
    assert!(grown.unwrap().starts_with("longer than"));
}

/// Values that have much in common, some of which look like parts.
fn value() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec!["a", "=", "=1", "==", "=+", "é\n\"", "\u{1}\\", "words "]);
    let text = prop::collection::vec(word.clone(), 0..24).prop_map(|words| words.concat());
    let plain = prop_oneof![any::<u8>().prop_map(|n| json!(n)), text.prop_map(|text| json!(text))];
    plain.prop_recursive(5, 60, 6, move |inner| {
        let object = prop::collection::vec((word.clone(), inner.clone()), 0..5)
            .prop_map(|it| it.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            .prop_map(Value::Object);
        prop_oneof![prop::collection::vec(inner, 0..6).prop_map(Value::from), object,]
    })
}

/// JSON of others: its objects have keys twice, and its texts and numbers are written in many ways.
fn text_of_others() -> impl Strategy<Value = String> {
    let words = ["a", "words ", r"\/", r"\ud83d\ude00", r"\u0041", r#"\""#, r"\\", "é", "{\\\"=1"];
    let word = prop::sample::select(words.to_vec());
    let text = prop::collection::vec(word.clone(), 0..24);
    let text = text.prop_map(|words| format!("\"{}\"", words.concat()));
    let number = prop::sample::select(vec!["1.50", "1e3", "-0", "12345678901234567890"]);
    let plain = prop_oneof![number.prop_map(str::to_owned), text];
    plain.prop_recursive(5, 60, 6, move |inner| {
        let member = (word.clone(), inner.clone()).prop_map(|(key, it)| format!("\"{key}\":{it}"));
        let object = prop::collection::vec(member, 0..5);
        let list = prop::collection::vec(inner, 0..6);
        prop_oneof![
            list.prop_map(|items| format!("[{}]", items.join(","))),
            object.prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

proptest! {
    #[test]
    fn every_line_of_others_is_read_back_as_it_was(
        lines in prop::collection::vec(text_of_others(), 1..12),
    ) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        both(&[&lines[..], &lines[..]].concat());
    }

    #[test]
    fn every_line_is_read_back_as_it_was(values in prop::collection::vec(value(), 1..12)) {
        let lines: Vec<String> = values.iter().map(Value::to_string).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        both(&[&lines[..], &lines[..]].concat());
    }
}
