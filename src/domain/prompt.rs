//! The prompts. Each is declared once, here, and its text is a file in `prompts/`. A workspace can
//! override each; strategies, the command line and the journal all read this table.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::markers::{ANSWER_IS, COSTS, FINISH, KEEPING, LACKING, OFFER, OTHER_TOOLS, UNKNOWN};
use crate::{chance, chat::Role};

/// The declaration of a prompt.
#[derive(Debug)]
pub struct PromptSpec {
    pub prompt: Prompt,
    /// Name of the prompt; its file is `prompts/NAME.md`.
    pub name: &'static str,
    /// The roles whose models read it.
    pub roles: &'static [Role],
    /// The text, unless the workspace overrides it.
    pub built_in: &'static str,
    /// The placeholders for values, each with its braces.
    pub placeholders: &'static [&'static str],
    /// Words by which answers or prompts are read.
    pub markers: &'static [&'static str],
    pub doc: &'static str,
}

macro_rules! prompts {
    ($($prompt:ident $name:literal by [$($role:ident),+] fill $placeholders:tt keep $markers:tt $doc:literal)*) => {
        /// Name of a prompt.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Prompt {
            $(#[doc = $doc] $prompt,)*
        }

        /// Every prompt, in display order.
        pub const PROMPTS: &[PromptSpec] = &[$(PromptSpec {
            prompt: Prompt::$prompt,
            name: $name,
            roles: &[$(Role::$role),+],
            // White space at the ends of a file is for its editor, not for the model.
            built_in: include_str!(concat!("../../prompts/", $name, ".md")).trim_ascii(),
            placeholders: &$placeholders,
            markers: &$markers,
            doc: $doc,
        },)*];
    };
}

prompts! {
    Actor "actor" by [Actor] fill [] keep [FINISH]
        "how to solve a task with tools, step by step"
    ActorWeights "actor-weights" by [Actor] fill [] keep []
        "added where tools have weights: what the weights mean"
    ActorOffer "actor-offer" by [Actor] fill ["{tools}"] keep [OFFER]
        "said last where not every defined tool may be called, or tools have weights"
    ActorLack "actor-lack" by [Actor] fill [] keep [FINISH, OTHER_TOOLS]
        "added where other tools may be offered, by +btp or by toolnet with many tools: what to do if no tool fits"
    Finish "finish" by [Actor] fill [] keep []
        "on the menu: what the action that ends a task does"
    More "more" by [Actor] fill [] keep []
        "offered after a result that was shortened: what the action that reads on does"
    ActorGoOn "actor-go-on" by [Actor] fill [] keep []
        "sent after a reply that did not end the task"
    ActorUnread "actor-unread" by [Actor] fill [] keep []
        "sent after a call in the text that cannot be read"
    ActorNoAnswer "actor-no-answer" by [Actor] fill [] keep [FINISH]
        "sent after an end without an answer"
    ActorAct "actor-act" by [Actor] fill [] keep []
        "sent in a search after a reply without a call"
    ActorElse "actor-else" by [Actor] fill [] keep []
        "sent in a search after earlier decisions at one point: decide differently"
    ActorClose "actor-close" by [Actor] fill [] keep [FINISH]
        "sent when no further call is possible: answer now"
    Writer "writer" by [Actor] fill [] keep [ANSWER_IS]
        "how to write an answer that tools complete where a call starts"
    WriterCall "writer-call" by [Actor] fill [] keep []
        "sent where the judge has a tool called"
    Direct "direct" by [Actor] fill [] keep []
        "how to answer without tools"
    Worker "worker" by [Actor] fill [] keep [UNKNOWN]
        "how to answer one question of a plan"
    Budget "budget" by [Actor, Planner] fill ["{costs}", "{budget}", "{left}"] keep [COSTS]
        "added by +prompt: costs of calls and the remaining budget"
    BudgetNoUse "budget-no-use" by [Actor] fill ["{tools}"] keep []
        "added by +btp: the tools that the budget plan does not use"
    BudgetBlacklist "budget-blacklist" by [Actor] fill ["{tools}"] keep []
        "added by +btp: the tools that did not help with this task"
    BudgetFinish "budget-finish" by [Actor] fill [] keep [FINISH]
        "added by +btp when no more tool calls are allowed: finish or give up"
    BudgetFinishOrLack "budget-finish-or-lack" by [Actor] fill [] keep [FINISH]
        "added by +btp when no tool call is allowed, but replanning is possible"
    Planner "planner" by [Planner] fill [] keep ["Plan:", "#E1"]
        "how to write a plan"
    PlannerAlone "planner-alone" by [Planner] fill [] keep []
        "added by rewoo: one tool under each plan"
    PlannerTogether "planner-together" by [Planner] fill [] keep []
        "added by workers: tools of one class together"
    PlannerLack "planner-lack" by [Planner] fill [] keep [LACKING, KEEPING]
        "added by +btp where replanning is possible: what to do if no tool fits"
    PlannerJson "planner-json" by [Planner] fill [] keep ["plans", "evidence"]
        "added for a model with structured output: the plan as JSON"
    PlannerAgain "planner-again" by [Planner] fill ["{why}"] keep []
        "sent after a plan that cannot be used, with the reason"
    Solver "solver" by [Solver] fill [] keep [UNKNOWN]
        "how to answer from plans and their evidence"
    Judge "judge" by [Judge] fill [] keep ["helpful"]
        "how to judge whether a result helped"
    JudgePair "judge-pair" by [Judge] fill [] keep ["better"]
        "how to compare two decisions"
    Evaluator "evaluator" by [Evaluator] fill [] keep ["scores"]
        "how to score the tools of a finished task"
    Reflector "reflector" by [Reflector] fill [] keep []
        "how to explain what went wrong in a failed attempt"
    Grader "grader" by [Grader] fill [] keep ["right"]
        "the rubric: how to say whether an answer is right"
    Classifier "classifier" by [Classifier] fill [] keep ["classes"]
        "how to sort tools into classes"
    Programmer "programmer" by [Programmer] fill [] keep ["all_of", "```python"]
        "how to write a program over the tools"
    ProgrammerLack "programmer-lack" by [Programmer] fill [] keep [LACKING, KEEPING]
        "added by +btp where replanning is possible: what to do if no function fits"
    ProgrammerAgain "programmer-again" by [Programmer, Prober] fill [] keep []
        "sent after a program that failed, below the error"
    ProgrammerNone "programmer-none" by [Programmer] fill ["{why}"] keep []
        "sent after a reply without a program, with the reason"
    Attributor "attributor" by [Attributor] fill [] keep []
        "how to name the tool that made a program fail"
    Prober "prober" by [Prober] fill ["{function}"] keep ["```python"]
        "how to write a question and a program that show what a tool returns"
    ProberHelpers "prober-helpers" by [Prober] fill ["{function}"] keep []
        "added where other tools are known: what they are for"
    ProberSelect "prober-select" by [Prober] fill ["{function}"] keep []
        "how to choose the tools whose results another tool needs"
    ProberMore "prober-more" by [Prober] fill [] keep []
        "sent after a program that worked, where further samples are wanted"
}

impl Prompt {
    pub fn spec(self) -> &'static PromptSpec {
        // The macro writes the enum and the table in one order.
        &PROMPTS[self as usize]
    }

    pub fn by_name(name: &str) -> Option<Prompt> {
        PROMPTS.iter().find(|spec| spec.name == name).map(|spec| spec.prompt)
    }
}

impl PromptSpec {
    /// Whether a text can replace the built-in one.
    ///
    /// # Errors
    /// The missing part.
    pub fn check(&self, text: &str) -> Result<(), String> {
        if text.is_empty() {
            return Err(format!(
                "empty; expected {}; delete the file to use the built-in text",
                self.doc
            ));
        }
        let missing =
            |all: &[&'static str]| all.iter().find(|what| !text.contains(**what)).copied();
        if let Some(place) = missing(self.placeholders) {
            return Err(format!("{place} is missing; put it where its value belongs"));
        }
        if let Some(marker) = missing(self.markers) {
            return Err(format!(
                "`{marker}` is missing; toolyard needs it to parse the conversation"
            ));
        }
        Ok(())
    }
}

/// The prompts of a session, by name: a hash of each text, and the text where the workspace overrides it.
/// Journals do not repeat built-in texts. The default has no hashes, like a journal of an older version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prompts(BTreeMap<String, Recorded>);

/// A prompt as recorded in the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Recorded {
    /// The hash of the text sent to models.
    hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<Arc<str>>,
}

impl Prompts {
    /// The built-in prompts with these overrides. A text that equals the built-in one overrides
    /// nothing.
    pub fn new(overrides: &BTreeMap<Prompt, String>) -> Self {
        let recorded = |spec: &PromptSpec| {
            let own = overrides.get(&spec.prompt).filter(|text| *text != spec.built_in);
            let hash = chance::fingerprint(own.map_or(spec.built_in, String::as_str).as_bytes());
            Recorded { hash, text: own.map(|text| text.as_str().into()) }
        };
        Self(PROMPTS.iter().map(|spec| (spec.name.to_owned(), recorded(spec))).collect())
    }

    /// The text sent to models.
    pub fn text(&self, prompt: Prompt) -> &str {
        let spec = prompt.spec();
        let own = self.0.get(spec.name).and_then(|recorded| recorded.text.as_deref());
        own.unwrap_or(spec.built_in)
    }

    /// The text with its placeholders replaced. A placeholder inside a value stays as it is.
    pub fn filled(&self, prompt: Prompt, values: &[(&str, &str)]) -> String {
        let mut rest = self.text(prompt);
        let mut filled = String::with_capacity(rest.len());
        let next = |rest: &str| {
            let found =
                values.iter().filter_map(|(place, value)| Some((rest.find(place)?, place, value)));
            found.min_by_key(|(at, ..)| *at)
        };
        while let Some((at, place, value)) = next(rest) {
            filled.push_str(&rest[..at]);
            filled.push_str(value);
            rest = &rest[at + place.len()..];
        }
        filled + rest
    }

    /// Whether the workspace overrides the text.
    pub fn is_overridden(&self, prompt: Prompt) -> bool {
        self.0.get(prompt.spec().name).is_some_and(|recorded| recorded.text.is_some())
    }

    /// The names of prompts whose text here does not have the recorded hash, and of those unknown
    /// to this program: the journal was written with other built-in texts.
    pub fn changed(&self) -> impl Iterator<Item = &str> {
        let is_told = |name: &str, recorded: &Recorded| {
            Prompt::by_name(name).is_some_and(|prompt| {
                chance::fingerprint(self.text(prompt).as_bytes()) == recorded.hash
            })
        };
        let changed = self.0.iter().filter(move |(name, recorded)| !is_told(name, recorded));
        changed.map(|(name, _)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_texts_pass_their_own_check_and_names_are_found() {
        for spec in PROMPTS {
            assert_eq!(spec.check(spec.built_in), Ok(()), "{}", spec.name);
            assert_eq!(Prompt::by_name(spec.name), Some(spec.prompt));
            assert_eq!(spec.prompt.spec().name, spec.name);
        }
    }

    #[test]
    fn only_what_is_overridden_is_written_down_in_full() {
        let own = |text: &str| BTreeMap::from([(Prompt::Judge, text.to_owned())]);
        let prompts = Prompts::new(&own("Say {\"helpful\": true}."));
        assert_eq!(prompts.text(Prompt::Judge), "Say {\"helpful\": true}.");
        assert_eq!(prompts.text(Prompt::Actor), Prompt::Actor.spec().built_in);
        let json = serde_json::to_value(&prompts).unwrap();
        assert_eq!(json.as_object().unwrap().len(), PROMPTS.len());
        assert_eq!(json["judge"]["text"], "Say {\"helpful\": true}.");
        assert!(json["actor"]["hash"].is_string() && json["actor"].get("text").is_none());
        assert_eq!(serde_json::from_value::<Prompts>(json).unwrap(), prompts);
        let same = Prompts::new(&own(Prompt::Judge.spec().built_in));
        assert!(!same.is_overridden(Prompt::Judge));
    }

    #[test]
    fn other_built_in_texts_show_by_their_hashes() {
        let prompts = Prompts::new(&BTreeMap::from([(Prompt::Direct, "Answer.".to_owned())]));
        assert_eq!(prompts.changed().count(), 0);
        let mut json = serde_json::to_value(&prompts).unwrap();
        json["solver"]["hash"] = "0".into();
        json["gone"] = serde_json::json!({ "hash": "1" });
        let prompts: Prompts = serde_json::from_value(json).unwrap();
        assert_eq!(prompts.changed().collect::<Vec<_>>(), ["gone", "solver"]);
        assert_eq!(Prompts::default().changed().count(), 0);
    }

    #[test]
    fn a_value_that_looks_like_a_placeholder_stays_as_it_is() {
        let text = "{left} of {budget}: {costs}, {left}.";
        let prompts = Prompts::new(&BTreeMap::from([(Prompt::Budget, text.to_owned())]));
        let values = [("{costs}", "{left}"), ("{budget}", "9"), ("{left}", "4")];
        assert_eq!(prompts.filled(Prompt::Budget, &values), "4 of 9: {left}, 4.");
    }
}
