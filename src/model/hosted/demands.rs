//! Refusals of an endpoint about the requests to one model, and its demands. They hold for all roles, as long as the
//! session runs: a request that the endpoint accepts is worth more than one of its fields, and the session reports it.
//! A resumed session learns them again, from one refusal that costs nothing.

use std::collections::BTreeSet;

use serde_json::Value;

use super::refusal::{LIMITS, REFUSALS, STRUCTURES, Sent, has, sentences};
use super::{refused_tools, schema_words};
use crate::domain::ToolDef;
use crate::http::{Endpoint, RequestRefusal};
use crate::wire::WireFormat;
use crate::wire::learned::{DEMANDS, Demand, Learned};

/// How endpoints say that a conversation with calls has no tools.
const NO_TOOLS: [&str; 3] =
    ["must define tools", "toolconfig field must be defined", "without `tools=` param"];
/// Other phrases that refuse the role of the system.
const OF_ROLES: [&str; 6] = [
    "invalid",
    "not valid",
    "not enabled",
    "must be at the beginning",
    "does not match",
    "only user",
];
/// The most tools that one endpoint can have left out: each costs a request.
const MOST_TOOLS: usize = 32;

/// The refusals of one model so far.
#[derive(Debug, Default)]
pub struct Negotiated {
    pub learned: Learned,
}

/// The parts of a request that an endpoint may refuse or miss.
#[derive(Debug)]
pub struct Offer {
    sent: Sent,
    /// Fields that were given up before; those that are still sent cannot be removed.
    given_up: BTreeSet<String>,
    demands: BTreeSet<Demand>,
    /// Words that are left out of the schemas of its tools.
    words: BTreeSet<String>,
    /// Names of its tools in their order.
    tools: Vec<String>,
}

impl Negotiated {
    /// Returns the offer of this request.
    pub fn offer(&self, body: &Value, format: WireFormat) -> Offer {
        let given_up =
            self.learned.left_out.iter().chain(self.learned.renamed.keys()).cloned().collect();
        let (demands, words) = (self.learned.demands.clone(), self.learned.words.clone());
        let tools = body["tools"].as_array().into_iter().flatten();
        // Gemini's are lists of functions.
        let tools = tools.flat_map(|tool| match tool["functionDeclarations"].as_array() {
            Some(functions) => functions.as_slice(),
            None => std::slice::from_ref(tool),
        });
        let name = |tool: &Value| {
            let name = tool["function"]["name"].as_str().or(tool["name"].as_str());
            name.unwrap_or_default().to_owned()
        };
        let tools = tools.map(name).collect();
        Offer { sent: Sent::of(body, format), given_up, demands, words, tools }
    }

    /// Learns from a refusal of a request. `None` if no other request would be better; otherwise the notice, which is
    /// empty if another request has learnt it meanwhile. Each field is refused once, so this ends.
    pub fn learn(
        &mut self,
        refused: &RequestRefusal,
        offer: &Offer,
        tools: &[ToolDef],
        endpoint: &Endpoint,
    ) -> Option<String> {
        let mut named = refused_tools::named(refused, &offer.tools);
        named.retain(|_| !endpoint.extra.contains_key("tools"));
        // A refusal of a tool may have names of its parameters, which are no fields of the request.
        let mut fields =
            if named.is_empty() { offer.sent.refused(refused) } else { BTreeSet::new() };
        fields.retain(|field| !offer.given_up.contains(field));
        if fields.is_empty() {
            let met = self.meet(refused, offer, endpoint);
            let turns = || self.take_turns(refused, offer, endpoint);
            let met = met.or_else(|| named.is_empty().then(turns).flatten());
            let met = met.or_else(|| self.leave_out_word(refused, offer, tools, endpoint));
            return met.or_else(|| {
                let may_learn = !named.is_empty() && self.learned.tools.len() < MOST_TOOLS;
                let why = format!("the endpoint refused it: {}", refused.told());
                may_learn.then(|| self.leave_out(named.into_iter(), &why, endpoint))
            });
        }
        let news = fields.iter().filter_map(|field| self.give_up(field, endpoint));
        let news: Vec<String> = news.collect();
        if news.is_empty() {
            return Some(String::new());
        }
        // The consequence comes first: a long notice is cut at its end.
        Some(format!(
            "{}: {}; the endpoint refused it: {}",
            endpoint.name,
            news.join("; "),
            refused.told()
        ))
    }

    /// Gives a field up, and returns a notice about the consequence; `None` if it was given up before.
    fn give_up(&mut self, field: &str, endpoint: &Endpoint) -> Option<String> {
        if self.learned.leaves_out(field) || self.learned.renamed.contains_key(field) {
            return None;
        }
        let name = &endpoint.name;
        let other = LIMITS.iter().find(|other| **other != field);
        let is_limit = LIMITS.contains(&field) && endpoint.format == WireFormat::Chat;
        let other = other.filter(|_| is_limit && !endpoint.extra.contains_key(field));
        if let Some(other) = other.filter(|other| !self.is_known(other)) {
            self.learned.renamed.insert(field.to_owned(), (*other).to_owned());
            return Some(format!(
                "requests have `{other}` instead of `{field}` from now on; \
                 max_tokens_field = \"{other}\" in [models.{name}] avoids this"
            ));
        }
        self.learned.left_out.insert(field.to_owned());
        let means = match field {
            field if endpoint.extra.contains_key(field) => {
                format!(", though `extra` of [models.{name}] sets it: take it out there")
            }
            "temperature" | "top_p" | "seed" | "stop" | "stop_sequences" => {
                ", and settings of it have no effect on this model".to_owned()
            }
            "max_output_tokens" => ", and answers have no limit".to_owned(),
            field if LIMITS.contains(&field) => ", and answers have no limit".to_owned(),
            "stream_options" => ", and what it does not count is estimated".to_owned(),
            field if STRUCTURES.contains(&field) => format!(
                ", and answers are checked as before; structured = false in [models.{name}] avoids \
                 this"
            ),
            "tool_choice" => format!("; allowed_tools = false in [models.{name}] avoids this"),
            "stream" => format!("; stream = false in [models.{name}] avoids this"),
            _ => String::new(),
        };
        Some(format!("requests leave out `{field}` from now on{means}"))
    }

    /// Whether a name of the limit was given up or renamed.
    fn is_known(&self, field: &str) -> bool {
        self.learned.left_out.contains(field) || self.learned.renamed.contains_key(field)
    }

    /// Learns a word that the schemas of tools must not have.
    fn leave_out_word(
        &mut self,
        refused: &RequestRefusal,
        offer: &Offer,
        tools: &[ToolDef],
        endpoint: &Endpoint,
    ) -> Option<String> {
        let word = schema_words::refused(refused, tools, &offer.words)?;
        if !self.learned.words.insert(word.clone()) {
            return Some(String::new());
        }
        let (name, told) = (&endpoint.name, refused.told());
        Some(format!(
            "{name}: the schemas of tools leave out `{word}` from now on, and arguments are checked as before; the \
             endpoint refused it: {told}"
        ))
    }

    /// Leaves tools out of requests from now on. The notice is empty if none of them is new.
    fn leave_out<'t>(
        &mut self,
        tools: impl Iterator<Item = &'t str>,
        why: &str,
        endpoint: &Endpoint,
    ) -> String {
        let news = tools.filter(|name| self.learned.tools.insert((*name).to_owned()));
        let news: Vec<String> = news.map(|name| format!("`{name}`")).collect();
        let (name, tools) = (&endpoint.name, news.join(", "));
        if news.is_empty() {
            return tools;
        }
        format!(
            "{name}: requests leave out the tool {tools} from now on, so nobody can call it there; {why}"
        )
    }

    /// Learns the tools of a request that cannot be sent, and returns a notice about those that are new.
    pub fn leave_out_unsent<'t>(
        &mut self,
        offer: &Offer,
        tools: impl ExactSizeIterator<Item = &'t str>,
        endpoint: &Endpoint,
    ) -> Option<String> {
        if tools.len() == offer.tools.len() || endpoint.extra.contains_key("tools") {
            return None;
        }
        let unsent = tools.filter(|name| !offer.tools.iter().any(|sent| sent == name));
        let why = "arguments are an object, and no object fits its schema";
        Some(self.leave_out(unsent, why, endpoint)).filter(|notice| !notice.is_empty())
    }

    /// Learns that the model's template has no role of the system, or wants roles in turn.
    fn take_turns(
        &mut self,
        refused: &RequestRefusal,
        offer: &Offer,
        endpoint: &Endpoint,
    ) -> Option<String> {
        let mut sentences = refused.texts.iter().flat_map(|text| sentences(text));
        if offer.demands.contains(&Demand::Turns) || !sentences.any(|it| is_of_roles(&it)) {
            return None;
        }
        if !self.learned.demands.insert(Demand::Turns) {
            return Some(String::new());
        }
        let (name, told) = (&endpoint.name, refused.told());
        Some(format!(
            "{name}: the system's text is in front of the first user message from now on; the endpoint refused its \
             role: {told}"
        ))
    }

    /// Learns a field that the endpoint misses.
    fn meet(
        &mut self,
        refused: &RequestRefusal,
        offer: &Offer,
        endpoint: &Endpoint,
    ) -> Option<String> {
        let text = refused.texts.join("\n").to_lowercase();
        let has_no_tools = has(&text, &NO_TOOLS) && !offer.demands.contains(&Demand::Tools);
        let is_missed =
            has(&text, &["missing", "required", "must be", "must have", "must contain"]);
        let missed = DEMANDS.iter().find(|(demand, name)| {
            is_missed && text.contains(name) && !offer.demands.contains(demand)
        });
        let tools = has_no_tools.then_some((Demand::Tools, "tools"));
        let (demand, field) = missed.copied().or(tools)?;
        if !self.learned.demands.insert(demand) {
            return Some(String::new());
        }
        let (name, told) = (&endpoint.name, refused.told());
        Some(format!(
            "{name}: requests with calls have an empty `{field}` from now on where the model wrote none; the \
             endpoint missed it: {told}"
        ))
    }
}

/// Whether a sentence refuses the role of the system, or roles that do not take turns.
fn is_of_roles(sentence: &str) -> bool {
    let text = sentence.to_lowercase();
    let is_refused = has(&text, &REFUSALS) || has(&text, &OF_ROLES);
    has(&text, &["role", "message", "instruction", "prompt", "input tag"])
        && (text.contains("alternat")
            || has(&text, &["system", "developer", "only user"]) && is_refused)
}
