//! The workspace: whether its files are readable, and its tools callable.

use std::path::Path;

use serde_json::Value;

use super::{Finding, callable, schema_faults};
use crate::domain::{EffectClass, Prompts, ToolDef};
use crate::domain::{prompt::PROMPTS, tokens, words::counted};
use crate::files::toml_file::Problem;
use crate::tool::manifest::{Manifest, ToolSource};
use crate::tool::{check::Checker, command::is_executable};
use crate::{config::Config, stage, workspace::Workspace};

const ABOUT: &str = "tools";

/// Adds the findings; returns the tokens of all tools together, as in a request.
pub(super) fn examine(folder: Option<&Path>, config: &Config, findings: &mut Vec<Finding>) -> u64 {
    let sample = stage::sample_of(config.session.strategy);
    let opened = config
        .workspace(folder)
        .and_then(|folder| Workspace::open(folder, sample, &config.tools.folders));
    let workspace = match opened {
        Ok(workspace) => workspace,
        Err(problems) => {
            let failed = |problem: &Problem| Finding::fail("workspace", problem.to_string());
            findings.extend(problems.0.iter().map(failed));
            return 0;
        }
    };
    findings.push(contents(&workspace));
    let left_out = |problem: &Problem| {
        Finding::fail("workspace", format!("{problem}"))
            .advise("this tool is unavailable until then")
    };
    findings.extend(workspace.left_out.iter().map(left_out));
    findings.push(prompts(&workspace.prompts));
    if workspace.manifests.is_empty() {
        let text = "no tools: the agent can answer only from its own knowledge";
        let advice = "put manifests (*.toml) into the workspace's folder `tools`";
        findings.push(Finding::warn(ABOUT, text).advise(advice));
        return 0;
    }
    let before = findings.len() - workspace.left_out.len();
    findings.extend(workspace.manifests.iter().flat_map(faults));
    findings.extend(callable::findings(&workspace.manifests));
    if findings.len() == before {
        findings.push(Finding::ok(ABOUT, "all tools can be called"));
    }
    tokens_of(&workspace.manifests)
}

fn tokens_of(manifests: &[Manifest]) -> u64 {
    let tool = |Manifest { spec, .. }: &Manifest| ToolDef {
        name: spec.name.clone(),
        description: spec.description.clone(),
        parameters: spec.parameters.clone(),
    };
    let tools: Vec<_> = manifests.iter().map(tool).collect();
    tokens::count_tools(&tools)
}

fn contents(workspace: &Workspace) -> Finding {
    let tools = counted(workspace.manifests.len(), "tool");
    let tasks = counted(workspace.tasks.len(), "task");
    let shown = match workspace.few_shots.len() {
        0 => String::new(),
        count => format!(", {}", counted(count, "few-shot example")),
    };
    Finding::ok("workspace", format!("{}: {tools}, {tasks}{shown}", workspace.title))
}

/// The finding about prompts that the workspace overrides.
fn prompts(prompts: &Prompts) -> Finding {
    let own = PROMPTS.iter().filter(|spec| prompts.is_overridden(spec.prompt));
    let own: Vec<_> = own.map(|spec| spec.name).collect();
    let text = match own.is_empty() {
        true => "all built in".to_owned(),
        false => format!("the workspace overrides {}", own.join(", ")),
    };
    Finding::ok("prompts", text)
}

/// Obstacles to calling a tool.
fn faults(manifest: &Manifest) -> Vec<Finding> {
    let about = || format!("tool {}", manifest.spec.name);
    let mut findings = Vec::new();
    // A missing program or folder fails each call; other remarks fail none.
    let remark = |problem: &Problem| match problem.field.starts_with("source") {
        true => Finding::fail(about(), problem.to_string()),
        false => Finding::warn(about(), problem.to_string()),
    };
    findings.extend(manifest.remarks.iter().map(remark));
    if let Some(fault) = Checker::new(&manifest.spec.parameters).fault() {
        let text = format!("{}: parameters: not a JSON Schema: {fault}", manifest.file);
        findings.push(Finding::fail(about(), text));
    }
    findings.extend(schema_faults(&about(), &manifest.spec));
    findings.extend(undeclared(&manifest.spec.parameters).map(|name| {
        let text = format!(
            "{}: parameters.required names {name:?}, which parameters.properties does not declare",
            manifest.file
        );
        Finding::warn(about(), text).advise("correct the name, or declare the property")
    }));
    if manifest.spec.effect == EffectClass::Unknown {
        let text = format!(
            "{}: no effect declared: a screen asks before each call; without a screen calls are refused",
            manifest.file
        );
        let advice =
            "write `effect = \"read\"` if it changes nothing, or allow it: --allow, [approval]";
        findings.push(Finding::warn(about(), text).advise(advice));
    }
    if let ToolSource::Command(command) = &manifest.source {
        let fault = match command.find() {
            Ok(program) if is_executable(&program) => None,
            Ok(program) => {
                Some(format!("{} does not exist, or is not executable", program.display()))
            }
            Err(error) => Some(error.to_string()),
        };
        findings.extend(
            fault.map(|fault| Finding::fail(about(), format!("{}: {fault}", manifest.file))),
        );
        let unset = command.env.iter().filter(|name| std::env::var_os(name).is_none());
        findings.extend(unset.map(|name| {
            let text = format!(
                "{}: it needs the environment variable {name}, which is not set",
                manifest.file
            );
            Finding::warn(about(), text).advise(format!("set {name}, if the tool needs it"))
        }));
    }
    if let ToolSource::Http(source) = &manifest.source {
        let used: Vec<&str> = source.arguments().collect();
        let declared = manifest.spec.parameters["properties"].as_object();
        let declared = declared.into_iter().flat_map(|declared| declared.keys());
        findings.extend(declared.filter(|name| !used.contains(&name.as_str())).map(|name| {
            let text = format!("{}: the argument {name:?} is not sent anywhere", manifest.file);
            Finding::warn(about(), text).advise("name it in the source, or remove it")
        }));
    }
    findings
}

/// Required arguments that a schema does not declare: most likely a name is misspelt in one of the two places.
fn undeclared(parameters: &Value) -> impl Iterator<Item = &str> {
    let required = parameters["required"].as_array().into_iter().flatten();
    let declared = &parameters["properties"];
    let names = required.filter_map(Value::as_str);
    names.filter(move |name| declared.is_object() && declared.get(*name).is_none())
}
