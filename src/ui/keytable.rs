//! The key table as text: for `toolyard keys`, and in Markdown for the README.

use super::action::{ACTIONS, Group};
use super::{keymap::Keymap, text};

/// One line for each action, by section: keys, name, what it does.
pub fn plain(keymap: &Keymap) -> String {
    let mut out = String::new();
    for group in Group::ALL {
        out.push_str(&format!("{}\n", group.name()));
        for spec in ACTIONS.iter().filter(|spec| spec.group == group) {
            let keys = text::fit(&keymap.show(spec.action), 16);
            out.push_str(&format!("  {keys} {:<16} {}\n", spec.name, spec.doc));
        }
    }
    out
}

/// The same as Markdown tables.
pub fn markdown(keymap: &Keymap) -> String {
    let mut out = String::new();
    for group in Group::ALL {
        out.push_str(&format!("| {} | | |\n| --- | --- | --- |\n", group.name()));
        for spec in ACTIONS.iter().filter(|spec| spec.group == group) {
            let keys = keymap.keys(spec.action).iter().map(|key| format!("`{key}`"));
            let keys = keys.collect::<Vec<_>>().join(" ");
            out.push_str(&format!("| {keys} | `{}` | {} |\n", spec.name, spec.doc));
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tables_have_every_action() {
        let keymap = Keymap::default();
        for table in [plain(&keymap), markdown(&keymap)] {
            for spec in ACTIONS {
                assert!(table.contains(spec.doc), "{}", spec.name);
            }
        }
        assert!(plain(&keymap).contains("  space            run-or-pause"));
        assert!(markdown(&keymap).contains("| `+` `=` | `raise-score` |"));
    }
}
