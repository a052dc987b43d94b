//! The models bound to roles: whether their keys exist, and whether they answer.

use futures::future::join_all;

use super::{Finding, prices, reader};
use crate::app::config::{Config, Environment, ModelConfig};
use crate::domain::{ModelName, Role};
use crate::model::secret::{HeaderSource, KeySource};
use crate::model::{Model, http::Endpoint, openai::OpenAi};

/// Probes all bound endpoints in parallel: a silent one must not delay the others.
pub(super) async fn examine(
    config: &Config,
    environment: Environment<'_>,
    findings: &mut Vec<Finding>,
) {
    let bound = config.models.iter().filter_map(|(name, model)| {
        let roles = roles_of(config, name);
        (!roles.is_empty()).then_some((name, model, roles))
    });
    let asked = bound.map(|(name, model, roles)| async move {
        let about = format!("model {name}");
        match model {
            ModelConfig::Simulated(_) => {
                let text = format!("{roles}: simulated; no language model is called");
                vec![Finding::ok(about, text)]
            }
            ModelConfig::Local(settings) => {
                vec![reader::chat(&about, &roles, &settings.path)]
            }
            ModelConfig::OpenAi(endpoint) => {
                let mut findings = vec![prices::of(&about, endpoint, config)];
                findings.extend(ask(&about, &roles, endpoint, environment).await);
                findings
            }
        }
    });
    let asked: Vec<_> = join_all(asked).await;
    let answers = |model: &Vec<Finding>| super::is_well(model);
    let is_any = asked.iter().any(answers);
    findings.extend(asked.into_iter().flatten());
    if !is_any {
        let text = "no model answers, so no task can be done";
        findings.push(Finding::fail("session", text));
    }
}

fn roles_of(config: &Config, model: &ModelName) -> String {
    let bound = Role::all().filter(|role| config.roles.get(role) == Some(model));
    bound.map(Role::name).collect::<Vec<_>>().join(", ")
}

/// Whether the keys of an endpoint exist, and whether it answers.
pub(super) async fn ask(
    about: &str,
    roles: &str,
    endpoint: &Endpoint,
    environment: Environment<'_>,
) -> Vec<Finding> {
    let mut findings = keys(about, endpoint, environment);
    if !super::is_well(&findings) {
        // Without its key it would refuse, which adds nothing new.
        return findings;
    }
    let reached = match OpenAi::new(endpoint.clone()) {
        Ok(model) => model.reachable().await,
        Err(error) => Err(error),
    };
    findings.push(match reached {
        Ok(reached) if reached.is_sure => Finding::ok(about, format!("{roles}: {}", reached.text)),
        Ok(reached) => Finding::warn(about, format!("{roles}: {}", reached.text)),
        Err(error) => Finding::fail(about, format!("{roles}: {error}")),
    });
    findings
}

/// Whether the variables of its keys are set; their values are not shown.
fn keys(about: &str, endpoint: &Endpoint, environment: Environment<'_>) -> Vec<Finding> {
    let key = match &endpoint.key {
        KeySource::Env(name) => Some(name),
        KeySource::None | KeySource::Command(_) => None,
    };
    let headers = endpoint.headers.values().filter_map(|source| match source {
        HeaderSource::Env(name) => Some(name),
        HeaderSource::Literal(_) => None,
    });
    let finding = |name: &String| match environment(name).filter(|value| !value.is_empty()) {
        Some(_) => Finding::ok(about, format!("the environment variable {name} is set")),
        None => Finding::fail(about, format!("the environment variable {name} is not set"))
            .advise(format!("export {name}=… in the shell that starts toolyard")),
    };
    key.into_iter().chain(headers).map(finding).collect()
}
