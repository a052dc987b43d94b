//! The appearance of each line of the transcript: the important part first (thought, tool call, result or score),
//! the rest dim after it.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::sheet::TranscriptSheet;
use crate::domain::state::{TranscriptLine, What};
use crate::domain::{
    BudgetPlan, By, EffectId, EffectState, Matter, MenuReason, ModelCallPhase, ModelCallState,
    Plan, Role, State, StepState, TaskState, ToolCallPhase, ToolCallState, words::counted,
};
use crate::panes::calls::status::{self, CallStatus};
use crate::panes::{budget_words, format, glyph, graph, inline_json, tasks, tools};
use crate::symbols::{DONE, EDITED, FAILED, INJECTED, LEADS, REFUSED, WAITING};
use crate::{marks, text, theme::Theme, wording};

/// The most rows of a text: in an unselected line, and in the selected one.
const ROWS: (usize, usize) = (3, 10);
/// A plan may take this many times those rows.
const PLAN: usize = 4;
/// Columns of a tool's name where names stand below each other.
const NAME: usize = 20;

/// The inputs for an entry.
#[derive(Clone, Copy)]
pub struct From<'a> {
    pub state: &'a State,
    pub theme: &'a Theme,
    /// Microseconds since the session was opened.
    pub now: u64,
    /// The word for who presses the keys: `you` or `tour`.
    pub person: &'static str,
}

/// An entry being written.
struct TranscriptEntry<'a> {
    cx: From<'a>,
    sheet: TranscriptSheet,
}

/// The rows of a line of the transcript, at least one.
pub fn rows(
    cx: From<'_>,
    line: &TranscriptLine,
    width: usize,
    selected: bool,
) -> Vec<Line<'static>> {
    let most = if selected { ROWS.1 } else { ROWS.0 };
    let mut entry = TranscriptEntry { cx, sheet: TranscriptSheet::new(width, most) };
    if entry.write(line).is_none() {
        entry.sheet.row(&[("note  of an unknown task", cx.theme.dim)]);
    }
    if entry.sheet.rows.is_empty() {
        entry.sheet.rows.push(Line::default());
    }
    entry.sheet.rows
}

impl<'a> TranscriptEntry<'a> {
    /// `None` if the line's subject is unknown, as in a damaged journal.
    fn write(&mut self, line: &TranscriptLine) -> Option<()> {
        let state = self.cx.state;
        let theme = self.cx.theme;
        let task = line.task.and_then(|task| state.task(task));
        match &line.what {
            What::TaskStarted => self.task_started(task?),
            What::TryStarted { number } => self.try_started(*number, task?),
            What::Step { index } => self.step(task?.steps.get(*index as usize)?),
            What::ModelCall { call } => self.model_call(state.model_call(*call)?),
            What::ToolCall { call } => self.call(state.tool_call(*call)?),
            What::Evaluated { learned } => self.evaluated(task?, *learned),
            What::TaskFinished => self.task_finished(task?),
            What::BudgetPlanned { why, plan, before } => {
                self.planned(why, plan, before.as_deref());
                let beyond = task.filter(|_| before.is_none());
                if let Some(why) = beyond.and_then(|task| budget_words::beyond(state, task)) {
                    self.sheet.text(("    ", Style::new()), (&why, theme.warn));
                }
            }
            What::Plan { plan } => self.plan(plan),
            What::Told { event } => {
                let (who, head, words) = match event.by() {
                    None => ("note  ".to_owned(), theme.warn, theme.text),
                    Some(By::User) => {
                        (format!("{EDITED} {}: ", self.cx.person), theme.user, theme.user)
                    }
                    Some(By::Engine) => ("engine: ".to_owned(), theme.user, theme.user),
                    Some(By::Undo(_)) => (format!("{EDITED} undone: "), theme.user, theme.user),
                    Some(By::Redo(_)) => (format!("{EDITED} redone: "), theme.user, theme.user),
                };
                self.sheet.text((&who, head), (&wording::told(event), words));
            }
            What::Newer { fields } => {
                self.sheet.text(("note  ", theme.warn), (&wording::newer(fields), theme.text));
            }
        }
        Some(())
    }

    fn task_started(&mut self, task: &TaskState) {
        let title = self.cx.theme.title;
        let head = format!("task {}  ", task.id);
        self.sheet.text((&head, title), (&task.task.text, title));
    }

    fn try_started(&mut self, number: u32, task: &TaskState) {
        let theme = self.cx.theme;
        self.sheet.row(&[(&format!("attempt {number}"), theme.title)]);
        if let Some(last) = task.reflections.last() {
            self.sheet.text(("  reflector ", theme.accent), (last, theme.text));
        }
    }

    fn step(&mut self, step: &StepState) {
        let theme = self.cx.theme;
        let format = format::weight_format(&self.cx.state.knobs);
        let mut menu = String::new();
        for item in step.menu.iter() {
            // A line has room for a few dozen tools; a menu may hold a thousand.
            if menu.len() > 1000 {
                break;
            }
            menu.push_str(if menu.is_empty() { "" } else { " · " });
            menu.push_str(if item.why == MenuReason::Explore { "+" } else { "" });
            menu.push_str(graph::shown_name(item.tool.as_str()));
            if let Some(weight) = item.weight {
                menu.push(' ');
                menu.push_str(&format.show(*weight));
            }
        }
        let head = format!("step {} at {}", step.step, step.from);
        let menu = match self.cx.state.cannot(Matter::Menus) {
            None => format!("  menu {menu}"),
            // A watched agent offers all its tools.
            Some(_) => String::new(),
        };
        self.sheet.row(&[(&head, theme.graph_here), (&menu, theme.dim)]);
    }

    fn model_call(&mut self, call: &ModelCallState) {
        let theme = self.cx.theme;
        let style = match call.role {
            Role::Actor
            | Role::Reflector
            | Role::Planner
            | Role::Solver
            | Role::Programmer
            | Role::Prober => theme.text,
            Role::Classifier | Role::Evaluator | Role::Judge | Role::Grader | Role::Attributor => {
                theme.dim
            }
        };
        // A watched agent has no roles.
        let role = &match self.cx.state.is_of_guest(call.id) {
            false => format!("  {} ", call.role),
            true => "  model ".to_owned(),
        };
        match &call.phase {
            ModelCallPhase::Requested => self.asking(call, role, "waits for its call"),
            ModelCallPhase::Running if call.partial.is_empty() => {
                self.asking(call, role, "is running")
            }
            ModelCallPhase::Running => self.partial(call, role),
            ModelCallPhase::Failed { error } => {
                let text = format!("{} failed: {}", call.model, error.text);
                self.sheet.text((&format!("  {FAILED} "), theme.bad), (&text, theme.bad));
                self.used(call);
            }
            ModelCallPhase::Done { reply } => {
                let said = reply.said();
                let calls = reply.without_text();
                // The plan is shown as parsed, and each verdict has a line of its own.
                let instead = match call.role {
                    _ if self.is_followed(call) => Some("wrote a plan"),
                    Role::Evaluator => Some("judged"),
                    _ if said.is_empty() => Some(&*calls),
                    _ => None,
                };
                let fields = inline_json::of_text(said, self.sheet.most * self.sheet.width);
                match instead {
                    Some(words) => self.sheet.row(&[(role, theme.accent), (words, theme.dim)]),
                    None => {
                        let said = fields.as_deref().unwrap_or(said);
                        self.sheet.text((role, theme.accent), (said, style));
                    }
                }
                for repair in &reply.repairs {
                    self.sheet.suffix(&format!("  ({repair})"), theme.warn);
                }
                self.used(call);
            }
        }
        for mark in self.cx.state.marks(call.id) {
            let theme = self.cx.theme;
            self.sheet.text(("    note: ", theme.warn), (&marks::short(&mark), theme.warn));
        }
        self.injected(call);
    }

    /// Whether this planner reply is the plan that the task follows.
    fn is_followed(&self, call: &ModelCallState) -> bool {
        let Some(task) = self.cx.state.task(call.task) else { return false };
        let planner = |call: &&EffectId| {
            self.cx.state.model_call(**call).is_some_and(|call| call.role == Role::Planner)
        };
        let last = || task.model_calls.iter().rfind(planner);
        call.role == Role::Planner && task.work.plan.is_some() && last() == Some(&call.id)
    }

    /// Writes the steps of a plan, each with its tool calls.
    fn plan(&mut self, plan: &Plan) {
        let theme = self.cx.theme;
        let calls = counted(plan.evidence().count(), "call");
        let head = format!("{}, {calls}", counted(plan.steps.len(), "plan"));
        self.sheet.row(&[("plan  ", theme.accent), (&head, theme.title)]);
        let most = self.sheet.rows.len() + self.sheet.most * PLAN;
        for (n, step) in (1..).zip(&plan.steps) {
            let head = format!("  {n:>2} ");
            self.sheet.text((&head, theme.accent), (&step.text, theme.text));
            for evidence in &step.evidence {
                let id = format!("     {} ", evidence.id.mark());
                let input = format!("[{}]", text::start(&evidence.input, 4 * self.sheet.width));
                let tool = evidence.tool.as_str();
                self.sheet.row(&[(&id, theme.dim), (tool, theme.accent), (&input, theme.text)]);
            }
            if self.sheet.rows.len() > most {
                self.sheet.rows.truncate(most - 1);
                self.sheet.row(&[("     … opening it shows all", theme.dim)]);
                break;
            }
        }
    }

    /// Writes a model call that has no reply yet.
    fn asking(&mut self, call: &ModelCallState, role: &str, what: &str) {
        let theme = self.cx.theme;
        let model = call.model.to_string();
        let what = format!(" {what}");
        self.sheet.row(&[(role, theme.accent), (&model, theme.accent), (&what, theme.dim)]);
        match self.cx.state.control.hold_of(call.lane) {
            Some(hold) => {
                let time = text::span(self.cx.now.saturating_sub(hold.since));
                let held = format!("  held {}, {time}", hold.boundary.name());
                self.sheet.suffix(&held, theme.paused);
            }
            None if call.started.is_some() => {
                let elapsed = format!("  {}", text::span(call.elapsed(self.cx.now)));
                self.sheet.suffix(&elapsed, theme.running);
            }
            None => {}
        }
    }

    /// Writes the end of the partial reply.
    fn partial(&mut self, call: &ModelCallState, role: &str) {
        let theme = self.cx.theme;
        let before = call.partial.len().saturating_sub(self.sheet.most * 200);
        let before = text::start(&call.partial, before).len();
        let cut = if before > 0 { "…" } else { "" };
        let text = format!("{cut}{}▏", &call.partial[before..]);
        let mut whole = TranscriptSheet::new(self.sheet.width, usize::MAX);
        whole.text((role, theme.accent), (&text, theme.text));
        let first = whole.rows.len().saturating_sub(self.sheet.most);
        self.sheet.rows.extend(whole.rows.drain(first..));
    }

    /// Adds the usage of a model call at the right: origin, retries, tokens and time.
    fn used(&mut self, call: &ModelCallState) {
        let mut used: Vec<String> =
            wording::origin(call.origin).map(str::to_owned).into_iter().collect();
        used.extend(call.request.left_out.map(|left_out| left_out.to_string()));
        if let Some(usage) = call.usage() {
            if call.retries > 0 {
                used.push(counted(call.retries, "retry"));
            }
            let model = self.cx.state.models.known.get(&call.model);
            let simulated = model.is_some_and(|model| model.spec.simulated);
            let about = if usage.estimated && !simulated { "≈" } else { "" };
            let (sent, got) = (text::count(usage.tokens_in), text::count(usage.tokens_out));
            let time = text::span(call.elapsed(self.cx.now));
            used.push(format!("{} {about}{sent}→{got} tok {time}", call.model));
        }
        if !used.is_empty() {
            self.sheet.at_right(&used.join(", "), self.cx.theme.dim);
        }
    }

    fn call(&mut self, call: &ToolCallState) {
        let cx = self.cx;
        let theme = cx.theme;
        let width = self.sheet.width;
        let hold = cx.state.control.hold_of(call.lane);
        let CallStatus { word, style, .. } = status::of_call(call, hold, theme);
        let time = match hold {
            Some(hold) => {
                let held = text::span(cx.now.saturating_sub(hold.since));
                format!(" {held}, {}", hold.boundary.name())
            }
            None if call.started.is_some() => format!(" {}", text::span(call.elapsed(cx.now))),
            None => String::new(),
        };
        let origin = wording::origin(call.origin).map_or(String::new(), |from| format!(", {from}"));
        let edited = if call.edits > 0 { format!("{EDITED} ") } else { String::new() };
        let state = format!("{edited}{word}{time}{origin}");
        if cx.state.watched.is_some() {
            return self.called(call, (&state, style));
        }
        // The status keeps its place at the right; the arguments are truncated before it.
        let evidence =
            call.evidence.map_or(String::new(), |evidence| format!("{} ", evidence.mark()));
        let by = if call.is_by_hand() { "you: " } else { "" };
        let taken = text::width(&state) + text::width(&evidence) + text::width(by);
        let room = width.saturating_sub(taken + 3);
        let arguments = format!("({})", inline_json::arguments(&call.arguments, width));
        let name = text::cut(call.tool.as_str(), room.saturating_sub(6)).into_owned();
        let arguments =
            text::cut(&arguments, room.saturating_sub(4 + text::width(&name))).into_owned();
        self.sheet.row(&[
            (&format!("  {LEADS} "), theme.accent),
            (&evidence, theme.dim),
            (by, theme.user),
            (&name, theme.accent),
            (&arguments, theme.text),
        ]);
        self.sheet.at_right(&state, style);
        self.result(call);
        self.judged(call);
        self.injected(call);
    }

    /// Writes a call of a watched agent with all its arguments, as far as there are rows.
    fn called(&mut self, call: &ToolCallState, (state, style): (&str, Style)) {
        let theme = self.cx.theme;
        let (width, most) = (self.sheet.width, self.sheet.most);
        let name = text::cut_middle(call.tool.as_str(), width.saturating_sub(6));
        let arguments = inline_json::arguments(call.shown_arguments(), width * most);
        let whole = format!("{name}({arguments})");
        let head = format!("  {LEADS} ");
        self.sheet.text((&head, theme.accent), (&whole, theme.text));
        // The name is the first word of the first line.
        if let Some(first) = self.sheet.rows.iter_mut().rfind(|row| row.spans[0].content == head)
            && let Some(said) = first.spans.pop()
        {
            let (name, rest) = said.content.split_at(name.len().min(said.content.len()));
            first.push_span(Span::styled(name.to_owned(), theme.accent));
            first.push_span(Span::styled(rest.to_owned(), theme.text));
        }
        let fault = call.injected.filter(|_| call.is_over());
        let injected = fault.map(|fault| {
            let kind = self.cx.state.fault_kind(fault);
            (format!("{INJECTED} {kind} injected"), theme.injected)
        });
        let (said, style) = injected.unwrap_or_else(|| (state.to_owned(), style));
        self.sheet.at_right_or_below("    ", &said, style);
        self.result(call);
    }

    /// Writes the fault that fired on an effect.
    fn injected(&mut self, effect: &EffectState) {
        let Some(fault) = effect.injected else { return };
        let kind = self.cx.state.fault_kind(fault);
        let note = format!("    {INJECTED} injected {kind} (fault {fault})");
        self.sheet.row(&[(&note, self.cx.theme.injected)]);
    }

    fn result(&mut self, call: &ToolCallState) {
        let theme = self.cx.theme;
        match &call.phase {
            ToolCallPhase::Requested | ToolCallPhase::Running => {}
            ToolCallPhase::Refused { why, reason } => {
                let why = format!("{}: {why}", reason.name());
                self.sheet.text((&format!("    {REFUSED} "), theme.warn), (&why, theme.warn));
            }
            ToolCallPhase::Failed { error } => {
                let head = format!("    {FAILED} ");
                self.sheet.text((&head, theme.bad), (&error.text, theme.bad));
            }
            ToolCallPhase::Done { output } => {
                let (text, style) = match output.text.trim() {
                    "" => ("(nothing)", theme.dim),
                    text => (text, theme.text),
                };
                self.sheet.text(("    = ", theme.good), (text, style));
                if let Some(bytes) = output.cut_from {
                    let cut = format!("  (cut; {} bytes in all)", text::count(bytes));
                    self.sheet.suffix(&cut, theme.warn);
                }
            }
        }
    }

    /// Writes the budget plan that applies from here on, and its changes.
    fn planned(&mut self, why: &str, plan: &BudgetPlan, before: Option<&BudgetPlan>) {
        let theme = self.cx.theme;
        match before {
            Some(_) => {
                let why = format!(" · {why}");
                self.sheet.row(&[("replanned", theme.accent), (&why, theme.text)]);
            }
            // The reason for a first plan is obvious.
            None => self.sheet.row(&[("budget plan", theme.accent)]),
        }
        self.sheet.at_right_or_below("    ", &budget_words::sums(plan, before), theme.dim);
        let changes = before.map(|before| budget_words::changes(before, plan)).unwrap_or_default();
        let uses = match changes.as_str() {
            "" => budget_words::uses(plan),
            changes => format!("{}  ({changes})", budget_words::uses(plan)),
        };
        self.sheet.text(("    ", Style::new()), (&uses, theme.text));
    }

    /// Writes whether the result helped, if that was judged.
    fn judged(&mut self, call: &ToolCallState) {
        match call.helpful {
            Some(true) => self.sheet.suffix(&format!("  {DONE} helped"), self.cx.theme.good),
            Some(false) => {
                self.sheet.suffix(&format!("  {WAITING} did not help"), self.cx.theme.warn)
            }
            None => {}
        }
    }

    fn evaluated(&mut self, task: &TaskState, learned: bool) {
        let theme = self.cx.theme;
        for verdict in &task.verdicts {
            let score = f64::from(verdict.score);
            let style = tools::signed_style(theme, score);
            let name = text::fit(verdict.tool.as_str(), NAME);
            let score = format!(" {:>2}  ", glyph::signed(score));
            let (head, reason) = (("  score ", theme.accent), (&*verdict.reason, theme.dim));
            self.sheet.row(&[head, (&name, theme.text), (&score, style), reason]);
        }
        if task.verdicts.is_empty() {
            self.sheet.row(&[("  score ", theme.accent), ("no tool was scored", theme.dim)]);
        }
        if !learned {
            self.sheet.row(&[("    learning is frozen: no score changed", theme.warn)]);
        }
    }

    fn task_finished(&mut self, task: &TaskState) {
        let theme = self.cx.theme;
        let (glyph, word, style) = tasks::look(self.cx.state, task, theme);
        let head = format!("{glyph} {word}");
        match &task.answer {
            Some(answer) => {
                let head = format!("{head}: ");
                self.sheet.text((&head, style), (answer.trim(), theme.title));
            }
            None => self.sheet.row(&[(&head, style)]),
        }
        for caveat in &task.caveats {
            self.sheet.suffix(&format!("  ({})", caveat.name()), theme.warn);
        }
        if let (Some(expected), Some(false)) = (task.task.expected(), task.correct) {
            self.sheet.suffix(&format!("  expected: {expected}"), theme.warn);
        }
        if let Some(Some(right)) = task.grading.as_ref().map(|grading| grading.right) {
            let (word, style) = if right { ("right", theme.good) } else { ("wrong", theme.bad) };
            self.sheet.suffix(&format!("  grader: {word}"), style);
        }
        let columns = tasks::columns(self.cx.state, task, self.cx.now).into_iter();
        let took = columns.map(|(words, _)| words).collect::<Vec<_>>().join(" · ");
        self.sheet.at_right_or_below("  ", &took, theme.dim);
    }
}
