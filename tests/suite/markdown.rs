//! Documentation as tests read it: blocks between fences, and links.

use std::path::Path;

use toolyard::ui::{keymap::Keymap, keytable};

/// The fenced blocks of a text, in order: language and lines.
pub fn blocks(text: &str) -> Vec<(&str, &str)> {
    let fenced = text.split("\n```").skip(1).step_by(2);
    fenced.map(|block| block.split_once('\n').unwrap_or((block, ""))).collect()
}

/// Fails if a link leads to a file that is not there. Links start in the folder of their text.
pub fn assert_linked(text: &str, folder: &Path) {
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    // A checkout may lack the laboratory.
    let has_lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("lab").is_dir();
    let is_kept = |link: &&str| has_lab || !link.trim_start_matches("../").starts_with("lab/");
    for link in links.filter(|link| !link.starts_with("http")).filter(is_kept) {
        let file = link.split('#').next().unwrap();
        assert!(folder.join(file).exists(), "{} links to {link}", folder.display());
    }
}

/// Fails if a key that a page names is not in the keymap, or in a table not for the action beside it. Returns how many keys
/// it names.
pub fn assert_keys(page: &str, text: &str) -> usize {
    let table = keytable::markdown(&Keymap::default());
    let mut checked = 0;
    for line in text.lines() {
        // In a table of keys the actions stand in the second column.
        let cell = line.starts_with("| ").then(|| line.split(" | ").nth(1)).flatten();
        let named = cell.unwrap_or_default().split('`').skip(1).step_by(2);
        let actions = named.map(|action| format!("| `{action}` |"));
        let actions: Vec<_> = actions.filter(|action| table.contains(action)).collect();
        let is_meant =
            |row: &&str| actions.is_empty() || actions.iter().any(|action| row.contains(action));
        let rows: Vec<_> = table.lines().filter(is_meant).collect();
        for key in line.split("<kbd>").skip(1).filter_map(|rest| rest.split("</kbd>").next()) {
            let key = format!("`{}`", key.replace("&lt;", "<").replace("&gt;", ">"));
            let keys = |row: &&str| row.split(" | ").next().unwrap().contains(&key);
            assert!(rows.iter().any(keys), "{page}: {key} does not do this: {line}");
            checked += 1;
        }
    }
    checked
}
