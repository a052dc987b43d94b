//! The programmer: a program from the reference chain, with faults as programmers make them.
//!
//! It decides three things in each step: the tool, the arguments, and the part of the result to use. Each decision is
//! wrong with probability 1 − `skill`. It repeats a wrong decision until a finding contains what the correction needs,
//! so the findings decide how many programs a task takes.

mod fault;
mod finding;
mod prompt_functions;
mod sketch;
#[cfg(test)]
mod tests;

use self::fault::ProgramFault;
use self::finding::Finding;
use self::prompt_functions::FunctionMenu;
use self::sketch::Sketch;
use super::SimulatedSettings;
use super::request_parser::{is_told, user_texts};
use super::step_needs::need;
use crate::domain::markers::{FUNCTIONS, KEEPING, LACKING};
use crate::domain::{Chance, Request, Task};

/// The reply: one program in a fence.
pub(super) fn write(
    request: &Request,
    account: &str,
    chain: Option<&Task>,
    settings: SimulatedSettings,
    seed: u64,
) -> String {
    let (about, documents) = account.split_once(FUNCTIONS).unwrap_or((account, ""));
    let offered = FunctionMenu::read(documents);
    let may_lack = is_told(request, LACKING);
    if let Some(lacks) = chain.filter(|_| may_lack).and_then(|task| lacks(task, &offered)) {
        return lacks;
    }
    let right = chain.map(|task| Sketch::of(task, &offered)).unwrap_or_default();
    let chance = Chance::new(seed).with(b"program").with(about.as_bytes());
    let chance = chance.with(chain.map_or("", |task| task.text.as_str()).as_bytes());
    let mut faults = fault::draw(&right, &offered, settings, &chance);
    // The documents come with the task; the messages after it are findings.
    for text in user_texts(request).skip_while(|text| !text.contains(FUNCTIONS)).skip(1) {
        let finding = Finding::read(text);
        faults.retain(|fault| !finding.tells(fault, &right));
    }
    let question = chain.map_or("", |task| task.text.trim());
    let program = faulty(&right, &faults, question).to_string();
    format!("```python\n{program}\n```")
}

/// States the needs of steps without a function, and the functions for the other steps; `None` if no step lacks one.
fn lacks(task: &Task, offered: &FunctionMenu) -> Option<String> {
    let function = |at: &usize| {
        let tools = &task.chain[*at].tools;
        tools.iter().find_map(|tool| offered.function(tool.as_str()))
    };
    let steps = 0..task.chain.len();
    let (met, lacking): (Vec<_>, Vec<_>) = steps.partition(|at| function(at).is_some());
    let kept = met.iter().filter_map(function).map(|function| function.name.as_str());
    let lines = lacking.iter().map(|at| format!("{LACKING} {}", need(task, *at)));
    let lines = lines.chain([format!("{KEEPING} {}", kept.collect::<Vec<_>>().join(", "))]);
    (!lacking.is_empty()).then(|| lines.collect::<Vec<_>>().join("\n"))
}

/// The program with these faults in it.
fn faulty(right: &Sketch, faults: &[ProgramFault], question: &str) -> Sketch {
    let mut sketch = right.clone();
    for fault in faults {
        fault.plant(&mut sketch.steps[fault.step], question);
    }
    sketch
}
