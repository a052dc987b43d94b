//! Values on the command line: how they are parsed, and how results are shown.

use std::{num::NonZeroUsize, str::FromStr};

/// A number.
pub fn number(text: &str) -> Result<f64, String> {
    parsed(text, "a number such as 20 or 0.5")
}

/// A whole number of at least 0.
pub fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    parsed(text, "a whole number of at least 0")
}

/// A whole number of at least 1.
pub fn positive(text: &str) -> Result<NonZeroUsize, String> {
    parsed(text, "a whole number of at least 1")
}

/// A tag of workers, or the id of a job: one part of a subject of NATS.
#[cfg(feature = "nats")]
pub fn tag(text: &str) -> Result<String, String> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !text.is_empty() && text.len() <= 32 && text.chars().all(is_good) {
        true => Ok(text.to_owned()),
        false => Err("expected up to 32 letters, digits, - or _, such as gpu".to_owned()),
    }
}

/// A number of seconds of at least 0.
pub fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.trim().parse().ok().filter(|seconds: &f64| *seconds >= 0.0);
    seconds
        .filter(|seconds| seconds.is_finite())
        .ok_or_else(|| "expected a number of seconds".to_owned())
}

/// An address in which `${NAME}` stands for a variable of the environment. Other users of the machine can read a command
/// line, but not an environment. The value takes the place of one text: what would end it is escaped.
pub fn with_variables(address: &str) -> Result<String, String> {
    let mut parts = address.split("${");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').ok_or("expected `}` behind `${NAME`")?;
        let value = std::env::var(name).map_err(|_| {
            format!("{name} has no text in the environment; set it, or write it out")
        })?;
        for byte in value.bytes() {
            match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                true => whole.push(char::from(byte)),
                false => whole.push_str(&format!("%{byte:02X}")),
            }
        }
        whole.push_str(rest);
    }
    Ok(whole)
}

fn parsed<T: FromStr>(text: &str, expected: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("expected {expected}"))
}

/// A number with three significant digits, or all digits of its whole part.
pub fn rounded(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let decimals = (2.0 - number.abs().log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{number:.decimals$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_shown_and_no_whole_part_is_cut() {
        let shown = [1.738_531_979, 0.1, 20.0, 1234.5, 0.004_567, 0.0, 99.96, -2.5];
        let texts = ["1.74", "0.1", "20", "1234", "0.00457", "0", "100", "-2.5"];
        assert_eq!(shown.map(rounded), texts);
    }

    #[test]
    fn an_error_names_what_was_expected() {
        assert_eq!(number("much").unwrap_err(), "expected a number such as 20 or 0.5");
        assert_eq!(whole::<u32>("-1").unwrap_err(), "expected a whole number of at least 0");
        assert_eq!(positive("0").unwrap_err(), "expected a whole number of at least 1");
        assert_eq!(
            (number("2"), whole("3"), positive("4").map(usize::from)),
            (Ok(2.0), Ok(3), Ok(4))
        );
    }

    #[test]
    fn variables_of_an_address_are_one_text_each() {
        let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap();
        let name = std::env::var("CARGO_PKG_NAME").unwrap();
        let address =
            with_variables("http://h/${CARGO_PKG_NAME}?k=${CARGO_MANIFEST_DIR}&x=$").unwrap();
        assert_eq!(address, format!("http://h/{name}?k={}&x=$", folder.replace('/', "%2F")));
        assert!(with_variables("http://h?k=${NO_SUCH_VARIABLE}").unwrap_err().contains("NO_SUCH_"));
        assert!(with_variables("http://h?k=${CARGO_PKG_NAME").is_err());
    }
}
