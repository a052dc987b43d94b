//! Plan, work, solve with the simulated model: what the sample tasks come to, and what decides it.

use serde_json::Value;
use toolyard::domain::state::{EvidenceSource, What};
use toolyard::domain::{NullReason, Role, State, TaskId, TaskState};
use toolyard::store::journal;

use crate::program::Home;
use crate::toolyard;

/// A model that never slips, so that tools and strategies alone decide. It costs nothing.
const SURE: &str = "[models.simulated]\nkind = \"simulated\"\nskill = 1.0\n";

/// The noisy and the flaky ones among the sample tools.
const BAD: [&str; 4] = ["search_archive", "lookup_index", "calculator_lite", "math_service"];

fn report(home: &Home, strategy: &str, more: &[&str]) -> Value {
    home.write("sure.toml", SURE);
    let run = ["run", "--config", "sure.toml", "--strategy", strategy, "--fresh"];
    let ran = toolyard(home, &[&run[..], &["--report", "r.json"], more].concat());
    // 1: not every task was answered.
    assert!(ran.code < 2, "{ran:?}");
    home.json("r.json")
}

/// How many tasks were solved, of how many.
fn solved(report: &Value) -> (u64, u64) {
    let total = |name: &str| report["totals"][name].as_u64().unwrap();
    (total("correct"), total("with_gold"))
}

#[test]
fn a_sure_planner_solves_the_samples_unless_the_one_tool_that_it_takes_is_bad() {
    let home = Home::new();
    let (solved_by_workers, all) = solved(&report(&home, "workers", &["--no-journal"]));
    assert_eq!(solved_by_workers, all, "each step has a good tool among those that it asks");
    let report = report(&home, "rewoo", &["--no-journal"]);
    let (solved_by_rewoo, all) = solved(&report);
    // It asks one tool for each step, and some claim more than they do.
    assert!(solved_by_rewoo * 100 >= all * 80 && solved_by_rewoo < all, "{solved_by_rewoo}");
    for task in report["tasks"].as_array().unwrap() {
        let tools = task["tools"].as_array().unwrap();
        let asked_a_bad_one = tools.iter().any(|tool| BAD.contains(&tool.as_str().unwrap()));
        assert!(task["correct"] == true || asked_a_bad_one, "{task:#}");
    }
}

#[test]
fn with_one_of_two_tools_of_a_class_down_the_answer_is_still_right_and_it_shows_why() {
    let home = Home::new();
    let fault = ["--fault", "search_web:error"];
    let with_rewoo = solved(&report(&home, "rewoo", &[&fault[..], &["--no-journal"]].concat()));
    let with_workers = report(&home, "workers", &[&fault[..], &["--journal", "j.jsonl"]].concat());
    let (right, all) = solved(&with_workers);
    assert_eq!(right, all);
    assert!(with_rewoo.0 * 100 < all * 70, "{with_rewoo:?}");
    let loaded = journal::read(&home.path("j.jsonl")).unwrap();
    let state = State::fold(&loaded.records);
    for task in &state.tasks {
        shows_why(&state, task);
    }
}

/// Wherever the search was down it failed by the fault and reached the solver as null, and what its
/// neighbour found did reach it.
fn shows_why(state: &State, task: &TaskState) {
    let (work, lines) = (&task.work, notices(state, task.id));
    let solver =
        state.model_calls.iter().find(|ask| ask.task == task.id && ask.role == Role::Solver);
    let shown = solver.unwrap().request.messages.last().unwrap().text();
    for (id, evidence) in &work.evidence {
        let EvidenceSource::Call(call) = evidence.source else { continue };
        let call = state.tool_call(call).unwrap();
        if call.tool.as_str() != "search_web" {
            continue;
        }
        assert_eq!(evidence.nulled, Some(NullReason::Failed));
        assert!(call.injected.is_some());
        let told = format!("{id} filtered out (empty: the call failed)");
        assert!(lines.iter().any(|line| line.starts_with(&told)), "{told}: {lines:#?}");
        let plan = work.plan_of(*id).unwrap();
        let backup = plan.evidence.iter().find(|other| other.tool == "search_backup").unwrap();
        assert!(work.evidence[&backup.id].nulled.is_none());
        let text = state.evidence_text(work, backup.id).unwrap();
        assert!(shown.contains(text.lines().next().unwrap()), "{shown}");
    }
}

/// What the transcript says of a task besides what was asked and called.
fn notices(state: &State, task: TaskId) -> Vec<String> {
    let lines = state.transcript.iter().filter(|line| line.task == Some(task));
    let notices = lines.filter_map(|line| match &line.what {
        What::Told { event } => Some(toolyard::ui::wording::told(event)),
        _ => None,
    });
    notices.collect()
}

/// Skill and prices, in US dollars per million tokens in and out.
type Model = (f64, f64, f64);

fn model(name: &str, (skill, price_in, price_out): Model) -> String {
    format!(
        "[models.{name}]\nkind = \"simulated\"\nskill = {skill:?}\nprice_in = {price_in:?}\n\
         price_out = {price_out:?}\n"
    )
}

/// How many tasks a pair solves, and for how many dollars, which are those of its tokens.
fn pair(home: &Home, planner: (&str, Model), solver: (&str, Model)) -> (u64, f64) {
    let run = ["run", "--config", "two.toml", "--strategy", "workers", "--fresh", "--no-journal"];
    let roles = ["--planner", planner.0, "--solver", solver.0];
    let ran = toolyard(
        home,
        &[&run[..], &roles, &["--tasks-limit", "40", "--report", "r.json"]].concat(),
    );
    assert!(ran.code < 2, "{ran:?}");
    let report = home.json("r.json");
    let mut due = 0.0;
    for task in report["tasks"].as_array().unwrap() {
        for (role, (_, price_in, price_out)) in [("planner", planner.1), ("solver", solver.1)] {
            let tokens = |at: usize| task["tokens_by_role"][role][at].as_f64().unwrap();
            due += (tokens(0) * price_in + tokens(1) * price_out) / 1e6;
        }
    }
    let dollars = report["totals"]["dollars"].as_f64().unwrap();
    assert!((dollars - due).abs() < 1e-9, "{dollars} is not {due}");
    (solved(&report).0, dollars)
}

#[test]
fn pairs_of_planner_and_solver_rank_by_their_skills_and_cost_by_their_prices() {
    let home = Home::new();
    for (low_price, high_price) in [(0.1, 2.0), (2.0, 0.1)] {
        let low = ("low", (0.6, low_price, 4.0 * low_price));
        let high = ("high", (1.0, high_price, 4.0 * high_price));
        home.write("two.toml", [SURE, &model(low.0, low.1), &model(high.0, high.1)].concat());
        let pairs = [(low, low), (low, high), (high, low), (high, high)];
        let ran = pairs.map(|(planner, solver)| pair(&home, planner, solver));
        let [neither, solver, planner, both] = ran;
        assert_eq!(both.0, 40);
        for one in [solver, planner] {
            assert!(neither.0 < one.0 && one.0 < both.0, "{ran:?}");
            let (less, more) =
                if low_price < high_price { (neither, both) } else { (both, neither) };
            assert!(less.1 < one.1 && one.1 < more.1, "{ran:?}");
        }
    }
}
