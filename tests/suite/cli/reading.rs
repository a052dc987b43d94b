//! Sessions with a model file that reads along: a tiny one of random numbers.

use std::path::Path;

use toolyard::domain::{Event, Ranking, ReaderEvent, Record, Retrieve};
use toolyard::store::journal;

use crate::program::Home;

/// A home whose configuration names this model file.
fn home(model: &str) -> Home {
    let home = Home::new();
    home.write("c.toml", format!("[knobs]\nretrieve = \"both\"\n[reader]\nmodel = {model:?}\n"));
    home
}

fn tiny() -> String {
    let file = "tests/data/vectors/cotools/tiny.gguf";
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file).display().to_string()
}

/// The records of a session with 7 tasks of the sample.
fn session(home: &Home, strategy: &str) -> Vec<Record> {
    session_to(home, "j.jsonl", &["--strategy", strategy])
}

fn session_to(home: &Home, to: &str, more: &[&str]) -> Vec<Record> {
    let to_end = ["run", "--config", "c.toml", "--journal", to, "--tasks-limit", "7"];
    let ran = home.run(&[&to_end[..], &["--keep-going"], more].concat());
    assert!(ran.out.contains("all tasks are done"), "{ran:?}");
    journal::read(&home.path(to)).unwrap().records
}

/// The rankings of a session, each with the number of queries before it.
fn rankings(records: &[Record]) -> Vec<(u64, Vec<String>)> {
    let state = toolyard::domain::State::fold(records);
    let names = |ranking: &Ranking| {
        let ranked = ranking.ranked(Retrieve::Both, 0.25).into_iter();
        (ranking.queries, ranked.map(|tool| tool.tool.to_string()).collect())
    };
    state.embeddings.iter().filter_map(|read| Some(names(read.ranking.as_ref()?))).collect()
}

#[test]
fn a_fresh_session_ranks_as_the_one_before() {
    let home = home(&tiny());
    let fresh = ["--strategy", "toolnet", "--fresh"];
    let first = rankings(&session_to(&home, "1.jsonl", &fresh));
    assert_eq!((first[0].0, first.iter().any(|(queries, _)| *queries >= 5)), (0, true));
    let kept = ["--strategy", "toolnet", "--learned", "l.json"];
    session_to(&home, "2.jsonl", &kept);
    assert_eq!(rankings(&session_to(&home, "3.jsonl", &fresh)), first);
    assert!(rankings(&session_to(&home, "4.jsonl", &kept))[0].0 >= 5, "earlier queries are known");
}

#[test]
fn tools_are_encoded_and_ranked_while_a_session_runs() {
    for strategy in ["toolnet", "cotools"] {
        let records = session(&home(&tiny()), strategy);
        let state = toolyard::domain::State::fold(&records);
        let reader = state.reader.as_ref().unwrap();
        assert_eq!((reader.about.model.as_str(), &reader.failed), ("tiny", &None));
        // A slow machine may still encode when the session ends.
        assert!(reader.encoded > 0 && reader.tools == state.tools.len(), "{reader:?}");
        let mut rankings = state.embeddings.iter().filter_map(|read| read.ranking.as_ref());
        let first = rankings.next().unwrap();
        assert!(first.queries == 0 && !first.has_states(), "words alone rank at first");
        assert!(rankings.any(|ranking| ranking.queries >= 5 && ranking.has_states()), "{strategy}");
    }
}

#[test]
fn a_file_that_is_no_model_is_named_and_words_rank() {
    for strategy in ["toolnet", "cotools"] {
        let home = home("c.toml");
        let records = session(&home, strategy);
        let failed = records.iter().find_map(|record| match &record.event {
            Event::Reader(ReaderEvent::ReaderFailed { error }) => Some(error.clone()),
            _ => None,
        });
        assert!(failed.unwrap().contains("c.toml: "), "{strategy}");
    }
}

#[test]
fn a_reader_that_is_not_asked_is_never_opened() {
    let home = Home::new();
    home.write("c.toml", "[reader]\nmodel = \"there-is-none.gguf\"\n");
    let records = session(&home, "toolnet");
    assert!(!records.iter().any(|record| matches!(record.event, Event::Reader(_))));
    let said = home.succeed(&[
        "compare",
        "--config",
        "c.toml",
        "--strategies",
        "toolnet",
        "--tasks-limit",
        "1",
    ]);
    assert!(said.contains("reader none"), "{said}");
    home.write("heads.toml", "[reader]\nmodel = \"m.gguf\"\nheads = [\"a.safetensors\"]\n");
    let heads = home.run(&[
        "compare",
        "--config",
        "heads.toml",
        "--strategies",
        "toolnet",
        "--tasks-limit",
        "1",
    ]);
    assert!(heads.out.contains("reader m with heads a"), "{heads:?}");
}
