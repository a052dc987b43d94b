//! Whether a comparison agrees with the tables and figures of BTP, and where and why not. The claims are the paper's; the
//! numbers are those of this comparison.

use indexmap::{IndexMap, IndexSet};

use super::btp::{LOOPS, PARTS};
use super::cells::{GIVEN, OURS, PAPER, is_of_usual_agent};
use super::gains::{baseline, gained_and_lost};
use super::verdict::{held, judged, less, line, more, not_less, rises};
use crate::agents;
use crate::app::compare::grid::Setting;
use crate::app::compare::result::{CellResult, SeedResult};
use crate::app::compare::verdict::{Measure, ONE_SEED, best, difference};
use crate::app::session::SimulatedSpec;
use crate::domain::{Base, Blacklist, Knob, Strategy};
use crate::papers::noise::{Difference, clear};

const PBC: (&str, Measure<'_>) = ("PBC", &|seed: &SeedResult| 100.0 * seed.numbers.measures.pbc);
const PR: (&str, Measure<'_>) = ("PR", &|seed: &SeedResult| 100.0 * seed.numbers.measures.pr);
const AC: (&str, Measure<'_>) = ("AC", &|seed: &SeedResult| seed.numbers.measures.ac);

/// A line for each of tables 2 to 5.
pub fn of_tables(results: &[CellResult]) -> Vec<String> {
    let rows = VerdictRows(results);
    let each = |check: &dyn Fn(Base) -> Option<Result<(), String>>| {
        let judged = LOOPS.into_iter().filter_map(|base| Some((base.spec().name, check(base)?)));
        judged.collect::<Vec<_>>()
    };
    let table_2 = each(&|base| {
        let (bare, prompt, planned) = rows.of(base)?;
        let solves = not_less(PBC, &[(planned, prompt), (planned, bare)]);
        Some(solves.and(less(AC, &[(planned, bare)])))
    });
    let table_3 = each(&|base| {
        let (bare, _, planned) = rows.of(base)?;
        let rfbc = |result: &CellResult| result.all.measures.rfbc;
        Some(if rfbc(planned) > 0.0 {
            Err(format!("RFBC {:.1} %", rfbc(planned) * 100.0))
        } else if rfbc(bare) == 0.0 {
            Err("no bare task fails by its budget".to_owned())
        } else {
            not_less(PR, &[(planned, bare)])
        })
    });
    let table_4 = each(&|base| {
        let (.., planned) = rows.of(base)?;
        let saved = planned.seeds.iter().filter_map(|seed| {
            Some(seed.numbers.measures.ac - seed.numbers.measures.planned_cost?)
        });
        let saved: Vec<f64> = saved.collect();
        let saved = (!saved.is_empty()).then(|| Difference::over(saved))?;
        let is_less = saved.mean < 0.0 && clear(&[saved])[0];
        Some(judged(saved).and(held(is_less, || format!("AC {saved} against the plan"))))
    });
    let table_5 = each(&|base| {
        let (.., planned) = rows.of(base)?;
        Some(less(AC, &[(planned, rows.without_blacklist(base)?)]))
    });
    [
        line("Table 2", "with a plan more is solved within the budget, for less", &table_2),
        line("Table 3", "with a plan no task fails by its budget, and PR hardly changes", &table_3),
        line("Table 4", "the actual cost stays below the planned one", &table_4),
        line("Table 5", "without the blacklist tasks cost more", &table_5),
    ]
    .into_iter()
    .flatten()
    .chain(rows.failed())
    .chain(rows.by_agent())
    .chain(rows.by_part())
    .collect()
}

/// A line for figure 2 or 3, from a sweep of its knob.
pub fn of_figure(results: &[CellResult], knob: Knob) -> Option<String> {
    let strategies: IndexSet<_> = results.iter().map(|r| r.cell.strategy).collect();
    let judged: Vec<_> = strategies
        .into_iter()
        .map(|strategy| {
            let of = results.iter().filter(|result| result.cell.strategy == strategy);
            let curve: Vec<&CellResult> = of.collect();
            let verdict =
                if knob == Knob::Budget { rises(PBC, &curve) } else { peaks(PBC, &curve) };
            (strategy.base.spec().name, verdict)
        })
        .collect();
    match knob {
        Knob::Budget => line("Figure 2", "more budget solves more", &judged),
        _ => line("Figure 3", "a middle tau solves most within the budget", &judged),
    }
}

/// The rows of the comparison with the paper's five tools.
struct VerdictRows<'r>(&'r [CellResult]);

impl VerdictRows<'_> {
    fn find(&self, strategy: Strategy, setting: Setting, blacklist: bool) -> Option<&CellResult> {
        let off = f64::from(Blacklist::Off as u8);
        self.0.iter().find(|result| {
            let cell = &result.cell;
            let has_none = cell.turned_to(Knob::Blacklist) == Some(off);
            is_of_usual_agent(cell)
                && (cell.strategy, cell.setting, !has_none) == (strategy, setting, blacklist)
        })
    }

    /// The results of a loop: bare, with the prompt alone, and with the paper's plan.
    fn of(&self, base: Base) -> Option<(&CellResult, &CellResult, &CellResult)> {
        let bare = Strategy::from(base);
        let (prompt, btp) = (Strategy { prompt: true, ..bare }, Strategy { btp: true, ..bare });
        Some((
            self.find(bare, GIVEN, true)?,
            self.find(prompt, GIVEN, true)?,
            self.find(btp, PAPER, true)?,
        ))
    }

    /// The reasons why published plans fail, if they do.
    fn failed(&self) -> Option<String> {
        let paper = Strategy { btp: true, ..Base::React.into() };
        let failed = self.find(paper, PAPER, true)?.all.measures.failed;
        (failed.tasks > 0).then(|| {
            format!(
                "Plans (why that of react as published fails): in {} of {} tasks that were not solved it buys no use of a \
                 tool that the task needs, since values of past uses hardly tell tasks apart; {:.2} credits are left on \
                 average",
                failed.misses, failed.tasks, failed.unspent
            )
        })
    }

    /// The results of react with our plan, by agent: whole, or without one of its parts.
    fn ours(&self, without: Option<Knob>) -> impl Iterator<Item = (&'static str, &CellResult)> {
        let names = [None].into_iter().chain(agents::USUAL.map(|agent| Some(agent.name)));
        let strategy = Strategy { btp: true, ..Base::React.into() };
        names.filter_map(move |agent| {
            let found = self.0.iter().find(|result| {
                let cell = &result.cell;
                cell.simulated == SimulatedSpec::default()
                    && cell.turned_to(Knob::Blacklist).is_none()
                    && (cell.strategy, cell.setting) == (strategy, OURS)
                    && cell.without == without
                    && super::cells::agent(cell).map(|agent| agent.name) == agent
            });
            Some((agent.unwrap_or("simulated"), found?))
        })
    }

    /// The gain of react from our budget plan, by agent. A gain with one agent may be a trait of that agent.
    fn by_agent(&self) -> Option<String> {
        let gains = self.ours(None).filter_map(|(agent, own)| {
            let bare = baseline(own, self.0)?;
            let (gained, lost) = gained_and_lost(own, bare);
            let gain = difference(PBC.1, own, bare);
            Some(format!("{agent} {gain} (+{gained} −{lost} tasks) beside {}", bare.cell.label()))
        });
        let gains: Vec<String> = gains.collect();
        (gains.len() > 1).then(|| {
            format!("Agents (PBC of react with our plan, all tools): {}", gains.join("; "))
        })
    }

    /// The loss of our plan without each of its parts, and the part that carries most of it.
    fn by_part(&self) -> Option<String> {
        let parts: Vec<_> = PARTS.iter().map(|(part, _)| *part).collect();
        let mut carried: IndexMap<&str, usize> = IndexMap::new();
        let said = self.ours(None).filter_map(|(agent, whole)| {
            let without = |part: &Knob| {
                let own = self.ours(Some(*part)).find(|(name, _)| *name == agent)?.1;
                Some((part.spec().name, difference(PBC.1, own, whole)))
            };
            let all: Option<Vec<_>> = parts.iter().map(without).collect();
            let all = all?;
            let differences: Vec<_> = all.iter().map(|(_, difference)| *difference).collect();
            if !differences.first()?.is_judged() {
                return Some(format!("{agent} ({ONE_SEED})"));
            }
            let of_note = all.iter().zip(clear(&differences)).filter(|(_, clear)| *clear);
            let of_note: Vec<_> = of_note.map(|(one, _)| one).collect();
            let most = of_note.iter().min_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean));
            if let Some((part, _)) = most.filter(|(_, by)| by.mean < 0.0) {
                *carried.entry(*part).or_default() += 1;
            }
            let of_note: Vec<_> =
                of_note.into_iter().map(|(part, by)| format!("{part} {by}")).collect();
            let of_note =
                if of_note.is_empty() { "none clear".to_owned() } else { of_note.join(", ") };
            Some(format!("{agent}: {of_note}"))
        });
        let said: Vec<String> = said.collect();
        let most = carried.iter().max_by_key(|(_, agents)| **agents);
        let most = match most {
            Some((part, agents)) => {
                format!("`{part}` carries most for {agents} of {} agents", said.len())
            }
            None => "no part carries the gain".to_owned(),
        };
        (!said.is_empty())
            .then(|| format!("Parts (change of PBC without each): {most}; {}", said.join("; ")))
    }

    fn without_blacklist(&self, base: Base) -> Option<&CellResult> {
        self.find(Strategy { btp: true, ..base.into() }, PAPER, false)
    }
}

/// Whether a measure is larger in the middle of the curve than at both ends.
fn peaks(of: (&str, Measure<'_>), curve: &[&CellResult]) -> Result<(), String> {
    let (Some(top), Some(first), Some(last)) =
        (best(of, curve.iter().copied()), curve.first(), curve.last())
    else {
        return Err("not compared".to_owned());
    };
    more(of, &[(top, first), (top, last)])
}
