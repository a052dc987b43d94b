//! The outcome of a fault that fires without a real call. To the agent it looks real.
//!
//! The engine does the waiting: [`FaultKind::Timeout`] and [`FaultKind::Latency`] produce no outcome here.

use super::kind::{FaultKind, Spread};
use super::settings::LONGEST_LATENCY;
use super::text;
use super::trigger::{FaultProgress, MICROS};
use crate::chance::Chance;
use crate::chat::Finish;
use crate::chat::Reply;
use crate::error::{ModelError, ModelErrorKind, ToolError, ToolErrorKind, WireFailure};
use crate::output::ToolOutput;

pub(super) const TOOL_ERROR: &str = "503 Service Unavailable";
/// The status of a model error without a given status.
pub(super) const STATUS: u16 = 500;
const TOO_MANY: u16 = 429;
const UNAUTHORIZED: u16 = 401;
const EXPIRED: &str = "Unauthorized. The access token has expired.";
/// A tool's result that reports an error.
const HIDDEN: &str = r#"{"status": "error", "message": "internal error, please try again later"}"#;
/// Default text of a model that refuses.
const REFUSAL: &str = "I'm sorry, but I cannot help with that.";
/// The exponent of the Pareto distribution of [`Spread::Tail`].
const PARETO: f64 = 1.5;

impl FaultKind {
    /// Whether the fault hits a call now; an intermittent fault does not always.
    pub(super) fn is_down(&self, progress: &FaultProgress) -> bool {
        let FaultKind::Flapping { up, down } = self else { return true };
        let [up, down] = [*up, *down].map(|seconds| u64::from(seconds) * MICROS);
        progress.elapsed % (up + down).max(1) >= up
    }

    /// Whether the fault has ended by itself.
    pub(super) fn has_recovered(&self, progress: &FaultProgress) -> bool {
        let FaultKind::RateLimit { retry_after } = self else { return false };
        progress.since_first.is_some_and(|since| since >= u64::from(*retry_after) * MICROS)
    }

    /// Milliseconds by which the start of the call is delayed; `None`: no delay.
    pub fn delay_ms(&self, chance: Chance) -> Option<f64> {
        let FaultKind::Latency { ms, spread } = self else { return None };
        let mean = *ms as f64;
        let draw = |key: &[u8]| chance.with(b"delay").with(key).unit();
        let ms = match spread {
            Spread::Fixed => mean,
            Spread::Uniform => 2.0 * mean * draw(b"a"),
            // Box and Muller 1958.
            Spread::Normal => {
                let radius = (-2.0 * (1.0 - draw(b"a")).ln()).sqrt();
                let normal = radius * (std::f64::consts::TAU * draw(b"b")).cos();
                mean + normal * mean / 4.0
            }
            Spread::Tail => {
                let least = mean * (PARETO - 1.0) / PARETO;
                least / (1.0 - draw(b"a")).powf(1.0 / PARETO)
            }
        };
        Some(ms.clamp(0.0, LONGEST_LATENCY as f64))
    }

    /// Additional milliseconds for an answer with this text; `None`: none.
    pub fn pause_ms(&self, text: &str) -> Option<u64> {
        let FaultKind::SlowTokens { ms } = self else { return None };
        let words = text.split_whitespace().count() as u64;
        Some(ms.saturating_mul(words).min(LONGEST_LATENCY))
    }

    /// A tool's outcome without a call; `None`: the tool is called, or never answers.
    pub fn tool_outcome(&self, chance: Chance) -> Option<Result<ToolOutput, ToolError>> {
        let output = |text| Some(Ok(ToolOutput::of(text)));
        let failed = |text: &str| Some(Err(ToolError::new(ToolErrorKind::Failed, text)));
        match self {
            FaultKind::Error { text, .. } => failed(text.as_deref().unwrap_or(TOOL_ERROR)),
            FaultKind::Flapping { .. } => failed(TOOL_ERROR),
            FaultKind::RateLimit { retry_after } => {
                failed(&format!("{TOO_MANY} {}", too_many(*retry_after)))
            }
            FaultKind::AuthExpired => failed(&format!("{UNAUTHORIZED} {EXPIRED}")),
            FaultKind::Crash => failed("the program failed (signal: 9 (SIGKILL))"),
            FaultKind::Empty => output(String::new()),
            FaultKind::Garbage => output(text::garbage(chance)),
            FaultKind::Answer { text } => output(text.clone()),
            FaultKind::HiddenError { text } => {
                output(text.clone().unwrap_or_else(|| HIDDEN.to_owned()))
            }
            _ => None,
        }
    }

    /// Whether the fault ends a call of a tool that runs elsewhere, without a result from there.
    pub fn answers_for_tool(&self) -> bool {
        *self == FaultKind::Timeout || self.tool_outcome(Chance::new(0)).is_some()
    }

    /// A model's outcome without a call; `None`: the model is called, or never answers.
    pub fn model_outcome(&self, chance: Chance) -> Option<Result<Reply, ModelError>> {
        let reply = |text: String| Some(Ok(Reply::of_text(text)));
        match self {
            FaultKind::Empty => reply(String::new()),
            FaultKind::Garbage => reply(text::garbage(chance)),
            FaultKind::Answer { text } => reply(text.clone()),
            FaultKind::Refusal { text } => {
                let text = text.clone().unwrap_or_else(|| REFUSAL.to_owned());
                Some(Ok(Reply { finish: Finish::Refused, ..Reply::of_text(text) }))
            }
            _ => self.model_error().map(Err),
        }
    }

    /// The failure of a request to a model or an embedding model that is not sent, if any: the
    /// error of the client after its own retries.
    pub fn model_error(&self) -> Option<ModelError> {
        match self {
            FaultKind::Error { status, text } => {
                Some(refused(status.unwrap_or(STATUS), text.as_deref()))
            }
            FaultKind::Flapping { .. } => Some(refused(STATUS, None)),
            FaultKind::RateLimit { retry_after } => {
                let shown =
                    WireFailure::Status { status: TOO_MANY, retry_after: Some(*retry_after) };
                Some(refused(TOO_MANY, Some(&too_many(*retry_after))).shown(shown))
            }
            FaultKind::AuthExpired => Some(refused(UNAUTHORIZED, Some(EXPIRED))),
            FaultKind::Overflow => {
                let text = "HTTP 400: the prompt is longer than the model's context window";
                let shown = WireFailure::Status { status: 400, retry_after: None };
                Some(ModelError::new(ModelErrorKind::ContextOverflow, text).shown(shown))
            }
            _ => None,
        }
    }
}

fn too_many(retry_after: u32) -> String {
    format!("Too Many Requests. It asks to wait {retry_after} s.")
}

fn refused(status: u16, text: Option<&str>) -> ModelError {
    let said = text.map_or_else(String::new, |text| format!(": {text}"));
    let error = ModelError::new(ModelErrorKind::of_status(status), format!("HTTP {status}{said}"));
    error.shown(WireFailure::Status { status, retry_after: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::FaultSpec;

    fn kind(text: &str) -> FaultKind {
        text.parse::<FaultSpec>().unwrap().kind
    }

    #[test]
    fn a_tool_answers_as_its_kind_says_or_is_left_to_run() {
        let chance = Chance::new(3);
        let outcome = |text: &str| kind(&format!("a:{text}")).tool_outcome(chance);
        let failed = |text: &str| Some(Err(ToolError::new(ToolErrorKind::Failed, text)));
        assert_eq!(outcome("error"), failed("503 Service Unavailable"));
        assert_eq!(outcome("error:text=no"), failed("no"));
        assert_eq!(outcome("flapping"), failed("503 Service Unavailable"));
        assert_eq!(
            outcome("rate-limit:retry-after=9"),
            failed("429 Too Many Requests. It asks to wait 9 s.")
        );
        assert_eq!(
            outcome("auth-expired"),
            failed("401 Unauthorized. The access token has expired.")
        );
        assert_eq!(outcome("crash"), failed("the program failed (signal: 9 (SIGKILL))"));
        assert_eq!(outcome("empty").unwrap().unwrap().text, "");
        assert_eq!(outcome("hidden-error:text=oh").unwrap().unwrap().text, "oh");
        let garbage = outcome("garbage").unwrap().unwrap().text;
        assert_eq!(garbage.len(), 40);
        assert_ne!(garbage, kind("a:garbage").tool_outcome(Chance::new(4)).unwrap().unwrap().text);
        for called in [
            "timeout",
            "latency",
            "reset",
            "truncated",
            "wrong",
            "drift",
            "stale",
            "huge",
            "escapes",
            "injection",
        ] {
            assert_eq!(outcome(called), None, "{called}");
        }
    }

    #[test]
    fn a_model_fails_as_its_client_would_tell_it() {
        for (fault, kind, text) in [
            ("error", ModelErrorKind::Endpoint, "HTTP 500"),
            ("error:status=401:text=no key", ModelErrorKind::Auth, "HTTP 401: no key"),
            ("error:status=404", ModelErrorKind::Refused, "HTTP 404"),
            ("flapping", ModelErrorKind::Endpoint, "HTTP 500"),
            (
                "rate-limit:retry-after=9",
                ModelErrorKind::RateLimited,
                "HTTP 429: Too Many Requests. It asks to wait 9 s.",
            ),
            (
                "auth-expired",
                ModelErrorKind::Auth,
                "HTTP 401: Unauthorized. The access token has expired.",
            ),
            (
                "overflow",
                ModelErrorKind::ContextOverflow,
                "HTTP 400: the prompt is longer than the model's context window",
            ),
        ] {
            let of_model = self::kind(&format!("role:actor:{fault}"));
            let error = of_model.model_outcome(Chance::new(1)).unwrap().unwrap_err();
            assert_eq!((error.kind, error.text.as_str()), (kind, text));
            let status = text["HTTP ".len()..][..3].parse().unwrap();
            let retry_after = fault.starts_with("rate-limit").then_some(9);
            assert_eq!(error.shown, Some(WireFailure::Status { status, retry_after }), "{fault}");
            assert_eq!(self::kind(&format!("embedding:{fault}")).model_error(), Some(error));
        }
        for fault in [
            "timeout",
            "latency",
            "slow-tokens",
            "cut-stream",
            "reset-stream",
            "error-event",
            "broken-arguments",
            "reset",
            "price",
            "wrong-usage",
        ] {
            let kind = kind(&format!("model:m:{fault}"));
            assert_eq!(kind.model_outcome(Chance::new(1)), None, "{fault}");
        }
        let outcome = |text: &str| kind(text).model_outcome(Chance::new(1)).unwrap().unwrap();
        assert_eq!(outcome("model:m:empty").text, "");
        assert_eq!(outcome("model:m:garbage").text.len(), 40);
        let refusal = outcome("model:m:refusal:text=No: never.");
        assert_eq!((refusal.text.as_str(), refusal.finish), ("No: never.", Finish::Refused));
        assert!(outcome("model:m:refusal").text.starts_with("I'm sorry"));
        let slow = kind("model:m:slow-tokens:ms=30");
        assert_eq!((slow.pause_ms("three words here"), slow.pause_ms("")), (Some(90), Some(0)));
        assert_eq!(kind("model:m:latency").pause_ms("x"), None);
    }

    #[test]
    fn latencies_have_the_mean_that_they_say() {
        for (spread, least, most) in
            [("fixed", 200.0, 200.0), ("uniform", 0.0, 400.0), ("normal", 0.0, 500.0)]
        {
            let kind = kind(&format!("a:latency:ms=200:spread={spread}"));
            let delays: Vec<f64> =
                (0..4000).map(|seed| kind.delay_ms(Chance::new(seed)).unwrap()).collect();
            let mean = delays.iter().sum::<f64>() / delays.len() as f64;
            assert!((mean - 200.0).abs() < 6.0, "{spread}: {mean}");
            assert!(delays.iter().all(|ms| (least..=most).contains(ms)), "{spread}");
        }
        let tail = kind("a:latency:ms=300:spread=tail");
        let mut delays: Vec<f64> =
            (0..4000).map(|seed| tail.delay_ms(Chance::new(seed)).unwrap()).collect();
        delays.sort_by(f64::total_cmp);
        // The median of this distribution is 100 · 2^(2/3), and its least value is 100.
        assert!((delays[2000] - 158.7).abs() < 6.0, "{}", delays[2000]);
        assert!(delays[0] >= 100.0 && delays[3999] > 3000.0, "{} {}", delays[0], delays[3999]);
        assert_eq!(kind("a:error").delay_ms(Chance::new(1)), None);
    }

    #[test]
    fn a_flapping_tool_comes_and_goes_and_a_rate_limit_recovers() {
        let at =
            |seconds: u64| FaultProgress { elapsed: seconds * MICROS, ..FaultProgress::default() };
        let flapping = kind("a:flapping:up=3:down=2");
        let down: Vec<u64> = (0..10).filter(|s| flapping.is_down(&at(*s))).collect();
        assert_eq!(down, [3, 4, 8, 9]);
        let limit = kind("a:rate-limit:retry-after=5");
        let since = |seconds: u64| FaultProgress { since_first: Some(seconds * MICROS), ..at(60) };
        assert!(!limit.has_recovered(&at(60)) && !limit.has_recovered(&since(4)));
        assert!(limit.has_recovered(&since(5)));
    }
}
