//! Questions that the simulated model does not know.

use crate::program::Home;

const REFUSAL: &str = "I am a simulated model. I only know the sample tasks.";

#[test]
fn the_simulated_model_refuses_what_is_no_sample_task() {
    let strategies =
        ["direct", "react", "toolnet", "dfsdt", "tot-dfs", "rewoo", "workers+toolnet+btp"];
    for strategy in strategies {
        let home = Home::new();
        let run = ["run", "--task", "What is 12 times 12?", "--strategy", strategy];
        let files = ["--no-journal", "--learned", "l.json", "--report", "r.json"];
        home.run(&[&run[..], &files].concat());
        let report = home.json("r.json");
        assert_eq!(report["tasks"][0]["answer"], REFUSAL, "{strategy}: {}", report["tasks"][0]);
        assert_eq!(report["totals"]["calls"], 0, "{strategy}");
        assert_eq!(report["score_history"], serde_json::json!({}), "{strategy}");
    }
}

#[test]
fn tools_of_ones_own_can_be_tried_and_are_scored_by_rules_alone() {
    let home = Home::new();
    home.write(
        "w/tools/echo.toml",
        "name = \"echo\"\ndescription = \"Says how the weather is.\"\neffect = \"read\"\n[source]\n\
         command = [\"echo\", \"sunny\"]\n",
    );
    let run = ["run", "--workspace", "w", "--task", "How is the weather?", "--report", "r.json"];
    let ran = home.run(&[&run[..], &["--no-journal"]].concat());
    let report = home.json("r.json");
    assert_eq!(report["totals"]["calls"], 1, "{ran:?}");
    assert_eq!(report["score_history"], serde_json::json!({"echo": [[1, 1.0]]}));
}
