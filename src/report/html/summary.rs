//! The results of the session, in a few lines and a table of tools.

use std::collections::BTreeMap;

use super::page::{element, escaped, table};
use crate::Report;
use crate::domain::words::counted;
use crate::domain::{State, ToolCallPhase, ToolName};

/// The verdict, and what it is about.
pub fn summary<T>(state: &State, report: &Report<T>) -> String {
    let (totals, measures) = (&report.totals, &report.measures);
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let right = match totals.with_gold {
        0 => "no right answers known".to_owned(),
        with_gold => format!("{} of {with_gold} right", totals.correct),
    };
    let verdict =
        format!("{} of {} answered, {right}", totals.answered, counted(totals.tasks, "task"));
    let simulated = match report.simulated {
        true => element("span", "simulated", "SIMULATED MODEL: no language model answered"),
        false => String::new(),
    };
    let models: BTreeMap<_, Vec<_>> =
        report.models.iter().fold(BTreeMap::new(), |mut all, (role, model)| {
            all.entry(model.as_str()).or_insert_with(Vec::new).push(role.name());
            all
        });
    let models: Vec<_> =
        models.iter().map(|(model, roles)| format!("{model} ({})", roles.join(", "))).collect();
    let dollars = match totals.dollars {
        Some(dollars) if totals.listed => format!("~${dollars:.4}, by list prices"),
        Some(dollars) => format!("${dollars:.4}"),
        None => "unknown, since a price is unknown".to_owned(),
    };
    let tokens = format!(
        "{} in ({} cached), {} out",
        totals.tokens_in, totals.tokens_cached, totals.tokens_out
    );
    let calls = counted(totals.calls, "tool call");
    let own = vec![
        ("strategy", format!("{}, seed {}", report.strategy, report.seed)),
        ("workspace", report.workspace.clone()),
        ("models", models.join("; ")),
        ("calls", format!("{calls} in {}", counted(totals.steps, "step"))),
        ("tokens", tokens.clone()),
        ("cost", format!("{:.2} credits; real money: {dollars}", totals.cost)),
        (
            "budget",
            format!(
                "{:.2} credits per task: {:.2} spent on average, {} of the tasks solved within budget, {} over budget",
                measures.budget,
                measures.ac,
                percent(measures.pbc),
                percent(measures.rfbc_authors),
            ),
        ),
    ];
    // A watched agent has neither a strategy nor a budget of toolyard.
    let asked: Vec<_> = state.models.known.keys().map(ToString::to_string).collect();
    let mut rows = match state.watched.as_deref() {
        None => own,
        Some(watched) => vec![
            ("agent", watched.command.clone().unwrap_or_else(|| "started elsewhere".to_owned())),
            ("models", asked.join("; ")),
            ("calls", calls),
            ("tokens", tokens),
            ("cost", dollars),
        ],
    };
    let fault = |fault: &crate::FaultReport| match &fault.verdict {
        Some(verdict) => format!("{}: {verdict}", fault.fault),
        None => format!("{}: fired {}", fault.fault, counted(fault.fired, "time")),
    };
    rows.extend(report.faults.iter().map(|of| ("fault", fault(of))));
    let resilience = report.resilience.iter();
    rows.extend(resilience.map(|of| ("resilience", format!("to {}: {}", of.fault, of.verdict))));
    let marks = report.marks.summary();
    rows.extend((!marks.is_empty()).then_some(("not told to the agent", marks)));
    let problems = state.problems.counts().iter();
    let problems: Vec<_> = problems.map(|(kind, n)| format!("{} {n}", kind.name())).collect();
    rows.extend((!problems.is_empty()).then(|| ("problems", problems.join(", "))));
    rows.extend(report.drifts.iter().map(|drift| ("not as recorded", drift.told())));
    rows.extend(report.notices.iter().map(|text| ("notice", text.clone())));
    let rows: Vec<_> = rows.iter().map(|(name, text)| vec![escaped(name), escaped(text)]).collect();
    let left = match state.tasks.iter().filter(|task| task.outcome().is_none()).count() {
        0 => String::new(),
        left => element("p", "dim", &format!("{} did not end", counted(left, "task"))),
    };
    format!(
        "{}{left}<p>{simulated}</p>{}",
        element("p", "verdict", &verdict),
        table(&["", ""], &rows)
    )
}

/// Every tool that was called or scored.
pub fn tools<T>(state: &State, report: &Report<T>) -> String {
    let mut calls: BTreeMap<&ToolName, (u32, u32)> = BTreeMap::new();
    for call in state.tool_calls.iter().filter(|call| !call.is_by_hand()) {
        let (made, failed) = calls.entry(&call.tool).or_default();
        *made += 1;
        *failed += u32::from(matches!(call.phase, ToolCallPhase::Failed { .. }));
    }
    for tool in report.scores.keys().filter(|tool| !tool.is_special()) {
        calls.entry(tool).or_default();
    }
    let mut rows: Vec<_> = calls.into_iter().collect();
    rows.sort_by_key(|(_, (made, _))| std::cmp::Reverse(*made));
    let row = |(tool, (made, failed)): &(&ToolName, (u32, u32))| {
        let score = report.scores.get(*tool).copied();
        let history = state.learning.history.get(*tool);
        let scores = history.into_iter().flat_map(|points| points.iter().map(|point| *point.score));
        vec![
            escaped(tool.as_str()),
            made.to_string(),
            failed.to_string(),
            score.map_or("–".to_owned(), |score| format!("{score:+}")),
            sparkline(&scores.collect::<Vec<_>>()),
        ]
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let titles = ["tool", "calls", "failed", "score", "score over time"];
    format!("<h2>Tools</h2>\n{}", table(&titles, &rows))
}

/// The course of a score, from the first to the last change.
fn sparkline(scores: &[f64]) -> String {
    const SIZE: (f64, f64) = (160.0, 24.0);
    if scores.len() < 2 {
        return String::new();
    }
    let low = scores.iter().copied().fold(0.0, f64::min);
    let high = scores.iter().copied().fold(0.0, f64::max);
    let range = if high > low { high - low } else { 1.0 };
    let point = |(at, score): (usize, &f64)| {
        let x = SIZE.0 * at as f64 / (scores.len() - 1) as f64;
        let y = 1.0 + (SIZE.1 - 2.0) * (high - score) / range;
        format!("{x:.1},{y:.1}")
    };
    let points: Vec<_> = scores.iter().enumerate().map(point).collect();
    let zero = 1.0 + (SIZE.1 - 2.0) * high / range;
    format!(
        "<svg width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\"><title>{low} to {high}\
         </title><line x1=\"0\" x2=\"{0}\" y1=\"{zero:.1}\" y2=\"{zero:.1}\" stroke=\"currentColor\" \
         opacity=\".3\"/><polyline class=\"edge\" points=\"{2}\"/></svg>",
        SIZE.0,
        SIZE.1,
        points.join(" ")
    )
}
