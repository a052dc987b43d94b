//! `toolyard plan`.

use std::{collections::HashMap, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::plan_task::{self, Named};
use super::{PlanArgs, colour, out, trouble::Trouble, value::rounded};
use crate::domain::{ToolName, words};
use crate::files::text_file::{self, Expectation};
use crate::files::{json_file, toml_file::Problem};
use crate::papers::btp::{self, Candidate, Estimate, MarginalStep, UseChange, UsePlan, Why};
use crate::ui::text::clean;

/// The content of a file of tools.
const EXPECTED: &str = "[{\"name\": TEXT, \"cost\": CREDITS, \"value\": NUMBER, \"limit\": USES}, …], no number below 0";

pub fn plan(args: &PlanArgs) -> Result<(), Trouble> {
    let (named, spreads) = match (&args.task, &args.tools) {
        (Some(task), _) => plan_task::tools(task, &args.of_task)?,
        (None, Some(file)) => {
            let tools = read(file).map_err(Trouble::usage)?;
            let named = tools.into_iter().map(|tool| (tool.name.clone(), tool.candidate(), None));
            (named.collect(), false)
        }
        (None, None) => return Err(Trouble::Usage("give --tools FILE or --task TEXT".to_owned())),
    };
    PlanReport::new(named, args.budget, spreads)?.print(args.json)
}

/// A tool as described in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileTool {
    name: ToolName,
    cost: Amount,
    value: Amount,
    limit: u32,
}

impl FileTool {
    fn candidate(&self) -> Candidate {
        Candidate { cost: self.cost.0, value: self.value.0, limit: self.limit }
    }
}

/// A non-negative number; JSON has no NaN or infinity.
#[derive(Deserialize)]
#[serde(try_from = "f64")]
struct Amount(f64);

impl TryFrom<f64> for Amount {
    type Error = String;

    fn try_from(number: f64) -> Result<Self, String> {
        if number >= 0.0 { Ok(Self(number)) } else { Err(format!("{number} is below 0")) }
    }
}

fn read(path: &Path) -> Result<Vec<FileTool>, Problem> {
    // Enough for some hundred thousand tools.
    const LARGEST: u64 = 64 << 20;
    let missing = "expected a JSON file of tools";
    let expected = Expectation { what: "a JSON file of tools", missing, largest: LARGEST };
    let file = path.display().to_string();
    let tools: Vec<FileTool> =
        json_file::read(&file, &text_file::read(path, &expected)?, EXPECTED)?;
    let mut seen = HashMap::new();
    for (at, tool) in tools.iter().enumerate() {
        if let Some(before) = seen.insert(&tool.name, at) {
            let text =
                format!("[{before}] already has the name {:?}; expected each tool once", tool.name);
            let field = format!("[{at}].name");
            return Err(Problem { field, ..Problem::of_file(file, text) });
        }
    }
    Ok(tools)
}

/// A plan to be printed.
pub struct PlanReport {
    budget: f64,
    tools: Vec<ToolPlanRow>,
    plan: UsePlan,
    one: Bought,
    next: Option<Bought>,
}

/// The row of one tool.
#[derive(Serialize)]
struct ToolPlanRow {
    tool: ToolName,
    cost: f64,
    value: f64,
    limit: u32,
    /// The uses that the plan needs, and those beyond the limit, which only the knob `spread` plans.
    uses: u32,
    #[serde(skip_serializing_if = "is_zero")]
    spare: u32,
    why: String,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// The gain from more credits: the credits, the added value of the plan, and the changed uses.
#[derive(Serialize)]
struct Bought {
    credits: f64,
    value: f64,
    changes: Vec<PlanChange>,
}

#[derive(Serialize)]
struct PlanChange {
    tool: ToolName,
    before: u32,
    after: u32,
}

impl PlanReport {
    /// Plans for these tools, in tie-breaking order; with the estimates behind value and limit, if they were estimated.
    /// `spreads`: plans by the knob `spread` instead of algorithm 1.
    ///
    /// # Errors
    /// The budget, or the number of a tool, is invalid for a plan.
    pub fn new(named: Vec<Named>, budget: f64, spreads: bool) -> Result<Self, Trouble> {
        let candidates: Vec<Candidate> = named.iter().map(|(_, candidate, _)| *candidate).collect();
        let goes_on: Vec<bool> = candidates.iter().map(|one| one.limit > 0).collect();
        let plan = match spreads {
            true => btp::spread(&candidates, &goes_on, budget),
            false => btp::plan(&candidates, budget),
        };
        let plan = plan.map_err(Trouble::usage)?;
        let marginal = match spreads {
            true => btp::spread_marginal(&candidates, &goes_on, budget, &plan),
            false => btp::marginal(&candidates, budget, &plan),
        };
        let marginal = marginal.map_err(Trouble::usage)?;
        let whys = btp::why(&candidates, budget, &plan);
        let explained = |why: Why, estimate: &Option<Estimate>| match estimate {
            Some(estimate) => why.by_estimate(estimate).to_string(),
            None => why.to_string(),
        };
        let each = named.iter().zip(whys).zip(&plan.uses);
        let row = |(((tool, one, estimate), why), &uses): ((&(_, Candidate, _), Why), &u32)| {
            ToolPlanRow {
                tool: ToolName::clone(tool),
                cost: one.cost,
                value: one.value,
                limit: one.limit,
                uses: uses.min(one.limit),
                spare: uses.saturating_sub(one.limit),
                why: explained(why, estimate),
            }
        };
        let tools: Vec<ToolPlanRow> = each.map(row).collect();
        let one = Bought::new(marginal.one, &tools);
        let next = marginal.next.map(|next| Bought::new(next, &tools));
        Ok(Self { budget, tools, plan, one, next })
    }

    /// # Errors
    /// The output cannot be written.
    pub fn print(&self, json: bool) -> Result<(), Trouble> {
        if json {
            out::print_json(&self.to_json())
        } else {
            out::print(colour::headed(&self.to_table(), 0))
        }
    }

    /// The credits for spare uses.
    fn spare(&self) -> f64 {
        let costs = self.tools.iter().filter(|row| row.spare > 0);
        costs.map(|row| row.cost * f64::from(row.spare)).sum()
    }

    /// The credits for the uses that the plan needs.
    fn cost(&self) -> f64 {
        if self.spare() > 0.0 { (self.plan.cost - self.spare()).max(0.0) } else { self.plan.cost }
    }

    fn to_json(&self) -> String {
        let used = self.tools.iter().filter(|row| row.uses > 0);
        let plan: serde_json::Map<String, serde_json::Value> =
            used.map(|row| (row.tool.as_str().to_owned(), row.uses.into())).collect();
        let Bought { credits, value, changes } = &self.one;
        let next = &self.next;
        let planned = json!({
            "plan": plan,
            "value": self.plan.value,
            "cost": self.cost(),
            "spare": self.spare(),
            "budget": self.budget,
            "gap": self.plan.gap,
            "tools": self.tools,
            "marginal": { "credits": credits, "value": value, "changes": changes, "next": next },
        });
        format!("{planned:#}")
    }

    fn to_table(&self) -> String {
        let mut text = format!(
            "{:<28} {:>5} {:>6} {:>9} {:>8}  {}\n",
            "tool", "uses", "limit", "cost", "value", "why"
        );
        for ToolPlanRow { tool, cost, value, limit, uses, spare, why } in &self.tools {
            let tool = clean(tool.as_str());
            let uses = if *spare > 0 { format!("{uses}+{spare}") } else { uses.to_string() };
            text += &format!("{tool:<28} {uses:>5} {limit:>6} {cost:>9} {value:>8.4}  {why}\n");
        }
        let UsePlan { value, gap, .. } = &self.plan;
        let cost = rounded(self.cost());
        let spare = match self.spare() {
            0.0 => String::new(),
            spare => format!(", +{} spare", rounded(spare)),
        };
        let (budget, value) = (words::credits(self.budget), rounded(*value));
        let within = gap.map_or_else(String::new, |gap| format!(", {}", words::within(gap)));
        text += &format!("{cost} of {budget}{spare}, value {value}{within}\n");
        text + &self.more()
    }

    /// Describes the gain from more credits in one or two sentences.
    fn more(&self) -> String {
        match &self.next {
            None => "more budget would not help\n".to_owned(),
            Some(next) if next.credits == self.one.credits => next.sentence(),
            Some(next) => self.one.sentence() + &next.sentence(),
        }
    }
}

impl Bought {
    fn new(step: MarginalStep, tools: &[ToolPlanRow]) -> Self {
        let changed = |UseChange { candidate, before, after }| {
            tools.get(candidate).map(|row| PlanChange { tool: row.tool.clone(), before, after })
        };
        let changes = step.changes.into_iter().filter_map(changed).collect();
        Self { credits: step.credits, value: step.value, changes }
    }

    fn sentence(&self) -> String {
        let Self { credits, value, changes } = self;
        let more = words::credits(*credits);
        if changes.is_empty() {
            return format!("+{more}: no gain\n");
        }
        let changes = changes.iter().map(|PlanChange { tool, before, after }| {
            format!("{} {before} → {after}", clean(tool.as_str()))
        });
        let changes = changes.collect::<Vec<_>>().join(", ");
        format!("+{more}: value +{} ({changes})\n", rounded(*value))
    }
}
