//! The encoder with the tiny model: states come from one pass, are kept, and go on where they ended.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use toolyard::app::encoder::heads::{self, HeadsError, LoadedHeads};
use toolyard::app::encoder::{Encoder, EncoderError};
use toolyard::domain::Chance;
use toolyard::papers::cotools::{
    HeadAbout, HeadFile, Heads, Pooling, Preparation, QueryTemplate, Recipe, RecipeLayer,
    Retriever, Use,
};
use toolyard::reader::LONGEST_TEXT;

use crate::reader::tiny_path;

static NOT_CANCELLED: AtomicBool = AtomicBool::new(false);
const MEAN: (RecipeLayer, Pooling) = (RecipeLayer::After(2), Pooling::Mean);
const END: (RecipeLayer, Pooling) = (RecipeLayer::Final, Pooling::End);

fn texts() -> Vec<String> {
    (0..40).map(|n| format!("tool name: t{n}, tool description: it does {}", n % 7)).collect()
}

fn open(cache: Option<&Path>) -> Encoder {
    Encoder::open(&tiny_path(), cache).unwrap()
}

#[test]
fn one_pass_gives_all_places_and_the_cache_gives_them_again() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("deep/states.db");
    let mut first = open(Some(&cache));
    let both = first.encode_with(&texts(), &[MEAN, END], &NOT_CANCELLED, &mut |_| {}).unwrap();
    assert_eq!((both[0].rows(), both[0].cols()), (40, first.facts().width));
    assert_eq!(first.work().texts, 40);
    let mut second = open(Some(&cache)).with_threads(2);
    assert_eq!(second.hash(), first.hash());
    assert_eq!(second.encode(&texts(), END, &NOT_CANCELLED, &mut |_| {}).unwrap(), both[1]);
    assert_eq!(second.encode(&texts(), MEAN, &NOT_CANCELLED, &mut |_| {}).unwrap(), both[0]);
    assert_eq!(second.work().texts, 0);
    let mut fresh = open(None).with_threads(2);
    let mut told = Vec::new();
    let states = fresh.encode(&texts(), MEAN, &NOT_CANCELLED, &mut |n| told.push(n)).unwrap();
    assert_eq!(states, both[0], "threads change nothing");
    assert_eq!(told, (0..=40).collect::<Vec<_>>());
}

#[test]
fn a_cancelled_encoding_goes_on_where_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("states.db");
    let stop = AtomicBool::new(false);
    let mut encoder = open(Some(&cache));
    let mut until_ten = |done: usize| stop.store(done >= 10, Ordering::Relaxed);
    let error = encoder.encode(&texts(), MEAN, &stop, &mut until_ten).unwrap_err();
    assert!(error.is_cancelled(), "{error}");
    let mut again = open(Some(&cache));
    let states = again.encode(&texts(), MEAN, &NOT_CANCELLED, &mut |_| {}).unwrap();
    assert_eq!((again.work().texts, states.rows()), (30, 40));
}

#[test]
fn equal_texts_are_read_once_and_long_ones_are_cut() {
    let mut encoder = open(None);
    let twice = vec!["a".to_owned(), "b".to_owned(), "a".to_owned()];
    let states = encoder.encode(&twice, MEAN, &NOT_CANCELLED, &mut |_| {}).unwrap();
    assert_eq!((encoder.work().texts, states.row(0) == states.row(2)), (2, true));
    let long = vec!["é ".repeat(LONGEST_TEXT)];
    encoder.encode(&long, END, &NOT_CANCELLED, &mut |_| {}).unwrap();
    assert_eq!(encoder.work().cut, 1);
    assert_eq!(encoder.encode(&[], END, &NOT_CANCELLED, &mut |_| {}).unwrap().rows(), 0);
    let token = (RecipeLayer::Final, Pooling::Token);
    let error = encoder.encode(&twice, token, &NOT_CANCELLED, &mut |_| {}).unwrap_err();
    assert!(matches!(error, EncoderError::SingleTokens));
}

#[test]
fn the_judge_gets_a_state_for_each_token_without_the_end() {
    let mut encoder = open(None);
    let text = "one and <|im_end|> two";
    let (tokens, states) =
        encoder.token_states(text, RecipeLayer::After(1), &NOT_CANCELLED).unwrap();
    assert_eq!((tokens.ids.len(), tokens.ends.last()), (states.rows(), Some(&text.len())));
    let (tokens, states) = encoder.token_states("", RecipeLayer::After(1), &NOT_CANCELLED).unwrap();
    assert_eq!((tokens.ids.len(), states.rows()), (0, 0));
}

#[test]
fn a_file_that_is_no_cache_is_refused_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "these are my notes ".repeat(500)).unwrap();
    let said = Encoder::open(&tiny_path(), Some(&path)).err().unwrap().to_string();
    assert!(said.contains("notes.txt") && said.contains("delete this one"), "{said}");
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("these are"));
    let cache = folder.path().join("states.db");
    open(Some(&cache)).encode(&texts(), MEAN, &NOT_CANCELLED, &mut |_| {}).unwrap();
    let mut bytes = std::fs::read(&cache).unwrap();
    bytes.truncate(5_000);
    bytes[100..].fill(7);
    std::fs::write(&cache, bytes).unwrap();
    let error = Encoder::open(&tiny_path(), Some(&cache)).err().unwrap().to_string();
    assert!(error.contains("delete it"), "{error}");
}

#[test]
fn a_domain_has_the_mean_of_its_queries() {
    let encoder = open(None);
    let ask = |domain, at, query| encoder.ask(domain, at, query, &[1.0]).unwrap().count();
    let counts = ["a", "b", "c", "a", "d", "e"].map(|query| ask("films", MEAN, query));
    assert_eq!(counts, [0, 1, 2, 3, 3, 4]);
    assert_eq!((ask("films", END, "a"), ask("other", MEAN, "a")), (0, 0));
}

fn some_heads(encoder: &Encoder) -> HeadFile {
    let width = encoder.size().width;
    let about = HeadAbout {
        model: encoder.hash().to_owned(),
        model_name: encoder.name().to_owned(),
        width,
        of: Use::Question,
        layer: MEAN.0,
        pooling: MEAN.1,
        preparation: Preparation::Centred,
        recipe: Recipe::Ours,
        template: Some(QueryTemplate::Knowledge),
        data: "test".to_owned(),
        examples: 1,
        epochs: 1,
        seed: 0,
        seen: vec!["t0".to_owned()],
    };
    let mean = vec![0.0; width];
    let retriever = Retriever::start(width, 4, Chance::new(0));
    let heads = Heads::Retriever { retriever, query_mean: mean.clone(), tool_mean: mean };
    HeadFile { about, heads }
}

#[test]
fn heads_are_refused_with_their_file_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let encoder = open(None);
    let right = some_heads(&encoder);
    heads::save(&path("right"), &right).unwrap();
    assert_eq!(
        heads::load(&path("right"), &encoder, Use::Question).unwrap(),
        Arc::new(right.clone())
    );
    let loaded = LoadedHeads::load(&[path("right")], &encoder).unwrap();
    assert!(loaded.question.is_some() && loaded.judge.is_none() && loaded.here.is_none());
    let twice = LoadedHeads::load(&[path("right"), path("right")], &encoder);
    assert!(matches!(twice, Err(HeadsError::Twice { .. })));

    let mut foreign = right;
    foreign.about.model = "0".repeat(64);
    heads::save(&path("foreign"), &foreign).unwrap();
    std::fs::write(path("text"), "no heads").unwrap();
    for (name, part) in [
        ("foreign", "train heads for it"),
        ("text", "expected a file of `toolyard-lab cotools train`"),
        ("missing", "cannot read the heads"),
        (".", "cannot read the heads"),
    ] {
        let said = heads::load(&path(name), &encoder, Use::Question).unwrap_err().to_string();
        assert!(said.contains(part) && said.contains("cotools train"), "{said}");
    }
    let said = heads::load(&path("right"), &encoder, Use::Judge).unwrap_err().to_string();
    assert!(said.contains("Judge"), "{said}");
}
