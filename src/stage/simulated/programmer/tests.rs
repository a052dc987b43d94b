use serde_json::{Value, json};
use strum::VariantArray;

use super::fault::FaultKind;
use super::*;
use crate::domain::{ChainStep, Chance, ToolName};

/// `films` searches; the others take the id of a film.
const FUNCTIONS: &str = "def films(query: str):\n    \"\"\"Searches.\"\"\"\n\ndef credits(film_id: int):\n    \
     \"\"\"Who made it.\"\"\"\n\ndef reviews(film_id: int, page: int = None):\n    \"\"\"What was said.\"\"\"\n";

fn step(tools: &[&str], arguments: Value, finds: &str, takes: Option<&str>) -> ChainStep {
    ChainStep {
        tools: tools.iter().map(|tool| ToolName::from(*tool)).collect(),
        arguments,
        finds: Some(finds.to_owned()),
        takes: takes.map(|takes| takes.parse().unwrap()),
    }
}

fn task() -> Task {
    let chain = vec![
        step(&["archive", "films"], json!({"query": "Dusk"}), "4711", Some("results[0].id")),
        step(&["credits"], json!({"film_id": 4711}), "Orsino", Some("crew[job=Director].name")),
    ];
    Task { chain, ..Task::from_text("Who directed Dusk?") }
}

fn right() -> Sketch {
    Sketch::of(&task(), &FunctionMenu::read(FUNCTIONS))
}

#[test]
fn a_value_of_an_earlier_result_is_a_variable() {
    let lines = [
        "r1 = films(query=\"Dusk\")",
        "v1 = r1[\"results\"][0][\"id\"]",
        "r2 = credits(film_id=v1)",
        "v2 = [each for each in r2[\"crew\"] if each[\"job\"] == \"Director\"][0][\"name\"]",
        "print(v2)",
    ];
    assert_eq!(right().to_string(), lines.join("\n"));
}

#[test]
fn it_calls_only_what_is_offered_and_what_it_can_know() {
    let chain = vec![
        step(&["films"], json!({"query": "the \"Dusk\"", "n": null}), "Orsino", None),
        step(&["credits"], json!({"film_id": "that of Orsino"}), "Nightwell", None),
    ];
    let task = Task { chain, ..Task::from_text("Where?") };
    let written = |functions| Sketch::of(&task, &FunctionMenu::read(functions)).to_string();
    assert_eq!(written(FUNCTIONS), "r1 = films(query=\"the \\\"Dusk\\\"\", n=None)\nprint(r1)");
    assert_eq!(written("def other(x: str):\n"), "print(\"unknown\")");
}

/// The program with one fault in a step, in place of the right one.
fn planted(step: usize, kind: FaultKind) -> Option<(ProgramFault, String)> {
    let right = right();
    let offered = FunctionMenu::read(FUNCTIONS);
    let wrong = fault::wrong(kind, &right.steps[step], &offered, &Chance::new(3))?;
    let fault = ProgramFault { step, kind, wrong };
    let program = faulty(&right, std::slice::from_ref(&fault), "Who directed Dusk?").to_string();
    let right = right.to_string();
    let changed = program.lines().zip(right.lines()).filter(|(now, was)| now != was);
    let changed: Vec<&str> = changed.map(|(now, _)| now).collect();
    assert_eq!(changed.len(), 1, "{program}");
    Some((fault, changed.concat()))
}

#[test]
fn there_are_nine_kinds_of_faults() {
    let line = |step, kind| planted(step, kind).map(|(_, line)| line);
    assert_eq!(FaultKind::VARIANTS.len(), 9);
    let of_credits = [
        (FaultKind::WrongTool, "r2 = reviews(film_id=v1)"),
        (FaultKind::MissingArgument, "r2 = credits()"),
        (FaultKind::WrongArgumentName, "r2 = credits(id=v1)"),
        (FaultKind::WrongType, "r2 = credits(film_id=str(v1))"),
        (FaultKind::InventedId, "r2 = credits(film_id=1)"),
        (
            FaultKind::WrongKey,
            "v2 = [each for each in r2[\"crew\"] if each[\"job\"] == \"Director\"][0][\"title\"]",
        ),
        (FaultKind::WrongLevel, "v2 = r2[\"name\"]"),
        (
            FaultKind::NoneUsed,
            "v2 = [each for each in r2.get(\"staff\") if each[\"job\"] == \"Director\"][0][\"name\"]",
        ),
    ];
    for (kind, expected) in of_credits {
        assert_eq!(line(1, kind).as_deref(), Some(expected));
    }
    let question = "r1 = films(query=\"Who directed Dusk?\")";
    assert_eq!(line(0, FaultKind::EmptyList).as_deref(), Some(question));
    // Nothing else takes a query, and no id is known before the first call.
    for kind in [FaultKind::WrongTool, FaultKind::InventedId, FaultKind::WrongType] {
        assert_eq!(line(0, kind), None);
    }
}

/// A finding that marks the step's line, and gives this reason.
fn finding(line: &str, said: &str) -> String {
    format!(
        "The program failed:\n\n   1  x = 1\n   2  {line}\n      ~~~~\n   3  print(v2)\n\n{said}"
    )
}

#[test]
fn a_fault_is_corrected_where_a_finding_says_what_is_needed() {
    let blame = "\n\nThe error comes from credits. Its document:\n\ndef credits(film_id: int):";
    let told = |step, kind, said: &str| {
        let (fault, line) = planted(step, kind).unwrap();
        let text = finding(&line, said);
        Finding::read(&text).tells(&fault, &right())
    };
    // The existing keys reveal a wrong key, and a wrong level if they are on the path.
    assert!(told(1, FaultKind::WrongKey, "KeyError: 'title' (has: name, job; crew, cast)"));
    assert!(!told(1, FaultKind::WrongKey, "KeyError: 'title'"));
    assert!(!told(1, FaultKind::NoneUsed, "TypeError: 'NoneType' object is not iterable"));
    let shape = "\n\nWhat it really returned:\n{\n  crew: [{\n    job: str\n    name: str\n  }]\n}";
    assert!(told(1, FaultKind::NoneUsed, &format!("TypeError: 'NoneType'{blame}{shape}")));
    // The error names a missing argument; only the document says where an id comes from.
    assert!(told(1, FaultKind::MissingArgument, "TypeError: missing argument: 'film_id'"));
    assert!(told(1, FaultKind::WrongType, "arguments.film_id: expected integer, got \"1\""));
    assert!(!told(1, FaultKind::InventedId, "RuntimeError: no film has the id 1"));
    assert!(told(1, FaultKind::InventedId, &format!("RuntimeError: no film{blame}")));
    assert!(!told(1, FaultKind::WrongTool, &format!("KeyError: 'crew'{blame}")));
    let other = blame.replace("credits", "reviews");
    assert!(told(1, FaultKind::WrongTool, &format!("KeyError: 'crew'{other}")));
}

#[test]
fn a_finding_about_another_line_corrects_nothing() {
    let (fault, _) = planted(1, FaultKind::MissingArgument).unwrap();
    let text = finding("r1 = films()", "TypeError: missing argument: 'film_id'");
    assert!(!Finding::read(&text).tells(&fault, &right()));
}
