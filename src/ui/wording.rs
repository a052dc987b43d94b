//! The words for an event that makes a line of its own, with its author if a person intervened. The state keeps the
//! event; only the screen and the command line put it into words.

use crate::domain::edit::Edit;
use crate::domain::event::json_of;
use crate::domain::probe::ProbeEnd;
use crate::domain::program::{Back, Extra};
use crate::domain::{
    BreakpointEvent, BudgetEvent, ChangeEvent, ClassAssignment, ConsentEvent, ControlEvent,
    EditEvent, EffectRef, EmbeddingEvent, Event, FaultEvent, GraphEvent, ModelCallEvent,
    ModelError, NullReason, Origin, PlanEvent, ProbeEvent, ProgramEvent, ProgramSource,
    ProgramVerdict, Ranking, ReaderEvent, Resume, RunEvent, SearchEvent, ServerEvent, SessionEvent,
    TaskEvent, api_requests,
    words::{counted, quoted},
};
use crate::papers::cotools::FEWEST;
use crate::{marks, text};

/// The words for an event; without words of its own, its kind and its data.
pub fn told(event: &Event) -> String {
    let said = match event {
        Event::Session(event) => session(event),
        Event::Task(event) => task(event),
        Event::ModelCall(ModelCallEvent::ModelCallRetried { attempt, wait_ms, why, .. }) => {
            Some(format!("attempt {attempt} failed ({why}); retry in {wait_ms} ms"))
        }
        Event::Embedding(event) => embedding(event),
        Event::Fault(FaultEvent::FaultArmed { spec, .. }) => Some(spec.sentence()),
        Event::Fault(FaultEvent::FaultDisarmed { fault, .. }) => {
            Some(format!("fault {fault} disarmed"))
        }
        Event::Breakpoint(event) => Some(breakpoint(event)),
        Event::Edit(event) => Some(edit(event)),
        Event::Consent(event) => Some(consent(event)),
        Event::Budget(event) => budget(event),
        Event::Plan(event) => plan(event),
        Event::Program(event) => Some(program(event)),
        Event::Probe(event) => Some(probe(event)),
        Event::Reader(event) => Some(reader(event)),
        Event::Server(event) => Some(server(event)),
        Event::Search(SearchEvent::NodeClosed { node, how, .. }) => {
            Some(format!("step {node} abandoned: {}", how.name()))
        }
        Event::Graph(event) => graph(event),
        Event::Change(event) => Some(change(event)),
        Event::Run(event) => Some(of_run(event)),
        Event::Control(event) => control(event),
        Event::Unknown { kind, .. } => {
            Some(format!("event of unknown kind {kind} (a newer version wrote this journal)"))
        }
        _ => None,
    };
    said.unwrap_or_else(|| {
        let data = json_of(event);
        format!("{} {}", event.kind(), data["data"])
    })
}

fn session(event: &SessionEvent) -> Option<String> {
    Some(match event {
        SessionEvent::CommandRefused { command, why } => format!("cannot {command}: {why}"),
        SessionEvent::Noticed { text } => text.clone(),
        SessionEvent::SessionEnded { why, .. } => format!("session ended: {why}"),
        _ => return None,
    })
}

fn task(event: &TaskEvent) -> Option<String> {
    Some(match event {
        TaskEvent::TasksQueued { first, tasks, .. } => match tasks.as_slice() {
            [task] if !task.before.is_empty() => format!("task {first} is a follow-up question"),
            [_] => format!("task {first} queued"),
            tasks => format!("{} queued from task {first}", counted(tasks.len(), "task")),
        },
        TaskEvent::TasksRemoved { first, tasks, .. } => match tasks.as_slice() {
            [_] => format!("task {first} removed from the queue"),
            tasks => format!("{} removed from the queue", counted(tasks.len(), "task")),
        },
        TaskEvent::TaskMoved { task, to, .. } => format!("task {task} is now task {to}"),
        TaskEvent::TaskSkipped { task, .. } => format!("task {task} skipped"),
        TaskEvent::ToolArraySet { lost: Some(lost), .. } => {
            let more = lost.dollars.filter(|more| *more > 0.0);
            let price = more.map_or(String::new(), |dollars| format!(", ${dollars:.4} more"));
            format!("prompt cache missed: tool list changed ({} tokens{price})", lost.tokens)
        }
        _ => return None,
    })
}

fn embedding(event: &EmbeddingEvent) -> Option<String> {
    Some(match event {
        EmbeddingEvent::EmbeddingFinished { ranking: Some(ranking), .. } => ranked(ranking),
        EmbeddingEvent::EmbeddingFinished { usage, .. } => {
            format!("task embedded, {} tokens", usage.tokens_in)
        }
        EmbeddingEvent::EmbeddingFailed { error, .. } => not_embedded(error),
        _ => return None,
    })
}

fn budget(event: &BudgetEvent) -> Option<String> {
    Some(match event {
        BudgetEvent::ToolBlacklisted { tool, why, .. } => {
            format!("{tool} is blacklisted for this task: {why}")
        }
        BudgetEvent::SummaryStarted { why, .. } => format!("answering: {why}"),
        BudgetEvent::UsesSet { tool, uses, was, .. } => {
            format!("uses left of {tool}: {was} → {uses}")
        }
        _ => return None,
    })
}

fn plan(event: &PlanEvent) -> Option<String> {
    Some(match event {
        PlanEvent::ToolsClassified { tools } => {
            let said: Vec<_> =
                tools.iter().map(|(tool, class)| format!("{tool} {}", class.class)).collect();
            format!("tools classified: {}", said.join(", "))
        }
        PlanEvent::ToolClassSet { tool, class, .. } => {
            let class = class.as_ref().map_or_else(|| "none".to_owned(), ClassAssignment::name);
            format!("class of {tool}: {class}")
        }
        PlanEvent::PlanRefused { why, .. } => format!("plan rejected: {why}"),
        PlanEvent::EvidenceFound { evidence, nulled: Some(nulled), saved, .. } => match nulled {
            NullReason::Needs(_) => format!("{evidence} not called: {nulled}"),
            _ => format!("{evidence} filtered out (empty: {nulled}), {saved} tokens saved"),
        },
        _ => return None,
    })
}

fn graph(event: &GraphEvent) -> Option<String> {
    Some(match event {
        GraphEvent::ScoreSet { tool, score, was, .. } => {
            format!("score of {tool}: {was} → {score}")
        }
        GraphEvent::WeightPinned { from, to, weight, .. } => {
            format!("weight {from} → {to} pinned at {weight:.2}")
        }
        GraphEvent::WeightUnpinned { from, to, .. } => {
            format!("weight {from} → {to} no longer pinned")
        }
        GraphEvent::EdgeExplored { from, to } => format!("new edge {from} → {to}"),
        GraphEvent::EvaluationRefused { why, .. } => format!("evaluation refused: {why}"),
        _ => return None,
    })
}

fn change(event: &ChangeEvent) -> String {
    match event {
        ChangeEvent::KnobTurned { knob, value, was, .. } => {
            let spec = knob.spec();
            let [was, value] = [*was, *value].map(|value| spec.show(f64::from(value)));
            format!("{}: {was} → {value}", spec.name)
        }
        ChangeEvent::RoleBound { role, model, was, .. } => format!("{role}: {was} → {model}"),
        ChangeEvent::StrategyChosen { strategy, was, .. } => {
            format!("strategy: {was} → {strategy}")
        }
        ChangeEvent::SeedChosen { seed, was, .. } => format!("seed: {was} → {seed}"),
        ChangeEvent::ToolSwitched { tool, on, .. } => {
            format!("{tool} {} the menu", if *on { "back on" } else { "off" })
        }
    }
}

fn control(event: &ControlEvent) -> Option<String> {
    Some(match event {
        ControlEvent::PauseRequested { run: Some(run), .. } => format!("run {run} paused"),
        ControlEvent::Resumed { run: Some(run), how, .. } => match how {
            Resume::Run => format!("run {run} resumed"),
            Resume::Step => format!("run {run} stepped"),
            Resume::Task => format!("run {run} resumed to the end of its task"),
        },
        ControlEvent::LanePaused { lane, .. } => format!("{lane} paused"),
        ControlEvent::LaneResumed { lane, .. } => format!("{lane} resumed"),
        _ => return None,
    })
}

fn edit(event: &EditEvent) -> String {
    match event {
        EditEvent::CallEdited { effect, past: true, .. } => {
            format!("result of call {} edited in the past of its model", effect.id)
        }
        EditEvent::CallEdited { effect, edit, shown, .. } => {
            let unseen = match **edit {
                Edit::Arguments(_) if !shown => "; the agent sees its own",
                _ => "",
            };
            format!("{} of call {} edited{unseen}", edit.name(), effect.id)
        }
        EditEvent::CallAnswered { effect, .. } => format!("call {} answered by hand", effect.id),
        EditEvent::CallRepeated { effect, .. } => format!("call {} repeated", effect.id),
    }
}

/// Says that a call ran when its session was interrupted, and what follows.
pub fn outcome_unknown(effect: EffectRef) -> String {
    let then = match effect.class.is_repeatable() {
        true => "it is repeated",
        false => "it may have changed something, so repeating it needs consent",
    };
    format!("outcome unknown: call {} ran when the session was interrupted; {then}", effect.id)
}

fn consent(event: &ConsentEvent) -> String {
    match event {
        ConsentEvent::ConsentAsked { effect, rule } => {
            format!("call {} waits for your consent ({rule})", effect.id)
        }
        ConsentEvent::OutcomeUnknown { effect } => outcome_unknown(*effect),
        ConsentEvent::ConsentGiven { effect, allowed, .. } => {
            format!("call {} {}", effect.id, if *allowed { "allowed" } else { "refused" })
        }
        ConsentEvent::ApprovalSet { approval, was, .. } => {
            let new = approval.allow.iter().filter(|rule| !was.allow.contains(rule));
            let new: Vec<String> = new.map(ToString::to_string).collect();
            match new.as_slice() {
                [] => "approval rules changed".to_owned(),
                new => format!("allowed without asking: {}", new.join(", ")),
            }
        }
    }
}

/// Describes an event of a run, or of a watched agent.
fn of_run(event: &RunEvent) -> String {
    match event {
        RunEvent::RunOpened { run, guest: Some(guest), .. } => {
            let (wire, endpoint) = (&guest.wire, &guest.endpoint);
            let parent = guest.parent.map(|parent| format!(", begun by a call of {parent}"));
            format!("conversation {run} began: {wire} at {endpoint}{}", parent.unwrap_or_default())
        }
        RunEvent::RunOpened { run, strategy: Some(strategy), .. } => {
            format!("run {run} joined with {strategy}")
        }
        RunEvent::RunOpened { run, .. } => format!("run {run} joined"),
        RunEvent::HistoryRewritten { run, kept, dropped, gone, .. } => {
            let gone = gone.as_ref().map(|gone| {
                format!(" ({}): {}", text::bytes(gone.bytes), marks::named(gone, *dropped))
            });
            let (kept, dropped) =
                (counted(*kept as usize, "message"), counted(*dropped as usize, "message"));
            let gone = gone.unwrap_or_default();
            format!("conversation {run} was rewritten: {kept} kept, {dropped} dropped{gone}")
        }
        RunEvent::PrefixLost { run, lost, .. } => {
            format!("conversation {run}: {}", marks::prefix(lost))
        }
        RunEvent::InputUnread { run, unread, .. } => {
            format!("conversation {run}: {}", marks::input(unread))
        }
        RunEvent::ResultDrifted { drift, .. } => drift.told(),
        RunEvent::RunParted { run, field, asked, recorded, nearest, journal, refused } => {
            let of = journal.as_ref().map_or_else(String::new, |journal| format!(" of {journal}"));
            let place = match nearest {
                Some(n) => {
                    format!("record {n}{of}, the nearest one, has {}", quoted(recorded))
                }
                None => "no recorded conversation is left".to_owned(),
            };
            let then = if *refused { "the agent is stopped" } else { "it goes on live" };
            let asked = quoted(asked);
            format!(
                "conversation {run} is not as recorded: {field} is {asked}, and {place}; {then}"
            )
        }
        RunEvent::RequestPassed { what, why: Some(why) } => {
            format!("not understood, passed on as it came: {what}: {why}")
        }
        RunEvent::RequestPassed { what, why: None } => api_requests::told_first(what),
        RunEvent::RequestMetered { service, model, usage, .. } => {
            let tokens = usage.tokens_in.saturating_add(usage.tokens_out);
            format!("{tokens} tokens for {service} by {model}")
        }
        RunEvent::Intercepting {} => "connections to known hosts are opened".to_owned(),
        RunEvent::AgentStarted { command } => format!("agent started: {command}"),
        RunEvent::AgentEnded { code: Some(code) } => format!("agent ended with exit code {code}"),
        RunEvent::AgentEnded { code: None } => "agent ended by a signal".to_owned(),
    }
}

fn breakpoint(event: &BreakpointEvent) -> String {
    match event {
        BreakpointEvent::BreakpointSet { breakpoint, spec, was, .. } => {
            let how = if was.is_some() { "changed" } else { "set" };
            format!("breakpoint {breakpoint} {how}: {spec}")
        }
        BreakpointEvent::BreakpointSwitched { breakpoint, on, .. } => {
            format!("breakpoint {breakpoint} switched {}", if *on { "on" } else { "off" })
        }
        BreakpointEvent::BreakpointDeleted { breakpoint, spec, .. } => {
            format!("breakpoint {breakpoint} deleted: {spec}")
        }
        BreakpointEvent::BreakpointHit { text, holds: false, .. } => text.clone(),
        BreakpointEvent::BreakpointHit { breakpoint, boundary, text, .. } => {
            let at = boundary.map_or(String::new(), |it| format!(" {}", it.name()));
            let text = if text.is_empty() { String::new() } else { format!(": {text}") };
            format!("stopped by breakpoint {breakpoint}{at}{text}")
        }
    }
}

/// The origin of an outcome, if it must be shown: not for live outcomes and those marked as injected.
pub fn origin(origin: Origin) -> Option<&'static str> {
    match origin {
        Origin::Live | Origin::Injected => None,
        Origin::Recorded => Some("recorded"),
        Origin::Person => Some("by a person"),
        Origin::Reused => Some("reused"),
        Origin::Provider => Some("by the provider"),
    }
}

/// Fields that a newer version wrote.
pub fn newer(fields: &[String]) -> String {
    format!("unknown fields {} (a newer version wrote this journal)", fields.join(", "))
}

/// Says that past tasks are compared by their words, and why.
pub fn not_embedded(error: &ModelError) -> String {
    format!("text not embedded ({error}); comparing words only")
}

/// The words for tools that were ranked for a text.
fn ranked(ranking: &Ranking) -> String {
    if !ranking.has_states() {
        let text = match ranking.queries {
            seen if seen < FEWEST => format!("only {seen} of {FEWEST} queries known"),
            _ => "no tool is encoded yet".to_owned(),
        };
        return format!("tools ranked by words only: {text}");
    }
    let best = ranking.by_states().into_iter().take(3);
    let best: Vec<_> = best.map(|(tool, score)| format!("{} {score:.1}", tool.tool)).collect();
    let encoded = match ranking.encoded {
        encoded if encoded < ranking.pool => {
            format!(" ({encoded} of {} have states)", ranking.pool)
        }
        _ => String::new(),
    };
    format!("tools by states{encoded}: {}", best.join(", "))
}

/// The words for an event of a model that reads along.
pub fn reader(event: &ReaderEvent) -> String {
    match event {
        ReaderEvent::HeadsLoaded { reader } => {
            let heads = match reader.heads.as_slice() {
                [] => "no trained heads".to_owned(),
                heads => format!("heads from {}", heads.join(" and ")),
            };
            let judge = reader.judge.as_ref().map(|judge| format!(", a judge from {judge}"));
            let judge = judge.unwrap_or_default();
            format!("{} ranks tools: {}, {heads}{judge}", reader.model, reader.states)
        }
        ReaderEvent::ToolEncoded { encoded, tools } => {
            format!("{encoded} of {} encoded", counted(*tools, "tool"))
        }
        ReaderEvent::ToolsMapped {} => "a map of the tools, which is no longer shown".to_owned(),
        ReaderEvent::ReaderFailed { error } => {
            format!("the reader failed: {error}; ranking tools by words only")
        }
        ReaderEvent::TokenJudged { pieces, .. } => {
            format!("{} judged", counted(pieces.len(), "piece"))
        }
    }
}

/// The words for a server of tools.
fn server(event: &ServerEvent) -> String {
    match event {
        ServerEvent::ServerStarted { server } => format!("MCP server {server} is starting"),
        ServerEvent::ServerReady { server, tools, .. } => {
            format!("MCP server {server} is ready: {}", counted(*tools as usize, "tool"))
        }
        ServerEvent::ServerDied { server, why, .. } => format!("MCP server {server} died: {why}"),
        ServerEvent::ServerOff { server, why } => {
            format!("MCP server {server} is not started: {why}")
        }
        ServerEvent::DefinitionChanged { tool, .. } => {
            format!("the definition of {tool} has changed; it is disabled until you accept it")
        }
        ServerEvent::DefinitionAccepted { tool, .. } => {
            format!("the changed definition of {tool} is accepted")
        }
        ServerEvent::ServerSaid { server, lines, .. } => {
            format!("MCP server {server}: {}", lines.join(" / "))
        }
    }
}

/// The words for findings about tools.
pub fn probe(event: &ProbeEvent) -> String {
    match event {
        ProbeEvent::ProbeStarted { tools, left_out, .. } => {
            let left_out = match left_out.len() {
                0 => String::new(),
                n => format!(", {n} left out"),
            };
            format!("probing {}{left_out}", counted(tools.len(), "tool"))
        }
        ProbeEvent::Probed { tool, pass, sample, helpers, end, .. } => {
            let with = helpers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let with = if with.is_empty() { with } else { format!(", with {with}") };
            let at = format!("pass {pass}, sample {sample}{with}");
            match end {
                ProbeEnd::Answered => format!("{tool} answered ({at})"),
                ProbeEnd::Failed(why) => format!("{tool} did not answer ({at}): {why}"),
                ProbeEnd::Skipped(why) => format!("{tool} was skipped (pass {pass}): {why}"),
            }
        }
        ProbeEvent::SchemaLearned { tool, learned, .. } => {
            let after = learned.after.iter().map(ToString::to_string).collect::<Vec<_>>();
            let after = match &after[..] {
                [] => String::new(),
                after => format!(", after {}", after.join(", ")),
            };
            format!("learned {tool}: {}{after}", counted(learned.schema.size(), "field"))
        }
        ProbeEvent::SchemaDrifted { tool, drift, .. } => {
            let more = match drift.len().saturating_sub(3) {
                0 => String::new(),
                n => format!(", and {n} more"),
            };
            let said: Vec<String> = drift.iter().take(3).map(ToString::to_string).collect();
            format!("{tool} differs from its schema: {}{more}", said.join(", "))
        }
    }
}

/// The words for what happens to a program.
pub fn program(event: &ProgramEvent) -> String {
    match event {
        ProgramEvent::ProgramWritten { number, text, from, .. } => {
            let lines = counted(text.lines().count(), "line");
            let from = match from {
                ProgramSource::Reply => "",
                ProgramSource::Task => ", from the task",
                ProgramSource::Person => ", by a person",
            };
            format!("program {number}: {lines}{from}")
        }
        ProgramEvent::ProgramRefused { number, error, more, .. } => {
            let more =
                if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
            format!("program {number} cannot run: {}{more}", error.summary())
        }
        ProgramEvent::ProgramHeld { number, at, .. } => {
            format!("program {number} held before line {}", at.line)
        }
        ProgramEvent::ProgramAsked { number, extra: Extra { expression, sets, .. }, .. } => {
            match sets {
                Some(name) => format!("you set {name} = {expression} in program {number}"),
                None => format!("you evaluated {expression} in program {number}"),
            }
        }
        ProgramEvent::ProgramEdited { number, .. } => {
            format!("you edited program {number}; yours continues from its record")
        }
        ProgramEvent::ProgramTakenBack { number, to, .. } => {
            let to = match to {
                Back::Line => "to the previous statement".to_owned(),
                Back::Call => "to its last call".to_owned(),
                Back::Statement(nth) => format!("to statement {nth}"),
            };
            format!("you stepped program {number} back {to}; its calls are not undone")
        }
        ProgramEvent::ProgramParted { number, calls, .. } => {
            let calls = counted(calls.len(), "earlier call");
            format!("program {number} takes another path than before; {calls} stay done")
        }
        ProgramEvent::ProgramEnded { number, end, how, .. } => match (&end.error, how) {
            (Some(error), _) => {
                let line = error.line().map_or_else(String::new, |line| format!(" in line {line}"));
                format!("program {number} failed{line}: {}", error.summary())
            }
            (None, how) => {
                let how = if *how == ProgramVerdict::Failed {
                    "failed".to_owned()
                } else {
                    format!("ran: {}", how.name())
                };
                let remark = end.remark().map_or_else(String::new, |remark| format!(", {remark}"));
                format!("program {number} {how}{remark}")
            }
        },
        ProgramEvent::ClockRead { .. } => "the program read the clock".to_owned(),
        ProgramEvent::ToolBlamed { tool: Some(tool), by, path, .. } => {
            let way = path.iter().map(|(name, line)| format!("{name} ({line})"));
            let way = way.collect::<Vec<_>>().join(", from ");
            let way = if way.is_empty() { way } else { format!(": {way}") };
            format!("blamed {tool}, {}{way}", by.name())
        }
        ProgramEvent::ToolBlamed { tool: None, .. } => "no tool blamed".to_owned(),
    }
}
