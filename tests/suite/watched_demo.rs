//! The demo of a watched agent, as a person meets it.

use crate::program::Home;
use crate::sitting::{Sitting, assert_harmless};

#[test]
fn a_person_pauses_a_foreign_agent_breaks_its_tool_and_leaves() {
    for (columns, rows) in [(120, 40), (80, 24)] {
        let home = Home::new();
        let mut sitting = Sitting::start(&home, columns, rows, &["demo", "watch", "--speed", "2"]);
        sitting.wait("1/5");
        sitting.wait_header("held");
        sitting.press(" gu");
        sitting.wait("the tour has ended: you control the session");
        sitting.wait("desk 2: search_web(");
        sitting.press("gt");
        sitting.wait("└ How long is the river");

        sitting.press(" ");
        sitting.wait_header("held");
        sitting.press("3/search_web\rf");
        sitting.wait("search_web now fails: 503 Service Unavailable, on every call");
        sitting.press(" ");
        sitting.press("2");
        sitting.wait("✗ 503 Service Unavailable");

        sitting.press("q");
        sitting.wait("Quit while the agent is running?");
        sitting.press("y");
        let (status, bytes) = sitting.end();
        assert_eq!(status.exit_code(), 0, "{columns}x{rows}");
        assert_harmless(&bytes);
        let (_, after) = bytes.rsplit_once("\x1b[?1049l").unwrap();
        assert!(after.contains("again: toolyard demo watch"), "{after}");
    }
}
