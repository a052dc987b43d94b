//! `toolyard-lab retrieval eval`: how well words, states and both find the tools of any file of queries.

use std::collections::BTreeMap;

use serde_json::json;

use super::cotools::args::{Means, RetrievalCommand, RetrievalEvalArgs};
use super::cotools::lesson::Lesson;
use super::cotools::measure::{Group, below_words, measure};
use super::cotools::print;
use super::cotools::score::{Scores, Ways, by_words};
use crate::app::shell::cotools::captions;
use crate::app::shell::cotools::catalogue::Catalogue;
use crate::app::shell::{out, trouble::Trouble};
use crate::app::encoder::reader_path::{GET, VARIABLE};
use crate::cotools::catalogue;
use crate::cotools::open;
use crate::data::read_queries;
use crate::files::toml_file::Problem;
use crate::papers::cotools::{QueryTemplate, Use};

/// Runs `toolyard-lab retrieval`.
///
/// # Errors
/// Files are wrong, or a step failed.
pub fn retrieval(command: &RetrievalCommand) -> Result<(), Trouble> {
    match command {
        RetrievalCommand::Eval(args) => eval(args),
    }
}

fn eval(args: &RetrievalEvalArgs) -> Result<(), Trouble> {
    let catalogue = catalogue::open(&args.catalogue)?;
    let lesson = lesson(args, &catalogue)?;
    let weight = open::mix(args.mix)?;
    if args.means == Means::Heads && args.heads.is_none() {
        return Err(Trouble::Usage("--means heads needs --heads FILE".to_owned()));
    }
    let count = catalogue.tools.len();
    let all: Vec<usize> = (0..count).collect();
    let is_named = open::model(&args.reader)?.is_ok();
    let (scores, line) = if is_named {
        let mut encoder = open::encoder(&args.reader)?;
        let heads = open::heads(args.heads.as_deref(), &encoder, Use::Question)?;
        let mut ways = Ways::new(&encoder, Use::Question, heads.clone(), args.means)?;
        let scores = ways.score(&mut encoder, &catalogue, &lesson)?;
        let means = args.means.text(lesson.len());
        (scores, captions::line(&encoder, ways.at(), heads.as_deref(), &means))
    } else if args.heads.is_some() {
        // The error explains how to get the model file.
        return open::encoder(&args.reader).map(drop);
    } else {
        let words = by_words(&catalogue, &all, &lesson.words);
        let scores = words.into_iter().map(|words| Scores { words, ..Scores::default() }).collect();
        (scores, format!("words alone: no model file; name one with --reader or {VARIABLE}; {GET}"))
    };
    let group = Group {
        queries: "queries".to_owned(),
        pool: format!("all {count} tools of {}", catalogue.name),
        of: (0..lesson.len()).collect(),
        tools: all,
    };
    let mut measured = measure(&group, &catalogue, &lesson, &scores, weight);
    if !is_named {
        // The rows of states would equal those of words.
        measured.rows.truncate(2);
    }
    let below = below_words(&measured);
    if args.json {
        let json = json!({
            "file": args.file, "mix": weight, "line": line, "groups": [measured], "below_words": below,
        });
        return out::print_json(&json.to_string());
    }
    out::print_line(print::tables(&[measured]))?;
    print::remarks(&below, &line)
}

fn lesson(args: &RetrievalEvalArgs, catalogue: &Catalogue) -> Result<Lesson, Trouble> {
    let places: BTreeMap<&str, usize> = catalogue.names().zip(0..).collect();
    let mut lesson = Lesson::default();
    for (line, asked) in read_queries(&args.file).map_err(Trouble::usage)? {
        let place = |name: &String| {
            places.get(name.as_str()).copied().ok_or_else(|| {
                let text = format!(
                    "{} has no tool {name:?}; expected the name of one of its tools",
                    catalogue.name
                );
                let file = args.file.display().to_string();
                Trouble::usage(Problem::of_line(file, line, "tools", text))
            })
        };
        let mut gold = asked.tools.iter().map(place).collect::<Result<Vec<_>, _>>()?;
        gold.sort_unstable();
        gold.dedup();
        lesson.push(QueryTemplate::Knowledge.text(&asked.query, ""), asked.query, gold);
    }
    Ok(lesson)
}
