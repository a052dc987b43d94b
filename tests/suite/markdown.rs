//! Documentation as tests read it: blocks between fences, and links.

use std::path::Path;

/// The fenced blocks of a text, in order: language and lines.
pub fn blocks(text: &str) -> Vec<(&str, &str)> {
    let fenced = text.split("\n```").skip(1).step_by(2);
    fenced.map(|block| block.split_once('\n').unwrap_or((block, ""))).collect()
}

/// Fails if a link leads to a file that is not there. Links start in the folder of their text.
pub fn assert_linked(text: &str, folder: &Path) {
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    for link in links.filter(|link| !link.starts_with("http")) {
        let file = link.split('#').next().unwrap();
        assert!(folder.join(file).exists(), "{} links to {link}", folder.display());
    }
}
