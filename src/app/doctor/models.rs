//! The models bound to roles: whether their keys exist, whether they answer, and what they do with tools.

use futures::future::join_all;

use super::{Finding, Subject, Trials, prices};
use crate::config::{Config, Environment, ModelConfig};
use crate::domain::{ModelName, Role};
use crate::model::secret::{HeaderSource, KeySource};
use crate::model::{About, Model, hosted::Hosted, http::Endpoint};
use crate::trial::{self, Server, Words};

/// Examines all bound endpoints in parallel: a silent one must not delay the others. `tools`: the tokens of the
/// workspace's tools.
pub(super) async fn examine(
    config: &Config,
    subject: &Subject<'_>,
    tools: u64,
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
            ModelConfig::Hosted(endpoint) => {
                let mut findings = vec![prices::of(&about, endpoint, config)];
                let (reached, found) = reach(&about, &roles, endpoint, subject.environment).await;
                findings.extend(reached);
                if let Some(found) = found {
                    findings.extend(try_out(&about, endpoint, &found, subject.trials, tools).await);
                }
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

/// Whether a role uses an endpoint.
pub(super) fn uses_endpoint(config: &Config) -> bool {
    let of = |name| matches!(config.models.get(name), Some(ModelConfig::Hosted(_)));
    config.roles.values().any(of)
}

/// Whether the keys of an endpoint exist, and whether it answers; if so, also the facts that it states about its model.
pub(super) async fn reach(
    about: &str,
    roles: &str,
    endpoint: &Endpoint,
    environment: Environment<'_>,
) -> (Vec<Finding>, Option<About>) {
    let mut findings = keys(about, endpoint, environment);
    if !super::is_well(&findings) {
        // Without its key the endpoint would refuse, which adds nothing new.
        return (findings, None);
    }
    let reached = match Hosted::new(endpoint.clone()) {
        Ok(model) => model.reachable().await,
        Err(error) => Err(error),
    };
    let (finding, found) = match reached {
        Ok(reached) => {
            let text = format!("{roles}: {}", reached.text);
            let finding = match reached.is_sure {
                true => Finding::ok(about, text),
                false => Finding::warn(about, text),
            };
            (finding, Some(reached.about))
        }
        Err(error) => (Finding::fail(about, format!("{roles}: {error}")), None),
    };
    findings.push(finding);
    (findings, found)
}

/// Findings about an endpoint that answers: its use of tools, and the room for the workspace's tools in its window.
async fn try_out(
    about: &str,
    endpoint: &Endpoint,
    found: &About,
    trials: Trials,
    tools: u64,
) -> Vec<Finding> {
    let server = Server::at(&endpoint.base_url, found.owner.as_deref());
    let window = match (found.window, endpoint.context) {
        (Some(said), Some(set)) => Some(said.min(set)),
        (said, set) => said.or(set),
    };
    let window = window.map(|window| trial::of_window(window, tools, server));
    let is_tried = match trials {
        Trials::None => false,
        Trials::Local => trial::is_free(endpoint),
        Trials::All => true,
    };
    let tried = match is_tried {
        true => Some(trial::words(&trial::of(endpoint).await, server)),
        false => None,
    };
    tried.into_iter().chain(window).map(|words| finding(about, words)).collect()
}

/// The finding of a trial. A session can start in any case, so the level is at most a warning.
pub(super) fn finding(about: &str, words: Words) -> Finding {
    let Words { is_well, text, advice } = words;
    let finding = if is_well { Finding::ok(about, text) } else { Finding::warn(about, text) };
    Finding { advice, ..finding }
}

/// Whether the variables of an endpoint's keys are set; their values are not shown.
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
