//! Checks that a plan can be carried out: its tools exist, and its calls can get the evidence they need. All faults are
//! reported together, in words that tell a model what to write instead, because it is called again only once.

use std::{collections::BTreeSet, fmt};

use super::order::Needs;
use crate::domain::{EvidenceId, Plan, ToolName, plan::references, words};

/// The most faults that are shown: more would bury the first.
const SHOWN: usize = 20;
/// Characters of a tool's name that are repeated.
const NAME: usize = 64;

/// A fault of a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanFault {
    /// `expected` is the nearest name and the known names.
    #[error("#{id}: there is no tool {tool:?}; {expected}")]
    UnknownTool { id: EvidenceId, tool: String, expected: String },
    #[error("#{id} is used for two calls; give each call a number of its own")]
    Duplicate { id: EvidenceId },
    /// `known`: the existing evidence.
    #[error("#{id}: its input names #{names}, which does not exist; {known}")]
    UnknownReference { id: EvidenceId, names: EvidenceId, known: String },
    #[error("#{id}: its input names itself; name only other evidence, or write the text itself")]
    Itself { id: EvidenceId },
    /// The first needs the second, and so on, and the last needs the first.
    #[error(
        "{} wait for each other, so none can begin; write the first without the others",
        marks(ids)
    )]
    Circle { ids: Vec<EvidenceId> },
}

/// All faults of a plan; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct PlanFaults(pub Vec<PlanFault>);

impl fmt::Display for PlanFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.0.iter().take(SHOWN).enumerate() {
            let between = if at > 0 { "\n" } else { "" };
            write!(f, "{between}{fault}")?;
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

/// The tool that a planner means: the one with this name, or the only one that differs only in case, spaces, hyphens
/// and underscores.
pub fn resolve<'t>(
    written: &str,
    tools: impl Iterator<Item = &'t ToolName> + Clone,
) -> Option<&'t ToolName> {
    if let Some(exact) = tools.clone().find(|tool| tool.as_str() == written) {
        return Some(exact);
    }
    let wanted = folded(written);
    let mut alike = tools.filter(|tool| folded(tool.as_str()) == wanted);
    alike.next().filter(|_| alike.next().is_none())
}

fn folded(name: &str) -> String {
    let kept = name.chars().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '_'));
    kept.flat_map(char::to_lowercase).collect()
}

/// Checks whether the plan can be carried out with these tools. Evidence may be named before it
/// is written, unless it waits for itself; a plan may have no evidence.
///
/// # Errors
/// All faults of the plan.
pub fn check<'t>(
    plan: &Plan,
    tools: impl Iterator<Item = &'t ToolName> + Clone,
) -> Result<(), PlanFaults> {
    let mut faults = Vec::new();
    let ids: BTreeSet<EvidenceId> = plan.evidence().map(|evidence| evidence.id).collect();
    let mut seen = BTreeSet::new();
    for evidence in plan.evidence() {
        let id = evidence.id;
        if resolve(&evidence.tool, tools.clone()).is_none() {
            let expected = words::expected(&evidence.tool, tools.clone().map(ToolName::as_str));
            let tool = words::clipped(&evidence.tool, NAME);
            faults.push(PlanFault::UnknownTool { id, tool, expected });
        }
        if !seen.insert(id) {
            faults.push(PlanFault::Duplicate { id });
        }
        for names in references(&evidence.input) {
            if names == id {
                faults.push(PlanFault::Itself { id });
            } else if !ids.contains(&names) {
                faults.push(PlanFault::UnknownReference { id, names, known: known(&ids, id) });
            }
        }
    }
    faults.extend(circles(&Needs::of(plan)).map(|ids| PlanFault::Circle { ids }));
    if faults.is_empty() { Ok(()) } else { Err(PlanFaults(faults)) }
}

/// The evidence that could be referenced instead.
fn known(ids: &BTreeSet<EvidenceId>, own: EvidenceId) -> String {
    let others: Vec<EvidenceId> = ids.iter().copied().filter(|id| *id != own).collect();
    if others.is_empty() {
        return "there is no other evidence".to_owned();
    }
    words::clipped(&format!("there is {}", marks(&others)), 120)
}

fn marks(ids: &[EvidenceId]) -> String {
    ids.iter().map(|id| id.mark()).collect::<Vec<_>>().join(", ")
}

/// Disjoint circles; if the plan has any circle, at least one is found.
fn circles(needs: &Needs) -> impl Iterator<Item = Vec<EvidenceId>> {
    let mut open = vec![true; needs.ids.len()];
    for at in needs.levels().into_iter().flatten() {
        open[at] = false;
    }
    (0..needs.ids.len()).filter_map(move |start| circle(needs, &mut open, start))
}

/// The circle that is reached from `start` by always following the first open need. All visited evidence is closed:
/// calls that only lead into a circle need not be reported.
fn circle(needs: &Needs, open: &mut [bool], start: usize) -> Option<Vec<EvidenceId>> {
    let mut path: Vec<usize> = Vec::new();
    let mut at = Some(start).filter(|start| open[*start])?;
    loop {
        open[at] = false;
        path.push(at);
        if let Some(back) = path.iter().position(|on| needs.needs[at].contains(on)) {
            return Some(path[back..].iter().map(|at| needs.ids[*at]).collect());
        }
        at = needs.needs[at].iter().copied().find(|need| open[*need])?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlanTools, parse};

    fn faults(text: &str) -> String {
        let tools = ["Wikipedia", "web_search", "LLM", "Web Search"].map(ToolName::from);
        let checked = check(&parse(text, &PlanTools::default()).unwrap(), tools[..3].iter());
        checked.err().map(|faults| faults.to_string()).unwrap_or_default()
    }

    #[test]
    fn tools_are_found_by_the_name_that_is_meant() {
        let tools = ["Wikipedia", "web_search", "Web Search", "LLM"].map(ToolName::from);
        let found = |name: &str| resolve(name, tools.iter()).map(ToolName::as_str);
        assert_eq!(found("wikipedia"), Some("Wikipedia"));
        assert_eq!(found("Wiki-pedia"), Some("Wikipedia"));
        assert_eq!(found("Web Search"), Some("Web Search"));
        assert_eq!(found("websearch"), None, "two tools are meant");
        assert_eq!(found("Wiki"), None);
    }

    #[test]
    fn what_can_be_carried_out_has_no_faults() {
        for text in [
            "Plan: nothing to call",
            "Plan: a\n#E1 = Web Search[x]\nPlan: b\n#E2 = llm[#E1, #E1]",
            "Plan: forward\n#E1 = LLM[#E2]\n#E2 = Wikipedia[x]",
        ] {
            assert_eq!(faults(text), "");
        }
    }

    #[test]
    fn every_fault_is_told_at_once_with_what_to_do() {
        let text = "Plan: a\n#E1 = Wikpedia[x]\n#E2 = LLM[#E2 and #E9]\n#E2 = LLM[y]\n\
                    #E3 = LLM[#E4]\n#E4 = LLM[#E5]\n#E5 = LLM[#E3]\n#E6 = LLM[#E3]";
        let right = "#E1: there is no tool \"Wikpedia\"; did you mean `Wikipedia`? (known: Wikipedia, \
                     web_search, LLM)\n\
                     #E2: its input names itself; name only other evidence, or write the text itself\n\
                     #E2: its input names #E9, which does not exist; there is #E1, #E3, #E4, #E5, #E6\n\
                     #E2 is used for two calls; give each call a number of its own\n\
                     #E3, #E4, #E5 wait for each other, so none can begin; write the first without \
                     the others";
        assert_eq!(faults(text), right);
        let two = "Plan: a\n#E1 = LLM[#E2]\n#E2 = LLM[#E1]\n#E3 = LLM[#E1 #E4]\n#E4 = LLM[#E3]";
        assert_eq!(faults(two).lines().count(), 2, "{}", faults(two));
        let many: String = (1..99).map(|n| format!("#E{n} = Nope[]\n")).collect();
        assert!(faults(&many).ends_with("\nand 78 more"));
    }
}
