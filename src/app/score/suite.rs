//! A fixed suite of faults with a version, as data.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, de::Error};

use super::runs::PlannedRun;
use crate::domain::{FaultSpec, Target, ToolName};
use crate::files::toml_file::read_embedded;

const RESILIENCE: &str = include_str!("../../../suites/resilience-1.toml");

/// Faults by which agents are scored.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultSuite {
    name: String,
    version: u32,
    rows: Vec<SuiteRow>,
}

/// Faults of one kind with one trigger.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteRow {
    kind: String,
    /// A fault of all tools.
    #[serde(deserialize_with = "of_tools")]
    fault: FaultSpec,
    scope: SuiteScope,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
enum SuiteScope {
    /// A run for each tool that was called without faults.
    #[serde(rename = "each tool")]
    EachTool,
    /// A single run.
    #[serde(rename = "all tools")]
    AllTools,
}

fn of_tools<'de, D: Deserializer<'de>>(from: D) -> Result<FaultSpec, D::Error> {
    format!("tools:{}", String::deserialize(from)?).parse().map_err(D::Error::custom)
}

impl FaultSuite {
    /// The suite that the program brings.
    ///
    /// # Errors
    /// A test keeps it from happening.
    pub fn resilience() -> Result<Self, String> {
        read_embedded(RESILIENCE)
    }

    /// Name and version: `resilience-1`.
    pub fn title(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }

    /// A run for each fault of a seed whose run without faults called these tools.
    pub fn runs(&self, seed: u64, called: &BTreeSet<ToolName>) -> Vec<PlannedRun> {
        let of_row = |row: &SuiteRow| -> Vec<PlannedRun> {
            let at = |target| {
                let fault = FaultSpec { target, ..row.fault.clone() };
                (seed, [row.kind.clone(), fault.to_string()], Some(fault))
            };
            match row.scope {
                SuiteScope::EachTool => called.iter().cloned().map(Target::Tool).map(at).collect(),
                SuiteScope::AllTools => vec![at(Target::Tools)],
            }
        };
        self.rows.iter().flat_map(of_row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::sha256;

    /// The hash of the content that was released.
    const RELEASED: &str = "ec9f7a208e84833267d5de3bcfd59ad46bd6c28e88ad6585b3be4533a8b29c03";

    #[test]
    fn the_content_of_a_version_never_changes() {
        let hash = sha256::of_texts([RESILIENCE]);
        assert_eq!(hash, RELEASED, "other content is another version, in a file of its own");
    }

    #[test]
    fn each_kind_has_a_mild_row_and_a_lasting_one_on_each_tool_and_no_row_is_there_twice() {
        let suite = FaultSuite::resilience().unwrap();
        assert_eq!(suite.title(), "resilience-1");
        let kinds: BTreeSet<_> = suite.rows.iter().map(|row| row.kind.as_str()).collect();
        assert_eq!(kinds.len(), 8);
        for kind in kinds {
            let rows: Vec<_> = suite.rows.iter().filter(|row| row.kind == kind).collect();
            let on_each = |row: &&&SuiteRow| row.scope == SuiteScope::EachTool;
            let nths: Vec<_> =
                rows.iter().filter(on_each).map(|row| row.fault.trigger.nth).collect();
            assert_eq!(nths, [Some(1), None], "{kind}");
            // A timeout is its error without the wait.
            let name = if kind == "timeout" { "error" } else { kind };
            assert!(rows.iter().all(|row| row.fault.kind.name() == name), "{kind}");
        }
        let runs = suite.runs(3, &["a", "b"].map(ToolName::from).into());
        let texts: BTreeSet<_> = runs.iter().map(|(_, names, _)| names[1].clone()).collect();
        assert_eq!((runs.len(), texts.len()), (2 * 16 + 7, 2 * 16 + 7));
        // What is written is what is read back.
        assert!(
            texts
                .iter()
                .all(|text| text.parse::<FaultSpec>().is_ok_and(|it| it.to_string() == *text))
        );
    }

    #[test]
    fn a_suite_with_a_mistake_is_refused() {
        let whole = "name = \"x\"\nversion = 1\nrows = [{ kind = \"a\", fault = \"error\", scope = \"all tools\" }]";
        assert!(read_embedded::<FaultSuite>(whole).is_ok());
        for (from, to) in [
            ("version", "versoin"),
            ("scope", "extra = 1, scope"),
            ("all tools", "some tools"),
            ("\"error\"", "\"no-such-kind\""),
            ("\"error\"", "\"error:p=2\""),
            ("\"error\"", "\"refusal\""),
            ("kind = \"a\", ", ""),
        ] {
            let wrong = whole.replace(from, to);
            assert!(read_embedded::<FaultSuite>(&wrong).is_err(), "{wrong}");
        }
    }
}
