//! The built-in **simulated** model: not a language model, but a deterministic substitute that
//! plays every role, so that the workbench runs without a key or a network. Its name, its source
//! and its spec say so.
//!
//! It gets the same request as any model and parses it: the task from the prompt, the menu with its weights, the
//! observations so far. In addition it knows only the reference chains of known tasks, which replace a language model's
//! understanding of a task's text. It picks a tool of the right *capability* with probability `skill`; the weights
//! decide which tool of that capability, and so do the costs in the prompt (`thrift`) and the transitions that the
//! graph has learned. After `patience` results that do not help it gives up. It words its needs without a tool's name
//! and without results that it has not seen, since retrieval reads these words. Its programs contain faults, and
//! `skill` sets how often; it corrects one when a finding contains what the correction needs. If it knows some tasks,
//! it refuses all others. All randomness is a hash of the seed and the request.
//! These settings were fixed before any comparison was printed. `toolyard-lab compare btp` shows what
//! other values of `thrift` and `patience` would do.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use futures::{FutureExt, future::LocalBoxFuture};
use serde_json::Value;

use crate::domain::markers::ANSWER_IS;
use crate::domain::{
    Chance, Finish, ModelError, ModelName, ModelSpec, Prompt, Reply, Request, Role, Task, ToolCall,
    ToolName, Usage, tokens,
};
use crate::model::{Model, ModelProgress};

mod actor;
mod blank;
mod cache;
mod choose;
mod classifier;
mod foreign;
mod grader;
mod guess;
mod improvise;
mod judge;
mod planner;
mod prober;
mod programmer;
mod progress;
mod prompt_tools;
mod reader;
mod request_parser;
mod settings;
mod solver;
mod step_needs;
mod writer;

pub use self::settings::SimulatedSettings;

/// The parts of an answer besides the text: calls, if any.
struct Speech {
    text: String,
    calls: Vec<ToolCall>,
}

impl Speech {
    fn text(text: String) -> Self {
        Self { text, calls: Vec::new() }
    }

    fn call(text: String, tool: ToolName, arguments: Value) -> Self {
        Self::text(text).and(tool, arguments)
    }

    /// Adds a call.
    fn and(mut self, tool: ToolName, arguments: Value) -> Self {
        let id = format!("call_{}", self.calls.len() + 1);
        self.calls.push(ToolCall { id, tool, arguments });
        self
    }
}

/// The simulated model.
pub struct Simulated {
    spec: Arc<ModelSpec>,
    settings: SimulatedSettings,
    seed: u64,
    chains: HashMap<String, Task>,
    cache: cache::PrefixCache,
}

impl Simulated {
    /// A model that knows the reference chains of these tasks, by their text.
    pub fn new(
        name: ModelName,
        settings: SimulatedSettings,
        seed: u64,
        tasks: impl IntoIterator<Item = Task>,
    ) -> Self {
        // Two settings of skill count as two models in comparisons.
        let source = format!(
            "simulated: no language model, decides by reference chains and weights with skill {}",
            settings.skill
        );
        let spec = ModelSpec {
            simulated: true,
            price_in: Some(settings.price_in.into()),
            price_out: Some(settings.price_out.into()),
            price_cached: settings.price_cached.map(Into::into),
            price_from: Some("configuration".to_owned()),
            ..ModelSpec::new(name, source)
        };
        let known = tasks.into_iter().filter(|task| !task.chain.is_empty());
        let chains = known.map(|task| (task.text.trim().to_owned(), task)).collect();
        Self { spec: Arc::new(spec), settings, seed, chains, cache: cache::PrefixCache::default() }
    }

    fn say(&self, request: &Request) -> Speech {
        let prompted = request_parser::PromptReading::read(request);
        let chain = self.chains.get(prompted.task.trim());
        // A workspace without any known task is for trying tools out.
        let is_foreign = chain.is_none() && !self.chains.is_empty();
        if let Some(refusal) = is_foreign.then(|| foreign::say(request, &prompted)).flatten() {
            return refusal;
        }
        let (settings, chance) = (self.settings, self.chance(request));
        Speech::text(match request.role {
            Role::Actor
                if request.tools.is_empty() && request_parser::is_told(request, ANSWER_IS) =>
            {
                return writer::write(&prompted, chain, settings);
            }
            Role::Actor => match reader::asked(prompted.account) {
                Some(question) => reader::answer(question, chain),
                None => return actor::act(&prompted, chain, settings, chance),
            },
            Role::Evaluator => judge::evaluate(&prompted, chain, settings, chance),
            Role::Planner => planner::plan(request, prompted.task, chain, settings, chance),
            Role::Solver => solver::solve(prompted.account, chain, settings, chance),
            Role::Classifier => classifier::classify(request),
            Role::Grader => grader::grade(request),
            Role::Programmer => {
                programmer::write(request, prompted.account, chain, settings, self.seed)
            }
            Role::Attributor => "none".to_owned(),
            Role::Prober => prober::reply(request),
            Role::Reflector => judge::reflect(&prompted),
            Role::Judge => match &prompted.rivals {
                Some(rivals) => judge::prefer(&prompted, rivals, chain, settings, chance),
                None => judge::helps(&prompted, chain),
            },
        })
    }

    /// A draw for this request: the same request always gets the same answer.
    fn chance(&self, request: &Request) -> Chance {
        let mut chance = Chance::new(self.seed).with(request.role.name().as_bytes());
        for message in &request.messages {
            chance = chance.with(as_first(message.text()).as_bytes());
        }
        for tool in request.tools.iter() {
            chance = chance.with(tool.name.as_str().as_bytes());
            chance = chance.with(tool.description.as_bytes());
        }
        chance
    }
}

/// A text in the first wording of the actor's prompt. Chance depends on every byte of a request; a better wording for
/// real models must not change the course of every sample session, figure and recording.
fn as_first(text: &str) -> Cow<'_, str> {
    const FIRST: &str = include_str!("first-actor.md").trim_ascii();
    match text.strip_prefix(Prompt::Actor.spec().built_in) {
        Some(rest) => Cow::Owned(format!("{FIRST}{rest}")),
        None => Cow::Borrowed(text),
    }
}

impl Model for Simulated {
    fn spec(&self) -> &Arc<ModelSpec> {
        &self.spec
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        _progress: &'a mut dyn FnMut(ModelProgress),
    ) -> LocalBoxFuture<'a, Result<Reply, ModelError>> {
        async move {
            if !self.settings.latency.is_zero() {
                tokio::time::sleep(self.settings.latency).await;
            }
            let said = self.say(request);
            let mut spoken = said.text.clone();
            for call in &said.calls {
                spoken += &format!("{}{}", call.tool, call.arguments);
            }
            let (mut reading, mut tokens_in) = (self.cache.read(), tokens::framing(request));
            tokens::each(request, |piece| {
                let tokens = piece.tokens();
                reading.take(&piece.label, &piece.text, tokens);
                tokens_in += tokens;
            });
            let cached = reading.cached();
            let usage = Usage { cached, ..Usage::estimate(tokens_in, tokens::count(&spoken)) };
            let finish = if said.calls.is_empty() { Finish::Stop } else { Finish::Calls };
            Ok(Reply { calls: said.calls, finish, usage, ..Reply::of_text(said.text) })
        }
        .boxed_local()
    }

    fn recall(&self, request: &Request) {
        self.cache.recall(request);
    }
}
