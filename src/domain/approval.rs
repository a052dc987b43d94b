//! Rules for the tool calls that need a person's consent. The place of a rule is written like that of a breakpoint.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::breakpoint::{At, BreakpointPlace, BreakpointSpec};
use super::expression::Expression;
use super::spec::EffectClass;
use super::target::{Sort, Target};

/// Tool calls of a place, such as `send_mail:if=args.to == "x"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    pub place: BreakpointPlace,
    /// Must be true for the call.
    #[serde(default, rename = "if", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Expression>,
}

/// Decision about a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// The call runs without anybody's consent.
    Allow,
    /// A person decides; without one the call is refused.
    Ask,
    Deny,
}

/// The rules of a session. Of the matching rules, one that denies has priority, then one that allows, then one that
/// asks; a call that no rule matches is allowed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<Rule>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<Rule>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<Rule>,
}

impl Default for Approval {
    /// Asks about tools without a declared effect, since these may do anything.
    fn default() -> Self {
        Self { deny: Vec::new(), allow: Vec::new(), ask: vec![Rule::of_unknown()] }
    }
}

impl Approval {
    /// Returns the decision about a call, and the rule that made it. `holds` evaluates a condition.
    pub fn of(&self, at: &At<'_>, holds: impl Fn(&Expression) -> bool) -> (Consent, Option<&Rule>) {
        let lists =
            [(&self.deny, Consent::Deny), (&self.allow, Consent::Allow), (&self.ask, Consent::Ask)];
        let matches =
            |rule: &&Rule| rule.place.is_at(at) && rule.condition.as_ref().is_none_or(&holds);
        let found = lists.iter().find_map(|(rules, consent)| {
            rules.iter().find(matches).map(|rule| (*consent, Some(rule)))
        });
        found.unwrap_or((Consent::Allow, None))
    }

    /// Whether no rule can match anything.
    pub fn is_empty(&self) -> bool {
        self.deny.is_empty() && self.ask.is_empty()
    }
}

impl Rule {
    /// All tools without a declared effect.
    pub fn of_unknown() -> Self {
        Self { place: BreakpointPlace::Call(Target::Effect(EffectClass::Unknown)), condition: None }
    }

    /// # Errors
    /// A message that says what is wrong.
    pub fn read(text: &str) -> Result<Self, String> {
        let spec = BreakpointSpec::read(text)?;
        let rule = Self { place: spec.place.clone(), condition: spec.condition.clone() };
        if spec != rule.spec() {
            return Err("a rule takes a place, and `if` with a condition on the call".to_owned());
        }
        let place = &rule.place;
        let sort =
            if let BreakpointPlace::Call(target) = place { Some(target.sort()) } else { None };
        if !sort.is_some_and(|sort| sort == Sort::Any || sort.is_of_tools()) {
            return Err(format!(
                "{place} names no tool calls; expected a tool, class:NAME, effect:NAME, mcp:NAME or tools"
            ));
        }
        Ok(rule)
    }

    /// The rule as a breakpoint without any other option.
    fn spec(&self) -> BreakpointSpec {
        let condition = self.condition.clone();
        BreakpointSpec { condition, ..BreakpointSpec::at(self.place.clone()) }
    }
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::read(text).map_err(|what| format!("rule `{text}`: {what}"))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakpoint::When;
    use crate::id::ToolName;
    use crate::target::Aim;

    fn rules(texts: &[&str]) -> Vec<Rule> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn deny_comes_before_allow_and_allow_before_ask() {
        let approval = Approval {
            deny: rules(&["rm"]),
            allow: rules(&["mail:if=ok", "rm"]),
            ask: rules(&["tools"]),
        };
        let of = |tool: &str, holds: bool| {
            let name = ToolName::new(tool);
            let (tool, effect) = (Some((&name, None)), Some(EffectClass::Write));
            let aim = Aim { tool, effect, ..Aim::default() };
            let at = At { when: When::Before, aim, troubles: &[] };
            approval.of(&at, |_| holds).0
        };
        assert_eq!(of("rm", true), Consent::Deny);
        assert_eq!([of("mail", true), of("mail", false)], [Consent::Allow, Consent::Ask]);
        assert_eq!(of("other", true), Consent::Ask);
    }

    #[test]
    fn rules_are_places_of_tools_with_a_condition() {
        for text in ["mail", "effect:write", "class:A", "tools:if=args.n > 3", "edge:a->b"] {
            assert_eq!(text.parse::<Rule>().unwrap().to_string(), text);
        }
        for (text, why) in [
            ("role:actor", "role:actor names no tool calls"),
            ("mail:once", "a rule takes a place"),
            ("mail:if=ms >", "something is missing here"),
        ] {
            let said = text.parse::<Rule>().unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
