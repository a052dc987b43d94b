//! Plans in the styles of many models: what a careful person reads from each is read, and what is not
//! read is said. `tests/data/plans` has them.

use std::{fmt::Write as _, fs};

use toolyard::papers::plan::{LONGEST, OfferedTool, PlanTools, parse, read, read_whole_calls};

/// The tools that the plans were written for, and their arguments.
fn offered() -> PlanTools {
    let tools: [(&str, &[&str]); 8] = [
        ("search_web", &["query"]),
        ("Wikipedia", &["title"]),
        ("Calculator", &["expression"]),
        ("get_weather", &["city", "unit"]),
        ("python_run", &["code"]),
        ("now", &[]),
        ("book_flight", &["from", "to"]),
        ("LLM", &["question"]),
    ];
    PlanTools::new(tools.into_iter().map(|(name, parameters)| OfferedTool {
        name: name.to_owned(),
        parameters: parameters.iter().map(|name| (*name).to_owned()).collect(),
        takes_nothing: parameters.is_empty(),
    }))
}

/// What is read of a plan, as the files have it.
fn shown(text: &str) -> String {
    let plan = match parse(text, &offered()) {
        Ok(plan) => plan,
        Err(why) => return format!("refused: {why}"),
    };
    let mut shown = String::new();
    for step in &plan.steps {
        writeln!(shown, "* {}", step.text).unwrap();
        for evidence in &step.evidence {
            let input = evidence.input.replace('\n', "\\n");
            writeln!(shown, "{} {} {input}", evidence.id, evidence.tool).unwrap();
        }
    }
    shown
}

/// The plans of a file: name, text, and what a careful person reads.
fn cases(file: &str) -> Vec<(String, String, String)> {
    let path = format!("{}/tests/data/plans/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).unwrap();
    let case = |case: &str| {
        let (name, rest) = case.split_once('\n').unwrap();
        let (text, read) = rest.split_once("\n>>>\n").unwrap();
        (name.to_owned(), text.to_owned(), read.trim_end_matches('\n').to_owned())
    };
    text.split("\n=== ").skip(1).map(case).collect()
}

const FILES: [(&str, usize); 4] =
    [("bullets.txt", 36), ("calls.txt", 44), ("details.txt", 85), ("tables.txt", 8)];

#[test]
fn plans_in_the_styles_of_models_are_read_as_a_careful_person_reads_them() {
    let mut wrong = String::new();
    for (file, count) in FILES {
        let cases = cases(file);
        assert_eq!(cases.len(), count, "{file}");
        for (name, text, right) in cases {
            let read = shown(&text);
            let same = match right.strip_prefix("refused: ") {
                Some(why) => read.starts_with("refused: ") && read.contains(why),
                None => read.trim_end_matches('\n') == right,
            };
            if !same {
                writeln!(wrong, "{file}: {name}\nexpected:\n{right}\nread:\n{read}").unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Whatever end is missing, no evidence is lost in silence: a call that was begun is read, or refused.
#[test]
fn plans_that_are_cut_anywhere_lose_no_call_that_is_whole() {
    for (name, text, right) in FILES.iter().flat_map(|(file, _)| cases(file)) {
        if right.starts_with("refused") {
            continue;
        }
        let whole = parse(&text, &offered()).unwrap().evidence().count();
        for (end, _) in text.char_indices().filter(|(at, _)| text[..*at].ends_with('\n')) {
            let Ok(plan) = parse(&text[..end], &offered()) else { continue };
            assert!(plan.evidence().count() <= whole, "{name}: {}", &text[..end]);
        }
    }
}

/// A planner with a small limit of tokens is cut off each time: the second time its whole calls are read, and what has no
/// end is named.
#[test]
fn plans_that_are_cut_twice_keep_their_whole_calls() {
    let (mut cuts, mut saved) = (0, 0);
    for (name, text, right) in FILES.iter().flat_map(|(file, _)| cases(file)) {
        if right.starts_with("refused") {
            continue;
        }
        // Each call, and the first line at whose end it is read as a whole.
        let mut calls: Vec<(String, String, usize)> = Vec::new();
        let ends = text.match_indices('\n').map(|(at, _)| at).chain([text.len()]);
        for end in ends {
            let Ok(plan) = parse(&text[..end], &offered()) else { continue };
            for call in plan.evidence() {
                let is_known = |(tool, input, _): &(String, String, usize)| {
                    (tool, input) == (&call.tool, &call.input)
                };
                if !calls.iter().any(is_known) {
                    calls.push((call.tool.clone(), call.input.clone(), end));
                }
            }
        }
        // What a longer text reads otherwise was not whole.
        let whole = parse(&text, &offered()).unwrap();
        calls.retain(|(tool, input, _)| {
            whole.evidence().any(|call| (&call.tool, &call.input) == (tool, input))
        });
        for (end, _) in text.char_indices().skip(1) {
            let cut = &text[..end];
            let strict = read(cut, &offered());
            let Ok(found) = strict.clone().or_else(|_| read_whole_calls(cut, &offered())) else {
                assert!(calls.iter().all(|(.., line)| *line > end), "{name} is refused: {cut}");
                continue;
            };
            cuts += 1;
            if strict.is_err() {
                saved += 1;
                assert!(!found.doubts.is_empty(), "{name}: nobody is told: {cut}");
            }
            for (tool, input, _) in calls.iter().filter(|(.., line)| *line <= end) {
                let mut read = found.plan.evidence();
                // A border of a block that is cut itself may end the input.
                let has =
                    read.any(|call| call.tool == *tool && call.input.starts_with(input.as_str()));
                assert!(has, "{name} lost {tool} {input:?}: {cut}\n{:?}", found.plan);
            }
        }
    }
    assert!(cuts > 5_000 && saved > 1_000, "{cuts} cuts, {saved} with an unfinished call");
}

/// Reading takes time in proportion to the length, so that a slow machine is no matter. The lengths
/// are a part of what is accepted: where reading goes over the rest for each piece, it takes minutes.
#[test]
fn long_texts_of_labels_and_calls_are_read_in_a_moment() {
    let pieces = [
        "Tool: now\n",
        "- Tool: Wikipedia\n- Input: x\n",
        "Tool: Wikipedia, ",
        "Wikipedia[x] ",
        "Wikipedia(\"x\") ",
        "Wikipedia[",
        "Wikipedia ",
        "| a ",
        "| Tool | Input |\n|--|--|\n",
        "E1 ",
        "{E1}",
        "\\text{",
        "1. Wikipedia\n",
        "# a\n",
        "a: b\n",
        "**a**\n",
        "{\"a\n",
        "[{\"tool\":\"now\",\"input\":1},",
        "Input:\n  x\n",
        "Input: {\n",
        "Evidence: #E1\n",
    ];
    for begin in ["", "Plan: a\n", "Plan: a\nTool: Wikipedia\nInput: "] {
        for piece in pieces {
            let text = format!("{begin}{}", piece.repeat(LONGEST / 8 / piece.len()));
            let start = std::time::Instant::now();
            _ = parse(&text, &offered());
            let took = start.elapsed();
            assert!(took.as_secs() < 5, "{begin:?} and many times {piece:?} took {took:?}");
        }
    }
}
