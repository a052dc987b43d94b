//! The tools in a planner's prompt, parsed as any model would.

use serde_json::{Map, Value, json};

use super::request_parser::{MenuTool, cost, costs, is_told, user_texts};
use crate::domain::markers::{LACKING, LLM, TOOLS};
use crate::domain::{Request, ToolDef, ToolName};

/// A planner's prompt without the task.
pub(super) struct PlannerPrompt {
    /// Whether the planner may name a missing capability instead of planning.
    pub may_lack: bool,
    tools: Vec<Listed>,
}

struct Listed {
    def: ToolDef,
    class: Option<String>,
    /// The most calls allowed.
    most: Option<usize>,
    weight: Option<f64>,
    /// The cost in credits, if the prompt gives it.
    cost: Option<f64>,
}

impl PlannerPrompt {
    pub fn read(request: &Request) -> Self {
        let may_lack = is_told(request, LACKING);
        // The heading follows an empty line: a class may be called "Tools", too.
        let heading = format!("\n\n{TOOLS}");
        let list = user_texts(request).rev().find_map(|text| text.rsplit_once(&heading));
        let mut tools = list.map(|(_, list)| listed(list)).unwrap_or_default();
        let costs = costs(request);
        for tool in &mut tools {
            tool.cost = cost(&costs, &tool.def);
        }
        Self { may_lack, tools }
    }

    pub fn menu(&self) -> Vec<MenuTool<'_>> {
        let tools = self.tools.iter();
        tools.map(Listed::choice).collect()
    }

    /// The class under which a tool is listed. Tools are listed by class if several may be called
    /// for one need.
    pub fn class(&self, tool: &ToolName) -> Option<&str> {
        self.of(tool)?.class.as_deref()
    }

    /// The most calls of a tool allowed; `None` if unlimited.
    pub fn most(&self, tool: &ToolName) -> Option<usize> {
        self.of(tool)?.most
    }

    fn of(&self, tool: &ToolName) -> Option<&Listed> {
        self.tools.iter().find(|listed| listed.def.name == *tool)
    }
}

impl Listed {
    fn choice(&self) -> MenuTool<'_> {
        MenuTool { def: &self.def, weight: self.weight, cost: self.cost }
    }
}

fn listed(list: &str) -> Vec<Listed> {
    let mut class = None;
    let mut tools = Vec::new();
    for line in list.lines() {
        match line.strip_prefix("- ") {
            Some(line) => tools.extend(tool(line, class)),
            None => class = line.strip_suffix(':'),
        }
    }
    tools.retain(|tool| tool.def.name.as_str() != LLM);
    tools
}

/// `name(argument, other?): [weight 7] (calls left: 2) description`.
fn tool(line: &str, class: Option<&str>) -> Option<Listed> {
    let (name, rest) = line.split_once('(')?;
    let (names, about) = rest.split_once("):")?;
    let names = names.split(", ").filter(|name| !name.is_empty());
    let required: Vec<&str> = names.clone().filter(|name| !name.ends_with('?')).collect();
    // The types of arguments are not in the prompt.
    let properties: Map<String, Value> =
        names.map(|name| (name.trim_end_matches('?').to_owned(), json!({}))).collect();
    let description = about.trim().to_owned();
    let weighted = description.strip_prefix("[weight ").and_then(|rest| rest.split_once(']'));
    let weight = weighted.and_then(|(weight, _)| weight.parse().ok());
    let unweighted = weighted.map_or(description.as_str(), |(_, rest)| rest.trim_start());
    let uses = unweighted.strip_prefix("(calls left: ").and_then(|rest| rest.split_once(')'));
    let most = uses.and_then(|(uses, _)| uses.parse().ok());
    let parameters = json!({"type": "object", "properties": properties, "required": required});
    let def = ToolDef { name: name.into(), description, parameters: parameters.into() };
    Some(Listed { def, class: class.map(str::to_owned), most, weight, cost: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_read_with_class_weight_and_uses() {
        let list = "- alone(): Does it.\nInformation Retrieval:\n\
                    - climate(city, month?): [weight 7] (calls left: 2) Tells (roughly): how warm.\n\
                    - LLM(question): answers a question";
        let offered = PlannerPrompt { may_lack: false, tools: listed(list) };
        let menu = offered.menu();
        let names: Vec<_> = menu.iter().map(|choice| choice.def.name.as_str()).collect();
        assert_eq!(names, ["alone", "climate"]);
        assert_eq!((menu[0].weight, menu[1].weight), (None, Some(7.0)));
        assert_eq!(menu[1].def.parameters["required"], json!(["city"]));
        assert_eq!(menu[1].def.parameters["properties"], json!({"city": {}, "month": {}}));
        assert_eq!(offered.class(&"climate".into()), Some("Information Retrieval"));
        assert_eq!(offered.class(&"alone".into()), None);
        assert_eq!(
            (offered.most(&"alone".into()), offered.most(&"climate".into())),
            (None, Some(2))
        );
    }
}
