//! ATC against golden values: programs in replies, schemas of responses in both modes, blamed tools, Path and Prec.

use serde_json::Value;
use toolyard::domain::program::Span;
use toolyard::domain::result_schema::{Schema, SchemaMode};
use toolyard::papers::atc::blame::{CallMade, FlowStep, by_flow, by_reply};
use toolyard::papers::atc::extract;
use toolyard::papers::atc::metrics::{Gold, PathScore, PathSums, score};

/// The cases of a file below a name.
fn cases(file: &str, name: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(file).unwrap();
    file[name].as_array().unwrap().clone()
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

#[test]
fn programs_are_taken_out_of_replies() {
    let cases = cases(include_str!("../data/atc/extract.json"), "cases");
    assert_eq!(cases.len(), 28);
    for case in &cases {
        let program = extract(case["reply"].as_str().unwrap()).ok();
        assert_eq!(program.as_deref(), case["program"].as_str(), "{}", case["name"]);
    }
}

#[test]
fn schemas_are_those_of_both_modes_in_the_order_of_their_fields() {
    let file = include_str!("../data/atc/schema.json");
    for (part, count) in [("own", 22), ("rest_bench", 14), ("autotools", 16)] {
        let cases = cases(file, part);
        assert_eq!(cases.len(), count);
        for case in &cases {
            let responses = case["responses"].as_array().unwrap();
            for (mode, name) in [(SchemaMode::Paper, "paper"), (SchemaMode::Merged, "merged")] {
                let schema = Schema::of(mode, responses);
                let written = schema.to_json(mode).to_string();
                assert_eq!(written, case[name].to_string(), "{name} of {case}");
            }
            let mut schema = Schema::default();
            responses.iter().for_each(|response| schema.widen(response));
            assert_eq!(schema, Schema::of(SchemaMode::Merged, responses), "{case}");
            assert!(responses.iter().all(|response| schema.drift(response).is_empty()), "{case}");
        }
    }
}

fn gold(case: &Value) -> Gold {
    let tools = case["gold"].as_array().unwrap();
    let count = |tool: &Value| {
        let n = usize::try_from(tool[1].as_u64().unwrap()).unwrap();
        (tool[0].as_str().unwrap().to_owned(), n)
    };
    match tools.iter().all(Value::is_string) {
        true => Gold::Path(strings(&case["gold"]).into_iter().map(str::to_owned).collect()),
        false => Gold::Counts(tools.iter().map(count).collect()),
    }
}

fn assert_near(given: f64, right: &Value, what: &str, within: f64) {
    let right = right.as_f64().unwrap();
    assert!((given - right).abs() < within, "{what}: {given}, not {right}");
}

#[test]
fn path_and_prec_are_those_of_sets_and_of_calls() {
    let file = include_str!("../data/atc/metrics.json");
    let cases = cases(file, "cases");
    assert_eq!(cases.len(), 13);
    let of = |case: &Value| score(&gold(case), &strings(&case["called"]));
    let scores: Vec<PathScore> = cases.iter().map(of).collect();
    for (score, case) in scores.iter().zip(&cases) {
        assert_near(score.path, &case["path"], &case.to_string(), 1e-6);
        assert_near(score.prec, &case["prec"], &case.to_string(), 1e-6);
        assert_near(score.path_calls, &case["path_calls"], &case.to_string(), 1e-6);
        assert_near(score.prec_calls, &case["prec_calls"], &case.to_string(), 1e-6);
        assert_eq!(score.in_order, case["in_order"].as_bool(), "{case}");
    }
    let file: Value = serde_json::from_str(file).unwrap();
    let mut sums = PathSums::default();
    scores.iter().for_each(|score| sums.add(score));
    let (mean, right) = (sums.mean().unwrap(), &file["mean_percent"]);
    assert_near(100.0 * mean.path, &right["path"], "path", 1e-4);
    assert_near(100.0 * mean.prec, &right["prec"], "prec", 1e-4);
    assert_near(100.0 * mean.path_calls, &right["path_calls"], "path_calls", 1e-4);
    assert_near(100.0 * mean.prec_calls, &right["prec_calls"], "prec_calls", 1e-4);
}

#[test]
fn a_model_s_reply_blames_the_tools_that_it_names() {
    let file = include_str!("../data/atc/attribute.json");
    let all: Value = serde_json::from_str(file).unwrap();
    let tools = strings(&all["candidates"]);
    let cases = cases(file, "replies");
    assert_eq!(cases.len(), 10);
    for case in &cases {
        let blamed = by_reply(case["reply"].as_str().unwrap(), &tools);
        assert_eq!(blamed, strings(&case["blamed"]), "{}", case["name"]);
    }
}

/// The tools of all programs.
const TOOLS: [&str; 4] = ["search_movie", "search_person", "movie_credits", "person_movie_credits"];

fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

fn span(case: &Value) -> Option<Span> {
    let span: Vec<u32> = case["error"]["span"].as_array()?.iter().map(number).collect();
    let [line, column, end_line, end_column] = span[..] else { panic!("{case}") };
    Some(Span { line, column, end_line, end_column })
}

/// The way that each case's `why` tells, and the lines of its steps.
const WAYS: [(&str, &[(&str, u32)]); 9] = [
    ("a call failed", &[("movie_credits", 3)]),
    ("wrong key of a variable", &[("r", 1), ("search_movie", 1)]),
    ("wrong key two variables on", &[("m", 2), ("r", 1), ("search_movie", 1)]),
    ("loop variable", &[("m", 1), ("search_movie", 1)]),
    ("key inside a comprehension", &[("x", 2), ("c", 1), ("movie_credits", 1)]),
    ("index of an empty list", &[("p", 1), ("search_person", 1)]),
    ("inside a function: the caller's argument", &[("r", 3), ("search_movie", 3)]),
    ("several calls in a loop, the second failed", &[("r", 2), ("search_movie", 2)]),
    ("unknown tool", &[("search_actor", 1)]),
];

#[test]
fn the_data_flow_of_a_program_blames_one_tool_and_says_the_way() {
    let cases = cases(include_str!("../data/atc/attribute.json"), "static");
    assert_eq!(cases.len(), 15);
    for case in &cases {
        let calls = case["calls"].as_array().unwrap().iter().map(|call| CallMade {
            tool: call[0].as_str().unwrap(),
            line: number(&call[1]),
            answered: call[2] == "ok",
        });
        let calls: Vec<CallMade> = calls.collect();
        let program = case["code"].as_str().unwrap();
        let blame = span(case).map(|span| by_flow(program, span, &TOOLS, &calls));
        let blame = blame.unwrap_or_default();
        assert_eq!(blame.tool.as_deref(), case["blamed"].as_str(), "{case}");
        let way = WAYS.iter().find(|(name, _)| case["name"] == *name);
        if let Some((_, way)) = way {
            let right =
                way.iter().map(|(name, line)| FlowStep { name: (*name).to_owned(), line: *line });
            assert_eq!(blame.way, right.collect::<Vec<_>>(), "{case}");
        }
        assert_eq!(blame.way.is_empty(), blame.tool.is_none(), "{case}");
    }
}
