//! Output of a run: every event, or a line for each ended task.

use std::io;

use tokio::sync::mpsc::UnboundedSender;

use super::Prints;
use crate::domain::words::{clipped, counted};
use crate::domain::{
    BreakpointEvent, Command, ConsentEvent, EmbeddingEvent, Event, GraphEvent, ModelCallEvent,
    PlanEvent, ProgramEvent, ProgramVerdict, Record, SessionEvent, State, TaskEvent, TaskId,
    state::Keeps, state::RECENT,
};
use crate::engine::{DOLLARS_REACHED, MODEL_UNUSABLE};
use crate::files::safe_json::safe;
use crate::papers::agent_verdict;
use crate::papers::resilience::{self, Resilience};
use crate::report::live_report::{Folded, Sums};
use crate::report::{Graded, Measures, Quality, Totals};
use crate::scenario::Observed;
use crate::shell::colour::{self, Painted};
use crate::shell::out;
use crate::ui::text::clean;
use crate::ui::wording::{not_embedded, outcome_unknown, program};

/// Why a session ends when its output has no reader.
pub(super) const UNREAD: &str = "output closed (pipe)";

/// The output during a run: every event, or a line for each ended task.
pub(super) struct Output {
    prints: Prints,
    state: State,
    pub folded: Folded,
    /// Sums for the check of a scenario; `None` without one.
    pub observed: Option<Observed>,
    /// Why the output stopped.
    pub lost: Option<io::Error>,
    pub is_out_of_dollars: bool,
    /// Why a model cannot be used, if that ended the session.
    pub unusable: Option<String>,
    /// Why the session ended.
    pub ended: Option<String>,
    /// Sender of the command that stops the session.
    stop: UnboundedSender<Command>,
}

impl Output {
    pub fn new(
        prints: Prints,
        folded: Folded,
        observed: Option<Observed>,
        stop: UnboundedSender<Command>,
    ) -> Self {
        Self {
            prints,
            state: State::keeping(Keeps::Tasks(RECENT)),
            folded,
            observed,
            lost: None,
            is_out_of_dollars: false,
            unusable: None,
            ended: None,
            stop,
        }
    }

    /// Shows a record. Without a reader of its output the session stops, since each further task may cost money. The
    /// journal still gets all records.
    pub fn show(&mut self, record: &Record) {
        if let Event::Session(SessionEvent::SessionEnded { why, .. }) = &record.event {
            self.is_out_of_dollars = why.starts_with(DOLLARS_REACHED);
            self.unusable = why.starts_with(MODEL_UNUSABLE).then(|| why.clone());
            self.ended = Some(why.clone());
        }
        self.state.apply(record);
        if let Some(observed) = &mut self.observed {
            observed.take(&self.state, record);
        }
        let folded = self.folded.take(&self.state, record);
        if self.lost.is_some() {
            return;
        }
        if let Err(error) = folded.and_then(|()| self.write(record)) {
            let why = match error.kind() {
                io::ErrorKind::BrokenPipe => UNREAD.to_owned(),
                _ => format!("cannot write the output: {error}"),
            };
            // An ended session does not listen.
            let _ = self.stop.send(Command::StopBecause { why });
            self.lost = Some(error);
        }
    }

    fn write(&self, record: &Record) -> io::Result<()> {
        if self.prints == Prints::Json {
            return out::write(safe(&serde_json::to_string(record)?).into_owned() + "\n");
        }
        match self.told(&record.event) {
            Some(text) => out::write(text + "\n"),
            None => Ok(()),
        }
    }

    /// The lines about an event.
    fn told(&self, event: &Event) -> Option<Painted> {
        let text = match event {
            Event::Session(SessionEvent::SessionOpened { opening }) => {
                let models = match self.state.models.any_simulated() {
                    true => "SIMULATED model",
                    false => "configured models",
                };
                let limit = self.state.dollar_limit();
                let limit = limit.map(|most| format!(", at most {most:.2} dollars"));
                let (strategy, workspace) = (&opening.strategy, clean(&opening.workspace));
                let (seed, limit) = (opening.seed, limit.unwrap_or_default());
                format!("{strategy} on {workspace} with {models}, seed {seed}{limit}")
            }
            Event::Task(TaskEvent::TaskFinished { task, answer, correct, .. }) => {
                return self.task(*task, answer.as_deref(), *correct);
            }
            Event::ModelCall(ModelCallEvent::ModelCallFailed { error, .. }) => aside(&error.text),
            Event::Embedding(EmbeddingEvent::EmbeddingFailed { error, .. }) => {
                aside(&not_embedded(error))
            }
            Event::ModelCall(ModelCallEvent::ModelCallRetried { why, .. }) => {
                aside(&format!("retrying: {why}"))
            }
            Event::Plan(PlanEvent::PlanRefused { why, .. }) => {
                aside(&format!("plan rejected: {why}"))
            }
            Event::Program(
                event @ (ProgramEvent::ProgramRefused { .. }
                | ProgramEvent::ProgramEnded { how: ProgramVerdict::Failed, .. }
                | ProgramEvent::ToolBlamed { .. }),
            ) => aside(&program(event)),
            Event::Graph(GraphEvent::EvaluationRefused { why, .. }) => {
                aside(&format!("evaluation refused: {why}"))
            }
            Event::Session(SessionEvent::Noticed { text }) => aside(text),
            Event::Consent(ConsentEvent::OutcomeUnknown { effect }) => {
                aside(&outcome_unknown(*effect))
            }
            Event::Breakpoint(BreakpointEvent::BreakpointHit { breakpoint, text, .. })
                if !text.is_empty() =>
            {
                aside(&format!("breakpoint {breakpoint}: {text}"))
            }
            Event::Session(SessionEvent::SessionEnded { why, .. }) => self.end(why).join("\n"),
            _ => return None,
        };
        Some(text.into())
    }

    /// The line of an ended task, with the grader's verdict.
    fn task(&self, task: TaskId, answer: Option<&str>, correct: Option<bool>) -> Option<Painted> {
        let state = self.state.task(task)?;
        let mark = match correct {
            Some(true) => colour::paint(colour::GOOD, "right "),
            Some(false) => colour::paint(colour::BAD, "WRONG "),
            None => " ".repeat(6).into(),
        };
        let answer = answer.map(|answer| one_line(answer, 40));
        let rest = format!(
            " {:>2} {:<5}  {:>6} tokens  {}  → {}",
            state.steps.len(),
            if state.steps.len() == 1 { "step" } else { "steps" },
            state.tokens(),
            one_line(&state.task.text, 60),
            answer.as_deref().unwrap_or("–"),
        );
        let ended = format!("{task:>4}  {:<12} ", state.ended_as().unwrap_or_default());
        let line = Painted::from(ended) + mark + rest;
        let Some(grading) = &state.grading else { return Some(line) };
        let grade = match grading.right {
            Some(true) => "right",
            Some(false) => "WRONG",
            None => "no verdict",
        };
        Some(line + "\n" + aside(&format!("grader: {grade}: {}", grading.why)))
    }

    /// The lines about the whole session.
    fn end(&self, why: &str) -> Vec<String> {
        let Sums { totals, measures, quality, marks: _ } = self.folded.sums(&self.state);
        if totals.tasks == 0 {
            return vec!["no tasks to run".to_owned()];
        }
        let mut lines = vec![budget(&measures, totals.with_gold, self.prints == Prints::Papers)];
        for (id, known) in &self.state.breakpoints {
            let hits = counted(known.hits as usize, "hit");
            lines.push(format!("breakpoint {id} {}: {hits}", clean(&known.spec.to_string())));
        }
        let laps = self.state.laps_in_order();
        for (id, fault) in &self.state.faults {
            let said = agent_verdict::verdict(&self.state, (*id, fault), &laps, None);
            let line = |said: String| {
                format!("fault {}: {}", clean(&fault.spec.to_string()), clean(&said))
            };
            lines.extend(said.map(line));
        }
        if let Some((fault, taken)) = Resilience::of_session(&self.state) {
            let (fault, said) = (fault.spec.to_string(), resilience::sentence(&taken, None));
            lines.push(format!("resilience to {}: {said}", clean(&fault)));
        }
        if let Some(score) = quality.calls {
            lines.push(format!(
                "calls: {} of {} reference calls made with the right arguments ({:.1} %); {} made in all",
                score.right,
                score.expected,
                100.0 * score.accuracy(),
                score.made,
            ));
        }
        if let Some(grader) = quality.grader {
            lines.push(graded(&quality, &grader));
        }
        lines.push(format!(
            "{}: {} of {} answered, {}; {}, {} tokens in ({} cached), {} out, {:.2} credits",
            clean(why),
            totals.answered,
            totals.tasks,
            right(&totals),
            counted(totals.calls, "tool call"),
            totals.tokens_in,
            totals.tokens_cached,
            totals.tokens_out,
            totals.cost,
        ));
        lines
    }
}

/// Spending against the budget, in the terms of BTP if they are wanted. `known`: tasks whose right answer is known.
fn budget(measures: &Measures, known: usize, papers: bool) -> String {
    let Measures { budget, ac, pr, pbc, rfbc, rfbc_authors, .. } = measures;
    let refused = counted(measures.refusals, "call");
    let share = |of: f64| format!("{:.1} %", 100.0 * of);
    if !papers {
        let solved = match known {
            0 => String::new(),
            _ => format!("{} of the tasks solved within budget, ", share(*pbc)),
        };
        let over = share(*rfbc_authors);
        return format!(
            "budget {budget:.2} credits per task: {ac:.2} spent on average, {solved}{over} over budget, {refused} refused"
        );
    }
    format!(
        "budget {budget:.2} credits per task: average cost (AC) {ac:.2}, solved (PR) {}, solved within budget (PBC) {}, \
         failed over budget (RFBC) {}, over budget in all {}, {refused} refused",
        share(*pr),
        share(*pbc),
        share(*rfbc),
        share(*rfbc_authors),
    )
}

/// The number of right answers, of those that can be judged.
fn right(totals: &Totals) -> String {
    match totals.with_gold {
        0 => "no right answers known".to_owned(),
        known => format!("{} of {known} right", totals.correct),
    }
}

/// A note on a task, below its line or before it.
fn aside(text: &str) -> String {
    format!("      {}", one_line(text, 200))
}

/// A line about the grader's verdicts on all answers, and how far the measures that compare words agree.
fn graded(quality: &Quality, grader: &Graded) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let or_none = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), percent);
    let dollars = grader.dollars.map_or("unknown".to_owned(), |dollars| format!("${dollars:.4}"));
    format!(
        "grader: {} of {} right ({}), {} without a verdict; exact match {}, token F1 {}; it agrees with \
         the lexical verdict on {}, with exact match on {}; grading cost {} tokens in, {} out, {dollars}",
        grader.right,
        grader.tasks,
        percent(grader.share),
        grader.without_verdict,
        or_none(quality.exact_match),
        or_none(quality.f1),
        percent(grader.agrees_with_lexical),
        percent(grader.agrees_with_exact_match),
        grader.tokens_in,
        grader.tokens_out,
    )
}

/// The beginning of a text from a model or a file, safe for a terminal.
fn one_line(text: &str, most: usize) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    clipped(&clean(&words.join(" ")), most)
}
