//! A score as a page of HTML, and as a badge. Names of tools and scenarios may be hostile.

use super::words::{TITLES, change, lines, row, verdict};
use super::{PartScore, ScoreReport};
use crate::report::html::page::{document, element, escaped, table};

/// Explains the number on the page.
const MEANING: &str = "The score is 100 times the mean, over the kinds of fault, of the share of runs that recovered. A run \
     recovers if a fault hit it, its seed passes without faults, and it passes. Prices are multiples of those of the \
     same seeds without faults. Runs of one seed are not independent, so intervals are Student's t over the seeds.";

/// The page. It has no scripts, and loads nothing.
pub fn page(report: &ScoreReport) -> String {
    let parts = |parts: &mut dyn Iterator<Item = &PartScore>| {
        let cells = |part| row(part).iter().map(|cell| escaped(cell)).collect();
        table(&TITLES, &parts.map(cells).collect::<Vec<_>>())
    };
    let simulated = "SIMULATED MODEL: no language model answered";
    let simulated = report.simulated.then(|| element("span", "simulated", simulated));
    let since = report.since.as_ref().map(|since| element("p", "", &change(since)));
    let lines = lines(report).into_iter().map(|line| element("p", "", &line));
    let score = &report.score;
    let body: Vec<String> = [element("p", "verdict", &verdict(report))]
        .into_iter()
        .chain(simulated)
        .chain(since)
        .chain(lines)
        .chain([
            "<h2>Kinds of fault</h2>".to_owned(),
            parts(&mut score.kinds.iter().chain([&score.all])),
            element("p", "dim", MEANING),
            "<h2>Faults</h2>".to_owned(),
            parts(&mut score.faults.iter()),
        ])
        .collect();
    document(&format!("Resilience of {}", report.scenario), &body.join("\n"))
}

/// The badge: `resilience | 72 ± 6 (resilience-1)`.
pub fn badge(report: &ScoreReport) -> String {
    let value = format!("{} ({})", report.score.number(0), report.suite);
    let colour = match report.score.score {
        Some(80.0..) => "#2e7d32",
        Some(50.0..) => "#a15c00",
        _ => "#c62828",
    };
    // A letter has 6.6 pixels on average.
    let length = (value.chars().count() as f64 * 6.6).round();
    let (right, middle) = (length + 10.0, 76.0 + length / 2.0 + 5.0);
    let (whole, value) = (right + 76.0, escaped(&value));
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="20" role="img" aria-label="resilience: {value}">
<title>resilience: {value}</title>
<clipPath id="r"><rect width="{whole}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="76" height="20" fill="#555"/><rect x="76" width="{right}" height="20" fill="{colour}"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="38" y="14" textLength="66">resilience</text>
<text x="{middle}" y="14" textLength="{length}">{value}</text>
</g>
</svg>
"##
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{ResilienceScore, ScoredRun};

    #[test]
    fn nothing_of_a_name_becomes_markup() {
        let hostile = "<script>alert(1)</script>\u{1b}[31m\u{202e}";
        let run = |names: [&str; 2]| ScoredRun {
            passed: true,
            names: names.map(str::to_owned),
            ..ScoredRun::default()
        };
        let report = ScoreReport {
            suite: hostile.to_owned(),
            scenario: hostile.to_owned(),
            test: String::new(),
            simulated: true,
            not_hit: 0,
            score: ResilienceScore::of(&[run(["", ""])], &[run([hostile, hostile])]),
            since: Some(Err(hostile.to_owned())),
        };
        for text in [page(&report), badge(&report)] {
            assert!(!text.contains("<script") && !text.contains(['\u{1b}', '\u{202e}']), "{text}");
            assert!(text.contains("&lt;script&gt;"), "{text}");
        }
        assert!(
            page(&report).contains("SIMULATED")
                && page(&report).contains("prefers-color-scheme: dark")
        );
    }
}
