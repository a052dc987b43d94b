//! What ToolNet's figures and tables show, on the sample tasks with the simulated model: nothing is
//! set but the seed, the fault and the knobs. Time is real, since some sample tools run programs and
//! threads; the seeds run side by side.

use std::{rc::Rc, sync::Arc};

use tokio::sync::mpsc;
use toolyard::app::session::{SessionSpec, TaskSource};
use toolyard::app::workspace::Workspace;
use toolyard::domain::{Knob, State, ToolName};
use toolyard::engine::{self, Setup};
use toolyard::report::{Report, TaskReport};
use toolyard::stage::sample::Sample;
use toolyard::stage::simulated::{Simulated, SimulatedSettings};
use toolyard::tool::ToolBox;

const PRIMARY: &str = "search_web";
const BACKUP: &str = "search_backup";

struct Run {
    seed: u64,
    strategy: &'static str,
    tasks: usize,
    faults: &'static [&'static str],
    knobs: &'static [(Knob, f64)],
}

impl Default for Run {
    fn default() -> Self {
        Self { seed: 1, strategy: "toolnet", tasks: 100, faults: &[], knobs: &[] }
    }
}

impl Run {
    fn report(&self) -> Report {
        Report::of(&self.state())
    }

    fn state(&self) -> State {
        self.records().1
    }

    /// Every event as a line without its time, and the last state.
    fn records(&self) -> (Vec<String>, State) {
        // Some of the sample tools are programs.
        toolyard::process::set_reaper(crate::PROGRAM.into());
        let workspace = Workspace::open(None, Some(Sample::General), &[]).unwrap();
        let tasks = workspace.tasks.clone();
        let model = Simulated::new(
            "simulated".into(),
            SimulatedSettings::default(),
            self.seed,
            tasks.clone(),
        );
        let spec = SessionSpec {
            seed: Some(self.seed),
            strategy: Some(self.strategy.parse().unwrap()),
            knobs: self.knobs.iter().copied().collect(),
            tasks: TaskSource::List(tasks),
            tasks_limit: Some(self.tasks),
            faults: self.faults.iter().map(|spec| spec.parse().unwrap()).collect(),
            ..SessionSpec::default()
        };
        let (graph, scores) = (workspace.known_graph(), workspace.known_scores());
        let tools = ToolBox::from_manifests(workspace.manifests);
        let setup = spec.setup_with(vec![Rc::new(model)], tools).unwrap();
        let setup = Setup { graph, scores, ..setup };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let lines = Rc::new(std::cell::RefCell::new(Vec::new()));
        let seen = Rc::clone(&lines);
        let listener = Box::new(move |record: &Arc<toolyard::domain::event::Record>| {
            seen.borrow_mut().push(serde_json::to_string(&record.event).unwrap());
        });
        let (_commands, wishes) = mpsc::unbounded_channel();
        let state = runtime.block_on(engine::run(setup, wishes, listener)).unwrap();
        (lines.take(), state)
    }
}

/// The reports of these seeds, run side by side.
fn reports(seeds: std::ops::RangeInclusive<u64>, run: impl Fn(u64) -> Run + Sync) -> Vec<Report> {
    let run = &run;
    std::thread::scope(|scope| {
        let threads: Vec<_> = seeds.map(|seed| scope.spawn(move || run(seed).report())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// How many calls of a tool there were in these tasks.
fn calls(report: &Report, tool: &str, tasks: std::ops::RangeInclusive<u32>) -> usize {
    let of = |task: &TaskReport| task.tools.iter().filter(|name| name.as_str() == tool).count();
    report.tasks.iter().filter(|task| tasks.contains(&task.n.0)).map(of).sum()
}

/// A tool's score after this task.
fn score(report: &Report, tool: &str, after: u32) -> f64 {
    let history = report.score_history.get(&ToolName::from(tool));
    let mut points = history.into_iter().flatten().filter(|(task, _)| task.0 <= after);
    points.next_back().map_or(0.0, |(_, score)| *score)
}

const BROKEN: &[&str] = &["search_web:error:from-task=50"];

#[test]
fn figure_4_a_backup_takes_over_when_the_favourite_breaks() {
    let mut held = 0;
    for report in reports(1..=10, |seed| Run { seed, faults: BROKEN, ..Run::default() }) {
        let before = calls(&report, PRIMARY, 1..=49) > calls(&report, BACKUP, 1..=49);
        let after = calls(&report, BACKUP, 65..=100) > 2 * calls(&report, PRIMARY, 65..=100);
        let fell = score(&report, PRIMARY, 65) < score(&report, PRIMARY, 49);
        let fell_on = score(&report, PRIMARY, 100) < score(&report, PRIMARY, 65);
        let rose = score(&report, BACKUP, 65) > score(&report, BACKUP, 49);
        held += usize::from(before && after && fell && fell_on && rose);
    }
    assert!(held >= 9, "held for {held} of 10 seeds");
}

#[test]
fn figure_4_does_not_hold_with_learning_frozen() {
    let mut held = 0;
    let frozen = &[(Knob::Learn, 0.0)];
    let run = |seed| Run { seed, faults: BROKEN, knobs: frozen, ..Run::default() };
    for report in reports(1..=10, run) {
        let after = calls(&report, BACKUP, 65..=100) > calls(&report, PRIMARY, 65..=100);
        held += usize::from(after);
        assert_eq!(score(&report, PRIMARY, 100), 0.0);
    }
    assert!(held <= 1, "the backup took over for {held} of 10 seeds without learning");
}

#[test]
fn figure_3_useful_tools_rise_and_noisy_ones_do_not() {
    // With the paper's menus: a slip hits a tool the more often the fewer there are to choose from.
    let knobs = &[(Knob::FixTools, 0.0)];
    for report in reports(1..=3, |seed| Run { seed, knobs, ..Run::default() }) {
        let seed = report.seed;
        for useful in [PRIMARY, "calculator"] {
            assert!(score(&report, useful, 100) >= 5.0, "{useful}, seed {seed}");
        }
        for noisy in ["search_archive", "lookup_index", "calculator_lite"] {
            assert!(score(&report, noisy, 100) <= 0.0, "{noisy}, seed {seed}");
        }
    }
}

#[test]
fn toolnet_takes_fewer_tokens_than_react_and_is_right_nearly_as_often() {
    let run = |strategy| move |seed| Run { seed, tasks: 85, strategy, ..Run::default() };
    let sums = |strategy| {
        let totals = reports(1..=10, run(strategy)).into_iter().map(|report| report.totals);
        totals.fold((0, 0), |(tokens, correct), run| {
            (tokens + run.tokens_in + run.tokens_out, correct + run.correct)
        })
    };
    // Over ten seeds: a single run of 85 tasks is one slip of the model up or down.
    let ((toolnet, right), (react, react_right)) = (sums("toolnet"), sums("react"));
    // The evaluator's tokens count too.
    assert!(toolnet * 100 < react * 70, "{toolnet} tokens, {react} with react");
    // Its menus leave out a tool that is needed now and then.
    assert!(right * 100 >= react_right * 95, "{right} right, {react_right} with react");
}

#[test]
fn one_seed_gives_one_journal_and_another_gives_another() {
    let run = |seed| Run { seed, tasks: 40, faults: &["search_web:error:p=0.3"], ..Run::default() };
    let (first, _) = run(5).records();
    let (again, _) = run(5).records();
    let (other, _) = run(6).records();
    assert_eq!(first, again);
    assert_ne!(first, other);
}

#[test]
fn the_simulated_model_says_that_it_is_simulated() {
    let report = Run { tasks: 1, ..Run::default() }.report();
    assert!(report.simulated);
    let state = Run { tasks: 1, ..Run::default() }.state();
    let model = &state.models.known["simulated"];
    assert!(model.spec.simulated && model.spec.source.starts_with("simulated"));
}
