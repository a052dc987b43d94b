//! The declaration of a knob, and how its values are parsed, shown and turned.

use super::{choice::Retrieve, table::Knob};
use crate::strategy::Strategy;

/// The values of a knob.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KnobKind {
    /// Any number from `min` to `max`.
    Real,
    /// Whole numbers from `min` to `max`.
    Whole,
    /// 0 (off) or 1 (on).
    Switch,
    /// The index of one of these names, which are those of a [`super::KnobChoice`].
    Choice(&'static [&'static str]),
}

/// When a change takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// At once: all weights on the screen, and the next menu.
    AtOnce,
    /// At the next step of the agent.
    NextStep,
    /// At the next task.
    NextTask,
}

/// The agents that read a knob, and why others do not.
#[derive(Clone, Copy, Debug)]
pub struct KnobReader {
    pub reads: fn(Strategy, Retrieve) -> bool,
    pub why_unread: &'static str,
    /// Only watched agents read the knob.
    pub is_foreign: bool,
}

/// The declaration of a knob.
#[derive(Debug)]
pub struct KnobSpec {
    pub knob: Knob,
    /// As written in the configuration and on the command line.
    pub name: &'static str,
    /// As shown in the header, short.
    pub symbol: &'static str,
    pub kind: KnobKind,
    pub min: f64,
    pub max: f64,
    /// The change of one key press.
    pub step: f64,
    pub default: f64,
    pub takes: Takes,
    pub reader: KnobReader,
    /// Whether a change replans the current task: its plan was made for the old value.
    pub replans: bool,
    /// Whether a change also acts where a watched agent is watched.
    pub is_watching: bool,
    pub doc: &'static str,
}

impl KnobSpec {
    /// The value, if this knob accepts it; otherwise an error with the accepted range.
    pub fn check(&self, value: f64) -> Result<f64, String> {
        let fits = value.is_finite() && value >= self.min && value <= self.max;
        let whole = matches!(self.kind, KnobKind::Real) || value.fract() == 0.0;
        if fits && whole { Ok(value) } else { Err(format!("{} takes {}", self.name, self.range())) }
    }

    /// Parses a value as people write it: a number, `on`/`off`, or a name.
    pub fn parse(&self, text: &str) -> Result<f64, String> {
        let text = text.trim();
        let named = match self.kind {
            KnobKind::Real | KnobKind::Whole => None,
            KnobKind::Switch => match text {
                "on" | "true" | "yes" => Some(1.0),
                "off" | "false" | "no" => Some(0.0),
                _ => None,
            },
            KnobKind::Choice(names) => {
                names.iter().position(|name| *name == text).map(|i| i as f64)
            }
        };
        let value = named.or_else(|| text.parse().ok());
        value
            .ok_or_else(|| format!("{} takes {}, not `{text}`", self.name, self.range()))
            .and_then(|value| self.check(value))
    }

    /// The value as people read it.
    pub fn show(&self, value: f64) -> String {
        match self.kind {
            KnobKind::Real => format!("{value:.2}"),
            KnobKind::Whole => format!("{value:.0}"),
            KnobKind::Switch => (if value == 0.0 { "off" } else { "on" }).to_owned(),
            KnobKind::Choice(names) => names.get(value as usize).copied().unwrap_or("?").to_owned(),
        }
    }

    /// The accepted values, in words.
    pub fn range(&self) -> String {
        match self.kind {
            KnobKind::Real => format!("a number from {} to {}", self.min, self.max),
            KnobKind::Whole => format!("a whole number from {} to {}", self.min, self.max),
            KnobKind::Switch => "on or off".to_owned(),
            KnobKind::Choice(names) => format!("one of {}", names.join(", ")),
        }
    }

    /// The next value in this direction, within the range; switches and choices wrap.
    pub fn turned(&self, value: f64, steps: i32) -> f64 {
        let moved = value + f64::from(steps) * self.step;
        match self.kind {
            // Rounded to the step, so that ten presses of 0.05 make 0.5 and not 0.49999999.
            KnobKind::Real | KnobKind::Whole => {
                let ticks = (moved / self.step).round();
                // Multiplying by the reciprocal first keeps 0.05 steps at two decimals.
                let exact = ticks / (1.0 / self.step).round().max(1.0);
                let value = if self.step < 1.0 { exact } else { ticks * self.step };
                value.clamp(self.min, self.max)
            }
            KnobKind::Switch | KnobKind::Choice(_) => moved.rem_euclid(self.max + 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(Knob::Speed.spec().turned(3.0, 1), 4.0);
    }

    #[test]
    fn values_outside_say_what_is_taken() {
        assert!(Knob::Beta.spec().parse("1.5").unwrap_err().contains("from 0 to 1"));
        assert!(Knob::TopK.spec().parse("2.5").is_err());
        assert!(Knob::Alpha.spec().parse("NaN").is_err());
        assert_eq!(Knob::WeightFormat.spec().parse("x10"), Ok(4.0));
        assert_eq!(Knob::Learn.spec().parse("off"), Ok(0.0));
    }

    #[test]
    fn a_value_is_a_finite_number_of_the_range() {
        let spec = Knob::Tau.spec();
        for good in [spec.min, spec.max] {
            assert_eq!(spec.check(good), Ok(good));
        }
        for bad in [spec.min - 0.5, spec.max + 0.5, f64::NAN, f64::INFINITY, -f64::INFINITY] {
            assert!(spec.check(bad).is_err(), "{bad}");
        }
        assert!(Knob::TopK.spec().check(2.5).is_err(), "it counts");
    }
}
