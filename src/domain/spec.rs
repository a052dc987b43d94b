//! Tools, models and tasks of a session, as data. No behaviour, no I/O.

use std::borrow::Cow;
use std::sync::Arc;

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{IntoStaticStr, VariantArray};

use crate::chat::Usage;
use crate::finite::Finite;
use crate::http_request::HttpRequest;
use crate::id::{ModelName, RunId, ToolName};
use crate::probe::Probe;
use crate::take::Take;

/// The effect of a call on the world, as its author declares it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[derive(Serialize, Deserialize, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum EffectClass {
    /// Changes nothing.
    Read,
    /// Changes something; doing it twice is the same as once.
    Idempotent,
    /// Changes something each time.
    Write,
    /// Not declared: treated as a write.
    #[default]
    Unknown,
}

impl EffectClass {
    /// Whether a call does no harm when it is made twice.
    pub fn is_repeatable(self) -> bool {
        matches!(self, EffectClass::Read | EffectClass::Idempotent)
    }

    pub fn all() -> impl Iterator<Item = EffectClass> + Clone {
        Self::VARIANTS.iter().copied()
    }

    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A tool, as the agent, the graph and the screen know it (`tool::ToolSource` knows how to run it).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: ToolName,
    pub description: String,
    /// JSON Schema of the arguments (an object).
    pub parameters: Arc<Value>,
    /// The kind of work it does, such as "Information Retrieval"; free text from the manifest.
    #[serde(default)]
    pub class: String,
    /// Credits for one call, at least 0; `None`: not declared, never taken for 0 (see `Rates::tool`).
    #[serde(default)]
    pub cost: Option<Finite>,
    #[serde(default)]
    pub effect: EffectClass,
    /// The effect that the hints of its MCP server propose. The server is not trusted: `effect` follows the hints only
    /// if the configuration trusts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<EffectClass>,
    /// Name of the tool in the list of its MCP server, if a watched agent calls it by another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served_as: Option<ToolName>,
    /// Time limit of one call, in milliseconds; 0: until a watched agent ends it.
    pub timeout_ms: u64,
    /// Where it comes from, for people: `builtin`, `command python3 x.py`, `recorded`, `mcp:files`.
    pub source: String,
    /// Questions that this tool answers; they help retrieval and are never shown to a model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Why it cannot be called, if its manifest disables it; such a tool is on no menu.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<String>,
    /// Form of the tool's results, if its manifest declares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Arc<Returns>>,
    /// The request that a call makes, for a tool over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Arc<HttpRequest>>,
}

impl ToolSpec {
    /// The key of the MCP server that it comes from.
    pub fn mcp_server(&self) -> Option<&str> {
        self.source.strip_prefix("mcp:")
    }
}

/// The form of a tool's results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Returns {
    /// JSON Schema of a result; it may leave out parts.
    pub schema: Value,
    /// Example of a result, as text; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub example: String,
}

/// How a model receives tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolMode {
    /// The endpoint's own tool calls.
    #[default]
    Native,
    /// Tools in the prompt, `Thought / Action / Action Input` in the answer (ReAct).
    Text,
}

/// A configured model, as the screen knows it. Never holds a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelSpec {
    pub name: ModelName,
    /// Where it runs, for people: `simulated`, or the endpoint's address and model id.
    pub source: String,
    /// True for the built-in simulated model: shown wherever a person looks.
    pub simulated: bool,
    #[serde(default)]
    pub mode: ToolMode,
    /// Whether the model's answers can be constrained to a JSON Schema.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub structured: bool,
    /// US dollars per million input tokens; `None`: unknown, never taken for 0.
    #[serde(default)]
    pub price_in: Option<Finite>,
    /// US dollars per million output tokens; `None`: unknown, never taken for 0.
    #[serde(default)]
    pub price_out: Option<Finite>,
    /// US dollars per million input tokens that the endpoint had in its cache; `None`: like other input tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_cached: Option<Finite>,
    /// US dollars per million input tokens that the endpoint puts into its cache; `None`: like other input tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_written: Option<Finite>,
    /// Where the prices are from, for people: `configuration`, or an entry of a price table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_from: Option<String>,
    /// Whether the prices are list prices: what the model costs where it is sold, and not what this endpoint says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
    /// Largest prompt in tokens, if known.
    #[serde(default)]
    pub context: Option<u64>,
}

impl ModelSpec {
    /// A model with native tool calls, and no other known properties.
    pub fn new(name: impl Into<ModelName>, source: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            source: source.into(),
            simulated: false,
            mode: ToolMode::Native,
            structured: false,
            price_in: None,
            price_out: None,
            price_cached: None,
            price_written: None,
            price_from: None,
            listed: false,
            context: None,
        }
    }

    /// The address of its endpoint, such as `api.openai.com`; a simulated model has none.
    pub fn server(&self) -> Option<&str> {
        let (_, address) = self.source.rsplit_once(" at ").filter(|_| !self.simulated)?;
        address.split('/').next()
    }

    /// US dollars that this many input tokens cost less if the endpoint has them in its cache; `None` if
    /// a price is unknown.
    pub fn saved_by_cache(&self, tokens: u64) -> Option<f64> {
        let price_in = self.price_in?;
        Some(tokens as f64 * (price_in - self.price_cached.unwrap_or(price_in)) / 1e6)
    }

    /// The cost of a request in US dollars: as reported by the endpoint, else by price; `None` if a
    /// price is unknown. Cached tokens without a price of their own cost the full price, which is
    /// never too little. Those that are put into a cache can cost more than others.
    pub fn price(&self, usage: &Usage) -> Option<Finite> {
        usage.dollars.or_else(|| {
            let (price_in, price_out) = (self.price_in?, self.price_out?);
            let cached = usage.cached.min(usage.tokens_in);
            let written = usage.written.min(usage.tokens_in - cached);
            let new = usage.tokens_in - cached - written;
            let paid = |tokens: u64, price: Option<Finite>| {
                tokens as f64 * f64::from(price.unwrap_or(price_in))
            };
            let paid_in = paid(new, None)
                + paid(cached, self.price_cached)
                + paid(written, self.price_written);
            Some(((paid_in + usage.tokens_out as f64 * price_out) / 1e6).into())
        })
    }
}

/// Criterion of whether a task was done right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scoring {
    /// The answer, against the right ones.
    #[default]
    Answer,
    /// The calls: each of the reference chain must be made, with its arguments.
    Calls,
}

impl Scoring {
    /// Whether the answer decides.
    pub fn is_answer(&self) -> bool {
        *self == Scoring::Answer
    }
}

/// User query, with the data to check its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The first program of `atc`, in place of one that a model writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Arc<str>>,
    /// Tools to probe. Such a task has no question: tools are called to learn what they return.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
    /// A short name of its own in a task file, such as `capital-3`; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    pub text: String,
    /// The right answer, if known; if there are several, the one that is shown first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gold: Option<String>,
    /// Further right answers: an answer is compared with each, and the best result counts.
    #[serde(default, rename = "golds", skip_serializing_if = "Vec::is_empty")]
    pub more_golds: Vec<String>,
    /// How the task is solved, step by step. Only the simulated model and trajectories read it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<ChainStep>,
    /// The only tools that may be offered for the task, if its data set restricts them; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolName>,
    #[serde(default, skip_serializing_if = "Scoring::is_answer")]
    pub scoring: Scoring,
    /// The graph was learned from this task's chain among others. While the task is worked on, the
    /// graph leaves it out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_graph: bool,
    /// The questions and answers that it follows on from, the first one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Exchange>,
    /// The run that works on it.
    #[serde(default = "RunId::first", skip_serializing_if = "RunId::is_first")]
    pub run: RunId,
}

/// An earlier question, and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    pub question: String,
    pub answer: String,
}

impl Task {
    /// A task known only by its text.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self {
            name: String::new(),
            text: text.into(),
            gold: None,
            more_golds: Vec::new(),
            chain: Vec::new(),
            tools: Vec::new(),
            scoring: Scoring::Answer,
            in_graph: false,
            before: Vec::new(),
            program: None,
            probe: None,
            run: RunId::FIRST,
        }
    }

    /// A task that probes tools.
    pub fn of_probe(probe: Probe) -> Self {
        let text = probe.title();
        Self { probe: Some(probe), ..Self::from_text(text) }
    }

    /// A further question after the answer to this one.
    pub fn followed_by(&self, text: impl Into<String>, answer: impl Into<String>) -> Self {
        let asked = Exchange { question: self.text.clone(), answer: answer.into() };
        let before = self.before.iter().cloned().chain([asked]).collect();
        Self { before, tools: self.tools.clone(), run: self.run, ..Self::from_text(text) }
    }

    /// Returns the text by which tools are searched: the question and those before it, without which a follow-up says
    /// little.
    pub fn sought(&self) -> Cow<'_, str> {
        if self.before.is_empty() {
            return Cow::Borrowed(&self.text);
        }
        let earlier = self.before.iter().map(|exchange| exchange.question.as_str());
        Cow::Owned([self.text.as_str()].into_iter().chain(earlier).collect::<Vec<_>>().join("\n"))
    }

    /// Whether the task can be scored: a right answer is known, or its calls decide.
    pub fn can_be_scored(&self) -> bool {
        self.gold.is_some() || !self.scoring.is_answer()
    }

    /// The same with these right answers, each once; the first is shown first.
    pub fn with_golds(mut self, golds: impl IntoIterator<Item = String>) -> Self {
        let each: IndexSet<String> = golds.into_iter().collect();
        let mut golds = each.into_iter();
        self.gold = golds.next();
        self.more_golds = golds.collect();
        self
    }

    /// Every right answer that is known.
    pub fn golds(&self) -> impl Iterator<Item = &str> {
        self.gold.iter().chain(&self.more_golds).map(String::as_str)
    }

    /// The right answers for people: `London`, or `London or London, UK`; `None` if none is known.
    pub fn expected(&self) -> Option<String> {
        self.gold.as_ref()?;
        Some(self.golds().collect::<Vec<_>>().join(" or "))
    }
}

/// Step of a reference chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChainStep {
    /// Tools that claim to do this step, the usual one first. One capability, several tools.
    pub tools: Vec<ToolName>,
    pub arguments: Value,
    /// The expected content of a good result, from which an answer is built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finds: Option<String>,
    /// The place of the value in a JSON result; a program takes it from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<Take>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(price_cached: Option<f64>) -> ModelSpec {
        ModelSpec {
            name: "m".into(),
            source: String::new(),
            simulated: false,
            mode: ToolMode::Native,
            structured: false,
            price_in: Some(2.0.into()),
            price_out: Some(8.0.into()),
            price_cached: price_cached.map(Into::into),
            price_written: Some(8.0.into()),
            price_from: None,
            listed: false,
            context: None,
        }
    }

    #[test]
    fn a_server_is_the_address_in_the_source() {
        let server = |source: &str, simulated| {
            let source = source.to_owned();
            ModelSpec { source, simulated, ..model(None) }.server().map(str::to_owned)
        };
        for (source, address) in [
            ("gpt-5-mini at api.openai.com/v1", "api.openai.com"),
            ("look at me at localhost:8080/v1", "localhost:8080"),
            ("m at host", "host"),
        ] {
            assert_eq!(server(source, false).as_deref(), Some(address));
        }
        assert_eq!((server("simulated at work", true), server("m", false)), (None, None));
    }

    #[test]
    fn cached_tokens_are_paid_at_their_own_price_or_in_full() {
        let usage = Usage { tokens_in: 3000, tokens_out: 500, cached: 1000, ..Usage::default() };
        assert_eq!(model(Some(0.5)).price(&usage), Some(0.0085.into()));
        assert_eq!(model(None).price(&usage), Some(0.01.into()));
        // Tokens that are put into a cache also have a price of their own.
        let writing = Usage { written: 1000, ..usage };
        assert_eq!(model(Some(0.5)).price(&writing), Some(0.0145.into()));
        // No endpoint should report this, but one might.
        let usage = Usage { cached: 9000, ..usage };
        assert_eq!(model(Some(0.5)).price(&usage), Some(0.0055.into()));
    }

    #[test]
    fn a_request_is_unpriced_unless_both_prices_are_known_or_the_endpoint_says_what_it_charged() {
        let usage = Usage { tokens_in: 3000, tokens_out: 0, ..Usage::default() };
        for unpriced in [
            ModelSpec { price_in: None, ..model(Some(0.5)) },
            ModelSpec { price_out: None, ..model(Some(0.5)) },
        ] {
            assert_eq!(unpriced.price(&usage), None);
            let charged = Usage { dollars: Some(0.25.into()), ..usage };
            assert_eq!(unpriced.price(&charged), Some(0.25.into()));
        }
    }
}
