//! Attributable reflection: the tool to blame for a program's failure, and the message for the next program (ATC,
//! section 4.2). The program's own data flow comes first; a model is called only where that names no tool.

use serde_json::Value;

use super::Last;
use super::prompt::{self, Blamed, Finding};
use crate::domain::program::Raised;
use crate::domain::result_schema::{Schema, SchemaMode, who_has};
use crate::domain::{
    BlamedBy, MenuItem, ProgramEvent, ProgramVerdict, Reflect, Role, Schemas, Task,
};
use crate::papers::atc::blame::{self, CallMade, FlowStep};
use crate::papers::atc::identifiers::Identifiers;
use crate::{CallResult, Context, Observation};

pub(super) struct Reflection<'a, C> {
    pub ctx: &'a C,
    pub task: &'a Task,
    pub menu: &'a [MenuItem],
    pub names: &'a Identifiers,
    pub number: u32,
}

impl<C: Context> Reflection<'_, C> {
    /// The message to the programmer about its last program. `more`: the other errors that keep the program from
    /// running.
    pub async fn finding(
        &self,
        last: &Last,
        how: ProgramVerdict,
        reflect: Reflect,
        more: &[Raised],
    ) -> String {
        let nothing = Raised::new("NoAnswer", "the program printed nothing");
        let error = match how {
            ProgramVerdict::Doubtful => None,
            ProgramVerdict::Failed | ProgramVerdict::Fine => {
                Some(last.end.error.as_ref().unwrap_or(&nothing))
            }
        };
        let blamed = match reflect {
            Reflect::Attribute => self.blame(last, error).await,
            Reflect::Naive | Reflect::Off => None,
        };
        let blamed = blamed.map(|tool| self.describe(tool, last));
        let elsewhere = match (error, &blamed) {
            (Some(error), Some(blamed)) => self.elsewhere(error, &blamed.name, last),
            _ => None,
        };
        let (program, printed) = (&*last.program, last.end.printed.as_str());
        let found = Finding { program, error, more, printed, elsewhere, blamed };
        self.ctx.state(|state| prompt::finding(state, &found))
    }

    /// The function that is to blame.
    async fn blame(&self, last: &Last, error: Option<&Raised>) -> Option<String> {
        let names: Vec<&str> =
            self.menu.iter().filter_map(|item| self.names.name(&item.tool)).collect();
        let (tool, by, path) = match self.by_flow(last, error, &names) {
            Some((tool, path)) => (Some(tool), BlamedBy::Flow, path),
            // The flaws of a program that cannot run explain themselves.
            None if last.is_refused => (None, BlamedBy::Nobody, Vec::new()),
            None => match self.ask(last, error, &names).await {
                Some(tool) => (Some(tool), BlamedBy::Model, Vec::new()),
                None => (None, BlamedBy::Nobody, Vec::new()),
            },
        };
        let number = self.number;
        let named = tool.as_deref().and_then(|name| self.names.tool(name)).cloned();
        self.ctx.say(|task| ProgramEvent::ToolBlamed { task, number, tool: named, by, path });
        tool
    }

    /// The function that the flow of data names, and the path to it. If all results are doubtful, the answer was made
    /// from the last call's result.
    fn by_flow(
        &self,
        last: &Last,
        error: Option<&Raised>,
        names: &[&str],
    ) -> Option<(String, Vec<(String, u32)>)> {
        let made = self.calls(last);
        let Some(error) = error else {
            let CallMade { tool, line, .. } = made.last()?;
            return Some(((*tool).to_owned(), vec![((*tool).to_owned(), *line)]));
        };
        let blame = blame::by_flow(&last.program, error.span?, names, &made);
        let path = blame.way.into_iter().map(|FlowStep { name, line }| (name, line)).collect();
        Some((blame.tool?, path))
    }

    async fn ask(&self, last: &Last, error: Option<&Raised>, names: &[&str]) -> Option<String> {
        let (error, offered) = (error?, (self.menu, self.names));
        let request = self
            .ctx
            .state(|state| prompt::attributor(state, self.task, offered, &last.program, error));
        // Without an attributor the finding blames no tool.
        let reply = self.ctx.ask(Role::Attributor, request).await.ok()?;
        blame::by_reply(&reply.text, names).into_iter().next()
    }

    fn calls<'b>(&'b self, last: &'b Last) -> Vec<CallMade<'b>> {
        let made = |called: &'b CallResult| {
            let line = self.ctx.state(|state| state.tool_call(called.id)?.line)?;
            let answered =
                matches!(called.observation, Observation::Result(_) | Observation::More(_));
            Some(CallMade { tool: self.names.name(&called.tool)?, line, answered })
        };
        last.called.iter().filter_map(made).collect()
    }

    fn describe(&self, name: String, last: &Last) -> Blamed {
        let tool = self.names.tool(&name);
        let document = self.ctx.state(|state| prompt::described(state, tool?, &name));
        let returned = results(last).filter(|(called, _)| Some(&called.tool) == tool).last();
        let returned =
            returned.map(|(_, value)| Schema::of(SchemaMode::Merged, &[value]).to_text());
        Blamed {
            document: document.unwrap_or_else(|| format!("there is no function {name}")),
            name,
            returned,
        }
    }

    /// The place of a missing key: in the results that the program had, or in learned schemas of the other tools.
    fn elsewhere(&self, error: &Raised, blamed: &str, last: &Last) -> Option<String> {
        if error.kind != "KeyError" {
            return None;
        }
        let key = error.text.trim_matches(['\'', '"']);
        let mut schemas: Vec<(&str, Schema)> = Vec::new();
        for (called, value) in results(last) {
            let Some(name) = self.names.name(&called.tool) else { continue };
            match schemas.iter_mut().find(|(known, _)| *known == name) {
                Some((_, schema)) => schema.widen(&value),
                None => schemas.push((name, Schema::of(SchemaMode::Merged, &[value]))),
            }
        }
        self.ctx.state(|state| {
            let may_say = state.knobs.choice::<Schemas>() != Schemas::Off;
            for item in self.menu.iter().filter(|_| may_say) {
                let Some(name) = self.names.name(&item.tool) else { continue };
                let known = state.tools.get(&item.tool).and_then(|tool| tool.learned.as_ref());
                if let Some(known) = known.filter(|_| schemas.iter().all(|(it, _)| *it != name)) {
                    schemas.push((name, known.learned.schema.clone()));
                }
            }
        });
        let known: Vec<(&str, &Schema)> =
            schemas.iter().map(|(name, schema)| (*name, schema)).collect();
        let own = known.iter().find(|(name, _)| *name == blamed);
        let has = own.and_then(|(_, schema)| schema.keys_at("")).unwrap_or_default();
        Some(who_has(key, blamed, &has, &known).to_string())
    }
}

/// The results of a program's calls that are JSON.
fn results(last: &Last) -> impl Iterator<Item = (&CallResult, Value)> {
    last.called.iter().filter_map(|called| match &called.observation {
        Observation::Result(text) | Observation::More(text) => Some((called, Schema::value(text))),
        Observation::Failed(_) | Observation::Refused(_) => None,
    })
}
