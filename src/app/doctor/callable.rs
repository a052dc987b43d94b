//! Reasons why tools cannot be called: `disabled` in manifests, and variables that are not set. An imported API has a
//! hundred tools with the same reason, so each reason is one finding.

use indexmap::IndexMap;

use super::Finding;
use crate::domain::words::{clipped, counted};
use crate::tool::manifest::Manifest;

/// Names of tools that one finding shows.
const SHOWN: usize = 3;

/// Disabled tools by reason, and unset variables of tools over HTTP.
pub(super) fn findings(manifests: &[Manifest]) -> Vec<Finding> {
    let mut disabled: IndexMap<&str, Vec<&str>> = IndexMap::new();
    let mut missing: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for manifest in manifests {
        let name = manifest.spec.name.as_str();
        if let Some(why) = &manifest.spec.disabled {
            disabled.entry(why).or_default().push(name);
            continue;
        }
        for variable in manifest.missing_variables() {
            missing.entry(variable).or_default().push(name);
        }
    }
    let of = |names: &[&str]| format!("{} ({})", counted(names.len(), "tool"), some(names));
    let disabled = disabled.iter().map(|(why, names)| {
        let advice = "to enable them, remove `disabled` from their manifests";
        Finding::warn("disabled tools", format!("{}: {why}", of(names))).advise(advice)
    });
    let missing = missing.iter().map(|(variable, names)| {
        let text =
            format!("the environment variable {variable} is not set; needed by {}", of(names));
        Finding::warn("tools over HTTP", text)
            .advise(format!("set {variable}; their calls fail without it"))
    });
    disabled.chain(missing).collect()
}

fn some(names: &[&str]) -> String {
    let mut shown: Vec<_> = names.iter().take(SHOWN).map(|name| clipped(name, 40)).collect();
    if names.len() > SHOWN {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}
