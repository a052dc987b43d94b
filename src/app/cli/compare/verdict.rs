//! Whether a comparison shows what the tables and figures of BTP and of concurrent workers show, and where
//! not and why. The claims are the papers'; the numbers are those of this comparison.

use super::grid::{LOOPS, RoleBindings, Setting};
use super::result::CellResult;
use crate::app::report::Measures;
use crate::domain::{Base, Blacklist, Knob, Strategy};

/// Points of a share that count as noise.
const NOISE: f64 = 0.02;

/// The most that the share of solved tasks may fall by a plan, so that it "hardly changes".
const HARDLY: f64 = 0.05;

/// A line for each of tables 2 to 5.
pub fn of_tables(results: &[CellResult]) -> Vec<String> {
    let rows = Rows(results);
    let each = |check: &dyn Fn(Base) -> Option<Result<(), String>>| {
        let judged = LOOPS.into_iter().filter_map(|base| Some((base.spec().name, check(base)?)));
        judged.collect::<Vec<_>>()
    };
    let table_2 = each(&|base| {
        let (bare, prompt, planned) = rows.of(base)?;
        Some(at_least("PBC", planned.pbc, prompt.pbc.max(bare.pbc)).and(below(planned.ac, bare.ac)))
    });
    let table_3 = each(&|base| {
        let (bare, _, planned) = rows.of(base)?;
        Some(if planned.rfbc > 0.0 {
            Err(format!("RFBC {}", share(planned.rfbc)))
        } else if bare.rfbc == 0.0 {
            Err("no bare task fails by its budget".to_owned())
        } else {
            at_least("PR", planned.pr, bare.pr - HARDLY)
        })
    });
    let table_4 = each(&|base| {
        let (.., planned) = rows.of(base)?;
        Some(below(planned.ac, planned.planned_cost?))
    });
    let table_5 = each(&|base| {
        let (.., planned) = rows.of(base)?;
        Some(below(planned.ac, rows.without_blacklist(base)?.ac))
    });
    [
        line("Table 2", "with a plan more is solved within the budget, for less", &table_2),
        line("Table 3", "with a plan no task fails by its budget, and PR hardly changes", &table_3),
        line("Table 4", "the actual cost stays below the planned one", &table_4),
        line("Table 5", "without the blacklist tasks cost more", &table_5),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A line for figure 2 or 3, from a sweep of its knob.
pub fn of_figure(results: &[CellResult], knob: Knob) -> Option<String> {
    let strategies: indexmap::IndexSet<_> = results.iter().map(|r| r.cell.strategy).collect();
    let judged: Vec<_> = strategies
        .into_iter()
        .map(|strategy| {
            let of = results.iter().filter(|result| result.cell.strategy == strategy);
            let curve: Vec<f64> = of.map(|result| result.all.measures.pbc).collect();
            let verdict = if knob == Knob::Budget { rises(&curve) } else { peaks(&curve) };
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
        let found = results.iter().find(|result| {
            (result.cell.strategy.base, result.cell.model_alone()) == (base, Some(model))
        });
        found.and_then(|result| result.all.quality.accuracy)
    };
    let models: indexmap::IndexSet<_> =
        results.iter().filter_map(|result| result.cell.model_alone()).collect();
    let table_3: Vec<_> = models
        .into_iter()
        .filter_map(|model| {
            let own = of(Base::Workers, model)?;
            let baselines = [Base::Direct, Base::Rewoo].map(|base| of(base, model));
            let best = baselines.into_iter().flatten().reduce(f64::max)?;
            Some((model, above(own, best)))
        })
        .collect();
    let table_3 =
        line("Table 3 and Figure 2", "workers are right more often than the baselines", &table_3);
    let pairs = results.iter().filter_map(|result| match &result.cell.played {
        RoleBindings::Pair { planner, solver } => {
            Some(((planner, solver), result.all.quality.accuracy?))
        }
        RoleBindings::By(_) | RoleBindings::AsConfigured => None,
    });
    table_3.into_iter().chain([mixed_pairs(&pairs.collect::<Vec<_>>())]).collect()
}

/// Whether two models are right more often than one, from the accuracy of each pair of planner and solver.
fn mixed_pairs<M: PartialEq>(pairs: &[((M, M), f64)]) -> String {
    let best = |mixed: bool| {
        let of = pairs.iter().filter(|((planner, solver), _)| (planner != solver) == mixed);
        of.map(|(_, accuracy)| *accuracy).reduce(f64::max)
    };
    let claim = "one model plans and another one solves best";
    match (best(true), best(false)) {
        (Some(mixed), Some(alone)) => {
            line("Table 4 and Figure 3", claim, &[("these models", above(mixed, alone))])
                .unwrap_or_default()
        }
        _ => format!(
            "Table 4 and Figure 3 ({claim}): not compared, with one model; give two with \
             `toolyard compare pairs --planner A,B --solver A,B`"
        ),
    }
}

fn above(own: f64, best: f64) -> Result<(), String> {
    if own > best {
        return Ok(());
    }
    Err(format!("accuracy {}, not above {}", share(own), share(best)))
}

/// The rows of the comparison with the paper's five tools.
struct Rows<'r>(&'r [CellResult]);

impl Rows<'_> {
    fn find(&self, strategy: Strategy, setting: Setting, blacklist: bool) -> Option<&Measures> {
        let off = f64::from(Blacklist::Off as u8);
        let found = self.0.iter().find(|result| {
            let cell = &result.cell;
            let has_none = cell.turned_to(Knob::Blacklist) == Some(off);
            cell.simulated == Default::default()
                && (cell.strategy, cell.setting, !has_none) == (strategy, setting, blacklist)
        });
        found.map(|result| &result.all.measures)
    }

    /// Bare, with the prompt alone, and with the paper's plan.
    fn of(&self, base: Base) -> Option<(&Measures, &Measures, &Measures)> {
        let bare = Strategy::from(base);
        let (prompt, btp) = (Strategy { prompt: true, ..bare }, Strategy { btp: true, ..bare });
        Some((
            self.find(bare, Setting::Given, true)?,
            self.find(prompt, Setting::Given, true)?,
            self.find(btp, Setting::Paper, true)?,
        ))
    }

    fn without_blacklist(&self, base: Base) -> Option<&Measures> {
        self.find(Strategy { btp: true, ..base.into() }, Setting::Paper, false)
    }
}

fn at_least(what: &str, value: f64, least: f64) -> Result<(), String> {
    if value >= least {
        return Ok(());
    }
    Err(format!("{what} {} under {}", share(value), share(least)))
}

fn below(cost: f64, most: f64) -> Result<(), String> {
    if cost < most { Ok(()) } else { Err(format!("AC {cost:.2}, not under {most:.2}")) }
}

fn rises(curve: &[f64]) -> Result<(), String> {
    let falls = curve.windows(2).find(|pair| pair[1] < pair[0] - NOISE);
    match (falls, curve.first(), curve.last()) {
        (Some(pair), ..) => Err(format!("PBC falls from {} to {}", share(pair[0]), share(pair[1]))),
        (None, Some(first), Some(last)) if last > first => Ok(()),
        _ => Err("PBC does not rise".to_owned()),
    }
}

fn peaks(curve: &[f64]) -> Result<(), String> {
    let ends = curve.first().into_iter().chain(curve.last()).copied().fold(0.0, f64::max);
    let most = curve.iter().copied().fold(0.0, f64::max);
    if most > ends + NOISE {
        return Ok(());
    }
    Err(format!("at most {}, {} at an end", share(most), share(ends)))
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
        let judged = [("react", Ok(())), ("dfsdt", at_least("PBC", 0.5, 0.75))];
        let said = line("Table 2", "more is solved", &judged).unwrap();
        let right = "Table 2 (more is solved): reproduced for react; not for dfsdt (PBC 50.0 % under 75.0 %)";
        assert_eq!(said, right);
        assert_eq!(line("Table 2", "", &[]), None);
    }

    #[test]
    fn pairs_are_judged_where_there_are_two_models() {
        let said = |pairs: &[((&str, &str), f64)]| mixed_pairs(pairs);
        assert!(said(&[(("a", "a"), 0.5)]).contains("not compared, with one model"));
        let pairs = [(("a", "a"), 0.5), (("a", "b"), 0.7), (("b", "a"), 0.4), (("b", "b"), 0.6)];
        assert!(said(&pairs).ends_with("reproduced for these models"), "{}", said(&pairs));
        let worse =
            pairs.map(|(pair, accuracy)| (pair, if pair == ("a", "b") { 0.6 } else { accuracy }));
        assert!(said(&worse).contains("accuracy 60.0 %, not above 60.0 %"), "{}", said(&worse));
    }

    #[test]
    fn curves_rise_and_peak() {
        assert!(rises(&[0.1, 0.3, 0.29, 0.4]).is_ok());
        assert!(rises(&[0.1, 0.3, 0.2, 0.4]).is_err() && rises(&[0.3, 0.3]).is_err());
        assert!(peaks(&[0.1, 0.4, 0.3]).is_ok() && peaks(&[0.1, 0.3, 0.4]).is_err());
    }
}
