//! The breakpoints of a workspace, `breakpoints.toml`: the screen writes the file, and a person may edit it.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::domain::{BreakpointSpec, State};
use crate::files::text_file::{self, Expectation};
use crate::files::toml_file::{Problems, TomlField, TomlFile};
use crate::files::whole_file;

/// The name of the breakpoints file in a workspace.
const FILE: &str = "breakpoints.toml";

const HEAD: &str =
    "# Breakpoints of this workspace. The screen of toolyard writes this file when they change.\n";

const EXPECTED: Expectation = Expectation {
    what: "the breakpoints of a workspace",
    missing: "expected `on` and `off`, lists of breakpoints such as \"search_web:if=ms > 500\"",
    largest: 1 << 20,
};

/// Breakpoints, and whether each is on.
pub type SavedBreakpoints = Vec<(BreakpointSpec, bool)>;

#[derive(Serialize)]
struct BreakpointsFile {
    on: Vec<String>,
    off: Vec<String>,
}

/// The file of a workspace.
pub fn file(workspace: &Path) -> PathBuf {
    workspace.join(FILE)
}

/// The breakpoints of a workspace; none without a file.
///
/// # Errors
/// All faults of the file.
pub fn load(workspace: &Path) -> Result<SavedBreakpoints, Problems> {
    let path = file(workspace);
    if !path.exists() {
        return Ok(SavedBreakpoints::new());
    }
    parse(&path.display().to_string(), &text_file::read(&path, &EXPECTED)?)
}

/// The breakpoints in this text.
///
/// # Errors
/// All faults, with their lines.
pub fn parse(file: &str, text: &str) -> Result<SavedBreakpoints, Problems> {
    TomlFile::read(file, text, |mut fields| {
        let mut list = |key: &'static str, on: bool| {
            let Some(field) = fields.get(key) else { return Some(SavedBreakpoints::new()) };
            let read = field.list()?.into_iter().map(|field| spec(&field).map(|spec| (spec, on)));
            // Every fault is named, not only the first one.
            read.collect::<Vec<_>>().into_iter().collect()
        };
        let (on, off) = (list("on", true), list("off", false));
        fields.finish();
        Some([on?, off?].concat())
    })
}

fn spec(field: &TomlField<'_>) -> Option<BreakpointSpec> {
    let read = BreakpointSpec::read(field.text()?);
    read.map_err(|why| field.refuse_briefly(&why)).ok()
}

/// Writes the breakpoints of a session to the file of its workspace.
///
/// # Errors
/// Why they cannot be written.
pub fn save(path: &Path, state: &State) -> Result<(), String> {
    let written = |on: bool| {
        let all = state.breakpoints.values().filter(|known| !known.temporary && known.on == on);
        all.map(|known| known.spec.to_string()).collect()
    };
    let written = BreakpointsFile { on: written(true), off: written(false) };
    let text = toml::to_string_pretty(&written).map_err(|error| error.to_string())?;
    let text = format!("{HEAD}{text}");
    whole_file::write(path, |out| out.write_all(text.as_bytes()))
        .map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_has_its_line() {
        let text = "on = [\n  \"search_web\",\n  \"a:onc\",\n  3,\n]\nof = []\n";
        let said = parse("b.toml", text).unwrap_err().to_string();
        for expected in [
            "b.toml:3: on[1]: unknown option `onc`; did you mean `once`?",
            "b.toml:4: on[2]: expected a text in quotes, got 3",
            "b.toml:6: of: unknown key; did you mean `off`?",
        ] {
            assert!(said.contains(expected), "{said}\nnot {expected}");
        }
    }
}
