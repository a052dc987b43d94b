//! The report of a session as a page.

use crate::program::Home;

/// What a page of a stranger's session must not have: anything that runs, loads or refers.
fn is_harmless(page: &str) {
    let lower = page.to_lowercase();
    for not in ["<script", "<img", "<iframe", "<object", "<link", "<a ", "src=", "href=", "@import"]
    {
        assert!(!lower.contains(not), "{not} in the page");
    }
    assert!(lower.contains("content-security-policy\" content=\"default-src 'none'"));
    // Only the names of no places.
    assert!(!lower.contains("url(http") && !page.contains('\u{1b}'));
}

#[test]
fn a_page_has_summary_tools_graph_lanes_and_transcript() {
    let home = Home::new();
    let run = ["run", "--tasks-limit", "5", "--fresh", "--journal", "j.jsonl"];
    home.run(&[&run[..], &["--fault", "search_web:error:from-task=3"]].concat());
    home.succeed(&["report", "j.jsonl", "--html", "--out", "p.html"]);
    let page = home.read("p.html");
    is_harmless(&page);
    for part in [
        "<title>toolyard: j.jsonl</title>",
        "5 of 5 tasks answered",
        "SIMULATED MODEL",
        "search_web:error:from-task=3: hit",
        "spent on average",
        "<h2>Tools</h2>",
        "<h2>Paths through the tools</h2>",
        "In which city was the author of The Salt Garden born?",
        "Bellaquay",
        "[injected error, fault 1]",
        "all tasks are done",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
    let lanes = page.matches("<rect class=\"fill\"").count()
        + page.matches("<rect class=\"failed\"").count();
    let report = home.succeed(&["report", "j.jsonl"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let verdict = report["resilience"]["verdict"].as_str().unwrap();
    let said = format!("to search_web:error:from-task=3: {verdict}");
    assert!(page.contains("resilience") && page.contains(&said), "{said} is missing");
    assert_eq!(lanes as u64, report["totals"]["calls"].as_u64().unwrap(), "a bar for each call");
    assert_eq!(home.succeed(&["report", "j.jsonl", "--html"]), page);
}

#[test]
fn a_page_of_many_tasks_shows_the_last_ones_and_the_sums_of_all() {
    let home = Home::new();
    home.run(&["run", "--tasks-limit", "1003", "--strategy", "direct", "--journal", "j.jsonl"]);
    let page = home.succeed(&["report", "j.jsonl", "--html"]);
    assert_eq!(page.matches("<summary>").count(), 1000);
    assert!(page.contains("3 tasks before these are in the sums only"));
    assert!(page.contains(" of 1003 tasks answered"), "the sums are of all");
}

#[test]
fn what_a_tool_says_is_text_and_keys_are_gone() {
    let home = Home::new();
    home.write(
        "w/tools/evil.toml",
        "name = \"evil\"\ndescription = \"Says <b>how</b> the weather is.\"\neffect = \"read\"\n[source]\n\
         command = [\"sh\", \"evil.sh\"]\n",
    );
    let evil = "printf '<script>alert(1)</script><img src=x onerror=y> sk-planted0123456789 \\033]0;t\\007'\n";
    home.write("w/tools/evil.sh", evil);
    let task = "How is the weather </pre><script>?";
    home.run(&["run", "--workspace", "w", "--task", task, "--journal", "j.jsonl"]);
    let page = home.succeed(&["report", "j.jsonl", "--html"]);
    is_harmless(&page.replace("&lt;img src=x", ""));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    assert!(!page.contains("planted0123456789"), "{page}");
}

#[test]
fn a_journal_that_is_not_there_is_named() {
    let home = Home::new();
    let ran = home.run(&["report", "none.jsonl", "--html"]);
    assert!(ran.code == 2 && ran.err.contains("none.jsonl"), "{ran:?}");
}
