//! `toolyard probe`: calls tools to learn their results, in a session with this one task.

use serde_json::{Value, json};

use super::probe_args::ProbeArgs;
use super::{out, trouble::Trouble};
use crate::domain::approval::Rule;
use crate::domain::breakpoint::BreakpointPlace;
use crate::domain::probe::{KnownSchema, Probe, ProbeEnd, ProbeRow, SchemaSource};
use crate::domain::words::counted;
use crate::domain::{
    Base, Event, Knob, ModelCallEvent, ProbeEvent, SessionEvent, State, Task, ToolName,
};
use crate::engine::Beginning;
use crate::session::{SessionHandle, SessionSpec, TaskSource};
use crate::stage;
use crate::tool::manifest::Manifest;
use crate::ui::text::clean;
use crate::ui::wording;

/// Probes tools; false if one of them did not answer.
///
/// # Errors
/// The session cannot start, or the output cannot be written.
pub fn probe(args: &ProbeArgs) -> Result<bool, Trouble> {
    let prepared = spec(args)?.prepare()?;
    if matches!(prepared.beginning, Beginning::New) {
        may_be_called(&prepared.workspace.manifests, &args.tools)?;
    }
    let SessionHandle { mut records, commands, engine, .. } = prepared.spawn()?;
    let mut state = State::default();
    while let Some(record) = records.blocking_recv() {
        state.apply(&record);
        let said = match &record.event {
            Event::Probe(event @ (ProbeEvent::ProbeStarted { .. } | ProbeEvent::Probed { .. })) => {
                Some(wording::probe(event))
            }
            Event::ModelCall(ModelCallEvent::ModelCallFailed { error, .. }) => {
                Some(error.text.clone())
            }
            Event::Session(SessionEvent::Noticed { text }) => Some(text.clone()),
            _ => continue,
        };
        if let Some(said) = said.filter(|_| !args.json) {
            out::print_line(said.split_whitespace().collect::<Vec<_>>().join(" "))?;
        }
    }
    drop(commands);
    engine.join().map_err(Trouble::failed)?;
    let rows: Vec<ProbeToolRow<'_>> = rows(&state, &args.tools).collect();
    match args.json {
        true => out::print_json(&told(&state, &rows).to_string())?,
        false => table(&state, &rows)?,
    }
    Ok(rows.iter().all(ProbeToolRow::is_well))
}

/// The session that probes.
fn spec(args: &ProbeArgs) -> Result<SessionSpec, Trouble> {
    if args.session.tasks.is_some() || args.session.tasks_limit.is_some() {
        let text = "--tasks does not apply: the only task is to probe tools".to_owned();
        return Err(Trouble::Usage(text));
    }
    let mut spec = args.session.spec(None)?;
    let tools: Vec<ToolName> = args.tools.iter().map(|tool| tool.as_str().into()).collect();
    // Naming a tool allows its calls.
    let allow = tools
        .iter()
        .map(|tool| Rule { place: BreakpointPlace::tool(tool.clone()), condition: None });
    spec.allow.extend(allow);
    spec.tasks = TaskSource::List(vec![Task::of_probe(Probe { tools })]);
    // The tools of this sample answer in JSON, those of the other one in sentences.
    spec.sample = spec.sample.or(stage::sample_of(Base::Atc.into()));
    let counts = [(Knob::ProbePasses, args.passes), (Knob::ProbeSamples, args.samples)];
    let counts = counts.into_iter().filter_map(|(knob, count)| Some((knob, f64::from(count?))));
    spec.knobs.extend(counts);
    Ok(spec)
}

/// Checks variables: without one that a tool over HTTP needs, each of its calls would fail and teach nothing.
fn may_be_called(manifests: &[Manifest], named: &[String]) -> Result<(), Trouble> {
    let is_wanted = |tool: &&Manifest| {
        tool.spec.disabled.is_none()
            && (named.is_empty() || named.iter().any(|name| name == tool.spec.name.as_str()))
    };
    let lacking: Vec<_> = manifests
        .iter()
        .filter(is_wanted)
        .filter_map(|tool| Some((&tool.spec.name, *tool.missing_variables().first()?)))
        .collect();
    let Some((first, variable)) = lacking.first() else { return Ok(()) };
    let more = match lacking.len() - 1 {
        0 => String::new(),
        more => format!(" and {}", counted(more, "other tool")),
    };
    Err(Trouble::Usage(format!(
        "the environment variable {variable} is not set, and {first}{more} cannot be called without it; set it, or name \
         the tools to probe"
    )))
}

/// A tool with its row of the probing and its learned schema.
struct ProbeToolRow<'a> {
    tool: &'a ToolName,
    row: Option<&'a ProbeRow>,
    known: Option<&'a KnownSchema>,
    /// True if the person named the tool.
    is_named: bool,
}

/// The named tools, or all.
fn rows<'a>(state: &'a State, named: &'a [String]) -> impl Iterator<Item = ProbeToolRow<'a>> {
    let probing = state.probing.as_deref();
    let of_tools = state.tools.values().filter(|tool| tool.present).map(move |tool| ProbeToolRow {
        tool: &tool.spec.name,
        row: probing.and_then(|probing| probing.rows.get(&tool.spec.name)),
        known: tool.learned.as_ref(),
        is_named: !named.is_empty(),
    });
    let absent = probing.into_iter().flat_map(|probing| &probing.rows);
    let absent = absent.filter(|(tool, _)| !state.tools.get(*tool).is_some_and(|it| it.present));
    let absent = absent.map(|(tool, row)| ProbeToolRow {
        tool,
        row: Some(row),
        known: None,
        is_named: true,
    });
    let is_wanted =
        |tool: &ToolName| named.is_empty() || named.iter().any(|it| it == tool.as_str());
    of_tools.chain(absent).filter(move |row| is_wanted(row.tool))
}

impl ProbeToolRow<'_> {
    /// Whether the tool answered. A tool that was not named may also be refused, or have no row.
    fn is_well(&self) -> bool {
        let is_refused = self.row.is_none_or(|row| row.refused.is_some());
        (is_refused && !self.is_named) || self.row.is_some_and(ProbeRow::is_answered)
    }

    fn how(&self) -> &'static str {
        match (self.known, self.row.and_then(|row| row.end.as_ref())) {
            (_, Some(ProbeEnd::Answered)) => "learned",
            (Some(known), _) if known.source == SchemaSource::Kept => "known",
            (Some(_), _) => "learned",
            (None, Some(_)) => "no answer",
            (None, None) => "left out",
        }
    }

    fn why(&self) -> Option<&str> {
        let row = self.row?;
        match &row.end {
            Some(ProbeEnd::Failed(why) | ProbeEnd::Skipped(why)) => Some(why),
            Some(ProbeEnd::Answered) => None,
            None => row.refused.as_deref().filter(|_| self.known.is_none()),
        }
    }
}

fn table(state: &State, rows: &[ProbeToolRow<'_>]) -> Result<(), Trouble> {
    out::print_line("")?;
    let name = |row: &ProbeToolRow<'_>| clean(row.tool.as_str()).into_owned();
    let width = rows.iter().map(|row| name(row).chars().count()).max().unwrap_or(0);
    for row in rows {
        let learned = row.known.map(|known| &known.learned);
        let said = match (learned, row.why()) {
            (Some(learned), None) => {
                let after: Vec<&str> = learned.after.iter().map(ToolName::as_str).collect();
                let after = if after.is_empty() {
                    String::new()
                } else {
                    format!(", after {}", after.join(", "))
                };
                format!(
                    "{}, pass {}, {}, {} tokens{after}",
                    counted(learned.schema.size(), "field"),
                    learned.pass,
                    counted(learned.samples as usize, "program"),
                    learned.tokens,
                )
            }
            (_, why) => why.unwrap_or_default().to_owned(),
        };
        let said = clean(&said.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned();
        out::print_line(format!("{:<width$}  {:<9}  {said}", name(row), row.how()))?;
    }
    let all = format!("\n{} of {} tools known", known(rows), rows.len());
    let Some(sums) = state.probing_sums() else { return out::print_line(all) };
    let passes = match sums.passes {
        0 => "no pass".to_owned(),
        1 => "1 pass".to_owned(),
        passes => format!("{passes} passes"),
    };
    out::print_line(format!(
        "{all}; {passes} with other tools, {}, {} tokens, {:.2} credits",
        counted(sums.calls, "tool call"),
        sums.tokens,
        sums.credits,
    ))
}

fn known(rows: &[ProbeToolRow<'_>]) -> usize {
    rows.iter().filter(|row| row.known.is_some()).count()
}

fn told(state: &State, rows: &[ProbeToolRow<'_>]) -> Value {
    let tools = rows.iter().map(|row| {
        let mut told = json!({ "tool": row.tool, "how": row.how(), "why": row.why() });
        if let Some(KnownSchema { learned, .. }) = row.known {
            told["schema"] = learned.schema.to_json(learned.mode);
            told["mode"] = json!(learned.mode);
            told["question"] = json!(learned.question);
            told["arguments"] = learned.arguments.clone();
            told["after"] = json!(learned.after);
            told["pass"] = json!(learned.pass);
            told["samples"] = json!(learned.samples);
            told["tokens"] = json!(learned.tokens);
        }
        told
    });
    let tools: Vec<Value> = tools.collect();
    json!({ "tools": tools, "known": known(rows), "sums": state.probing_sums() })
}
