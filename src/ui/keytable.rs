//! The key table as Markdown, for `toolyard keys` and the page of keys.

use strum::VariantArray;

use super::action::{ACTIONS, ActionSpec, Group, KeyLayer};
use super::keymap::Keymap;

/// Makes a table for each section of the panes' actions, then one for each kind of popup.
pub fn markdown(keymap: &Keymap) -> String {
    let mut out = String::new();
    for group in Group::VARIANTS.iter().filter(|group| **group != Group::Popup) {
        let specs = ACTIONS.iter().filter(|spec| spec.group == *group);
        let rows = specs.map(|spec| (spec, keymap.keys(spec.action).to_vec()));
        table(&mut out, group.name(), rows);
    }
    for layer in KeyLayer::all().filter(|layer| layer.is_popup()) {
        let rows = ACTIONS.iter().map(|spec| (spec, of_layer(keymap, layer, spec)));
        let rows = rows.filter(|(_, keys)| !keys.is_empty());
        table(&mut out, &format!("In popups: `{}`", layer.name()), rows);
    }
    out
}

fn table(
    out: &mut String,
    head: &str,
    rows: impl Iterator<Item = (&'static ActionSpec, Vec<String>)>,
) {
    out.push_str(&format!("| {head} | | |\n| --- | --- | --- |\n"));
    for (spec, keys) in rows {
        let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
        out.push_str(&format!("| {} | `{}` | {} |\n", keys.join(" "), spec.name, spec.doc));
    }
    out.push('\n');
}

fn of_layer(keymap: &Keymap, layer: KeyLayer, spec: &ActionSpec) -> Vec<String> {
    let of_it = keymap.bindings().filter(|(of, _, action)| (*of, *action) == (layer, spec.action));
    of_it.map(|(_, keys, _)| keys.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_action_and_every_kind_of_popup() {
        let keys = markdown(&Keymap::default());
        for spec in ACTIONS {
            let row = format!(" | `{}` | {} |", spec.name, spec.doc);
            assert!(keys.contains(&row), "{}", spec.name);
        }
        assert!(keys.contains("| `space` `f5` | `run-or-pause` |"), "{keys}");
        assert!(keys.contains("| In popups: `list` | | |") && keys.contains("| `a` | `add` |"));
    }
}
