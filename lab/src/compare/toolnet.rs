//! ToolNet's tables 3 to 5 and figures 3 and 4, with its menu and with ours, and what the prompt cache
//! changes with few and with many tools.

use super::OF_PAPER;
use super::cells::{OURS, agent, of_agent, simulated};
use super::verdict::{TOKENS, held, judged, less, line, more, not_less};
use crate::agents;
use crate::app::compare::CompareOptions;
use crate::app::compare::experiment::Experiment;
use crate::app::compare::grid::{Cell, Trial, distinct};
use crate::app::compare::result::{CellResult, SeedResult, found};
use crate::app::compare::table::{PlainTable, number, or, percent};
use crate::app::compare::verdict::{ONE_SEED, RIGHT, difference};
use crate::app::shell::trouble::Trouble;
use crate::app::session::SimulatedSpec;
use crate::domain::graph::WeightFormat;
use crate::domain::{Base, FaultSpec, Knob, Scorer, Strategy};
use crate::papers::noise::{Difference, clear};
use crate::papers::resilience;

/// The paper's menu: one tool by retrieval, then all successors and nothing else. ReAct and the others get
/// eight. And the paper's evaluator.
const PAPER: [(Knob, f64); 4] =
    [(Knob::TopK, 1.0), (Knob::Explore, 0.0), (Knob::FixTools, 0.0), EVALUATOR];
/// An evaluator judges each task.
const EVALUATOR: (Knob, f64) = (Knob::Scorer, Scorer::Model as u8 as f64);
const EIGHT: [(Knob, f64); 1] = [(Knob::MenuMax, 8.0)];
/// Every tool on the menu.
const ALL: [(Knob, f64); 1] = [(Knob::MenuMax, MANY as f64)];
/// With feedback, as in Reflexion's paper.
const TOLD: [(Knob, f64); 1] = [(Knob::GoldFeedback, 1.0)];
/// The number of tools in the paper's second table, and some smaller numbers.
const MANY: usize = 1223;
const COUNTS: [Option<usize>; 5] = [None, Some(50), Some(100), Some(200), Some(MANY)];
const FORMATS: [WeightFormat; 5] = [
    WeightFormat::None,
    WeightFormat::Per100,
    WeightFormat::Per10,
    WeightFormat::Integer,
    WeightFormat::X10,
];

/// List prices of a usual endpoint: US dollars per million tokens in, in from its cache, and out.
const PRICES: [f64; 3] = [2.5, 0.25, 10.0];

/// The tool that breaks in figure 4, the task from which on it is broken, and the tool that replaces it.
const PRIMARY: &str = "search_web";
const BROKEN: u32 = 50;
const BACKUP: &str = "search_backup";
/// Tasks after the fault until the backup must have taken over.
const SOON: u32 = 15;
const TASKS: u32 = 100;
/// Tools of figure 3: useful for the sample tasks, and noise.
const USEFUL: [&str; 2] = [PRIMARY, "calculator"];
const NOISE: [&str; 3] = ["search_archive", "lookup_index", "calculator_lite"];

fn toolnet() -> Strategy {
    Base::ToolNet.into()
}

fn reflexion(base: Base) -> Strategy {
    Strategy { reflexion: true, ..base.into() }
}

/// The methods of tables 3 and 4; `others`: the knobs of methods other than ToolNet.
fn methods(others: &[(Knob, f64)]) -> Vec<Cell> {
    vec![
        Cell::plain(Base::React.into(), others),
        Cell::plain(reflexion(Base::React), others),
        // Without feedback, Reflexion does not learn that an answer is wrong.
        Cell::plain(reflexion(Base::React), &[others, &TOLD].concat()),
        Cell::plain(Base::TotDfs.into(), others),
        Cell::plain(toolnet(), &PAPER),
        Cell::plain(toolnet(), &[]),
        Cell::plain(reflexion(Base::ToolNet), &[]),
        Cell::plain(reflexion(Base::ToolNet), &TOLD),
    ]
}

/// The scripted agents, with all tools and with ToolNet's menus.
fn by_agents() -> impl Iterator<Item = Cell> {
    agents::USUAL.into_iter().flat_map(|agent| {
        let cell = |base: Base, knobs| of_agent(agent, (base.into(), OURS), knobs);
        [cell(Base::React, &[]), cell(Base::ToolNet, &PAPER), cell(Base::ToolNet, &[])]
    })
}

/// An agent whose words find no tool, with few and with many tools.
fn catalogues() -> impl Iterator<Item = Cell> {
    [None, Some(200), Some(MANY)].into_iter().flat_map(|tools| {
        let cell = |base: Base, knobs| of_agent(agents::MUMBLER, (base.into(), OURS), knobs);
        let cells = [cell(Base::React, &ALL), cell(Base::ToolNet, &[])];
        cells.map(|cell| cell.under(many(tools)))
    })
}

fn many(tools: Option<usize>) -> Trial {
    Trial { tools, ..Trial::default() }
}

fn formats() -> impl Iterator<Item = Cell> {
    let menus: [&[(Knob, f64)]; 2] = [&PAPER, &[]];
    menus.into_iter().flat_map(|menu| {
        FORMATS.into_iter().map(move |format| {
            let format = (Knob::WeightFormat, f64::from(format as u8));
            Cell::plain(toolnet(), &[menu, &[format]].concat())
        })
    })
}

/// ReAct with every tool, and ToolNet: without prices, with them, and with an evaluator for each task.
fn cached() -> impl Iterator<Item = Cell> {
    COUNTS.into_iter().flat_map(move |tools| {
        let plain = Cell::plain(toolnet(), &[]);
        // With prices, ToolNet may keep the tools of earlier tasks and state only its menu.
        let priced = SimulatedSpec { prices: Some(PRICES), ..SimulatedSpec::default() };
        let judged = simulated(Cell::plain(toolnet(), &[EVALUATOR]), priced);
        let react = Cell::plain(Base::React.into(), &ALL);
        let cells = [react, plain.clone(), simulated(plain, priced), judged];
        cells.map(|cell| cell.under(many(tools)))
    })
}

/// ToolNet while its usual tool breaks; also without learning, as a check.
fn broken() -> Result<Vec<Cell>, Trouble> {
    let fault = format!("{PRIMARY}:error:from-task={BROKEN}");
    let fault: FaultSpec = fault.parse().map_err(Trouble::Failed)?;
    let tasks = Some(TASKS as usize);
    let menus: [&[(Knob, f64)]; 3] = [&PAPER, &[], &[(Knob::Learn, 0.0)]];
    let trial = Trial { fault: Some(fault), tasks, ..Trial::default() };
    Ok(menus.map(|menu| Cell::plain(toolnet(), menu).under(trial.clone())).to_vec())
}

/// All tables and figures.
pub const TOOLNET: Experiment =
    Experiment { cells: |options, _| cells(options), tables, verdicts, ..OF_PAPER };

fn cells(options: &CompareOptions) -> Result<Vec<Cell>, Trouble> {
    let own =
        [!options.strategies.is_empty(), !options.vary.is_empty(), !options.budgets.is_empty()];
    if own.contains(&true) || options.session.workspace.is_some() {
        let text = "`compare toolnet` has its own strategies, knobs and tools; leave --strategies, --vary, \
                    --budgets and --workspace out";
        return Err(Trouble::Usage(text.to_owned()));
    }
    let massive = methods(&EIGHT).into_iter().map(|cell| cell.under(many(Some(MANY))));
    let all = methods(&[]).into_iter().chain(massive).chain(formats()).chain(cached());
    Ok(distinct(all.chain(broken()?).chain(by_agents()).chain(catalogues())))
}

fn tables(results: &[CellResult]) -> Vec<PlainTable> {
    let massive = methods(&EIGHT).into_iter().map(|cell| cell.under(many(Some(MANY))));
    let broken = found(results, broken().unwrap_or_default());
    vec![
        quality("Table 3: tools that are no help among few", &found(results, methods(&[]))),
        quality(&format!("Table 4: {MANY} tools"), &found(results, massive)),
        quality("Table 5: how weights are written", &found(results, formats())),
        scores(&found(results, methods(&[]))),
        quality("Other agents", &found(results, by_agents())),
        quality(
            "Large catalogues: an agent whose words find no tool",
            &found(results, catalogues()),
        ),
        takeover(&broken),
        costs(&found(results, cached())),
    ]
}

fn quality(title: &str, results: &[&CellResult]) -> PlainTable {
    let columns = ["", "right", "EM", "F1", "tokens in", "tokens out", "steps", "AC"];
    let mut table = PlainTable::new(title, 1, &columns);
    for result in results {
        let quality = &result.all.quality;
        table.row(vec![
            result.cell.name.clone(),
            or(quality.accuracy, percent, "–"),
            or(quality.exact_match, percent, "–"),
            or(quality.f1, percent, "–"),
            format!("{:.0}", quality.tokens_in),
            format!("{:.0}", quality.tokens_out),
            number(quality.steps),
            number(result.all.measures.ac),
        ]);
    }
    table
}

/// Scores of the tools at the end, on average over the seeds.
fn scores(results: &[&CellResult]) -> PlainTable {
    let columns: Vec<_> = [""].into_iter().chain(USEFUL).chain(NOISE).collect();
    let mut table =
        PlainTable::new("Figure 3: scores of useful tools, and of noise, at the end", 1, &columns);
    for result in results.iter().filter(|result| result.cell.strategy.learns()) {
        let score = |tool: &&str| number(mean(result, |seed| score(seed, tool, u32::MAX)));
        let cells = USEFUL.iter().chain(&NOISE).map(score);
        table.row([result.cell.name.clone()].into_iter().chain(cells).collect());
    }
    table
}

/// Calls of both tools, and their scores, before the fault and at the end.
fn takeover(results: &[&CellResult]) -> PlainTable {
    let title = format!("Figure 4: {PRIMARY} breaks at task {BROKEN}, {BACKUP} does the same");
    let columns = [
        "",
        "calls before",
        "backup",
        "after",
        "backup",
        "score before",
        "end",
        "backup before",
        "end",
        "held",
    ];
    let mut table = PlainTable::new(title, 1, &columns);
    for result in results {
        let calls = |tool, from, to| number(mean(result, |seed| calls(seed, tool, from, to)));
        let score = |tool, at| number(mean(result, |seed| score(seed, tool, at)));
        let held = result.seeds.iter().filter(|seed| took_over(seed)).count();
        table.row(vec![
            result.cell.name.clone(),
            calls(PRIMARY, 1, BROKEN - 1),
            calls(BACKUP, 1, BROKEN - 1),
            calls(PRIMARY, BROKEN + SOON, TASKS),
            calls(BACKUP, BROKEN + SOON, TASKS),
            score(PRIMARY, BROKEN - 1),
            score(PRIMARY, TASKS),
            score(BACKUP, BROKEN - 1),
            score(BACKUP, TASKS),
            format!("{held}/{}", result.seeds.len()),
        ]);
    }
    table
}

fn mean(result: &CellResult, of: impl Fn(&SeedResult) -> f64) -> f64 {
    result.seeds.iter().map(of).sum::<f64>() / result.seeds.len().max(1) as f64
}

/// The number of calls of a tool in these tasks.
fn calls(seed: &SeedResult, tool: &str, from: u32, to: u32) -> f64 {
    resilience::calls(&seed.laps, tool, from, to) as f64
}

/// The score of a tool after this task.
fn score(seed: &SeedResult, tool: &str, after: u32) -> f64 {
    resilience::score_after(seed.scores.get(tool).into_iter().flatten().copied(), after)
}

/// Whether the score of the broken tool fell, that of the backup rose, and the backup is called instead.
fn took_over(seed: &SeedResult) -> bool {
    let soon = BROKEN + SOON;
    calls(seed, PRIMARY, 1, BROKEN - 1) > calls(seed, BACKUP, 1, BROKEN - 1)
        && calls(seed, BACKUP, soon, TASKS) > 2.0 * calls(seed, PRIMARY, soon, TASKS)
        && score(seed, PRIMARY, TASKS) < score(seed, PRIMARY, BROKEN - 1)
        && score(seed, BACKUP, TASKS) > score(seed, BACKUP, BROKEN - 1)
}

/// US dollars for 1,000 tasks at list prices, without a cache and with one.
fn dollars(result: &CellResult) -> [f64; 2] {
    let quality = &result.all.quality;
    let [new, cached, out] = PRICES;
    let full = quality.tokens_in * new + quality.tokens_out * out;
    let saved = quality.tokens_cached * (new - cached);
    [full, full - saved].map(|millionths| millionths / 1e3)
}

fn costs(results: &[&CellResult]) -> PlainTable {
    let [new, cached, out] = PRICES;
    let title = format!(
        "Prompt cache: tokens of one task, all roles, and dollars of 1,000 tasks at ${new} in, ${cached} cached, \
         ${out} out per million tokens"
    );
    let columns =
        ["", "right", "tokens in", "cached", "tokens out", "$ without cache", "$ with cache"];
    let mut table = PlainTable::new(title, 1, &columns);
    for result in results {
        let quality = &result.all.quality;
        let [full, paid] = dollars(result);
        table.row(vec![
            result.cell.name.clone(),
            or(quality.accuracy, percent, "–"),
            format!("{:.0}", quality.tokens_in),
            format!("{:.0}", quality.tokens_cached),
            format!("{:.0}", quality.tokens_out),
            number(full),
            number(paid),
        ]);
    }
    table
}

/// A line for each table and figure.
fn verdicts(results: &[CellResult]) -> Vec<String> {
    let massive = methods(&EIGHT).into_iter().map(|cell| cell.under(many(Some(MANY))));
    let few = found(results, methods(&[]));
    let massive = found(results, massive);
    let others = agents::USUAL.into_iter().flat_map(|agent| {
        let is_own = |cell: &Cell| self::agent(cell).is_some_and(|own| own.name == agent.name);
        against(&found(results, by_agents().filter(is_own)))
    });
    let others: Vec<_> = others.collect();
    let figure_3: Vec<_> = few
        .iter()
        .filter(|result| result.cell.strategy.learns())
        .map(|result| (result.cell.name.as_str(), useful_rise(result)))
        .collect();
    let broken = found(results, broken().unwrap_or_default());
    let figure_4: Vec<_> = broken
        .iter()
        .filter(|result| result.cell.turned_to(Knob::Learn).is_none())
        .map(|result| (result.cell.name.as_str(), holds(result)))
        .collect();
    let lines = [
        line("Table 3", "ToolNet is as accurate as the others, with fewer tokens", &against(&few)),
        line("Table 4", "with many tools it is as accurate, with fewer tokens", &against(&massive)),
        line("Table 5", "whole weights are better than none or decimals", &weights(results)),
        line("Figure 3", "scores of useful tools rise, those of noise do not", &figure_3),
        line("Figure 4", "when the usual tool breaks, its backup takes over", &figure_4),
        line("Agents", "the claim of table 3, by scripted agents", &others),
    ];
    lines
        .into_iter()
        .flatten()
        .chain(by_agent(results))
        .chain(reflexions(&few))
        .chain(cheaper(&found(results, cached())))
        .collect()
}

/// Compares each ToolNet row of a table with the rows of other methods that have the same `gold_feedback`.
fn against<'r>(results: &[&'r CellResult]) -> Vec<(&'r str, Result<(), String>)> {
    let told = |result: &CellResult| result.cell.turned_to(Knob::GoldFeedback);
    let (own, others): (Vec<&CellResult>, Vec<&CellResult>) =
        results.iter().partition(|result| result.cell.strategy.base == Base::ToolNet);
    let judge = |own: &CellResult| {
        let others = others.iter().filter(|other| told(other) == told(own));
        let pairs: Vec<_> = others.map(|other| (own, *other)).collect();
        not_less(RIGHT, &pairs).and(less(TOKENS, &pairs))
    };
    own.into_iter().map(|own| (own.cell.name.as_str(), judge(own))).collect()
}

/// Lines on the effect of `+reflexion` without feedback: each strategy with it, compared with the strategy without it.
fn reflexions(results: &[&CellResult]) -> Vec<String> {
    let said = |own: &&CellResult| {
        let (strategy, turned) = (own.cell.strategy, &own.cell.turned);
        let bare = Strategy { reflexion: false, ..strategy };
        let bare = results
            .iter()
            .find(|other| other.cell.strategy == bare && other.cell.turned == *turned)
            .filter(|_| strategy.reflexion && own.cell.turned_to(Knob::GoldFeedback).is_none())?;
        let (name, bare_name) = (&own.cell.name, &bare.cell.name);
        let effect = effect(own, bare);
        Some(format!(
            "Reflexion: {name} beside {bare_name}: {effect}; without feedback only a task without an answer is tried again"
        ))
    };
    results.iter().filter_map(said).collect()
}

/// How much more often a combination is right than another one, and its share of that one's tokens.
fn effect(own: &CellResult, other: &CellResult) -> String {
    let right = difference(RIGHT.1, own, other);
    let clear = if !right.is_judged() {
        " (one seed)"
    } else if clear(&[right])[0] {
        ""
    } else {
        " (no clear difference)"
    };
    let tokens = mean(own, TOKENS.1) / mean(other, TOKENS.1);
    format!("right {right} points{clear}, {tokens:.2} of the tokens")
}

/// ToolNet with our menu beside react, by agent: a size that is that of one agent may be a trait of it.
fn by_agent(results: &[CellResult]) -> Option<String> {
    let agents = [None].into_iter().chain(agents::USUAL.map(|agent| Some(agent.name)));
    let said = agents.filter_map(|agent| {
        let of = |base: Base| {
            results.iter().find(|result| {
                let cell = &result.cell;
                let is_plain = cell.turned.is_empty()
                    && cell.trial == Trial::default()
                    && cell.simulated == SimulatedSpec::default();
                let own = self::agent(cell).map(|agent| agent.name);
                is_plain && cell.strategy == Strategy::from(base) && own == agent
            })
        };
        let effect = effect(of(Base::ToolNet)?, of(Base::React)?);
        Some(format!("{} {effect}", agent.unwrap_or("simulated")))
    });
    let said: Vec<_> = said.collect();
    (!said.is_empty()).then(|| format!("Sizes (toolnet beside react): {}", said.join("; ")))
}

/// For each menu: whole weights against none and decimals.
fn weights(results: &[CellResult]) -> Vec<(&'static str, Result<(), String>)> {
    let all = found(results, formats());
    let menus = [("the paper's menu", 0), ("ours", FORMATS.len())];
    let judged = menus.into_iter().filter_map(|(name, at)| {
        let rows = all.get(at..at + FORMATS.len())?;
        let (poor, good) = rows.split_at(3);
        let none: Vec<_> = good.iter().map(|good| (*good, rows[0])).collect();
        let pairs = good.iter().flat_map(|good| poor.iter().map(|poor| (*good, *poor)));
        let held = more(RIGHT, &none).and(not_less(RIGHT, &pairs.collect::<Vec<_>>()));
        Some((name, held))
    });
    judged.collect()
}

/// Whether the scores of useful tools have risen from 0 at the end, and those of noise have not.
fn useful_rise(result: &CellResult) -> Result<(), String> {
    let at_end =
        |tool: &str| Difference::over(result.seeds.iter().map(|seed| score(seed, tool, u32::MAX)));
    let tools: Vec<_> = USEFUL.iter().chain(&NOISE).map(|tool| (*tool, at_end(tool))).collect();
    let all: Vec<_> = tools.iter().map(|(_, end)| *end).collect();
    tools.into_iter().zip(clear(&all)).try_for_each(|((tool, end), clear)| {
        judged(end)?;
        let rises = clear && end.mean > 0.0;
        held(rises == USEFUL.contains(&tool), || format!("{tool} ends at {end}"))
    })
}

fn holds(result: &CellResult) -> Result<(), String> {
    let count = result.seeds.iter().filter(|seed| took_over(seed)).count();
    let all = result.seeds.len();
    held(all > 1, || ONE_SEED.to_owned())?;
    held(count * 5 >= all * 4, || format!("in {count} of {all} seeds"))
}

/// From how many tools on ToolNet costs less than ReAct, without a cache and with one.
fn cheaper(results: &[&CellResult]) -> Option<String> {
    let counts: Vec<_> = results.chunks_exact(4).collect();
    // Without a cache: the menus' tools; with one: the cheaper tools, also with an evaluator.
    let ratio = |of: &[&CellResult], at: usize| {
        let cache = at.min(1);
        dollars(of[at + 1])[cache] / dollars(of[0])[cache]
    };
    let from = |at: usize| {
        let dearer = counts.iter().rposition(|of| ratio(of, at) >= 1.0);
        let first = dearer.map_or(0, |last| last + 1);
        counts.get(first).map(|of| match of[0].cell.trial.tools {
            Some(tools) => format!("from {tools} tools on"),
            None => "at every number of tools".to_owned(),
        })
    };
    let said = |at| from(at).unwrap_or_else(|| "at no number of tools".to_owned());
    let few = |at| counts.first().map(|of| ratio(of, at));
    Some(format!(
        "Prompt cache: ToolNet costs less than ReAct {} without a cache, {} with one, {} with one and an evaluator for each \
         task; with few tools and a cache it costs {:.2} times as much, with an evaluator {:.2} times",
        said(0),
        said(1),
        said(2),
        few(1)?,
        few(2)?
    ))
}
