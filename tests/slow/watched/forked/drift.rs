//! Tools that return something else than in the record.

use serde_json::json;

use super::{AGENT, Session};
use crate::program::text;

/// Tools that changed since are listed, each with its first difference; the others are not.
#[test]
fn results_that_are_not_as_recorded_are_listed() {
    let numbers: Vec<String> = (101..=120).map(|n| n.to_string()).collect();
    let session = Session::record(&format!("Sum: {}", numbers.join(" ")), false, &[], |_| {});
    let mut seed = 7_u64;
    for case in 0..crate::PART {
        let mut changed = Vec::new();
        while changed.len() <= case % 5 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let number = &numbers[usize::try_from(seed >> 33).unwrap() % numbers.len()];
            if !changed.contains(number) {
                changed.push(number.clone());
            }
        }
        let program = std::env::current_exe().unwrap();
        let arguments = [
            "watch",
            "--headless",
            "--recorded",
            "../j.jsonl.zst",
            "--results",
            "recorded",
            "--fail-on",
            "drift",
            "--no-journal",
            "--report",
            "r.json",
            "--html",
            "r.html",
            "--junit",
            "r.xml",
            "--",
            text(&program),
        ];
        let arguments = [&arguments, &AGENT[..]].concat();
        let ran = session.run("agent", &arguments, &[("OTHER_RESULTS", &changed.join(" "))]);
        assert_eq!(ran.code, 1, "{ran:?}");
        let report = session.home.json("agent/r.json");
        let mut found: Vec<String> = report["drifts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|drift| {
                assert_eq!((&drift["tool"], &drift["field"]), (&json!("look"), &json!("result")));
                drift["recorded"].as_str().unwrap().to_owned()
            })
            .collect();
        found.sort();
        changed.sort();
        assert_eq!(found, changed, "case {case}");
        let [page, xml] = ["agent/r.html", "agent/r.xml"].map(|name| session.home.read(name));
        assert_eq!(xml.matches("<failure").count(), changed.len());
        assert!(changed.iter().all(|number| {
            let told = format!("recorded was \u{201c}{number}\u{201d}");
            page.contains(&told) && xml.contains(&told) && ran.err.contains(&told)
        }));
    }
    session.asked.lock().unwrap().clear();
    let program = std::env::current_exe().unwrap();
    let arguments = [
        "watch",
        "--headless",
        "--recorded",
        "../j.jsonl.zst",
        "--fail-on",
        "drift",
        "--no-journal",
        "--",
        text(&program),
    ];
    let arguments = [&arguments, &AGENT[..]].concat();
    assert_eq!(session.run("agent", &arguments, &[]).code, 0);
    assert!(session.asked.lock().unwrap().is_empty());
}
