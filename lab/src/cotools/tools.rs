//! `toolyard-lab cotools tools`: the tools of a catalogue for a query.

use std::fs;
use std::time::Instant;

use serde_json::json;

use super::args::ToolsArgs;
use crate::app::compare::table::PlainTable;
use crate::app::shell::cotools::captions;
use crate::app::shell::{out, trouble::Trouble};
use crate::cotools::catalogue;
use crate::cotools::open;
use crate::papers::cotools::{
    FEWEST, Heads, Retrieval, Retrieve, RunningMean, Use, ranked, word_scores,
};

pub fn tools(args: &ToolsArgs) -> Result<(), Trouble> {
    let catalogue = catalogue::open(&args.catalogue)?;
    let weight = open::mix(args.mix)?;
    let mut encoder = open::encoder(&args.reader)?;
    let heads = open::usual_heads(args.heads.as_deref(), &args.reader, &encoder, Use::Question)?;
    if args.training_mean && heads.is_none() {
        return Err(Trouble::Usage("--training-mean needs --heads FILE".to_owned()));
    }
    let mut retrieval = match heads.clone() {
        Some(heads) => Retrieval::trained(heads).map_err(Trouble::usage)?,
        None => Retrieval::untrained(Use::Question, encoder.size()),
    };
    let at = retrieval.at();
    let known = encoder.cached(&catalogue.texts(), at).map_err(Trouble::failed)?;
    for (name, state) in catalogue.names().zip(known) {
        retrieval.insert(name, state).map_err(Trouble::failed)?;
    }
    // As in a session, the tools are known before the query.
    retrieval.prepare().map_err(Trouble::failed)?;
    let lexical = catalogue.lexical(&(0..catalogue.tools.len()).collect::<Vec<_>>());
    let began = Instant::now();
    let text = retrieval.query_text(&args.query, "");
    let query = open::encode(&mut encoder, "query", std::slice::from_ref(&text), at)?;
    let state = query.row(0);
    // The mean is that of earlier queries; this query counts from then on.
    let domain = domain(&catalogue.name);
    let before = encoder.ask(&domain, at, &text, state).map_err(Trouble::failed)?;
    let training =
        heads.as_ref().filter(|_| args.training_mean).and_then(|heads| match &heads.heads {
            Heads::Retriever { query_mean, .. } => Some(query_mean.as_slice()),
            Heads::Judge(_) => None,
        });
    let mean = training.or_else(|| before.mean());
    let states = retrieval.scores(state, mean).map_err(Trouble::failed)?;
    let words = word_scores(&lexical, catalogue.names(), &args.query);
    let ranked = ranked(Retrieve::Both, states.as_deref(), &words, weight);
    let milliseconds = began.elapsed().as_secs_f64() * 1_000.0;
    let seen = |name: &str| {
        heads.as_ref().is_some_and(|heads| heads.about.seen.iter().any(|own| own == name))
    };
    let is_cached = |name: &str| retrieval.has_state(name);
    let queries = match training {
        Some(_) => "the training".to_owned(),
        None => format!("{} past queries", before.count()),
    };
    let line = captions::line(&encoder, at, heads.as_deref(), &queries);
    let top = ranked.iter().take(args.top.get());
    if args.json {
        let tools: Vec<_> = top
            .map(|(place, mixed)| {
                let name = catalogue.tools[*place].name.as_str();
                json!({
                    "tool": name, "score": mixed.score, "states": mixed.states, "words": mixed.words,
                    "seen": seen(name), "cached": is_cached(name),
                })
            })
            .collect();
        let json = json!({ "query": args.query, "mix": weight, "line": line, "milliseconds": milliseconds, "tools": tools });
        return out::print_json(&json.to_string());
    }
    let columns = ["tool", "in training", "state", "rank", "z states", "z words", "score"];
    let mut table = PlainTable::new(format!("Tools for {:?}", args.query), 3, &columns);
    for (rank, (place, mixed)) in (1..).zip(top) {
        let name = catalogue.tools[*place].name.as_str();
        table.row(vec![
            name.to_owned(),
            if seen(name) { "seen" } else { "unseen" }.to_owned(),
            if is_cached(name) { "cached" } else { "words only" }.to_owned(),
            rank.to_string(),
            mixed.states.map_or_else(|| "–".to_owned(), |z| format!("{z:.2}")),
            format!("{:.2}", mixed.words),
            format!("{:.2}", mixed.score),
        ]);
    }
    out::print_line(table.text())?;
    if states.is_none() {
        out::print_line(why_words(catalogue.names().any(is_cached), &before))?;
    }
    out::print_line(line)
}

/// Why states did not rank.
fn why_words(is_encoded: bool, before: &RunningMean) -> String {
    if is_encoded {
        let count = before.count();
        return format!("words alone: {count} past queries, and states rank from {FEWEST} on");
    }
    "words alone: no tool is encoded; run `toolyard-lab cotools encode` with this catalogue"
        .to_owned()
}

/// The domain of a catalogue, the same wherever the catalogue is named from.
fn domain(name: &str) -> String {
    fs::canonicalize(name).map_or_else(|_| name.to_owned(), |path| path.display().to_string())
}
