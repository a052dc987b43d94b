//! Whether a comparison agrees with the tables and figures of BTP and of concurrent workers, and where and why not. The
//! claims are the papers'; the numbers are those of this comparison.

use indexmap::IndexMap;

use super::grid::{LOOPS, PARTS, RoleBindings, Setting};
use super::result::{CellResult, SeedResult};
use crate::domain::{Base, Blacklist, Knob, Strategy};
use crate::outside;
use crate::papers::noise::{Difference, clear};

/// The value of one session that a verdict compares.
pub type Measure<'m> = &'m dyn Fn(&SeedResult) -> f64;

/// The reason why a comparison over a single seed has no verdict.
pub const ONE_SEED: &str = "one seed is not judged; compare several with --seeds 0..4";

/// Results that a verdict compares, each with another one.
type Pairs<'p, 'r> = &'p [(&'r CellResult, &'r CellResult)];

/// The measures of verdicts, in percent, credits and tokens.
pub const RIGHT: (&str, Measure<'_>) =
    ("right", &|seed: &SeedResult| 100.0 * seed.numbers.quality.accuracy.unwrap_or(0.0));
pub const TOKENS: (&str, Measure<'_>) = ("tokens", &|seed: &SeedResult| {
    seed.numbers.quality.tokens_in + seed.numbers.quality.tokens_out
});
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
            Err(format!("RFBC {}", share(rfbc(planned))))
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
    let strategies: indexmap::IndexSet<_> = results.iter().map(|r| r.cell.strategy).collect();
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

/// A line for tables 3 and 4 of the paper on concurrent workers; its figures 2 and 3 show the same.
pub fn of_workers(results: &[CellResult]) -> Vec<String> {
    let of = |base: Base, model: &str| {
        results.iter().find(|result| {
            (result.cell.strategy.base, result.cell.model_alone()) == (base, Some(model))
        })
    };
    let models: indexmap::IndexSet<_> =
        results.iter().filter_map(|result| result.cell.model_alone()).collect();
    let table_3: Vec<_> = models
        .into_iter()
        .filter_map(|model| {
            let own = of(Base::Workers, model)?;
            let baselines = [Base::Direct, Base::Rewoo].into_iter().filter_map(|it| of(it, model));
            Some((model, more(RIGHT, &[(own, best(RIGHT, baselines)?)])))
        })
        .collect();
    let table_3 =
        line("Table 3 and Figure 2", "workers are right more often than the baselines", &table_3);
    table_3.into_iter().chain([mixed_pairs(results)]).collect()
}

/// Whether two models are right more often than one, from each pair of planner and solver.
fn mixed_pairs(results: &[CellResult]) -> String {
    let pairs = |mixed: bool| {
        let is_mixed = move |result: &&CellResult| match &result.cell.played {
            RoleBindings::Pair { planner, solver } => (planner != solver) == mixed,
            RoleBindings::By(_) | RoleBindings::AsConfigured => false,
        };
        best(RIGHT, results.iter().filter(is_mixed))
    };
    let claim = "one model plans and another one solves best";
    match (pairs(true), pairs(false)) {
        (Some(mixed), Some(alone)) => {
            let judged = [("these models", more(RIGHT, &[(mixed, alone)]))];
            line("Table 4 and Figure 3", claim, &judged).unwrap_or_default()
        }
        _ => format!(
            "Table 4 and Figure 3 ({claim}): not compared, with one model; give two with \
             `toolyard compare pairs --planner A,B --solver A,B`"
        ),
    }
}

/// The combination with the largest measure on average.
pub fn best<'r>(
    (_, measure): (&str, Measure<'_>),
    results: impl Iterator<Item = &'r CellResult>,
) -> Option<&'r CellResult> {
    let mean = |result: &CellResult| Difference::over(result.seeds.iter().map(measure)).mean;
    results.max_by(|a, b| mean(a).total_cmp(&mean(b)))
}

/// The rows of the comparison with the paper's five tools.
struct VerdictRows<'r>(&'r [CellResult]);

impl VerdictRows<'_> {
    fn find(&self, strategy: Strategy, setting: Setting, blacklist: bool) -> Option<&CellResult> {
        let off = f64::from(Blacklist::Off as u8);
        self.0.iter().find(|result| {
            let cell = &result.cell;
            let has_none = cell.turned_to(Knob::Blacklist) == Some(off);
            cell.is_of_usual_agent()
                && (cell.strategy, cell.setting, !has_none) == (strategy, setting, blacklist)
        })
    }

    /// The results of a loop: bare, with the prompt alone, and with the paper's plan.
    fn of(&self, base: Base) -> Option<(&CellResult, &CellResult, &CellResult)> {
        let bare = Strategy::from(base);
        let (prompt, btp) = (Strategy { prompt: true, ..bare }, Strategy { btp: true, ..bare });
        Some((
            self.find(bare, Setting::Given, true)?,
            self.find(prompt, Setting::Given, true)?,
            self.find(btp, Setting::Paper, true)?,
        ))
    }

    /// The reasons why published plans fail, if they do.
    fn failed(&self) -> Option<String> {
        let paper = Strategy { btp: true, ..Base::React.into() };
        let failed = self.find(paper, Setting::Paper, true)?.all.measures.failed;
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
        let names = [None].into_iter().chain(outside::USUAL.map(|agent| Some(agent.name)));
        let strategy = Strategy { btp: true, ..Base::React.into() };
        names.filter_map(move |agent| {
            let found = self.0.iter().find(|result| {
                let cell = &result.cell;
                cell.simulated == Default::default()
                    && cell.turned_to(Knob::Blacklist).is_none()
                    && (cell.strategy, cell.setting) == (strategy, Setting::Ours)
                    && cell.without == without
                    && cell.agent().map(|agent| agent.name) == agent
            });
            Some((agent.unwrap_or("simulated"), found?))
        })
    }

    /// The gain of react from our budget plan, by agent. A gain with one agent may be a trait of that agent.
    fn by_agent(&self) -> Option<String> {
        let gains = self.ours(None).filter_map(|(agent, own)| {
            let bare = own.baseline(self.0)?;
            let (gained, lost) = own.gained_and_lost(bare);
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
        self.find(Strategy { btp: true, ..base.into() }, Setting::Paper, false)
    }
}

pub fn held(is_so: bool, else_why: impl FnOnce() -> String) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(else_why()) }
}

/// Whether a measure is clearly larger in the first one of each pair.
pub fn more(of: (&str, Measure<'_>), pairs: Pairs<'_, '_>) -> Result<(), String> {
    each(of, pairs, |difference, clear| clear && difference > 0.0)
}

/// Whether a measure is clearly smaller in the first one of no pair.
pub fn not_less(of: (&str, Measure<'_>), pairs: Pairs<'_, '_>) -> Result<(), String> {
    each(of, pairs, |difference, clear| !clear || difference >= 0.0)
}

/// Whether a measure is clearly smaller in the first one of each pair.
pub fn less(of: (&str, Measure<'_>), pairs: Pairs<'_, '_>) -> Result<(), String> {
    each(of, pairs, |difference, clear| clear && difference < 0.0)
}

/// Whether all differences are so, judged together.
fn each(
    (what, measure): (&str, Measure<'_>),
    pairs: Pairs<'_, '_>,
    is_so: impl Fn(f64, bool) -> bool,
) -> Result<(), String> {
    let all: Vec<_> = pairs.iter().map(|(own, other)| difference(measure, own, other)).collect();
    let clear = clear(&all);
    pairs.iter().zip(all).zip(clear).try_for_each(|(((_, other), by), clear)| {
        judged(by)?;
        held(is_so(by.mean, clear), || format!("{what} {by} against {}", other.cell.name))
    })
}

/// The measure of `own` less that of `other`, seed by seed.
pub fn difference(measure: Measure<'_>, own: &CellResult, other: &CellResult) -> Difference {
    let pairs = own.seeds.iter().zip(&other.seeds);
    Difference::over(pairs.map(|(own, other)| measure(own) - measure(other)))
}

/// The reason why a difference is not judged, if it is not.
pub fn judged(difference: Difference) -> Result<(), String> {
    held(difference.is_judged(), || ONE_SEED.to_owned())
}

/// Whether a measure falls nowhere along the curve and ends above its start.
pub fn rises(of: (&str, Measure<'_>), curve: &[&CellResult]) -> Result<(), String> {
    let (Some(first), Some(last)) = (curve.first(), curve.last()) else {
        return Err("not compared".to_owned());
    };
    let steps: Vec<_> = curve.windows(2).map(|pair| (pair[1], pair[0])).collect();
    not_less(of, &steps).and(more(of, &[(last, first)]))
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

/// A line on the rows that are right most often; none for a single row.
pub fn of_rows(results: &[CellResult]) -> Vec<String> {
    let Some(top) = best(RIGHT, results.iter()).filter(|_| results.len() > 1) else {
        return Vec::new();
    };
    let others: Vec<_> =
        results.iter().filter(|result| result.cell.name != top.cell.name).collect();
    let all: Vec<_> = others.iter().map(|other| difference(RIGHT.1, other, top)).collect();
    let by = format!("over {} seeds", top.seeds.len());
    if !all.iter().all(|difference| difference.is_judged()) {
        return vec![format!("Right: {ONE_SEED}")];
    }
    let (mut behind, mut as_good) = (Vec::new(), Vec::new());
    for ((other, difference), clear) in others.iter().zip(&all).zip(clear(&all)) {
        let name = &other.cell.name;
        match clear {
            true => behind.push(format!("{name} ({difference} points)").replace(" (-", " (−")),
            false => as_good.push(name.clone()),
        }
    }
    let top = &top.cell.name;
    vec![match (behind.is_empty(), as_good.is_empty()) {
        (true, _) => format!("Right: no clear difference {by}"),
        (false, true) => format!("Right: {top} is best {by}; behind: {}", behind.join(", ")),
        (false, false) => format!(
            "Right: {top} leads {by}; not clearly different: {}; behind: {}",
            as_good.join(", "),
            behind.join(", ")
        ),
    }]
}

pub fn share(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The verdict over all loops; `None` if none was compared.
pub fn line(what: &str, claim: &str, judged: &[(&str, Result<(), String>)]) -> Option<String> {
    let held: Vec<_> =
        judged.iter().filter(|(_, held)| held.is_ok()).map(|(name, _)| *name).collect();
    let failed: Vec<_> = judged
        .iter()
        .filter_map(|(name, held)| Some(format!("{name} ({})", held.as_ref().err()?)))
        .collect();
    let verdict = match (held.is_empty(), failed.is_empty()) {
        (true, true) => return None,
        (_, true) if held.len() == 1 => format!("reproduced for {}", held.join(", ")),
        (_, true) => format!("reproduced for all of {}", held.join(", ")),
        (true, _) => format!("not reproduced for {}", failed.join(", ")),
        (false, false) => {
            format!("reproduced for {}; not for {}", held.join(", "), failed.join(", "))
        }
    };
    Some(format!("{what} ({claim}): {verdict}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_names_where_a_claim_fails_and_why() {
        let judged =
            [("react", Ok(())), ("dfsdt", Err("PBC -25.0 ± 1.0 against react".to_owned()))];
        let said = line("Table 2", "more is solved", &judged).unwrap();
        let right = "Table 2 (more is solved): reproduced for react; not for dfsdt (PBC -25.0 ± 1.0 against react)";
        assert_eq!(said, right);
        assert_eq!(line("Table 2", "", &[]), None);
    }
}
