//! The numbers that a user may turn while an agent runs. Each is declared once, here; the
//! configuration, the screen, the help and the journal all read this table.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// One knob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Knob {
    Alpha,
    Beta,
    TopK,
    Explore,
    MenuMax,
    WeightFormat,
    MaxSteps,
    History,
    Tries,
    Learn,
    LearnInjected,
    Temperature,
    Concurrency,
    Pace,
    Budget,
    Tau,
    Candidates,
    Estimate,
    Widen,
    Blacklist,
    Judge,
}

/// What values a knob takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Any number from `min` to `max`.
    Real,
    /// Whole numbers from `min` to `max`.
    Whole,
    /// 0 (off) or 1 (on).
    Switch,
    /// The index of one of these names.
    Choice(&'static [&'static str]),
}

/// When a turn is felt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Every weight on the screen at once, and the next menu.
    AtOnce,
    /// The next step of the agent.
    NextStep,
    /// The next task.
    NextTask,
}

/// What is declared about a knob.
#[derive(Debug)]
pub struct KnobSpec {
    pub knob: Knob,
    /// As written in the configuration and on the command line.
    pub name: &'static str,
    /// As shown in the header, short.
    pub symbol: &'static str,
    pub kind: Kind,
    pub min: f64,
    pub max: f64,
    /// What one key press turns it by.
    pub step: f64,
    pub default: f64,
    pub takes: Takes,
    pub doc: &'static str,
}

const fn real(
    knob: Knob,
    names: (&'static str, &'static str),
    range: (f64, f64, f64),
    default: f64,
    takes: Takes,
    doc: &'static str,
) -> KnobSpec {
    let (name, symbol) = names;
    let (min, max, step) = range;
    KnobSpec { knob, name, symbol, kind: Kind::Real, min, max, step, default, takes, doc }
}

const fn whole(
    knob: Knob,
    names: (&'static str, &'static str),
    range: (f64, f64, f64),
    default: f64,
    takes: Takes,
    doc: &'static str,
) -> KnobSpec {
    let mut spec = real(knob, names, range, default, takes, doc);
    spec.kind = Kind::Whole;
    spec
}

const fn switch(
    knob: Knob,
    names: (&'static str, &'static str),
    default: bool,
    takes: Takes,
    doc: &'static str,
) -> KnobSpec {
    let mut spec = real(knob, names, (0.0, 1.0, 1.0), 0.0, takes, doc);
    spec.kind = Kind::Switch;
    spec.default = if default { 1.0 } else { 0.0 };
    spec
}

const fn choice(
    knob: Knob,
    names: (&'static str, &'static str),
    of: &'static [&'static str],
    default: f64,
    takes: Takes,
    doc: &'static str,
) -> KnobSpec {
    let most = (of.len() - 1) as f64;
    let mut spec = real(knob, names, (0.0, most, 1.0), default, takes, doc);
    spec.kind = Kind::Choice(of);
    spec
}

/// The names of the weight formats, in the order of `graph::WeightFormat::ALL` (ToolNet, table 5).
pub const WEIGHT_FORMATS: &[&str] = &["none", "/100", "/10", "integer", "x10"];

/// How expected values and frequencies are made of experience, in the order of
/// `budget::estimate::Mode::ALL`: as the paper has it, or as its authors' code.
pub const ESTIMATES: &[&str] = &["smoothed", "paper"];

/// Whether a tool whose result did not help is banned for the rest of the task (BTP, section 2.4):
/// never; unless it has helped before (the authors' code); always (the paper).
pub const BLACKLISTS: &[&str] = &["off", "protected", "strict"];

/// Who judges whether a result helped.
pub const JUDGES: &[&str] = &["rules", "model"];

/// Every knob, in the order in which people see them.
pub const KNOBS: &[KnobSpec] = &[
    real(
        Knob::Alpha,
        ("alpha", "α"),
        (0.0, 10.0, 0.05),
        0.5,
        Takes::AtOnce,
        "speed of learning: how strongly a score moves a weight (ToolNet, eq. 8)",
    ),
    real(
        Knob::Beta,
        ("beta", "β"),
        (0.0, 1.0, 0.05),
        0.5,
        Takes::AtOnce,
        "trust in the prior: 1 ignores scores, 0 ignores the prior (ToolNet, eq. 6)",
    ),
    whole(
        Knob::TopK,
        ("top_k", "K"),
        (1.0, 100.0, 1.0),
        8.0,
        Takes::NextStep,
        "how many tools the retriever puts on a task's first menu",
    ),
    whole(
        Knob::Explore,
        ("explore", "ex"),
        (0.0, 20.0, 1.0),
        2.0,
        Takes::NextStep,
        "how many tools that are no successors, but fit the last thought, are offered too",
    ),
    whole(
        Knob::MenuMax,
        ("menu_max", "menu"),
        (1.0, 1000.0, 1.0),
        32.0,
        Takes::NextStep,
        "at most so many successors are offered, the heaviest first",
    ),
    choice(
        Knob::WeightFormat,
        ("weight_format", "w"),
        WEIGHT_FORMATS,
        3.0,
        Takes::NextStep,
        "how the model is shown a weight (ToolNet, table 5)",
    ),
    whole(
        Knob::MaxSteps,
        ("max_steps", "steps"),
        (1.0, 100.0, 1.0),
        8.0,
        Takes::NextStep,
        "steps after which a try is given up; dfsdt and tot-dfs have limits of their own",
    ),
    whole(
        Knob::History,
        ("history", "hist"),
        (1.0, 100.0, 1.0),
        8.0,
        Takes::NextStep,
        "how many past steps the model is shown",
    ),
    whole(
        Knob::Tries,
        ("tries", "tries"),
        (1.0, 10.0, 1.0),
        3.0,
        Takes::NextTask,
        "tries per task with +reflexion",
    ),
    switch(
        Knob::Learn,
        ("learn", "learn"),
        true,
        Takes::AtOnce,
        "whether evaluations change scores; off freezes learning",
    ),
    switch(
        Knob::LearnInjected,
        ("learn_injected", "learn!"),
        true,
        Takes::AtOnce,
        "whether tools lose score for failures that a fault made",
    ),
    real(
        Knob::Temperature,
        ("temperature", "T"),
        (0.0, 2.0, 0.1),
        0.0,
        Takes::NextStep,
        "sampling temperature of the actor",
    ),
    whole(
        Knob::Concurrency,
        ("concurrency", "∥"),
        (1.0, 64.0, 1.0),
        8.0,
        Takes::NextStep,
        "how many tool calls may run at once",
    ),
    whole(
        Knob::Pace,
        ("pace", "pace"),
        (0.0, 5000.0, 50.0),
        0.0,
        Takes::NextStep,
        "milliseconds to wait at every boundary, so that a person can follow",
    ),
    real(
        Knob::Budget,
        ("budget", "B"),
        (0.0, 1e6, 1.0),
        20.0,
        Takes::AtOnce,
        "credits that a task may cost; +btp plans for it and holds to it (BTP, eq. 2)",
    ),
    real(
        Knob::Tau,
        ("tau", "τ"),
        (0.0, 1.0, 0.05),
        0.15,
        Takes::AtOnce,
        "a tool whose expected value is below this is not planned for (BTP, section 2.2)",
    ),
    whole(
        Knob::Candidates,
        ("candidates", "n"),
        (1.0, 1000.0, 1.0),
        8.0,
        Takes::NextTask,
        "how many tools a plan is made for: by words, and by what helped with similar tasks",
    ),
    choice(
        Knob::Estimate,
        ("estimate", "est"),
        ESTIMATES,
        0.0,
        Takes::AtOnce,
        "how values are made of experience: smoothed, or bare as in the paper (BTP, eq. 3 and 4)",
    ),
    switch(
        Knob::Widen,
        ("widen", "widen"),
        true,
        Takes::NextStep,
        "+btp: an agent without a fit tool says what it lacks, and gets a plan for that; off is BTP",
    ),
    choice(
        Knob::Blacklist,
        ("blacklist", "ban"),
        BLACKLISTS,
        1.0,
        Takes::AtOnce,
        "whether one useless result bans a tool from its task; protected spares what has helped",
    ),
    choice(
        Knob::Judge,
        ("judge", "judge"),
        JUDGES,
        0.0,
        Takes::AtOnce,
        "who says whether a result helped: rules (an error, nothing found) or a model",
    ),
];

impl Knob {
    /// What is declared about this knob.
    pub fn spec(self) -> &'static KnobSpec {
        // KNOBS is in the order of the enum; a test keeps it so.
        &KNOBS[self as usize]
    }

    pub fn by_name(name: &str) -> Option<Knob> {
        KNOBS.iter().find(|spec| spec.name == name).map(|spec| spec.knob)
    }
}

impl KnobSpec {
    /// The value, if this knob can take it; otherwise what it can take.
    pub fn check(&self, value: f64) -> Result<f64, String> {
        let fits = value.is_finite() && value >= self.min && value <= self.max;
        let whole = matches!(self.kind, Kind::Real) || value.fract() == 0.0;
        if fits && whole { Ok(value) } else { Err(format!("{} takes {}", self.name, self.range())) }
    }

    /// Reads a value as people write it: a number, `on`/`off`, or a name.
    pub fn parse(&self, text: &str) -> Result<f64, String> {
        let text = text.trim();
        let named = match self.kind {
            Kind::Real | Kind::Whole => None,
            Kind::Switch => match text {
                "on" | "true" | "yes" => Some(1.0),
                "off" | "false" | "no" => Some(0.0),
                _ => None,
            },
            Kind::Choice(names) => names.iter().position(|name| *name == text).map(|i| i as f64),
        };
        let value = named.or_else(|| text.parse().ok());
        value
            .ok_or_else(|| format!("{} takes {}, not `{text}`", self.name, self.range()))
            .and_then(|value| self.check(value))
    }

    /// The value as people read it.
    pub fn show(&self, value: f64) -> String {
        match self.kind {
            Kind::Real => format!("{value:.2}"),
            Kind::Whole => format!("{value:.0}"),
            Kind::Switch => (if value == 0.0 { "off" } else { "on" }).to_owned(),
            Kind::Choice(names) => names.get(value as usize).copied().unwrap_or("?").to_owned(),
        }
    }

    /// What it takes, in words.
    pub fn range(&self) -> String {
        match self.kind {
            Kind::Real => format!("a number from {} to {}", self.min, self.max),
            Kind::Whole => format!("a whole number from {} to {}", self.min, self.max),
            Kind::Switch => "on or off".to_owned(),
            Kind::Choice(names) => format!("one of {}", names.join(", ")),
        }
    }

    /// The next value in this direction, within the range; switches and choices go round.
    pub fn turned(&self, value: f64, steps: i32) -> f64 {
        let moved = value + f64::from(steps) * self.step;
        match self.kind {
            // Rounded to the step, so that ten presses of 0.05 make 0.5 and not 0.49999999.
            Kind::Real | Kind::Whole => {
                let ticks = (moved / self.step).round();
                // Multiplying by the reciprocal first keeps 0.05 steps at two decimals.
                let exact = ticks / (1.0 / self.step).round().max(1.0);
                let value = if self.step < 1.0 { exact } else { ticks * self.step };
                value.clamp(self.min, self.max)
            }
            Kind::Switch | Kind::Choice(_) => moved.rem_euclid(self.max + 1.0),
        }
    }
}

impl fmt::Display for Knob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.spec().name)
    }
}

/// The value of every knob.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Knobs(BTreeMap<Knob, f64>);

impl Default for Knobs {
    fn default() -> Self {
        Self(KNOBS.iter().map(|spec| (spec.knob, spec.default)).collect())
    }
}

impl Knobs {
    /// A knob that an older journal does not name has its default.
    pub fn get(&self, knob: Knob) -> f64 {
        self.0.get(&knob).copied().unwrap_or(knob.spec().default)
    }

    /// The value of a whole-number knob.
    pub fn count(&self, knob: Knob) -> usize {
        self.get(knob) as usize
    }

    pub fn is_on(&self, knob: Knob) -> bool {
        self.get(knob) != 0.0
    }

    pub fn set(&mut self, knob: Knob, value: f64) {
        self.0.insert(knob, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (i, spec) in KNOBS.iter().enumerate() {
            assert_eq!(spec.knob as usize, i, "{}", spec.name);
            assert_eq!(spec.knob.spec().name, spec.name);
            assert_eq!(spec.check(spec.default), Ok(spec.default), "{}", spec.name);
        }
    }

    #[test]
    fn turning_stays_on_the_grid_and_in_range() {
        let alpha = Knob::Alpha.spec();
        let mut value = 0.0;
        for _ in 0..10 {
            value = alpha.turned(value, 1);
        }
        assert_eq!(value, 0.5);
        assert_eq!(alpha.turned(0.0, -3), 0.0);
        assert_eq!(Knob::Learn.spec().turned(1.0, 1), 0.0);
        assert_eq!(Knob::WeightFormat.spec().turned(0.0, -1), 4.0);
        assert_eq!(Knob::Pace.spec().turned(100.0, 1), 150.0);
    }

    #[test]
    fn values_outside_say_what_is_taken() {
        assert!(Knob::Beta.spec().parse("1.5").unwrap_err().contains("from 0 to 1"));
        assert!(Knob::TopK.spec().parse("2.5").is_err());
        assert!(Knob::Alpha.spec().parse("NaN").is_err());
        assert_eq!(Knob::WeightFormat.spec().parse("x10"), Ok(4.0));
        assert_eq!(Knob::Learn.spec().parse("off"), Ok(0.0));
    }
}
