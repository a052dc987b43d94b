//! The tools of a task's budget, in the order of the list: planned tools, then tools used, refused or
//! blacklisted, then candidates without planned uses.

use crate::domain::{BudgetPlan, PlannedTool, TaskBudget, ToolLedger, ToolName};

/// A tool of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct BudgetTool<'a> {
    pub tool: &'a ToolName,
    /// `None`: the plan does not contain the tool.
    pub planned: Option<&'a PlannedTool>,
    /// `None`: the tool was neither used nor refused in this task.
    pub ledger: Option<&'a ToolLedger>,
}

/// The whole list.
#[derive(Debug)]
pub(super) struct BudgetRows<'a> {
    pub budget: &'a TaskBudget,
    pub entries: Vec<BudgetTool<'a>>,
    /// The most that any tool has cost and may still cost, in credits: the full length of a bar.
    pub most: f64,
}

impl<'a> BudgetRows<'a> {
    pub fn of(budget: &'a TaskBudget) -> Self {
        let mut entries = candidates(budget);
        // A stable sort: tools of one kind keep the order of the plan.
        entries.sort_by_key(|entry| rank(budget, entry));
        let most = entries.iter().map(|entry| {
            let (planned, spare) = entry.ahead(budget);
            entry.spent() + planned + spare
        });
        // `max` ignores NaN.
        let most = most.filter(|most| most.is_finite()).fold(0.0, f64::max);
        Self { budget, entries, most }
    }
}

fn candidates(budget: &TaskBudget) -> Vec<BudgetTool<'_>> {
    let plan = budget.plan.as_deref().map_or(&[][..], |plan: &BudgetPlan| &plan.tools);
    let mut listed = vec![false; budget.tools.len()];
    let mut entries = Vec::with_capacity(plan.len() + listed.len());
    for planned in plan {
        // Before the first use, 16,000 candidates need no look-up.
        let known = !budget.tools.is_empty();
        let at = known.then(|| budget.tools.get_index_of(&planned.tool)).flatten();
        if let Some(at) = at {
            listed[at] = true;
        }
        let ledger = at.and_then(|at| budget.tools.get_index(at)).map(|(_, ledger)| ledger);
        entries.push(BudgetTool { tool: &planned.tool, planned: Some(planned), ledger });
    }
    let others = budget.tools.iter().zip(listed).filter(|(_, listed)| !listed);
    let others = others.map(|((tool, ledger), _)| (tool, None, Some(ledger)));
    entries.extend(others.map(|(tool, planned, ledger)| BudgetTool { tool, planned, ledger }));
    entries
}

fn rank(budget: &TaskBudget, entry: &BudgetTool<'_>) -> u8 {
    let banned = !budget.blacklist.is_empty() && budget.blacklist.contains_key(entry.tool);
    match entry.planned {
        Some(planned) if planned.uses > 0 && !banned => 0,
        _ if entry.ledger.is_some() || banned => 1,
        _ => 2,
    }
}

impl BudgetTool<'_> {
    /// The credits that the tool's calls have cost, including the cost of their time.
    pub fn spent(&self) -> f64 {
        self.ledger.map_or(0.0, |ledger| ledger.spent.total())
    }

    /// Planned uses that are left.
    pub fn left(&self, budget: &TaskBudget) -> u32 {
        self.planned.filter(|planned| planned.uses > 0).map_or(0, |tool| budget.left_of(tool))
    }

    /// The cost of the uses that are left, in credits: of those that the plan needs, and of the spare ones.
    pub fn ahead(&self, budget: &TaskBudget) -> (f64, f64) {
        let planned = self.planned.filter(|_| self.left(budget) > 0);
        planned.map_or((0.0, 0.0), |planned| {
            let needed = budget.needed_left(planned);
            let cost = |uses: u32| planned.cost * f64::from(uses);
            (cost(needed), cost(self.left(budget) - needed))
        })
    }

    /// Calls that ran.
    pub fn done(&self) -> u32 {
        self.ledger.map_or(0, |ledger| ledger.uses)
    }

    /// All remarks on the tool, the most important first.
    pub fn words(&self, budget: &TaskBudget) -> String {
        let mut words = Vec::new();
        if let Some(why) = budget.blacklist.get(self.tool) {
            words.push(format!("blacklisted: {why}"));
        }
        words.extend(self.ledger.and_then(refusals));
        if let Some(planned) = self.planned {
            if planned.set && planned.why != "set by you" {
                words.push("set by you".to_owned());
            }
            if planned.experience == 0 && !planned.why.contains("no experience") {
                words.push("no experience".to_owned());
            }
            // A blacklisted tool's reason was given above.
            if !planned.why.is_empty() && !budget.blacklist.contains_key(self.tool) {
                words.push(planned.why.clone());
            }
        }
        if let Some(ledger) = self.ledger.filter(|ledger| ledger.judged > 0) {
            words.push(format!("helped {} of {}", ledger.helpful, ledger.judged));
        }
        words.join(" · ")
    }
}

fn refusals(ledger: &ToolLedger) -> Option<String> {
    let last = ledger.refusal.map_or("", |reason| reason.name());
    match ledger.refused {
        0 => None,
        1 => Some(format!("refused: {last}")),
        n => Some(format!("refused {n} times, last: {last}")),
    }
}
