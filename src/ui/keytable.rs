//! The key table as text: for `toolyard keys`, and in Markdown for the README.

use super::action::{ACTIONS, ActionSpec, Group, Layer};
use super::{keymap::Keymap, text};

/// One line for each action, by section: keys, name, what it does. Then the keys of each kind of popup.
pub fn plain(keymap: &Keymap) -> String {
    let mut out = String::new();
    for (group, specs) in sections() {
        out.push_str(&format!("{}\n", group.name()));
        for spec in specs {
            let keys = text::fit(&keymap.show(spec.action), 16);
            out.push_str(&format!("  {keys} {:<16} {}\n", spec.name, spec.doc));
        }
    }
    for layer in Layer::all().filter(|layer| layer.is_popup()) {
        out.push_str(&format!("In popups: {}\n", layer.name()));
        for spec in ACTIONS {
            let keys = of_layer(keymap, layer, spec);
            if !keys.is_empty() {
                out.push_str(&format!("  {} {}\n", text::fit(&keys.join("  "), 24), spec.name));
            }
        }
    }
    out
}

/// The keys of the panes as Markdown tables.
pub fn markdown(keymap: &Keymap) -> String {
    let mut out = String::new();
    for (group, specs) in sections() {
        out.push_str(&format!("| {} | | |\n| --- | --- | --- |\n", group.name()));
        for spec in specs {
            let keys = keymap.keys(spec.action).iter().map(|key| format!("`{key}`"));
            let keys = keys.collect::<Vec<_>>().join(" ");
            out.push_str(&format!("| {keys} | `{}` | {} |\n", spec.name, spec.doc));
        }
        out.push('\n');
    }
    out
}

/// The actions of the panes, by section.
fn sections() -> impl Iterator<Item = (Group, impl Iterator<Item = &'static ActionSpec>)> {
    let groups = Group::ALL.into_iter().filter(|group| *group != Group::Popup);
    groups.map(|group| (group, ACTIONS.iter().filter(move |spec| spec.group == group)))
}

fn of_layer(keymap: &Keymap, layer: Layer, spec: &ActionSpec) -> Vec<String> {
    let of_it = keymap.bindings().filter(|(of, _, action)| (*of, *action) == (layer, spec.action));
    of_it.map(|(_, keys, _)| keys.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tables_have_every_action() {
        let keymap = Keymap::default();
        let plain = plain(&keymap);
        for spec in ACTIONS {
            assert!(plain.contains(spec.name), "{}", spec.name);
        }
        for (_, specs) in sections() {
            for spec in specs {
                assert!(markdown(&keymap).contains(spec.doc), "{}", spec.name);
            }
        }
        assert!(plain.contains("  space  f5        run-or-pause"), "{plain}");
        assert!(markdown(&keymap).contains("| `+` `=` | `more` |"));
    }
}
