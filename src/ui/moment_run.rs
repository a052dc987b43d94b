//! The moment of a program that is looked at. The program runs again over its record beside the screen, without any
//! calls.

use std::sync::Arc;

use crate::domain::program::{Again, LineStop, Pause, Reached, Set, Until};
use crate::domain::state::{ProgramState, State};
use crate::domain::{EffectId, TaskId, words::counted};
use crate::papers::atc::record;
use crate::text::clean;

/// Most expressions that are evaluated at each moment; beyond that, the oldest goes.
const ASKS: usize = 8;

/// The moment of a program that a person has chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramPosition {
    pub task: TaskId,
    pub number: u32,
    pub until: Until,
}

/// Query about a program, and the record that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramQuery {
    pub task: TaskId,
    pub number: u32,
    pub until: Until,
    pub asks: Vec<String>,
    /// The last answered call, the number of answered calls, and the number of changes of the program.
    pub record: (Option<EffectId>, usize, usize),
}

/// A program at a moment.
#[derive(Clone, Debug)]
pub struct ProgramSnapshot {
    wanted: ProgramQuery,
    /// The program at that moment.
    pub program: ProgramState,
    /// The statement before which the program stood, from 1; and the number of statements.
    pub statement: u64,
    pub statements: u64,
    /// Whether the program has not ended at that moment.
    pub goes_on: bool,
    /// Why this snapshot may be wrong.
    pub doubt: Option<String>,
}

/// Chosen moment, expressions and snapshot of the program that is looked at.
#[derive(Debug, Default)]
pub struct Looked {
    pub chosen: Option<ProgramPosition>,
    pub asks: Vec<String>,
    /// Query whose result is to be shown now.
    wanted: Option<ProgramQuery>,
    /// Query that was sent last.
    sent: Option<ProgramQuery>,
    seen: Option<Box<ProgramSnapshot>>,
}

impl Looked {
    /// The program as it was at the moment looked at.
    pub fn seen(&self, task: TaskId, number: u32) -> Option<&ProgramSnapshot> {
        let is_it = |wanted: &ProgramQuery| (wanted.task, wanted.number) == (task, number);
        self.wanted.as_ref().filter(|wanted| is_it(wanted))?;
        self.seen.as_deref().filter(|seen| is_it(&seen.wanted))
    }

    /// Evaluates this expression at every moment that is looked at from now on.
    pub fn ask(&mut self, expression: String) {
        self.asks.retain(|known| *known != expression);
        if self.asks.len() == ASKS {
            self.asks.remove(0);
        }
        self.asks.push(expression);
    }

    /// Returns to the present of the program. False if that is shown already.
    pub fn leave(&mut self) -> bool {
        self.asks.clear();
        self.chosen.take().is_some()
    }

    /// Takes in the query whose result is to be shown now.
    pub fn want(&mut self, wanted: Option<ProgramQuery>) {
        self.wanted = wanted;
    }

    /// Returns the query to run now, unless it was sent already.
    pub fn send(&mut self, state: &State) -> Option<(ProgramQuery, Again)> {
        let wanted = self.wanted.clone().filter(|wanted| self.sent.as_ref() != Some(wanted))?;
        self.sent = Some(wanted.clone());
        let again = record::again(state, wanted.task, wanted.number)?;
        let (until, asked) = (wanted.until, wanted.asks.clone());
        Some((wanted, Again { until, asked, counts: true, ..again }))
    }

    /// Takes in the state that the program reached.
    pub fn see(&mut self, state: &State, wanted: ProgramQuery, reached: Reached) {
        let program = state.program(wanted.task, wanted.number);
        self.seen =
            program.map(|program| Box::new(ProgramSnapshot::of(state, program, wanted, reached)));
    }
}

impl ProgramSnapshot {
    fn of(state: &State, program: &ProgramState, wanted: ProgramQuery, reached: Reached) -> Self {
        let Reached { pause, calls, parted, values, statements, frames, whole, .. } = reached;
        let mut shown = program.clone();
        let way = record::way(state, program).unwrap_or_default();
        let made = if wanted.until == Until::Record { way.len() } else { calls };
        shown.calls = way.iter().take(made).map(|call| call.id).collect();
        shown.values.clone_from(&values);
        shown.held = None;
        let mut doubt = parted.then(|| "its calls differ from the record".to_owned());
        let goes_on = match pause {
            Pause::Line(at) => {
                shown.values = merged(values, &at.set);
                shown.held = Some(Arc::new(at));
                true
            }
            Pause::Call(call) => {
                let line = call.line;
                shown.held = Some(Arc::new(LineStop { line, frames, ..LineStop::default() }));
                true
            }
            Pause::Calls(calls) => {
                let line = calls.first().map_or(0, |call| call.line);
                shown.held = Some(Arc::new(LineStop { line, frames, ..LineStop::default() }));
                true
            }
            Pause::Clock => true,
            Pause::Ended(end) => {
                let was = program.end.as_deref();
                let is_same = was.is_none_or(|was| {
                    was.printed == end.printed && was.error.is_some() == end.error.is_some()
                });
                if !is_same {
                    let how =
                        end.error.map_or_else(String::new, |it| format!(": {}", it.summary()));
                    doubt = Some(format!("its end differs from the record{how}"));
                }
                false
            }
        };
        if goes_on {
            (shown.end, shown.how, shown.blamed) = (None, None, None);
        }
        let statements = whole.max(statements);
        let statement = reached.statements;
        Self { wanted, program: shown, statement, statements, goes_on, doubt }
    }

    /// The position in words.
    pub fn place(&self) -> String {
        let place = match self.goes_on {
            true => format!("statement {} of {}", self.statement, self.statements),
            false => format!("at its end, after {}", counted(self.statements, "statement")),
        };
        match &self.doubt {
            Some(doubt) => format!("{place} · {}", clean(doubt)),
            None => place,
        }
    }
}

/// The newest value of each variable at each line.
fn merged(mut values: Vec<Set>, set: &[Set]) -> Vec<Set> {
    for set in set {
        values.retain(|known| known.line != set.line || known.name != set.name);
        values.push(set.clone());
    }
    values
}
