//! Faults as programmers make them, each in one decision.

use serde_json::json;
use strum::VariantArray;

use super::prompt_functions::FunctionMenu;
use super::sketch::{Argument, Sketch, SketchStep};
use crate::domain::{Chance, TakePart};
use crate::simulated::SimulatedSettings;

#[derive(Clone, Debug, PartialEq)]
pub struct ProgramFault {
    /// Index of the faulty step.
    pub step: usize,
    pub kind: FaultKind,
    /// The text written instead: a function, a name or a key; empty if the kind determines it.
    pub wrong: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, VariantArray)]
pub enum FaultKind {
    /// Another function with the same arguments.
    WrongTool,
    MissingArgument,
    WrongArgumentName,
    /// A text instead of a number.
    WrongType,
    /// An invented number instead of one from a result.
    InventedId,
    /// A search with the whole question, which finds nothing; its list is still indexed.
    EmptyList,
    WrongKey,
    /// A nested part is looked up in the whole.
    WrongLevel,
    /// A missing key is read with `get`, and its value is used.
    NoneUsed,
}

/// The id that an agent invents.
const INVENTED: u32 = 1;

/// Keys that are easily confused.
const SIMILAR: [(&str, &str); 6] = [
    ("id", "film_id"),
    ("name", "title"),
    ("title", "name"),
    ("results", "films"),
    ("films", "results"),
    ("crew", "staff"),
];

/// Draws the wrong decisions of a program.
pub fn draw(
    right: &Sketch,
    offered: &FunctionMenu,
    settings: SimulatedSettings,
    chance: &Chance,
) -> Vec<ProgramFault> {
    use FaultKind as Kind;
    let decisions: [&[Kind]; 3] = [
        &[Kind::WrongTool],
        &[
            Kind::MissingArgument,
            Kind::WrongArgumentName,
            Kind::WrongType,
            Kind::InventedId,
            Kind::EmptyList,
        ],
        &[Kind::WrongKey, Kind::WrongLevel, Kind::NoneUsed],
    ];
    let mut faults = Vec::new();
    for (at, step) in right.steps.iter().enumerate() {
        for (decision, kinds) in decisions.iter().enumerate() {
            let chance = chance.with(&at.to_le_bytes()).with(&decision.to_le_bytes());
            if chance.unit() < settings.skill {
                continue;
            }
            let possible = kinds.iter().filter_map(|kind| {
                let wrong = wrong(*kind, step, offered, &chance)?;
                Some(ProgramFault { step: at, kind: *kind, wrong })
            });
            let possible: Vec<ProgramFault> = possible.collect();
            let which = chance.with(b"which").pick(&vec![1.0; possible.len()]);
            faults.extend(which.and_then(|which| possible.into_iter().nth(which)));
        }
    }
    faults
}

/// Returns the text written instead; `None` if this fault cannot occur in this step.
pub fn wrong(
    kind: FaultKind,
    step: &SketchStep,
    offered: &FunctionMenu,
    chance: &Chance,
) -> Option<String> {
    let first = step.arguments.first();
    let is_taken =
        |step: &SketchStep| step.arguments.iter().any(|(_, it)| matches!(it, Argument::Taken(_)));
    let takes = &step.takes[..];
    let is_deep = || matches!(takes, [TakePart::Key(_), .., TakePart::Key(_)]);
    match kind {
        FaultKind::WrongTool => {
            let alike: Vec<&str> = offered.alike(&step.function).collect();
            let which = chance.with(b"tool").pick(&vec![1.0; alike.len()])?;
            alike.get(which).map(|name| (*name).to_owned())
        }
        FaultKind::MissingArgument => first.map(|_| String::new()),
        FaultKind::WrongArgumentName => {
            let (name, _) = first?;
            let short = name.rsplit_once('_').map(|(_, last)| last.to_owned());
            Some(short.unwrap_or_else(|| name.chars().take(1).collect()))
        }
        FaultKind::WrongType | FaultKind::InventedId => is_taken(step).then(String::new),
        FaultKind::EmptyList => {
            let is_text = matches!(first, Some((_, Argument::Literal(it))) if it.is_string());
            let indexes = takes.iter().any(|part| !matches!(part, TakePart::Key(_)));
            (is_text && indexes).then(String::new)
        }
        FaultKind::WrongKey => last_key(takes).map(similar),
        FaultKind::WrongLevel => is_deep().then(String::new),
        FaultKind::NoneUsed => match takes {
            [TakePart::Key(key), _, ..] => Some(similar(key)),
            _ => None,
        },
    }
}

fn last_key(takes: &[TakePart]) -> Option<&str> {
    takes.iter().rev().find_map(|part| match part {
        TakePart::Key(key) => Some(key.as_str()),
        TakePart::Place(_) | TakePart::Where { .. } => None,
    })
}

fn similar(key: &str) -> String {
    let known = SIMILAR.iter().find(|(right, _)| *right == key).map(|(_, wrong)| *wrong);
    known.map_or_else(|| format!("{key}_value"), str::to_owned)
}

impl ProgramFault {
    /// Writes the fault into its step.
    pub fn plant(&self, step: &mut SketchStep, question: &str) {
        match self.kind {
            FaultKind::WrongTool => step.function.clone_from(&self.wrong),
            FaultKind::MissingArgument => drop(step.arguments.drain(..1)),
            FaultKind::WrongArgumentName => {
                if let Some((name, _)) = step.arguments.first_mut() {
                    name.clone_from(&self.wrong);
                }
            }
            FaultKind::WrongType => each_taken(step, Argument::TakenAsText),
            FaultKind::InventedId => each_taken(step, |_| Argument::Literal(json!(INVENTED))),
            FaultKind::EmptyList => {
                if let Some((_, argument)) = step.arguments.first_mut() {
                    *argument = Argument::Literal(json!(question));
                }
            }
            FaultKind::WrongKey => {
                let keys = step.takes.iter_mut().rev();
                let last = keys.into_iter().find_map(|part| match part {
                    TakePart::Key(key) => Some(key),
                    TakePart::Place(_) | TakePart::Where { .. } => None,
                });
                if let Some(key) = last {
                    key.clone_from(&self.wrong);
                }
            }
            FaultKind::WrongLevel => drop(step.takes.drain(..step.takes.len().saturating_sub(1))),
            FaultKind::NoneUsed => {
                if let Some(TakePart::Key(key)) = step.takes.first_mut() {
                    key.clone_from(&self.wrong);
                }
                step.with_get = true;
            }
        }
    }
}

fn each_taken(step: &mut SketchStep, instead: impl Fn(usize) -> Argument) {
    for (_, argument) in &mut step.arguments {
        if let Argument::Taken(taken) = argument {
            *argument = instead(*taken);
        }
    }
}
