//! Reads scenarios. All mistakes of a file are reported at once, with line and field.

use std::path::{Path, PathBuf};

use super::{Expectations, Scenario, ScenarioFile};
use crate::domain::Target;
use crate::files::text_file::{self, Expectation};
use crate::files::toml_file::{FieldLines, Problems, TomlField, TomlFields, TomlFile};
use crate::session::{JournalChoice, SessionSpec, TaskSource};

const EXPECTED: Expectation = Expectation {
    what: "a scenario in TOML",
    missing: "expected the file of a scenario",
    largest: 16 << 20,
};

/// Fields of a session that only a screen can use.
const OF_A_SCREEN: [&str; 3] = ["paused", "stay", "parent"];

impl ScenarioFile {
    /// Reads a scenario. Relative paths in it start at its folder.
    ///
    /// # Errors
    /// The file cannot be read, or all problems of its text.
    pub fn load(path: &Path) -> Result<Self, Problems> {
        let text = text_file::read(path, &EXPECTED)?;
        let (mut scenario, lines) = parse(&path.display().to_string(), &text)?;
        scenario.session.start_paths_at(path.parent().unwrap_or(Path::new("")));
        Ok(Self { path: path.to_owned(), scenario, lines })
    }
}

impl Scenario {
    /// Reads the text of a scenario. Its paths stay as they are.
    ///
    /// # Errors
    /// All problems of the text.
    pub fn parse(file: &str, text: &str) -> Result<Self, Problems> {
        parse(file, text).map(|(scenario, _)| scenario)
    }
}

fn parse(file: &str, text: &str) -> Result<(Scenario, FieldLines), Problems> {
    let read = TomlFile::read(file, text, |mut fields| {
        let lines = fields.lines();
        let mut scenario = Scenario::default();
        let text = |field: &TomlField<'_>| field.filled("a non-empty text").map(str::to_owned);
        fields.put("name", &mut scenario.name, |field| text(field).map(Some));
        fields.put("about", &mut scenario.about, |field| text(field).map(Some));
        let expect = fields.get("expect");
        let advice = "is for sessions on a screen; a scenario runs without one";
        fields.forbid(|key| OF_A_SCREEN.contains(&key), advice);
        let session = fields.rest::<SessionSpec>();
        if let Some(mut inner) = expect.as_ref().and_then(|field| field.table()) {
            scenario.expect = Expectations::read(&mut inner);
            inner.finish();
        }
        scenario.session = session?;
        complain(&fields, expect.as_ref(), &scenario);
        Some((scenario, lines))
    });
    read.map_err(|mut problems| {
        problems.0.sort_by_key(|problem| problem.line);
        problems
    })
}

/// Notes problems of the whole scenario. A scenario that can only pass, or only fail, checks nothing.
fn complain(fields: &TomlFields<'_>, expect: Option<&TomlField<'_>>, scenario: &Scenario) {
    let Some(field) = expect else {
        return fields.refuse(
            "expects nothing; write a table [expect] with at least one expectation, such as right = 3",
        );
    };
    if !field.is_table() {
        return;
    }
    let expected = &scenario.expect;
    let says_nothing = |(name, _): &(&str, TomlField<'_>)| *name == "at_least";
    let is_bare = field.table().is_some_and(|table| table.all().iter().all(says_nothing));
    if expected.is_empty() && is_bare {
        field.refuse("expects nothing; write at least one expectation, such as right = 3");
    }
    let breaks_tools = |target: &Target| matches!(target, Target::Tool(_) | Target::Class(_));
    let has_fault = scenario.session.faults.iter().any(|fault| breaks_tools(&fault.target));
    if expected.recovered.is_some() && !has_fault {
        field.refuse("`recovered` needs a fault of a tool or of a class of tools in `faults`");
    }
}

impl SessionSpec {
    /// Makes relative paths start at this folder.
    pub fn start_paths_at(&mut self, folder: &Path) {
        let start = |path: &mut PathBuf| *path = folder.join(&*path);
        let own = [
            &mut self.config,
            &mut self.workspace,
            &mut self.learned,
            &mut self.experience,
            &mut self.recorded,
        ];
        own.into_iter().flatten().for_each(start);
        if let JournalChoice::File(path) = &mut self.journal {
            start(path);
        }
        if let TaskSource::File(path) = &mut self.tasks {
            start(path);
        }
    }
}
