//! A second session beside the one on the screen: one with the same seed and tasks and one thing left out, or the one from
//! which a fork came. It shows what the fault, learning or an edit really changed.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use strum::{IntoStaticStr, VariantArray};
use tokio::sync::mpsc::UnboundedReceiver;

use super::in_step::{Both, InStep, Pair};
use super::twin_call::TwinCall;
use crate::domain::{Event, Lap, Mode, Record, State, ToolName};

/// The most calls of a session that are compared.
pub const MOST: usize = 20_000;

/// The session that stands beside this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, IntoStaticStr)]
pub enum TwinKind {
    #[strum(serialize = "without the fault")]
    Unbroken,
    #[strum(serialize = "learning off")]
    Frozen,
    #[strum(serialize = "the session that it came from")]
    Origin,
}

impl TwinKind {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Progress of the twin.
#[derive(Clone, Debug, PartialEq)]
pub enum TwinNews {
    /// Calls of the twin ended, and this is what it has used by now.
    Calls(Vec<TwinCall>, Box<TwinSums>),
    /// A task of the twin ended.
    Lap(Lap),
    /// The twin has ended, and this is its journal.
    Ended(Option<PathBuf>),
    Failed(String),
}

/// The sums of what a session has used and achieved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TwinSums {
    /// Model calls and tool calls.
    pub calls: usize,
    pub tokens: u64,
    pub dollars: f64,
    pub right: usize,
    /// Answers whose right one is known.
    pub judged: usize,
    /// Microseconds since it was opened.
    pub micros: u64,
    /// The tools' scores, where they are not 0.
    pub scores: BTreeMap<ToolName, f64>,
}

impl TwinSums {
    pub fn of(state: &State) -> Self {
        let models = state.models.known.values().map(|model| &model.tally);
        let scores = state.tools.keys().filter_map(|tool| {
            let score = state.learning.score(tool);
            (score != 0.0).then(|| (tool.clone(), score))
        });
        Self {
            calls: state.model_calls.len() + state.tool_calls.len(),
            tokens: models.map(|tally| tally.tokens_in + tally.tokens_out).sum(),
            dollars: state.dollars_spent(),
            right: state.tasks_right,
            judged: state.tasks_judged,
            micros: state.at,
            scores: scores.collect(),
        }
    }
}

impl TwinSums {
    /// The sums over these tasks: their tool calls, and no scores.
    pub fn of_laps<'a>(laps: impl Iterator<Item = &'a Lap>) -> Self {
        laps.fold(Self::default(), |sums, lap| Self {
            calls: sums.calls + lap.calls(),
            tokens: sums.tokens + lap.tokens,
            dollars: sums.dollars + f64::from(lap.dollars),
            right: sums.right + usize::from(lap.correct == Some(true)),
            judged: sums.judged + usize::from(lap.correct.is_some()),
            ..sums
        })
    }
}

/// The calls of both sessions, shared with the lists that look through them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TwinRows {
    /// The calls of this session, and of the twin, in the order of their requests.
    own: Arc<Vec<TwinCall>>,
    other: Arc<Vec<TwinCall>>,
    /// The calls beside each other, and whether they differ.
    pairs: Arc<Vec<Pair>>,
    differ: Arc<Vec<bool>>,
}

impl TwinRows {
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The calls of a row: of this session, and of the twin.
    pub fn get(&self, row: usize) -> Option<(Option<&TwinCall>, Option<&TwinCall>)> {
        self.pairs.get(row).map(|pair| self.calls(*pair))
    }

    /// Whether the calls of a row differ.
    pub fn differs(&self, row: usize) -> bool {
        self.differ.get(row).is_some_and(|differs| *differs)
    }

    pub fn calls(&self, pair: Pair) -> (Option<&TwinCall>, Option<&TwinCall>) {
        let own = pair.own.and_then(|at| self.own.get(at));
        (own, pair.other.and_then(|at| self.other.get(at)))
    }

    /// The number of a pair's call among those of its task, from 1.
    pub fn number(&self, pair: Pair) -> usize {
        let (calls, at) = match pair.own {
            Some(at) => (&self.own, at),
            None => (&self.other, pair.other.unwrap_or_default()),
        };
        let task = calls.get(at).map(|call| call.task);
        calls.iter().take(at + 1).filter(|call| Some(call.task) == task).count()
    }

    /// Whether only the first calls of a session are there.
    pub fn is_cut(&self) -> bool {
        self.own.len().max(self.other.len()) == MOST
    }
}

/// The twin as the screen knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Twin {
    pub kind: TwinKind,
    pub laps: Vec<Lap>,
    /// Whether the twin runs no more.
    pub over: bool,
    pub sums: TwinSums,
    pub in_step: InStep,
    pub rows: TwinRows,
    /// The first difference of equal tasks, and its row.
    pub first: Option<(Pair, usize)>,
    /// The selected row, if a person has selected one.
    pub row: Option<usize>,
    /// Whether this session has ended.
    is_own_over: bool,
    /// Whether the pairs are not those of the calls any more.
    is_stale: bool,
}

impl Twin {
    pub fn new(kind: TwinKind) -> Self {
        Self {
            kind,
            laps: Vec::new(),
            over: false,
            sums: TwinSums::default(),
            in_step: InStep::default(),
            rows: TwinRows::default(),
            first: None,
            row: None,
            is_own_over: false,
            is_stale: false,
        }
    }

    /// A twin that has ended, by its tasks alone.
    pub fn ended(kind: TwinKind, laps: Vec<Lap>) -> Self {
        Self { laps, over: true, ..Self::new(kind) }
    }

    /// A twin beside a session in this state.
    pub fn beside(kind: TwinKind, live: &State) -> Self {
        let rows = TwinRows { own: Arc::new(TwinCall::all(live)), ..TwinRows::default() };
        Self { rows, is_stale: true, ..Self::new(kind) }
    }

    /// Takes in a record of this session.
    pub fn note(&mut self, live: &State, record: &Record) {
        self.is_stale |= matches!(record.event, Event::Task(_) | Event::Session(_));
        if record.event.is_end() {
            let call = record.event.effect().and_then(|effect| TwinCall::of(live, effect.id));
            insert(&mut self.rows.own, call);
            self.is_stale = true;
        }
    }

    /// Takes in news of the twin.
    pub fn hear(&mut self, news: TwinNews) {
        match news {
            TwinNews::Calls(calls, sums) => {
                insert(&mut self.rows.other, calls);
                self.sums = *sums;
            }
            TwinNews::Lap(lap) => self.laps.push(lap),
            TwinNews::Ended(_) | TwinNews::Failed(_) => self.over = true,
        }
        self.is_stale = true;
    }

    /// The person ended it.
    pub fn end(&mut self) {
        (self.over, self.is_stale) = (true, true);
    }

    /// The sums of both sessions that can be compared, and the number of tasks that they are of: of all if both have ended,
    /// else of the tasks that both have done. `None`: there is no such task, or the tasks of a watched agent, which come in
    /// any order, have not all ended.
    pub fn compared(&self, live: &State) -> Option<(TwinSums, TwinSums, Option<usize>)> {
        let own: HashSet<_> = live.laps.iter().map(|lap| lap.task).collect();
        let other: HashSet<_> = self.laps.iter().map(|lap| lap.task).collect();
        let is_watched = live.watched.is_some();
        // One that was ended early has done fewer tasks.
        if self.over && self.is_own_over && (is_watched || own == other) {
            return Some((TwinSums::of(live), self.sums.clone(), None));
        }
        let count = own.intersection(&other).count();
        if count == 0 || is_watched {
            return None;
        }
        let here = live.laps.iter().filter(|lap| other.contains(&lap.task));
        let there = self.laps.iter().filter(|lap| own.contains(&lap.task));
        Some((TwinSums::of_laps(here), TwinSums::of_laps(there), Some(count)))
    }

    pub fn step_by(&mut self, by: InStep) {
        (self.in_step, self.row, self.is_stale) = (by, None, true);
    }

    /// Pairs the calls again, if any are new.
    pub fn settle(&mut self, live: &State, is_over: bool) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        let both = Both { own: &self.rows.own, other: &self.rows.other };
        self.is_own_over = is_over || live.control.mode == Mode::Ended;
        let own: HashSet<_> = live.laps.iter().map(|lap| lap.task).collect();
        let other: HashSet<_> = self.laps.iter().map(|lap| lap.task).collect();
        let own = |task| self.is_own_over || own.contains(&task);
        let other = |task| self.over || other.contains(&task);
        let by_task = both.in_step(InStep::Task);
        let differ = both.differences(&by_task, (own, other));
        let first = differ.iter().position(|differs| *differs).map(|row| by_task[row]);
        let (pairs, differ) = match self.in_step {
            InStep::Task => (by_task, differ),
            by => {
                let pairs = both.in_step(by);
                let mut differ = both.differences(&pairs, (own, other));
                // What happened at another time is not another call.
                let is_alone = |pair: &Pair| pair.own.is_none() || pair.other.is_none();
                if by == InStep::Time {
                    differ.iter_mut().zip(&pairs).for_each(|(it, pair)| *it &= !is_alone(pair));
                }
                (pairs, differ)
            }
        };
        let is_in = |first: Pair, pair: &Pair| match first.own {
            Some(_) => pair.own == first.own,
            None => pair.other == first.other,
        };
        let row_of = |first| pairs.iter().position(|pair| is_in(first, pair));
        self.first = first.and_then(|first| Some((first, row_of(first)?)));
        self.row = self.row.filter(|row| *row < pairs.len());
        self.rows.pairs = Arc::new(pairs);
        self.rows.differ = Arc::new(differ);
    }

    /// The row that stands for this event of this session; the last one by default.
    fn row_at(&self, moment: Option<u64>) -> Option<usize> {
        let n = |row: &usize| self.rows.get(*row)?.0.map(|call| call.n);
        let is_past = |n: u64| moment.is_none_or(|moment| n <= moment);
        (0..self.rows.len()).rev().find(|row| n(row).is_some_and(is_past))
    }

    /// The selected row, else the one of the moment looked at. Once the session has ended, the first difference.
    pub fn selected(&self, moment: Option<u64>) -> Option<usize> {
        let first = self.first.filter(|_| self.is_own_over && moment.is_none());
        self.row.or(first.map(|(_, row)| row)).or_else(|| self.row_at(moment))
    }
}

/// Puts calls in the order of their requests, as far as there is room.
fn insert(into: &mut Arc<Vec<TwinCall>>, calls: impl IntoIterator<Item = TwinCall>) {
    let into = Arc::make_mut(into);
    for call in calls {
        // A call that was edited after its end ends again.
        match into.binary_search_by_key(&call.n, |known| known.n) {
            Ok(at) => into[at] = call,
            Err(at) if into.len() < MOST => into.insert(at, call),
            Err(_) => {}
        }
    }
}

/// Starts a twin of the session in this state.
pub type StartTwin =
    Box<dyn FnMut(TwinKind, &State) -> Result<UnboundedReceiver<TwinNews>, String> + Send>;

/// Reads the session from which this one came.
pub type ReadOrigin = Box<dyn FnMut() -> Result<UnboundedReceiver<TwinNews>, String> + Send>;
