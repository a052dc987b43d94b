//! A session with everything in it that the screen can show.

use serde_json::{Value, json};
use toolyard::domain::{By, ChangeEvent, GraphEvent, Role, ToolCallEvent};

use super::{Story, effect, tool};

const SEARCH: &str = "Information Retrieval";
const COMPUTE: &str = "Computing";

/// The tools of [`demo`].
pub const TOOLS: [(&str, &str, f64); 16] = [
    ("search_web", SEARCH, 2.0),
    ("search_backup", SEARCH, 2.0),
    ("wikipedia", SEARCH, 1.0),
    ("read_page", SEARCH, 1.0),
    ("population", SEARCH, 0.5),
    ("weather", SEARCH, 0.5),
    ("nothing_found", SEARCH, 0.0),
    ("slow_lookup", SEARCH, 1.0),
    ("flaky_lookup", SEARCH, 1.0),
    ("calculator", COMPUTE, 0.1),
    ("unit_convert", COMPUTE, 0.1),
    ("currency", COMPUTE, 0.2),
    ("date_diff", COMPUTE, 0.1),
    ("random_calc", COMPUTE, 0.0),
    ("translate", COMPUTE, 0.5),
    ("summarize", COMPUTE, 0.5),
];

/// The graph of [`demo`], as if learned from trajectories: from, to, prior, count.
const EDGES: [(&str, &str, f64, u64); 26] = [
    ("search_web", "read_page", 0.55, 22),
    ("search_web", "calculator", 0.20, 8),
    ("search_web", "search_web", 0.10, 4),
    ("search_web", "end", 0.15, 6),
    ("search_backup", "read_page", 0.60, 6),
    ("search_backup", "end", 0.40, 4),
    ("wikipedia", "calculator", 0.30, 9),
    ("wikipedia", "wikipedia", 0.20, 6),
    ("wikipedia", "date_diff", 0.25, 7),
    ("wikipedia", "end", 0.25, 8),
    ("read_page", "calculator", 0.35, 14),
    ("read_page", "summarize", 0.25, 10),
    ("read_page", "end", 0.40, 16),
    ("population", "calculator", 0.70, 14),
    ("population", "population", 0.30, 6),
    ("weather", "unit_convert", 0.50, 5),
    ("weather", "end", 0.50, 5),
    ("calculator", "unit_convert", 0.20, 6),
    ("calculator", "end", 0.80, 24),
    ("unit_convert", "end", 1.0, 11),
    ("currency", "calculator", 0.50, 3),
    ("currency", "end", 0.50, 3),
    ("date_diff", "end", 1.0, 7),
    ("summarize", "translate", 0.30, 3),
    ("summarize", "end", 0.70, 7),
    ("translate", "end", 1.0, 3),
];

/// A graph file's JSON for these tools and edges.
pub fn graph_json<'a>(
    tools: impl IntoIterator<Item = &'a str>,
    edges: &[(&str, &str, f64, u64)],
) -> Value {
    let edges: Vec<Value> = edges
        .iter()
        .map(|(from, to, prior, count)| {
            json!({"from": from, "to": to, "prior": prior, "count": count})
        })
        .collect();
    json!({"structure": "implied", "nodes": tools.into_iter().collect::<Vec<_>>(), "edges": edges})
}

/// An eventful session of the samples: four tasks done, one at work with a call in flight, a broken
/// tool, an edited score, a pinned weight and a turned knob.
pub fn demo() -> Story {
    let mut story = Story::open();
    story.join(TOOLS.map(|(name, class, cost)| tool(name, class, cost)));
    story.load(&graph_json(TOOLS.map(|(name, ..)| name), &EDGES));
    story.queue(&[
        ("How many people live in the twin city of Lyra?", Some("48200")),
        ("How many years passed from the first flight to the moon landing?", Some("66")),
        ("What is 40% of the height of Mount Orla in feet?", Some("3281")),
        ("Which river does the author of The Glass Orchard live at?", Some("Velm")),
        ("How old was the founder of Port Sel when the lighthouse was built?", Some("41")),
        ("Convert the price of the Ostra bridge to francs.", Some("1200000")),
        ("Write a haiku about graphs.", None),
    ]);
    first_tasks(&mut story);
    interventions(&mut story);
    later_tasks(&mut story);
    story
}

fn first_tasks(story: &mut Story) {
    let search = |query: &str| json!({"query": query});
    story.task(
        1,
        &[
            (
                "I need the twin city first.",
                ("search_web", search("twin city of Lyra"), Ok("Lyra is twinned with Ostra."), 420),
            ),
            (
                "Ostra; now its population.",
                ("population", json!({"city": "Ostra"}), Ok("48,200 (2024)"), 95),
            ),
        ],
        ("48200", true),
        &[
            ("search_web", 2, "found the twin city at once"),
            ("population", 3, "gave the answer itself"),
        ],
    );
    story.task(
        2,
        &[
            (
                "Both dates are well known; look them up.",
                ("wikipedia", search("first flight"), Ok("17 December 1903"), 230),
            ),
            ("Now the other one.", ("wikipedia", search("moon landing"), Ok("20 July 1969"), 210)),
            (
                "The difference in years.",
                (
                    "date_diff",
                    json!({"from": "1903-12-17", "to": "1969-07-20"}),
                    Ok("65.6 years"),
                    12,
                ),
            ),
        ],
        ("65", false),
        &[("wikipedia", 1, "both dates were right"), ("date_diff", -1, "gave a fraction")],
    );
}

fn interventions(story: &mut Story) {
    use toolyard::domain::knob::Knob;
    story.wait(700);
    story.break_tool("search_web");
    story.tell(GraphEvent::ScoreSet {
        tool: "search_backup".into(),
        score: 4.0.into(),
        was: 0.0.into(),
        by: By::User,
    });
    let (from, to) = ("read_page".into(), "summarize".into());
    story.tell(GraphEvent::WeightPinned { from, to, weight: 0.05.into(), was: None, by: By::User });
    story.tell(ChangeEvent::KnobTurned {
        knob: Knob::Beta,
        value: 0.45.into(),
        was: 0.5.into(),
        by: By::User,
    });
    story.tell(ChangeEvent::ToolSwitched { tool: "random_calc".into(), on: false, by: By::User });
}

fn later_tasks(story: &mut Story) {
    let search = |query: &str| json!({"query": query});
    story.task(
        3,
        &[
            (
                "The height of Mount Orla.",
                ("search_web", search("height of Mount Orla"), Err("503 Service Unavailable"), 30),
            ),
            (
                "That failed; try the other search.",
                ("search_backup", search("height of Mount Orla"), Ok("Mount Orla: 2,500 m"), 610),
            ),
            (
                "40% of it, in feet.",
                ("calculator", json!({"expression": "0.4 * 2500 m to ft"}), Ok("3280.84 ft"), 3),
            ),
        ],
        ("3281", true),
        &[
            ("search_web", -3, "did not answer"),
            ("search_backup", 3, "found the height"),
            ("calculator", 2, "right and quick"),
        ],
    );
    story.task(
        4,
        &[(
            "Who wrote it, and where do they live?",
            (
                "search_backup",
                search("The Glass Orchard author"),
                Ok("Ines Vell, of Velm-on-Sea"),
                480,
            ),
        )],
        ("Velm", true),
        &[("search_backup", 2, "named the place")],
    );
    story.wait(50).start(5).step(5, 1, "start");
    let ask = story.ask(5, Role::Actor);
    story.answer(ask, "When was the lighthouse of Port Sel built?", 170);
    story.call(5, 1, ("wikipedia", search("Port Sel lighthouse"), Ok("built in 1871"), 220));
    story.step(5, 2, "wikipedia");
    let ask = story.ask(5, Role::Actor);
    story.answer(ask, "Now the difference in years.", 160);
    let call = story.request_call(5, 2, "calculator", json!({"expression": "1871 - 1830"}));
    story.tell(ToolCallEvent::ToolCallStarted { effect: effect(call) }).wait(310);
}
