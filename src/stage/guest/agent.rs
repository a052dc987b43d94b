//! The small agent: two concurrent conversations, a client of an OpenAI-compatible endpoint, and tools that are
//! functions of its own program.

use std::time::Duration;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, join, join_all};
use serde_json::{Value, json};

use super::{DELEGATE, MODEL};
use crate::domain::words::clipped;
use crate::domain::{Message, Messages, ModelError, Request, Role, ToolCall, ToolDef};
use crate::model::Model;
use crate::model::hosted::Hosted;
use crate::model::http::Endpoint;
use crate::sample::Sample;
use crate::tool::manifest::Manifest;
use crate::tool::{Invocation, Tool};

/// The agent, for people.
pub const NAME: &str = "a small agent inside toolyard";

/// Questions of each conversation, one after the other.
pub const QUESTIONS: [&[&str]; 2] = [
    &[
        "By how many kilometres is the Dravna longer than the Silverrun?",
        "In which city was the author of The Salt Garden born?",
        "How many inhabitants per square kilometre has Verrania, rounded to a whole number?",
    ],
    &[
        "How many metres higher is Pico Estrada than Hrimtind?",
        "Who proved the conjecture of the first woman professor of Dravesk University?",
        "How many years passed between the births of Sigrun Halvard and Elira Voss?",
        "In which year was the shipyard founded that built the Queen Maud?",
    ],
];

/// Tools of the agent, besides the one that delegates.
const TOOLS: [&str; 3] = ["search_web", "search_backup", "calculator"];

/// The time that a tool takes, at speed 1.
const TAKES: Duration = Duration::from_millis(1000);
/// The most model calls of a question.
const MOST: usize = 12;
/// The most characters of an argument or a result that it prints.
const SHORT: usize = 60;

const SYSTEM: &str =
    "You answer questions about a country with the tools. Delegate what can be answered by itself.";
const SUB_AGENT: &str = "You answer one question of another agent with the tools.";

/// Works on all questions, calling the endpoint at this address. `say` prints a line.
///
/// # Errors
/// The address is wrong, or the tools cannot be read.
pub async fn work(base_url: &str, pace: f64, say: &dyn Fn(&str)) -> Result<(), String> {
    let agent = Agent::new(base_url, pace, say)?;
    let [first, second] = QUESTIONS;
    join(agent.talk("desk 1", first), agent.talk("desk 2", second)).await;
    Ok(())
}

struct Agent<'s> {
    model: Hosted,
    tools: Vec<Manifest>,
    pace: f64,
    say: &'s dyn Fn(&str),
}

impl<'s> Agent<'s> {
    fn new(base_url: &str, pace: f64, say: &'s dyn Fn(&str)) -> Result<Self, String> {
        let endpoint = Endpoint::new(MODEL, base_url, MODEL);
        let model = Hosted::new(endpoint).map_err(|error| error.text)?;
        let tools = Sample::General.manifests().map_err(|problems| problems.to_string())?;
        let is_own = |tool: &Manifest| TOOLS.contains(&tool.spec.name.as_str());
        Ok(Self { model, tools: tools.into_iter().filter(is_own).collect(), pace, say })
    }

    /// A conversation with these questions of a user.
    async fn talk(&self, desk: &str, questions: &[&str]) {
        let mut messages = Messages::from([Message::system(SYSTEM)]);
        let mut defs = self.defs();
        defs.push(delegate());
        for question in questions {
            (self.say)(&format!("{desk}: {question}"));
            let before = messages.len();
            match self.answer(desk, &mut messages, question, &defs).await {
                Ok(answer) => (self.say)(&format!("{desk}: answer: {answer}")),
                Err(error) => {
                    // The next question must not begin in the middle of this one.
                    messages.truncate(before);
                    (self.say)(&format!("{desk}: no answer: {}", error.text));
                }
            }
        }
    }

    async fn answer(
        &self,
        who: &str,
        messages: &mut Messages,
        question: &str,
        defs: &[ToolDef],
    ) -> Result<String, ModelError> {
        messages.push(Message::user(question));
        for _ in 0..MOST {
            let mut request = Request::new(Role::Actor, messages.clone());
            request.tools = defs.into();
            let reply = self.model.ask(&request, &mut |_| ()).await?;
            let (text, calls, source) = (reply.text.clone(), reply.calls, reply.source);
            messages.push(Message::Assistant { text, calls: calls.clone(), source });
            if calls.is_empty() {
                return Ok(reply.text);
            }
            let results = join_all(calls.iter().map(|call| self.call(who, call))).await;
            for (call, result) in calls.into_iter().zip(results) {
                messages.push(Message::result(call.id, call.tool, result));
            }
        }
        Ok("too many steps".to_owned())
    }

    /// Runs a tool, and prints what it returned.
    fn call<'a>(&'a self, who: &'a str, call: &'a ToolCall) -> LocalBoxFuture<'a, String> {
        let run = async move {
            let result = match call.tool.as_str() {
                DELEGATE => self.delegate(call).await,
                _ => self.run(call).await,
            };
            let arguments = clipped(&call.arguments.to_string(), SHORT);
            let first = result.lines().next().unwrap_or_default();
            let (tool, first) = (&call.tool, clipped(first, SHORT));
            (self.say)(&format!("{who}: {tool}({arguments}) → {first}"));
            result
        };
        run.boxed_local()
    }

    async fn run(&self, call: &ToolCall) -> String {
        let Some(tool) = self.tools.iter().find(|tool| tool.spec.name == call.tool) else {
            return format!("Error: no tool is named {}", call.tool);
        };
        tokio::time::sleep(TAKES.div_f64(self.pace)).await;
        match tool.call(&Invocation { arguments: call.arguments.clone(), seed: 0 }).await {
            Ok(output) => output.text,
            Err(error) => format!("Error: {error}"),
        }
    }

    /// Lets a sub-agent answer, in its own conversation.
    async fn delegate(&self, call: &ToolCall) -> String {
        let question = call.arguments["question"].as_str().unwrap_or_default();
        let mut messages = Messages::from([Message::system(SUB_AGENT)]);
        let answered = self.answer("sub-agent", &mut messages, question, &self.defs()).await;
        answered.unwrap_or_else(|error| format!("Error: {}", error.text))
    }

    fn defs(&self) -> Vec<ToolDef> {
        let def = |tool: &Manifest| ToolDef {
            name: tool.spec.name.clone(),
            description: tool.spec.description.clone(),
            parameters: tool.spec.parameters.clone(),
        };
        self.tools.iter().map(def).collect()
    }
}

fn delegate() -> ToolDef {
    let question: Value =
        json!({ "type": "string", "description": "A question that can be answered by itself" });
    let parameters = json!({
        "type": "object",
        "properties": { "question": question },
        "required": ["question"],
    });
    ToolDef {
        name: DELEGATE.into(),
        description: "Has another agent answer a question.".to_owned(),
        parameters: parameters.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::guest::serve;

    #[tokio::test]
    async fn it_answers_every_question_with_its_tools_and_a_sub_agent() {
        let url = serve(1000.0).unwrap();
        let lines = RefCell::new(Vec::new());
        work(&url, 1000.0, &|line| lines.borrow_mut().push(line.to_owned())).await.unwrap();
        let lines = lines.into_inner();
        let answers: Vec<&str> =
            lines.iter().filter_map(|line| line.split_once("answer: ")).map(|(_, it)| it).collect();
        assert_eq!(answers.len(), QUESTIONS.iter().map(|of| of.len()).sum::<usize>(), "{lines:#?}");
        for right in ["493", "Bellaquay", "76", "1256", "Nikolai Thenard", "33", "1834"] {
            assert!(answers.contains(&right), "{right}: {lines:#?}");
        }
        assert!(lines.iter().any(|line| line.starts_with("sub-agent: search_")), "{lines:#?}");
    }
}
