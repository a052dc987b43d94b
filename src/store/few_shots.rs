//! The examples of a workspace, `few-shots.toml`: each has the role that sees it, a task and a good
//! reply.

use std::path::Path;

use crate::domain::{FewShot, Role, strategy::STRATEGIES, words};
use crate::files::text_file::{self, Expectation};
use crate::files::toml_file::{Problems, TomlField, TomlFields, TomlFile};

/// The name of the few-shot file in a workspace.
const FILE: &str = "few-shots.toml";

const EXPECTED: Expectation = Expectation {
    what: "examples for roles",
    missing: "expected [[few_shot]] with role, task and reply",
    largest: 1 << 20,
};

/// The examples of a workspace; empty without a file.
///
/// # Errors
/// All faults of the file.
pub fn load(workspace: &Path) -> Result<Vec<FewShot>, Problems> {
    let path = workspace.join(FILE);
    if !path.exists() {
        return Ok(Vec::new());
    }
    parse(&path.display().to_string(), &text_file::read(&path, &EXPECTED)?)
}

/// The examples in this text.
///
/// # Errors
/// All faults, with their lines.
pub fn parse(file: &str, text: &str) -> Result<Vec<FewShot>, Problems> {
    TomlFile::read(file, text, |mut fields| {
        let all = fields.need("few_shot", "[[few_shot]] with `role`, `task` and `reply`");
        fields.finish();
        let list = all?.list()?;
        let read: Vec<_> = list.iter().map(|field| few_shot(field.table()?)).collect();
        read.into_iter().collect()
    })
}

fn few_shot(mut fields: TomlFields<'_>) -> Option<FewShot> {
    let role = fields.need("role", "role = \"planner\"").and_then(|field| role(&field));
    let strategies = fields.get("strategies").map_or(Some(Vec::new()), |field| {
        field.list()?.iter().map(|field| strategy(field)).collect()
    });
    let mut text = |name: &'static str, advice: &str| {
        let field = fields.need(name, advice)?;
        field.filled("a non-empty text").map(|text| text.trim().to_owned())
    };
    let task = text("task", "task = \"what it is asked\"");
    let reply = text("reply", "reply = \"what it should answer\"");
    fields.finish();
    Some(FewShot { role: role?, strategies: strategies?, task: task?, reply: reply? })
}

fn role(field: &TomlField<'_>) -> Option<Role> {
    let roles: Vec<(&str, Role)> = Role::all().map(|role| (role.name(), role)).collect();
    field.one_of(&roles)
}

/// The name of a loop.
fn strategy(field: &TomlField<'_>) -> Option<String> {
    let name = field.text()?;
    if STRATEGIES.iter().any(|spec| spec.name == name) {
        return Some(name.to_owned());
    }
    let expected = words::expected(name, STRATEGIES.iter().map(|spec| spec.name));
    field.refuse(format!("unknown strategy {name:?}; {expected}"));
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_has_a_role_a_task_and_a_reply_and_perhaps_strategies() {
        let text = "[[few_shot]]\nrole = \"planner\"\nstrategies = [\"workers\"]\n\
            task = \"\"\"\nWhy?\n\"\"\"\nreply = \"Plan: ask\"\n";
        let read = parse("few-shots.toml", text).unwrap();
        assert_eq!((read[0].role, read[0].strategies[0].as_str()), (Role::Planner, "workers"));
        assert_eq!((read[0].task.as_str(), read[0].reply.as_str()), ("Why?", "Plan: ask"));
    }

    #[test]
    fn every_mistake_has_its_line_and_field() {
        let text = "[[few_shot]]\nrole = \"planer\"\nstrategies = [\"wrkers\"]\ntask = \" \"\n\
            [[few_shot]]\nrole = \"solver\"\ntask = \"a\"\nreplay = \"b\"\n";
        let said = parse("f.toml", text).unwrap_err().to_string();
        for expected in [
            "f.toml:2: few_shot[0].role: \"planer\" is not a valid value; did you mean `planner`?",
            "f.toml:3: few_shot[0].strategies[0]: unknown strategy \"wrkers\"; did you mean `workers`?",
            "f.toml:4: few_shot[0].task: expected a non-empty text",
            "few_shot[1].replay: unknown key; did you mean `reply`?",
        ] {
            assert!(said.contains(expected), "{said}\nnot {expected}");
        }
    }
}
