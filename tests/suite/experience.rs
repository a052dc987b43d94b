//! The store of past uses: what goes in comes out, what is asked of it, and what it survives.

use std::{fs, io::Write as _, path::Path, thread};

use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tempfile::TempDir;
use toolyard::domain::ToolName;
use toolyard::papers::btp::candidates::QueryUses;
use toolyard::store::experience::{
    Experience, ExperienceError, History, Prune, PruneSummary, Same, Use,
};

mod damaged;
mod lines;
mod meaning;

fn past(query: &str, tool: &str, helpful: bool) -> Use {
    Use {
        query: query.to_owned(),
        tool: tool.into(),
        parameters: json!({ "of": query }),
        result: format!("{tool} says {helpful}"),
        helpful,
        at: Timestamp::from_second(1_000_000).unwrap(),
        source: "test".to_owned(),
    }
}

/// The same, so many hours later.
fn later(past: Use, hours: i64) -> Use {
    Use { at: past.at + SignedDuration::from_hours(hours), ..past }
}

fn store(uses: &[Use]) -> Experience {
    let mut store = Experience::private().unwrap();
    store.add_all(uses).unwrap();
    store
}

fn history(store: &Experience, query: &str, tool: &str, same: Same) -> Vec<QueryUses> {
    let mut all = store.history(&store.query(query), &[tool.into()], same).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0).past
}

fn exported(store: &Experience) -> String {
    let mut out = Vec::new();
    store.export(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_history_says_how_alike_each_past_query_was_and_how_often_the_tool_helped() {
    let store = store(&[
        past("weather in Paris", "forecast", true),
        later(past("weather in Paris", "forecast", false), 1),
        later(past("weather in Paris", "forecast", true), 2),
        later(past("weather in Lyon", "forecast", false), 3),
        later(past("dollars into euros", "forecast", false), 4),
        later(past("dollars into euros", "exchange", true), 5),
    ]);
    let found = history(&store, "weather in Paris", "forecast", Same::Counts);
    assert_eq!(found.len(), 3);
    // The latest first.
    assert_eq!(found[0], QueryUses { similarity: 0.0, helpful: 0, unhelpful: 1 });
    assert!((found[1].similarity - 0.5).abs() < 1e-6, "{found:?}");
    assert_eq!(found[2], QueryUses { similarity: 1.0, helpful: 2, unhelpful: 1 });

    let tools = ["exchange".into(), "nobody's".into(), "forecast".into()];
    let all = store.history(&store.query("euros"), &tools, Same::Counts).unwrap();
    let names: Vec<_> = all.iter().map(|history| history.tool.as_str()).collect();
    assert_eq!(names, ["exchange", "nobody's", "forecast"]);
    assert_eq!(all[1], History { tool: "nobody's".into(), past: Vec::new() });
}

#[test]
fn the_guard_leaves_out_the_very_query_and_nothing_else() {
    let store = store(&[
        past("weather in Paris", "forecast", true),
        past("the weather: Paris!", "forecast", false),
    ]);
    let guarded = history(&store, " weather in Paris\n", "forecast", Same::LeftOut);
    assert_eq!(
        guarded,
        [QueryUses { similarity: guarded[0].similarity, helpful: 0, unhelpful: 1 }]
    );
    assert_eq!(history(&store, "weather in Paris", "forecast", Same::Counts).len(), 2);
    let query = store.query("weather in Paris");
    let all = |_: &str| true;
    assert_eq!(store.helped(&query, 5, Same::LeftOut, all).unwrap(), []);
    let helped = store.helped(&query, 5, Same::Counts, all).unwrap();
    assert_eq!((helped[0].tool.as_str(), helped[0].similarity), ("forecast", 1.0));
}

#[test]
fn words_that_say_nothing_are_still_a_query_of_their_own() {
    let store = store(&[past("to be or not to be", "poet", true), past("of the", "poet", false)]);
    let found = history(&store, "to be or not to be", "poet", Same::Counts);
    let similarities: Vec<_> = found.iter().map(|past| past.similarity).collect();
    assert_eq!(similarities.iter().sum::<f64>(), 1.0, "{found:?}");
}

#[test]
fn only_the_latest_past_of_a_tool_is_looked_at() {
    let most = i64::from(toolyard::store::experience::MOST_PAST);
    let uses: Vec<_> = (0..most + 10)
        .map(|n| later(past(&format!("query number{n}"), "busy", n >= 10), n))
        .collect();
    let found = history(&store(&uses), "query", "busy", Same::Counts);
    assert_eq!(found.len(), usize::try_from(most).unwrap());
    assert!(found.iter().all(|past| past.helpful == 1));
}

#[test]
fn tools_that_helped_in_similar_queries_are_found() {
    let store = store(&[
        past("book a table in a restaurant in Rome", "tables", true),
        past("book a table in a restaurant in Oslo", "tables", true),
        past("book a table in a restaurant in Oslo", "phone", true),
        past("book a table in a restaurant in Rome", "hotels", false),
        past("tides in Brest", "almanac", true),
    ]);
    let query = store.query("a table in a restaurant in Rome");
    let found = store.helped(&query, 5, Same::Counts, |_| true).unwrap();
    let found: Vec<_> = found.iter().map(|one| (one.tool.as_str(), one.queries)).collect();
    assert_eq!(found, [("tables", 2), ("phone", 1)]);
    let wanted = store.helped(&query, 5, Same::Counts, |tool| tool != "tables").unwrap();
    assert_eq!(wanted[0].tool.as_str(), "phone");
    assert_eq!(store.helped(&query, 0, Same::Counts, |_| true).unwrap(), []);
    let foreign = store.query("zzz");
    assert_eq!(store.helped(&foreign, 5, Same::Counts, |_| true).unwrap(), []);
}

#[test]
fn common_words_do_not_hide_the_query_that_shares_a_rare_one() {
    let mut uses = vec![past("find the nearest planetarium", "stars", true)];
    uses.extend((0..2_000).map(|n| past(&format!("find the nearest shop{n}"), "map", true)));
    let store = store(&uses);
    let query = store.query("find a planetarium");
    let found = store.helped(&query, 1, Same::Counts, |_| true).unwrap();
    assert_eq!(found[0].tool.as_str(), "stars");
}

#[test]
fn counts_are_by_tool_the_most_used_first() {
    let summary = store(&[
        past("a", "one", true),
        past("a", "two", true),
        past("a", "two", false),
        past("b", "two", true),
    ])
    .summary()
    .unwrap();
    assert_eq!((summary.uses, summary.queries), (4, 2));
    let tools: Vec<_> = summary
        .tools
        .iter()
        .map(|tool| (tool.tool.as_str(), tool.uses, tool.helpful, tool.queries))
        .collect();
    assert_eq!(tools, [("two", 3, 2, 2), ("one", 1, 1, 1)]);
}

#[test]
fn pruning_takes_what_is_asked_for_and_all_that_hangs_on_it() {
    let uses: Vec<_> = (0..10)
        .map(|n| later(past(&format!("query{n}"), if n < 6 { "a" } else { "b" }, n % 2 == 0), n))
        .collect();
    let from = |source: &str, past: Use| Use { source: source.to_owned(), ..past };
    for (what, left) in [
        (Prune { before: Some(uses[3].at), ..Prune::default() }, vec![3, 4, 5, 6, 7, 8, 9]),
        (Prune { keep: Some(1), ..Prune::default() }, vec![5, 9]),
        (Prune { tool: Some("a".into()), ..Prune::default() }, vec![6, 7, 8, 9]),
        (
            Prune { tool: Some("a".into()), keep: Some(4), ..Prune::default() },
            vec![2, 3, 4, 5, 6, 7, 8, 9],
        ),
        (Prune { source: Some("else".into()), ..Prune::default() }, (0..10).collect()),
        (Prune { source: Some("test".into()), ..Prune::default() }, vec![]),
        (Prune::default(), vec![]),
    ] {
        let mut pruned = store(&uses);
        let last = from("other", later(past("last", "c", true), 20));
        pruned.add(&last).unwrap();
        let would = pruned.would_prune(&what).unwrap();
        let did = pruned.prune(&what).unwrap();
        assert_eq!(did.uses, would, "{what:?}");
        assert_eq!(did.queries, would, "each use has a query of its own: {what:?}");
        let mut right: Vec<_> = left.iter().map(|n| uses[*n].clone()).collect();
        if what != Prune::default() {
            right.push(last);
        }
        let right = store(&right);
        assert_eq!(exported(&pruned), exported(&right), "{what:?}");
        assert_eq!(pruned.summary().unwrap(), right.summary().unwrap(), "{what:?}");
        let query = pruned.query("query9");
        let helped = |store: &Experience| store.helped(&query, 9, Same::Counts, |_| true).unwrap();
        assert_eq!(helped(&pruned), helped(&right));
        assert_eq!(
            pruned.prune(&what).unwrap(),
            PruneSummary::default(),
            "nothing is left to prune"
        );
    }
}

#[test]
fn pruning_gives_the_space_back() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("e.sqlite");
    let mut store = Experience::open(&path).unwrap();
    let result = "word ".repeat(500);
    let long = |n| Use { result: result.clone(), ..past(&format!("query{n}"), "t", true) };
    store.add_all(&(0..1_000).map(long).collect::<Vec<_>>()).unwrap();
    drop(store);
    let before = fs::metadata(&path).unwrap().len();
    let mut store = Experience::open_existing(&path).unwrap();
    store.prune(&Prune { keep: Some(10), ..Prune::default() }).unwrap();
    drop(store);
    let after = fs::metadata(&path).unwrap().len();
    assert!(after < before / 4, "{before} bytes became {after}");
}

#[test]
fn sessions_write_to_one_file_at_once() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("below/it/e.sqlite");
    let write = |name: &'static str| {
        let path = path.clone();
        thread::spawn(move || {
            // Both may find no file, and both make it.
            let mut store = Experience::open(&path).unwrap();
            for n in 0..200 {
                store.add(&past(&format!("query{}", n % 20), name, true)).unwrap();
            }
        })
    };
    for writer in [write("one"), write("two")] {
        writer.join().unwrap();
    }
    let store = Experience::open_existing(&path).unwrap();
    let summary = store.summary().unwrap();
    assert_eq!((summary.uses, summary.queries), (400, 20));
    assert!(summary.tools.iter().all(|tool| (tool.uses, tool.queries) == (200, 20)));
}

#[test]
fn one_session_sees_what_another_added() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("e.sqlite");
    let mut one = Experience::open(&path).unwrap();
    let other = Experience::open(&path).unwrap();
    assert_eq!(history(&other, "q", "t", Same::Counts), []);
    one.add(&past("q", "t", true)).unwrap();
    assert_eq!(history(&other, "q", "t", Same::Counts).len(), 1);
}

#[test]
fn of_uses_of_which_one_is_bad_none_is_added() {
    let mut store = store(&[]);
    let error = store.add_all(&[past("good", "t", true), past(" ", "t", true)]).unwrap_err();
    assert_eq!(error.to_string(), "query: expected a text, found an empty one");
    assert_eq!(store.summary().unwrap().uses, 0);
}

#[test]
fn hostile_names_and_texts_are_kept_as_they_are() {
    let hostile = "'; DROP TABLE uses; -- \u{0}\u{1b}[31m \u{202e}";
    let mut bad = past(hostile, hostile, true);
    bad.result = hostile.to_owned();
    let store = store(std::slice::from_ref(&bad));
    assert_eq!(history(&store, hostile, hostile, Same::Counts).len(), 1);
    let line: serde_json::Value = serde_json::from_str(&exported(&store)).unwrap();
    assert_eq!(line["result"], hostile);
    assert_eq!(line["tool"], hostile);
    assert!(store.history(&store.query("q"), &[ToolName::new("")], Same::Counts).is_ok());
}
