//! Faults for demonstrations, armed by one key.

use strum::VariantArray;

use super::{FaultKind, FaultSpec, Spread, Trigger};
use crate::finite::Finite;
use crate::id::ToolName;
use crate::target::Target;

/// A fault for demonstrations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub enum Preset {
    CrashTheFavourite,
    Flaky,
    SlowEverything,
    RateLimitStorm,
    LyingTool,
}

impl Preset {
    pub const ALL: &[Preset] = Self::VARIANTS;

    pub fn name(self) -> &'static str {
        match self {
            Preset::CrashTheFavourite => "crash the favourite",
            Preset::Flaky => "flaky 30 %",
            Preset::SlowEverything => "slow everything",
            Preset::RateLimitStorm => "rate-limit storm",
            Preset::LyingTool => "lying tool",
        }
    }

    /// The fault; `favourite`: the tool that the agent uses most. `None` without a tool.
    pub fn spec(self, favourite: Option<&ToolName>) -> Option<FaultSpec> {
        let of_favourite = || favourite.cloned().map(Target::Tool);
        let (target, kind, probability) = match self {
            Preset::CrashTheFavourite => (of_favourite()?, FaultKind::Crash, None),
            Preset::Flaky => (Target::Tools, FaultKind::outage(), Some(0.3)),
            Preset::SlowEverything => {
                (Target::Any, FaultKind::Latency { ms: 1500, spread: Spread::Tail }, None)
            }
            Preset::RateLimitStorm => {
                (Target::Models, FaultKind::RateLimit { retry_after: 30 }, Some(0.5))
            }
            Preset::LyingTool => (of_favourite()?, FaultKind::Wrong, None),
        };
        Some(FaultSpec {
            target,
            kind,
            trigger: Trigger { probability: probability.map(Finite::from), ..Trigger::default() },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_faults_like_others() {
        let favourite = ToolName::new("search");
        let specs = Preset::ALL.iter().map(|preset| preset.spec(Some(&favourite)).unwrap());
        let texts: Vec<String> = specs.map(|spec| spec.to_string()).collect();
        assert_eq!(
            texts,
            [
                "search:crash",
                "tools:error:p=0.3",
                "any:latency:ms=1500:spread=tail",
                "models:rate-limit:retry-after=30:p=0.5",
                "search:wrong",
            ]
        );
        for text in texts {
            assert!(text.parse::<FaultSpec>().is_ok(), "{text}");
        }
        let without = Preset::ALL.iter().filter(|preset| preset.spec(None).is_some());
        assert_eq!(without.count(), 3);
    }
}
