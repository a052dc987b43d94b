//! The figures of README and guide: each is what a command prints today. What a page says is made here from that.

use std::path::Path;

use serde_json::Value;

use crate::program::Home;

/// The results of a comparison.
struct Compared(Value);

impl Compared {
    fn of(arguments: &[&str]) -> Self {
        let out = Home::new().succeed(&[&["compare"], arguments, &["--json"]].concat());
        Self(serde_json::from_str(&out).unwrap())
    }

    /// A measure of a combination, over all seeds.
    fn number(&self, cell: &str, measure: &str) -> f64 {
        let cells = self.0["cells"].as_array().unwrap();
        let found = cells.iter().find(|it| it["name"] == cell);
        let found = found.unwrap_or_else(|| panic!("{cell} is not compared"));
        found["all"][measure].as_f64().unwrap_or_else(|| panic!("{cell} has no {measure}"))
    }

    fn percent(&self, cell: &str, measure: &str) -> String {
        format!("{:.0}", 100.0 * self.number(cell, measure))
    }
}

/// Whether a page says this, however its lines are broken.
fn expect(page: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let page_text = words(&std::fs::read_to_string(path).unwrap());
    assert!(page_text.contains(&words(text)), "{page} has to say: {text}");
}

#[test]
fn the_figures_of_btp_are_those_of_its_comparison() {
    let btp = Compared::of(&["btp"]);
    let (bare, paper, ours) = ("react given", "react+btp paper", "react+btp given");
    let cost = |cell| btp.number(cell, "ac");
    expect(
        "README.md",
        &format!(
            "`react` solves {} % of the tasks, but {} % within the budget, for {:.1} credits a task. With `+btp` none \
             exceeds the budget: as published it solves {} % for {:.1} credits a task, as it is here {} % for {:.1}.",
            btp.percent(bare, "pr"),
            btp.percent(bare, "pbc"),
            cost(bare),
            btp.percent(paper, "pr"),
            cost(paper),
            btp.percent(ours, "pr"),
            cost(ours),
        ),
    );
    let gain = |model: &str| {
        let of = |strategy| btp.number(&format!("{strategy}{model}"), "pbc");
        format!("{:.0}", 100.0 * (of("react+btp") - of("react")))
    };
    let [own, clerk, scout] = ["", " model=clerk", " model=scout"].map(gain);
    expect(
        "README.md",
        &format!(
            "with all tools {own} points for the simulated model, {clerk} and {scout} for two scripted agents"
        ),
    );
}

#[test]
fn the_figures_of_toolnet_are_those_of_its_comparison() {
    let toolnet = Compared::of(&["toolnet", "--seeds", "0"]);
    let right = toolnet.percent("toolnet tools=1223", "accuracy");
    expect("README.md", &format!("{right} % of the answers are right instead of all"));
}

#[test]
fn the_figures_of_atc_are_those_of_its_comparison() {
    let atc = Compared::of(&["atc"]);
    let right = |reflect: &str| atc.percent(&format!("atc reflect={reflect}"), "accuracy");
    expect(
        "README.md",
        &format!(
            "{} % of the tasks are right with one program, {} % with the error alone as feedback, and {} % with the tool \
             to blame",
            right("off"),
            right("naive"),
            right("attribute"),
        ),
    );
}
