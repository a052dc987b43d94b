//! The axes of a sweep: a setting of sessions, and the values that it takes.

use std::str::FromStr;

use crate::domain::knob::KnobKind;
use crate::domain::{Knob, Role, Strategy, words};
use crate::session::SessionSpec;
use crate::ui::text::number;

/// The most values of one axis.
pub const MOST_VALUES: usize = 100_000;

/// Settings besides knobs that a sweep varies.
const NAMES: [&str; 4] = ["model", "planner", "solver", "strategy"];

/// A setting with its values, each once and in the given order.
#[derive(Clone, Debug, PartialEq)]
pub struct SweptAxis {
    pub swept: Swept,
    pub values: Vec<AxisValue>,
}

/// A setting that a sweep varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swept {
    Knob(Knob),
    /// The model of every role.
    Model,
    /// The model of one role.
    Role(Role),
    Strategy,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AxisValue {
    Number(f64),
    Name(String),
}

impl SweptAxis {
    pub fn name(&self) -> &'static str {
        match self.swept {
            Swept::Knob(knob) => knob.spec().name,
            Swept::Model => "model",
            Swept::Role(role) => role.name(),
            Swept::Strategy => "strategy",
        }
    }

    /// The text of a value, as people write it.
    pub fn label(&self, at: usize) -> String {
        match (&self.values[at], self.swept) {
            (AxisValue::Name(name), _) => name.clone(),
            (AxisValue::Number(value), Swept::Knob(knob)) => match knob.spec().kind {
                KnobKind::Switch | KnobKind::Choice(_) => knob.spec().show(*value),
                // Rounded labels of near values would be the same.
                KnobKind::Real | KnobKind::Whole => short(*value),
            },
            (AxisValue::Number(value), _) => short(*value),
        }
    }

    /// Gives the session the value at this place.
    pub fn set(&self, at: usize, spec: &mut SessionSpec) {
        let value = &self.values[at];
        match (self.swept, value) {
            (Swept::Knob(knob), AxisValue::Number(value)) => {
                let knobs = match &mut spec.fork {
                    Some(fork) => &mut fork.knobs,
                    None => &mut spec.knobs,
                };
                knobs.insert(knob, *value);
            }
            (Swept::Strategy, AxisValue::Name(name)) => {
                let strategy = name.parse::<Strategy>().ok();
                match &mut spec.fork {
                    Some(fork) => fork.strategy = strategy,
                    None => spec.strategy = strategy,
                }
            }
            (Swept::Model, AxisValue::Name(name)) => match &mut spec.fork {
                Some(fork) => {
                    fork.roles.extend(Role::all().map(|role| (role, name.as_str().into())))
                }
                None => {
                    spec.model = Some(name.as_str().into());
                    spec.roles.clear();
                }
            },
            (Swept::Role(role), AxisValue::Name(name)) => {
                let roles = match &mut spec.fork {
                    Some(fork) => &mut fork.roles,
                    None => &mut spec.roles,
                };
                roles.insert(role, name.as_str().into());
            }
            (Swept::Knob(_), AxisValue::Name(_)) | (_, AxisValue::Number(_)) => {}
        }
    }
}

/// A number without needless places.
fn short(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.parse() == Ok(value) { text.to_owned() } else { value.to_string() }
}

impl FromStr for SweptAxis {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "expected NAME=VALUES, such as alpha=0..1/11, tau=0.1,0.2 or model=a,b";
        let (name, values) = text.split_once('=').ok_or(form)?;
        let (name, values) = (name.trim(), values.trim());
        let swept = match name {
            "model" => Swept::Model,
            "planner" => Swept::Role(Role::Planner),
            "solver" => Swept::Role(Role::Solver),
            "strategy" => Swept::Strategy,
            _ => Swept::Knob(Knob::named(name).map_err(|why| {
                let near = words::nearest(name, NAMES.into_iter());
                let hint = near.map(|near| format!(" (did you mean `{near}`?)"));
                let others = NAMES.join(", ");
                format!("{why}; a sweep also varies {others}{}", hint.unwrap_or_default())
            })?),
        };
        let mut all = Vec::new();
        for value in values_of(swept, values)? {
            if !all.contains(&value) {
                all.push(value);
            }
        }
        Ok(Self { swept, values: all })
    }
}

fn values_of(swept: Swept, text: &str) -> Result<Vec<AxisValue>, String> {
    if let Swept::Knob(knob) = swept {
        let spec = knob.spec();
        if let Some((range, count)) = text.split_once('/')
            && let Some((low, high)) = range.split_once("..")
        {
            let ends = [spec.parse(low)?, spec.parse(high)?];
            let values = range_of(ends, count.trim(), spec.name)?;
            let whole =
                |value: f64| if spec.kind == KnobKind::Real { value } else { value.round() };
            return Ok(values.map(|value| AxisValue::Number(whole(value))).collect());
        }
        if text.contains("..") {
            return Err(format!("{text}: say how many values, such as {text}/11"));
        }
        return text.split(',').map(|value| spec.parse(value).map(AxisValue::Number)).collect();
    }
    let names = text.split(',').map(str::trim).map(|name| match swept {
        _ if name.is_empty() => Err("expected names with commas between them".to_owned()),
        Swept::Strategy => Ok(name.parse::<Strategy>()?.to_string()),
        _ => Ok(name.to_owned()),
    });
    names.map(|name| name.map(AxisValue::Name)).collect()
}

/// So many values from one end to the other, both with them.
fn range_of(
    [low, high]: [f64; 2],
    count: &str,
    name: &str,
) -> Result<impl Iterator<Item = f64> + use<>, String> {
    let count: u64 =
        count.parse().map_err(|_| format!("/{count}: expected a number of values, such as /11"))?;
    if count > MOST_VALUES as u64 {
        let (count, most) = (number(count), number(MOST_VALUES as u64));
        return Err(format!("{count} values of {name} are too many: at most {most}"));
    }
    if count < 2 || low >= high {
        return Err(
            "expected LOW..HIGH/COUNT with at least 2 values, the lower one first".to_owned()
        );
    }
    // In hundred-thousandths of the range, so that 0..1/11 has 0.3 and not 0.30000000000000004.
    let at = move |n: u64| {
        let value = low + (high - low) * n as f64 / (count - 1) as f64;
        let rounded = (value * 1e9).round() / 1e9;
        rounded.clamp(low, high)
    };
    Ok((0..count).map(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Vec<String> {
        let axis: SweptAxis = text.parse().unwrap();
        (0..axis.values.len()).map(|at| axis.label(at)).collect()
    }

    #[test]
    fn values_are_ranges_lists_and_names_each_once() {
        let tenths = ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"];
        assert_eq!(labels("alpha=0..1/11"), tenths);
        assert_eq!(labels(" tau = 0.25, 0.1,0.25 "), ["0.25", "0.1"]);
        assert_eq!(labels("blacklist=off,strict"), ["off", "strict"]);
        assert_eq!(labels("model=a,b,a"), ["a", "b"]);
        assert_eq!(labels("strategy=react,react+btp").len(), 2);
        assert_eq!(labels("top_k=1..4/7"), ["1", "2", "3", "4"], "whole numbers");
    }

    #[test]
    fn a_value_goes_where_its_setting_is() {
        let axis: SweptAxis = "model=a,b".parse().unwrap();
        let mut spec = SessionSpec::default();
        spec.roles.insert(Role::Solver, "c".into());
        axis.set(1, &mut spec);
        assert_eq!((spec.model, spec.roles.len()), (Some("b".into()), 0));
        let mut fork = SessionSpec { fork: Some(Box::default()), ..SessionSpec::default() };
        "alpha=0.5".parse::<SweptAxis>().unwrap().set(0, &mut fork);
        let fork_spec = fork.fork.unwrap();
        assert_eq!((fork_spec.knobs.get(&Knob::Alpha), fork.knobs.len()), (Some(&0.5), 0));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_was_expected() {
        for (text, says) in [
            ("alpha", "expected NAME=VALUES"),
            ("alhpa=1", "did you mean `alpha`"),
            ("modle=a", "did you mean `model`"),
            ("alpha=0..1", "say how many values, such as 0..1/11"),
            ("alpha=0..1/1000000000", "1,000,000,000 values of alpha are too many"),
            ("alpha=1..0/3", "the lower one first"),
            ("alpha=0..1/1", "at least 2"),
            ("alpha=0..1/x", "expected a number of values"),
            ("beta=2", "beta takes"),
            ("beta=", "beta takes"),
            ("model=a,,b", "names with commas"),
            ("strategy=recat", "did you mean `react`"),
        ] {
            let why = text.parse::<SweptAxis>().unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}
