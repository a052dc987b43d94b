//! Scores in words, for the terminal and for the page.

use std::fmt;

use super::tally::MEASURES;
use super::{PartScore, ResilienceScore, RunShare, ScoreChange, ScoreReport};
use crate::domain::words::counted;
use crate::shell::value::rounded;

/// A missing value.
const NONE: &str = "–";

/// The titles of a table of parts: what recovered, and how many times the price of the same seeds without faults was paid.
pub const TITLES: [&str; 8] =
    ["fault", "recovered", "%", "95 %", MEASURES[0], MEASURES[1], MEASURES[2], MEASURES[3]];

/// `243 of 360 runs passed (63 to 71 %)`
impl fmt::Display for RunShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} passed", self.passed, counted(self.runs, "run"))?;
        self.percents().map_or(Ok(()), |percents| write!(f, " ({percents} %)"))
    }
}

impl RunShare {
    fn percents(&self) -> Option<String> {
        self.interval.map(|(low, high)| format!("{:.0} to {:.0}", 100.0 * low, 100.0 * high))
    }
}

impl ResilienceScore {
    /// The number with its interval: `72.3 ± 6.1`, or `95.1 (89.0 to 100.0)` where 0 or 100 cuts the interval off.
    pub fn number(&self, decimals: usize) -> String {
        let interval = match self.interval {
            Some((low, high)) if low > 0.0 && high < 100.0 => {
                format!(" ± {:.decimals$}", (high - low) / 2.0)
            }
            Some((low, high)) => format!(" ({low:.decimals$} to {high:.decimals$})"),
            None => String::new(),
        };
        self.score.map_or(NONE.to_owned(), |score| format!("{score:.decimals$}{interval}"))
    }
}

/// The number beside its interval and its parts, in one line.
pub fn verdict(ScoreReport { suite, score, .. }: &ScoreReport) -> String {
    let seeds = score.all.recovered.by_seed.len();
    let interval = match (score.interval, seeds) {
        (Some(_), _) => format!("95 %, over {seeds} seeds"),
        (None, 1) => "one seed, so no interval".to_owned(),
        (None, _) => format!("equal with {seeds} seeds, so no interval"),
    };
    let part = |share: &RunShare| format!("{} of {}", share.passed, share.runs);
    format!(
        "score {} of 100 by {suite} ({interval}): {} recovered; {} passed without faults, {} with one",
        score.number(1),
        part(&score.all.recovered),
        part(&score.without),
        part(&score.with),
    )
}

/// The parts of the score that are no table.
pub fn lines(ScoreReport { score, not_hit, .. }: &ScoreReport) -> Vec<String> {
    let price =
        |measure: &&str| Some(format!("{} {measure}", rounded(*score.all.without.get(*measure)?)));
    let prices: Vec<_> = MEASURES.iter().filter_map(price).collect();
    let not_hit = counted(*not_hit, "run");
    let without = format!("without faults: {}", score.without);
    let with = format!("with a fault: {}; {not_hit} without a hit not counted", score.with);
    vec![without, with, format!("price of a task without faults: {}", prices.join(", "))]
}

/// The row of a part.
pub fn row(part: &PartScore) -> Vec<String> {
    let share = &part.recovered;
    let percent = share.share().map(|share| format!("{:.1}", 100.0 * share));
    let own = [percent, share.percents()];
    let times = MEASURES.iter().map(|measure| {
        let without = part.without.get(measure).filter(|price| **price > 0.0)?;
        Some(format!("×{:.2}", part.with.get(measure)? / without))
    });
    let rest = own.into_iter().chain(times).map(|cell| cell.unwrap_or_else(|| NONE.to_owned()));
    let recovered = format!("{} of {}", share.passed, share.runs);
    [part.name.clone(), recovered].into_iter().chain(rest).collect()
}

/// The change since the last run.
pub fn change(since: &Result<ScoreChange, String>) -> String {
    let change = match since {
        Ok(change) => change,
        Err(why) => return format!("not compared with the last run: {why}"),
    };
    let seeds = counted(change.seeds, "seed");
    let over = match change.interval {
        Some((low, high)) => format!("({low:+.1} to {high:+.1}, 95 %, over {seeds})"),
        None if change.seeds == 1 => "with one seed".to_owned(),
        None => format!("with each of {seeds}"),
    };
    let word = match (change.is_clear, change.points > 0.0) {
        (true, true) => "clearly better",
        (true, false) => "clearly worse",
        (false, _) => "no clear difference",
    };
    format!("since the last run {:+.1} points {over}: {word}", change.points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_half_width_is_shown_only_where_nothing_cuts_the_interval_off() {
        let mut score = ResilienceScore::of(&[], &[]);
        assert_eq!(score.number(1), "–");
        score.score = Some(72.3);
        assert_eq!(score.number(1), "72.3");
        score.interval = Some((66.2, 78.4));
        assert_eq!((score.number(1), score.number(0)), ("72.3 ± 6.1".into(), "72 ± 6".into()));
        score.interval = Some((44.6, 100.0));
        assert_eq!(score.number(0), "72 (45 to 100)");
    }

    #[test]
    fn a_change_says_how_sure_it_is() {
        let change_of = |points, interval, seeds, is_clear| {
            change(&Ok(ScoreChange { points, interval, seeds, is_clear }))
        };
        assert_eq!(
            change_of(4.0, Some((1.0, 7.0)), 5, true),
            "since the last run +4.0 points (+1.0 to +7.0, 95 %, over 5 seeds): clearly better"
        );
        assert_eq!(
            change_of(-4.0, None, 1, false),
            "since the last run -4.0 points with one seed: no clear difference"
        );
        assert_eq!(
            change(&Err("it has other seeds".to_owned())),
            "not compared with the last run: it has other seeds"
        );
    }
}
