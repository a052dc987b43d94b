//! The calculator: expressions and units, based on the fend library. An input may be anything, so
//! it runs on a thread of its own, with room for deep nesting and a limit of work; meanwhile the
//! engine continues, and a dropped call stops the work.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::{sync::Arc, thread};

use fend_core::Interrupt;
use serde_json::Value;

use super::{arguments, numbers::plain};
use crate::domain::words::clipped;
use crate::tool::{ToolError, ToolErrorKind};

/// Characters of an expression: each may nest one level deeper.
const LENGTH: usize = 300;
/// Enough for [`LENGTH`] levels, even without optimisation.
const STACK: usize = 64 * 1024 * 1024;
/// Interrupt checks by the library before it is stopped: some seconds of work. They are counted and
/// not timed, so that the same expression ends the same way on every machine that is fast enough
/// for the time limit.
const LOOKS: u32 = 20_000_000;

#[derive(Default)]
struct Limit {
    looks: AtomicU32,
    dropped: Arc<AtomicBool>,
}

impl Interrupt for Limit {
    fn should_interrupt(&self) -> bool {
        self.looks.fetch_add(1, Ordering::Relaxed) > LOOKS || self.dropped.load(Ordering::Relaxed)
    }
}

/// Tells the thread that its result is no longer needed.
struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The value of `expression`, as plain text.
pub async fn calculate(arguments: &Value) -> Result<String, ToolError> {
    evaluate(arguments::text(arguments, "expression")?.to_owned()).await
}

/// `value` in the unit `from`, given in the unit `to`.
pub async fn convert_unit(arguments: &Value) -> Result<String, ToolError> {
    let value = arguments::number(arguments, "value")?;
    let from = arguments::text(arguments, "from")?;
    let to = arguments::text(arguments, "to")?;
    evaluate(format!("{} {from} to {to}", plain(value))).await
}

async fn evaluate(expression: String) -> Result<String, ToolError> {
    refuse_programs(&expression)?;
    let limit = Limit::default();
    let _stop = OnDrop(limit.dropped.clone());
    let work = move || -> Result<String, ToolError> {
        let result =
            fend_core::evaluate_with_interrupt(&expression, &mut fend_core::Context::new(), &limit);
        let result = result.map_err(|error| {
            let (shown, why) = (clipped(&expression, 80), clipped(&error, 200));
            unusable(format!("cannot calculate {shown:?}: {why}"))
        })?;
        // Only the number matters; its decimals show that it is rounded.
        let text = result.get_main_result();
        Ok(text.strip_prefix("approx. ").unwrap_or(text).to_owned())
    };
    // The threads for blocking work have an ordinary stack. One of them waits for the deep one, so
    // that the runtime knows about the work: a clock that tests have paused does not run ahead of
    // it.
    let joined = tokio::task::spawn_blocking(move || {
        let thread = thread::Builder::new().name("calculator".into()).stack_size(STACK);
        let thread = thread.spawn(work).map_err(|error| failed(error.to_string()))?;
        thread.join().unwrap_or_else(|_| Err(failed("the calculation broke down".into())))
    });
    joined.await.unwrap_or_else(|_| Err(failed("the calculation was cancelled".into())))
}

/// The library also has functions, variables and text, and with them endless expressions. A
/// calculator needs none of that.
fn refuse_programs(expression: &str) -> Result<(), ToolError> {
    if expression.chars().count() > LENGTH {
        return Err(unusable(format!("expected an expression of at most {LENGTH} characters")));
    }
    if let Some(bad) = expression.chars().find(|c| {
        !(c.is_alphanumeric()
            || c.is_whitespace() && *c != '\n'
            || "+-*/^%!().,_°√×÷−·€$£'".contains(*c))
    }) {
        return Err(unusable(format!("{bad:?} is not allowed in an expression")));
    }
    Ok(())
}

fn failed(text: String) -> ToolError {
    ToolError::new(ToolErrorKind::Failed, text)
}

/// Who asks wrongly is at fault, not the calculator.
fn unusable(text: String) -> ToolError {
    ToolError::new(ToolErrorKind::Arguments, text)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    async fn value(expression: &str) -> Result<String, ToolError> {
        calculate(&json!({ "expression": expression })).await
    }

    #[tokio::test]
    async fn expressions_give_plain_numbers() {
        let cases = [
            ("2 + 3 * 4", "14"),
            ("(1240000 + 212000) / 2", "726000"),
            ("10 / 3", "3.3333333333"),
            ("2^64", "18446744073709551616"),
            ("sqrt(2)", "1.4142135624"),
            ("1000 * (1 + 0.04 / 12)^60", "1220.9965939421"),
        ];
        for (expression, expected) in cases {
            assert_eq!(value(expression).await.as_deref(), Ok(expected));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_paused_clock_waits_for_the_work() {
        let limit = Duration::from_secs(1);
        let calculated = tokio::time::timeout(limit, value("1000!/998!")).await;
        assert_eq!(calculated.unwrap().as_deref(), Ok("999000"));
    }

    #[tokio::test]
    async fn units() {
        let miles = json!({ "value": 26, "from": "miles", "to": "km" });
        assert_eq!(convert_unit(&miles).await.as_deref(), Ok("41.842944 km"));
        let heat = json!({ "value": "2870", "from": "celsius", "to": "fahrenheit" });
        assert_eq!(convert_unit(&heat).await.as_deref(), Ok("5198 fahrenheit"));
        assert!(convert_unit(&json!({ "value": 1, "from": "km", "to": "kg" })).await.is_err());
    }

    #[tokio::test]
    async fn what_is_no_expression_is_refused_with_a_reason() {
        let long = "1+".repeat(LENGTH);
        let bad = ["1/0", "2 +", "(\\x. x x) (\\x. x x)", "f = x: f x; f 1", "\"a\" * 9", &long];
        for expression in bad {
            let error = value(expression).await.unwrap_err();
            assert_eq!(error.kind, ToolErrorKind::Arguments, "{expression}: {error}");
        }
    }

    /// Each of these is endless, or overflowed an ordinary stack.
    #[tokio::test]
    async fn whatever_is_asked_can_be_given_up() {
        let endless = ["9^9^9^9", "99999999!", "10^10^10", "0.1^-99999999", "(2^(2^40)) mod 7"];
        let deep = [
            format!("{}1{}", "(".repeat(149), ")".repeat(149)),
            format!("{}1", "-".repeat(299)),
            format!("{}2", "2^".repeat(149)),
            format!("9{}", "!".repeat(299)),
            format!("{}2", "sqrt ".repeat(59)),
        ];
        for expression in endless.into_iter().chain(deep.iter().map(String::as_str)) {
            let _ended = tokio::time::timeout(Duration::from_millis(100), value(expression)).await;
        }
    }
}
