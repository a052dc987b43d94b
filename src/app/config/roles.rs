//! `[roles]`: the model of each role, and settings for sampling its answers.

use super::{Config, bound_to, removed_names};
use crate::domain::{ModelName, Role, Sampling, words};
use crate::files::toml_file::{TomlField, TomlFields};

/// Texts at which an answer may end; endpoints take few.
const MOST_STOPS: usize = 4;

/// `default` binds every role without a line of its own. A role is the name of its model, or a
/// table with `model` and settings of sampling.
pub(super) fn roles(fields: &mut TomlFields<'_>, config: &mut Config) {
    if let Some(default) = fields.get("default").and_then(|field| model(&field, config)) {
        config.roles = bound_to(&default);
    }
    for role in Role::all() {
        let Some(field) = fields.get(role.name()) else { continue };
        let name = if field.is_table() {
            let Some(mut table) = field.table() else { continue };
            let name = table.get("model").and_then(|field| model(&field, config));
            let sampling = sampling(&mut table);
            table.finish();
            if sampling != Sampling::default() {
                config.sampling.insert(role, sampling);
            }
            name
        } else {
            model(&field, config)
        };
        if let Some(name) = name {
            config.roles.insert(role, name);
        }
    }
}

/// The configured model that a field names. A model that no longer exists is noted and not bound.
fn model(field: &TomlField<'_>, config: &mut Config) -> Option<ModelName> {
    let name = field.text()?;
    if config.gone.models.iter().any(|gone| gone.as_str() == name) {
        config.gone.notices.push(field.problem(removed_names::NO_MODEL));
        return None;
    }
    let models = &config.models;
    let found = models.get_key_value(name).map(|(name, _)| name.clone());
    if found.is_none() {
        let expected = words::expected(name, models.keys().map(ModelName::as_str));
        field.refuse(format!("no such model in [models]; {expected}"));
    }
    found
}

fn sampling(fields: &mut TomlFields<'_>) -> Sampling {
    let mut sampling = Sampling::default();
    let within = |most| move |field: &TomlField<'_>| Some(Some(field.number(0.0, most)?.into()));
    fields.put("temperature", &mut sampling.temperature, within(2.0));
    fields.put("top_p", &mut sampling.top_p, within(1.0));
    fields.put("seed", &mut sampling.seed, |field| field.whole(0, i64::MAX).map(Some));
    fields.put("max_tokens", &mut sampling.max_tokens, |field| {
        field.whole(1, i64::from(i32::MAX)).and_then(|most| u32::try_from(most).ok()).map(Some)
    });
    fields.put("stop", &mut sampling.stop, |field| {
        let texts = field.texts()?;
        if texts.is_empty() || texts.len() > MOST_STOPS || texts.iter().any(String::is_empty) {
            field.refuse(format!("expected a list of 1 to {MOST_STOPS} texts, none of them empty"));
            return None;
        }
        Some(texts)
    });
    sampling
}
