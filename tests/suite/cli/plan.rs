//! `toolyard plan`: plans of a file of tools.

use serde_json::{Value, json};

use crate::program::Home;
use crate::vectors;

/// The candidates of the paper's figure 5, with values made up.
const TOOLS: &str = r#"[
    {"name": "lookup", "cost": 2, "value": 0.9, "limit": 1},
    {"name": "browse", "cost": 9, "value": 0.3, "limit": 1},
    {"name": "maps", "cost": 3, "value": 0.6, "limit": 2},
    {"name": "oracle", "cost": 21, "value": 1, "limit": 1},
    {"name": "echo", "cost": 6, "value": 0.1, "limit": 0}
]"#;

fn plan(home: &Home, tools: &str, budget: &str) -> Value {
    home.write("tools.json", tools);
    let out = home.succeed(&["plan", "--tools", "tools.json", "--budget", budget, "--json"]);
    serde_json::from_str(&out).unwrap()
}

#[test]
fn a_script_gets_plan_reasons_and_what_more_would_buy() {
    let planned = plan(&Home::new(), TOOLS, "16");
    assert_eq!(planned["plan"], json!({"lookup": 1, "maps": 2}));
    assert_eq!(planned["value"], 2.1);
    assert_eq!((&planned["cost"], &planned["budget"]), (&json!(8.0), &json!(16.0)));
    let browse = json!({
        "tool": "browse", "cost": 9.0, "value": 0.3, "limit": 1, "uses": 0,
        "why": "better value elsewhere",
    });
    assert_eq!(planned["tools"][1], browse);
    let whys: Vec<_> =
        planned["tools"].as_array().unwrap().iter().map(|tool| &tool["why"]).collect();
    assert_eq!(whys[0], "at its limit");
    assert_eq!(whys[3], "too expensive: one use costs more than the budget");
    assert_eq!(whys[4], "not allowed: its limit is 0");
    let bought = json!({
        "credits": 1.0, "value": 0.3, "changes": [{"tool": "browse", "before": 0, "after": 1}],
    });
    let mut marginal = planned["marginal"].clone();
    assert_eq!(marginal["next"], bought);
    marginal.as_object_mut().unwrap().remove("next");
    assert_eq!(marginal, bought);
}

#[test]
fn a_person_gets_a_table_and_a_sentence() {
    let home = Home::new();
    home.write("tools.json", TOOLS.replace("echo", "\\u001b[2Jecho"));
    let table = |budget: &str| home.succeed(&["plan", "--tools", "tools.json", "--budget", budget]);
    let at_15 = table("15");
    let lines: Vec<_> = at_15.lines().collect();
    assert_eq!(lines.len(), 1 + 5 + 1 + 2, "{at_15}");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(lines[0]), ["tool", "uses", "limit", "cost", "value", "why"]);
    assert_eq!(words(lines[3])[..5], ["maps", "2", "2", "3", "0.6000"]);
    assert_eq!(lines[6], "8 of 15 credits, value 2.1");
    assert_eq!(lines[7], "+1 credit: no gain");
    assert_eq!(lines[8], "+2 credits: value +0.3 (browse 0 → 1)");
    assert!(!at_15.contains('\u{1b}'), "{at_15:?}");
    assert!(table("1000").ends_with("\nmore budget would not help\n"));
}

#[test]
fn nothing_to_plan_is_a_plan() {
    let home = Home::new();
    assert_eq!(plan(&home, "[]", "0")["plan"], json!({}));
    let broke = plan(&home, TOOLS, "0");
    assert_eq!((&broke["plan"], &broke["cost"]), (&json!({}), &json!(0.0)));
    assert_eq!(broke["marginal"]["next"]["credits"], 2.0);
    let free = plan(&home, r#"[{"name": "a", "cost": 0, "value": 0.1, "limit": 9}]"#, "0");
    assert_eq!(free["plan"], json!({"a": 9}));
    assert_eq!(free["marginal"]["next"], Value::Null);
}

#[test]
fn golden_plans_are_printed() {
    let vectors: Value = serde_json::from_str(&vectors("btp.json")).unwrap();
    let home = Home::new();
    // All of them are planned without the program, elsewhere.
    for case in vectors["plans"].as_array().unwrap().iter().step_by(15) {
        let tools = (0..case["cost"].as_array().unwrap().len()).map(|n| {
            let (cost, value, limit) = (&case["cost"][n], &case["value"][n], &case["F"][n]);
            json!({"name": format!("tool {n}"), "cost": cost, "value": value, "limit": limit})
        });
        let tools = Value::from_iter(tools);
        let planned = plan(&home, &tools.to_string(), &case["R"].to_string());
        let uses = |n: usize| planned["plan"].get(format!("tool {n}")).cloned().unwrap_or(json!(0));
        let right = case["plan"].as_array().unwrap();
        assert_eq!((0..right.len()).map(uses).collect::<Vec<_>>(), *right, "{case}");
        assert!((planned["value"].as_f64().unwrap() - case["V"].as_f64().unwrap()).abs() < 1e-9);
    }
}

#[test]
fn sixteen_thousand_tools_are_planned() {
    let tool = |n: u64| json!({"name": format!("tool_{n}"), "cost": 1 + n * 7919 % 10, "value": (n * 104_729 % 1000) as f64 / 1e3, "limit": 3});
    let planned = plan(&Home::new(), &Value::from_iter((0..16_000).map(tool)).to_string(), "9999");
    assert_eq!(planned["cost"], 9999.0);
    assert_eq!(planned["tools"].as_array().unwrap().len(), 16_000);
}
