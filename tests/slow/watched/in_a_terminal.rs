//! What a person sees of an agent's process, in a terminal: its output, its end, and why nothing comes.

use std::fs;

use crate::PROGRAM;
use crate::program::Home;
use crate::sitting::{Sitting, assert_harmless};

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

/// An agent that asks no model.
const SILENT: &str = "echo hello from the agent; sleep 12; exit 7";

#[test]
fn an_agent_that_asks_nobody_is_explained_and_its_end_is_seen() {
    for (columns, rows) in SIZES {
        let home = Home::new();
        fs::write(home.path(".env"), "OPENAI_BASE_URL=http://gateway:4000/v1\n").unwrap();
        let words = ["watch", "--", "sh", "-c", SILENT];
        let mut sitting = Sitting::start(&home, columns, rows, &words);
        sitting.wait("OPENAI_BASE_URL was set in .env");
        sitting.press("gu");
        sitting.wait("hello from the agent");
        // The notes are in the transcript.
        sitting.press("2");
        sitting.wait("No request to a model has arrived yet.");
        sitting.wait("OPENAI_API_BASE, ANTHROPIC_BASE_URL");
        sitting.wait("probably no model call yet");
        sitting.wait("agent ended with exit code 7");
        sitting.wait("recorded in");
        sitting.press("q");
        let (status, bytes) = sitting.end();
        assert_eq!(status.exit_code(), 7, "{columns}x{rows}");
        assert_harmless(&bytes);
        let (_, after) = bytes.rsplit_once("\x1b[?1049l").unwrap();
        assert!(after.contains("journal: "), "{after}");
    }
}

#[test]
fn a_notice_gives_the_last_line_back_to_the_keys() {
    for (columns, rows) in [(80, 24), (120, 40), (200, 60), (320, 90)] {
        let home = Home::new();
        fs::write(home.path(".env"), "OPENAI_BASE_URL=http://gateway:4000/v1\n").unwrap();
        let words = ["watch", "--no-journal", "sh", "-c", SILENT];
        let mut sitting = Sitting::start(&home, columns, rows, &words);
        sitting.wait("OPENAI_BASE_URL was set in .env");
        sitting.wait_until("no key was pressed, and the keys are there", |screen| {
            let last = screen.rows(0, columns).last().unwrap_or_default();
            ["space", "f ", "?"].iter().all(|key| last.contains(key))
        });
        sitting.press("qy");
        assert_harmless(&sitting.end().1);
    }
}

#[test]
fn without_an_agent_the_lines_to_copy_are_shown() {
    for (columns, rows) in SIZES {
        let home = Home::new();
        let mut sitting = Sitting::start(&home, columns, rows, &["watch", "--no-journal"]);
        sitting.wait("in the pane Output");
        sitting.press("guz");
        sitting.wait("-e OPENAI_BASE_URL=http://host.docker.internal:");
        // Back to the first line.
        sitting.press(&"\x1b[5~".repeat(5));
        sitting.wait("export OPENAI_BASE_URL=http://127.0.0.1:");
        sitting.press("qy");
        let (status, bytes) = sitting.end();
        assert_eq!(status.exit_code(), 0, "{columns}x{rows}");
        assert_harmless(&bytes);
    }
}

#[test]
fn an_agent_that_wants_the_terminal_has_it_and_the_screen_is_elsewhere() {
    for (columns, rows) in SIZES {
        let home = Home::new();
        let line = "echo your name; read name; echo hello $name; exit 3";
        let words = [PROGRAM, "watch", "--tty", "--", "sh", "-c", line];
        let mut agent = Sitting::of(&home, columns, rows, &words, &[]);
        agent.wait("your name");
        let mut screen = Sitting::start(&home, columns, rows, &["attach"]);
        screen.wait("agent started: sh");
        agent.press("Ada\r");
        agent.wait("hello Ada");
        screen.wait("agent ended with exit code 3");
        let (status, _) = agent.end();
        assert_eq!(status.exit_code(), 3, "{columns}x{rows}");
        screen.press("q");
        let (_, bytes) = screen.end();
        assert_harmless(&bytes);
    }
}
