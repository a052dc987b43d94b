//! Rules of the house that neither the compiler nor its lints (`[workspace.lints]` in Cargo.toml) know, read from
//! the sources: what pure rooms name, who prints, and how long a file may be.

use crate::sources::sources;

/// The longest file.
const LINES: usize = 500;

/// What a pure room names from outside that decides nothing: path, what, why.
const HARMLESS: [(&str, &str, &str); 1] = [(
    "src/domain/tokens/mod.rs",
    "RandomState",
    "keys of a cache, so that no text fills one slot",
)];

/// Rooms that know no clock, no chance and no world outside.
const PURE: [&str; 3] = ["src/domain", "src/papers", "src/strategy"];

/// Names by which the world outside comes in.
const OUTSIDE: [&str; 12] = [
    "std::fs",
    "std::io",
    "std::env",
    "std::net",
    "std::process",
    "std::time",
    "std::thread",
    "tokio",
    "jiff",
    "rand::",
    "fastrand",
    "RandomState",
];

fn assert_none(found: &[String], rule: &str) {
    assert!(found.is_empty(), "{rule}:\n{}", found.join("\n"));
}

#[test]
fn pure_rooms_know_nothing_outside() {
    let mut wrong = Vec::new();
    for source in sources(&PURE) {
        let is_harmless = |name: &str| {
            HARMLESS.iter().any(|(path, what, _)| *path == source.path && *what == name)
        };
        let named = OUTSIDE.iter().filter(|name| source.code.contains(**name));
        let named = named.filter(|name| !is_harmless(name));
        wrong.extend(named.map(|name| format!("{}: {name}", source.path)));
    }
    assert_none(&wrong, "what pure rooms may not name");
}

/// The files that may write to standard output or standard error, and what they write there.
const PRINTERS: [(&str, &str); 8] = [
    ("src/app/build.rs", "to Cargo, before the program is there"),
    ("src/app/shell/colour.rs", "nothing: it asks whether colours are shown"),
    ("src/app/shell/out.rs", "what commands print"),
    ("src/program/worker.rs", "replies to another toolyard"),
    ("src/serve/agent/child.rs", "nothing: a watched agent gets them"),
    ("src/serve/agent/sockets.rs", "tests that a machine lacks the parts for"),
    ("src/ui/output.rs", "the screen"),
    ("src/ui/terminal.rs", "panics, after the screen"),
];

/// Other ways to a terminal: of libraries, and by a child that inherits it.
const WAYS: [&str; 12] = [
    "print!(",
    "println!(",
    "anstream::print",
    "anstream::std",
    "AutoStream::",
    ".exit()",
    "error.print()",
    "print_help(",
    "print_long_help(",
    "Stdio::inherit",
    "from_raw_fd",
    "stdio::",
];

#[test]
fn all_that_is_printed_takes_one_way() {
    let mut wrong = Vec::new();
    for source in sources(&["src"]) {
        if PRINTERS.iter().any(|(path, _)| *path == source.path) {
            continue;
        }
        for stream in ["stdout()", "stderr()"] {
            let writes = |(at, _): (usize, &str)| {
                let is_name =
                    source.code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
                !is_name && !source.code[at + stream.len()..].starts_with(".is_terminal()")
            };
            if source.code.match_indices(stream).any(writes) {
                wrong.push(format!("{}: {stream}", source.path));
            }
        }
        let ways = WAYS.iter().filter(|way| source.code.contains(**way));
        wrong.extend(ways.map(|way| format!("{}: {way}", source.path)));
    }
    assert_none(&wrong, "only src/app/shell/out.rs prints, and the screen");
}

#[test]
fn only_the_effect_path_opens_the_doors_of_models_and_tools() {
    let doors = [".ask(", ".call(", ".embed(", ".reachable("];
    let mut wrong = Vec::new();
    for source in sources(&["src/engine"]) {
        if !source.path.starts_with("src/engine/effect/") {
            let open = doors.iter().filter(|door| source.code.contains(**door));
            wrong.extend(open.map(|door| format!("{}: {door}", source.path)));
        }
    }
    // A strategy acts through its context alone.
    for source in sources(&["src/strategy"]) {
        for door in doors {
            let through = |(at, _): (usize, &str)| {
                let before = &source.code[..at];
                !["ctx", "self", "search"].iter().any(|name| before.ends_with(name))
            };
            if source.code.match_indices(door).any(through) {
                wrong.push(format!("{}: {door}", source.path));
            }
        }
    }
    assert_none(&wrong, "models and tools are reached by src/engine/effect alone");
}

#[test]
fn no_file_is_too_long_to_be_read() {
    let long =
        sources(&["src", "tests", "benches", "lab"]).into_iter().filter(|file| file.lines > LINES);
    let long: Vec<_> = long.map(|file| format!("{}: {} lines", file.path, file.lines)).collect();
    assert_none(&long, &format!("a file has {LINES} lines at most"));
}

/// Types with a float that they check themselves.
const CHECKED: [&str; 3] =
    ["src/domain/command.rs", "src/domain/graph/pins.rs", "src/domain/graph/scores.rs"];

/// JSON has no infinity: a float in an event or in the state would be written as `null`, and not be read again.
#[test]
fn numbers_of_events_and_of_the_state_are_finite() {
    let mut wrong = Vec::new();
    for source in sources(&["src/domain"]) {
        if CHECKED.contains(&source.path.as_str()) || source.path.ends_with("/finite.rs") {
            continue;
        }
        let mut is_written = false;
        for (at, line) in source.code.lines().enumerate() {
            // An item ends where a line begins with its brace; families of events are written by their macro.
            is_written |= line.starts_with("family!")
                || line.starts_with("#[derive(") && line.contains("Serialize");
            let has_float = ["f64", "f32"]
                .iter()
                .any(|float| line.split(|c: char| !c.is_alphanumeric()).any(|word| word == *float));
            if is_written && has_float && !line.contains("Finite<") && !line.contains("fn ") {
                wrong.push(format!("{}:{}: {}", source.path, at + 1, line.trim()));
            }
            is_written &= !(line.starts_with('}') || line.ends_with(';') && !line.starts_with(' '));
        }
    }
    assert_none(&wrong, "a float of an event or of the state is `Finite`");
}
