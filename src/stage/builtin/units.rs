//! Conversions of units: length, area, volume, mass, time, speed, energy, data and temperature.

use serde_json::Value;

use super::expression::{check, unusable};
use super::{arguments, numbers::plain};
use crate::domain::words::clipped;
use crate::tool::ToolError;

/// A unit relative to the first of its kind: its size, and its zero if the scale has another one.
struct Unit {
    names: &'static [&'static str],
    size: f64,
    zero: f64,
}

const fn unit(names: &'static [&'static str], size: f64) -> Unit {
    Unit { names, size, zero: 0.0 }
}

/// Kinds of units. Only those of one kind can be converted; a name is singular.
const KINDS: [&[Unit]; 9] = [
    &[
        unit(&["m", "metre", "meter"], 1.0),
        unit(&["km", "kilometre", "kilometer"], 1_000.0),
        unit(&["cm", "centimetre", "centimeter"], 0.01),
        unit(&["mm", "millimetre", "millimeter"], 0.001),
        unit(&["mi", "mile"], 1_609.344),
        unit(&["yd", "yard"], 0.9144),
        unit(&["ft", "foot", "feet"], 0.3048),
        unit(&["in", "inch", "inches"], 0.0254),
        unit(&["nautical mile", "nmi"], 1_852.0),
    ],
    &[
        unit(&["m2", "m^2", "m²", "square metre", "square meter"], 1.0),
        unit(&["km2", "km^2", "km²", "square kilometre", "square kilometer"], 1e6),
        unit(&["ha", "hectare"], 1e4),
        unit(&["acre"], 4_046.856_422_4),
        unit(&["square mile", "mi2", "mi^2"], 2_589_988.110_336),
        unit(&["square foot", "square feet", "ft2", "ft^2"], 0.092_903_04),
    ],
    &[
        unit(&["l", "litre", "liter"], 1.0),
        unit(&["ml", "millilitre", "milliliter"], 0.001),
        unit(&["m3", "m^3", "m³", "cubic metre", "cubic meter"], 1_000.0),
        unit(&["gal", "gallon"], 3.785_411_784),
        unit(&["pint"], 0.473_176_473),
        unit(&["cup"], 0.236_588_236_5),
    ],
    &[
        unit(&["kg", "kilogram", "kilo"], 1.0),
        unit(&["g", "gram"], 0.001),
        unit(&["mg", "milligram"], 1e-6),
        unit(&["t", "tonne", "ton"], 1_000.0),
        unit(&["lb", "pound"], 0.453_592_37),
        unit(&["oz", "ounce"], 0.028_349_523_125),
        unit(&["stone"], 6.350_293_18),
    ],
    &[
        unit(&["s", "sec", "second"], 1.0),
        unit(&["ms", "millisecond"], 0.001),
        unit(&["min", "minute"], 60.0),
        unit(&["h", "hr", "hour"], 3_600.0),
        unit(&["d", "day"], 86_400.0),
        unit(&["week"], 604_800.0),
        unit(&["year"], 31_557_600.0),
    ],
    &[
        unit(&["m/s", "metre per second", "metres a second", "meters per second"], 1.0),
        unit(&["km/h", "kph", "kilometres an hour", "kilometers per hour"], 1.0 / 3.6),
        unit(&["mph", "miles per hour", "miles an hour"], 0.447_04),
        unit(&["knot", "kn"], 1_852.0 / 3_600.0),
    ],
    &[
        unit(&["j", "joule"], 1.0),
        unit(&["kj", "kilojoule"], 1_000.0),
        unit(&["cal", "calorie"], 4.184),
        unit(&["kcal", "kilocalorie"], 4_184.0),
        unit(&["kwh", "kilowatt hour"], 3.6e6),
    ],
    &[
        unit(&["b", "byte"], 1.0),
        unit(&["bit"], 0.125),
        unit(&["kb", "kilobyte"], 1e3),
        unit(&["mb", "megabyte"], 1e6),
        unit(&["gb", "gigabyte"], 1e9),
        unit(&["tb", "terabyte"], 1e12),
        unit(&["kib", "kibibyte"], 1_024.0),
        unit(&["mib", "mebibyte"], 1_048_576.0),
        unit(&["gib", "gibibyte"], 1_073_741_824.0),
    ],
    &[
        unit(&["k", "kelvin"], 1.0),
        Unit { names: &["c", "°c", "celsius"], size: 1.0, zero: 273.15 },
        Unit { names: &["f", "°f", "fahrenheit"], size: 5.0 / 9.0, zero: 273.15 - 160.0 / 9.0 },
    ],
];

/// `value` in the unit `from`, given in the unit `to`.
///
/// # Errors
/// The arguments are wrong: a unit is unknown, or the two are of different kinds.
pub fn convert(arguments: &Value) -> Result<String, ToolError> {
    let value = arguments::number(arguments, "value")?;
    let ((from, of), (to, into)) = (known(arguments, "from")?, known(arguments, "to")?);
    if of != into {
        let (from, to) = (from.names[0], to.names[0]);
        return Err(unusable(format!(
            "cannot convert {from} into {to}: they measure different things"
        )));
    }
    // Both zeros are in the base unit; their difference keeps the digits of the value.
    let converted = value * (from.size / to.size) + (from.zero - to.zero) / to.size;
    Ok(format!("{} {}", plain(converted), arguments::text(arguments, "to")?))
}

/// The unit that an argument names, in the singular or the plural, and its kind.
fn known(arguments: &Value, name: &str) -> Result<(&'static Unit, usize), ToolError> {
    let given = arguments::text(arguments, name)?.to_lowercase();
    check(&given)?;
    let given = given.strip_prefix("degrees ").unwrap_or(&given);
    let singular = given.strip_suffix('s').unwrap_or(given);
    let units = || {
        KINDS
            .iter()
            .enumerate()
            .flat_map(|(kind, units)| units.iter().map(move |unit| (unit, kind)))
    };
    let named = |word: &str| units().find(|(unit, _)| unit.names.contains(&word));
    named(given).or_else(|| named(singular)).ok_or_else(|| {
        let expected = "expected a common unit, such as km, pounds, hours or celsius";
        unusable(format!("arguments.{name}: unknown unit {:?}; {expected}", clipped(given, 40)))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::json;

    use super::*;

    fn converted(value: f64, from: &str, to: &str) -> Result<String, String> {
        let arguments = json!({ "value": value, "from": from, "to": to });
        convert(&arguments).map_err(|error| error.text)
    }

    #[test]
    fn units_are_converted_within_their_kind() {
        let cases = [
            (26.0, "miles", "km", "41.842944 km"),
            (2_870.0, "celsius", "Fahrenheit", "5198 Fahrenheit"),
            (212.0, "fahrenheit", "celsius", "100 celsius"),
            (37.0, "degrees celsius", "K", "310.15 K"),
            (1_876.0, "metres", "feet", "6154.8556430446 feet"),
            (31.0, "hours", "minutes", "1860 minutes"),
            (5.0, "pounds", "kilograms", "2.26796185 kilograms"),
            (72.0, "km/h", "m/s", "20 m/s"),
        ];
        for (value, from, to, expected) in cases {
            assert_eq!(converted(value, from, to).as_deref(), Ok(expected), "{value} {from}");
        }
    }

    #[test]
    fn an_unknown_unit_and_another_kind_are_refused() {
        assert_eq!(
            converted(1.0, "km", "kg").unwrap_err(),
            "cannot convert km into kg: they measure different things"
        );
        let unknown = converted(1.0, "kilometrs", "m").unwrap_err();
        let start = "arguments.from: unknown unit \"kilometrs\"; expected";
        assert!(unknown.starts_with(start), "{unknown}");
    }

    #[test]
    fn no_name_means_two_units() {
        let names: Vec<_> = KINDS.iter().copied().flatten().flat_map(|unit| unit.names).collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    }
}
