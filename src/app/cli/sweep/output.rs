//! Output of a sweep: a chart, a table and one sentence; or files.

use std::path::PathBuf;

use strum::VariantArray;

use super::args::SweepArgs;
use crate::cli::out::{print, print_line, print_pretty};
use crate::cli::trouble::Trouble;
use crate::compare::table::PlainTable;
use crate::domain::words::counted;
use crate::net::known::without_known;
use crate::papers::noise::Difference;
use crate::store::import::write_private;
use crate::sweep::{PointMean, SweepMeasure, SweepPlan, SweepTable, SweptAxis};
use crate::ui::sweep_chart::{ChartAxis, PlotPoint, SweepChart};
use crate::ui::theme::load;
use crate::ui::{terminal, text::clean};

/// Columns of the chart, at most.
pub const WIDTH: u16 = 100;

/// Prints and writes what is known.
pub fn output(args: &SweepArgs, plan: &SweepPlan, measure: SweepMeasure) -> Result<(), Trouble> {
    let table = &plan.table()?;
    let write = |path: &Option<PathBuf>, text: &str| match path {
        Some(path) => write_private(path, &without_known(text)).map_err(Trouble::failed),
        None => Ok(()),
    };
    let (theme, _) = load::find(load::AUTO, None);
    write(&args.csv, &table.csv())?;
    write(&args.svg, &chart(table, measure, |chart| chart.svg(&theme, WIDTH)))?;
    if args.json {
        return print_pretty(&table.json(measure));
    }
    let columns = terminal::size().map_or(WIDTH, |(columns, _)| columns.min(WIDTH));
    print(chart(table, measure, |chart| chart.text(&theme, columns)) + "\n")?;
    print(rows(table, measure))?;
    print_line(format!("\n{}", verdict(table, &plan.present, measure)))
}

/// Draws the chart of a table.
pub fn chart<R>(
    table: &SweepTable,
    measure: SweepMeasure,
    draw: impl FnOnce(&SweepChart<'_>) -> R,
) -> R {
    let means = table.means(measure);
    let axis = |at: usize| {
        let axis = &table.axes[at];
        let labels = (0..axis.values.len()).map(|value| axis.label(value)).collect();
        let now = table.now.map(|point| table.places(point)[at]);
        ChartAxis { name: axis.name().to_owned(), labels, now }
    };
    let rows = table.axes.get(1).map_or(1, |axis| axis.values.len());
    let point = |x: usize, y: usize| {
        let PointMean { mean, interval, .. } = means[x * rows + y]?;
        Some(PlotPoint { mean, interval })
    };
    let over: Vec<_> = table.axes.iter().map(SweptAxis::name).collect();
    let seeds = counted(table.seeds.len(), "seed");
    let about = if table.seeds.len() > 1 { ", 95 % intervals" } else { "" };
    draw(&SweepChart {
        title: format!("{} over {}, {seeds}{about}", measure.title(), over.join(" and ")),
        across: axis(0),
        down: (table.axes.len() > 1).then(|| axis(1)),
        point: &point,
        spread: &|point| spread(measure, point.mean, point.interval, "–"),
        show: &|value| measure.show(value),
    })
}

/// A row for each point: all measures, with the interval of the one that is shown.
fn rows(table: &SweepTable, measure: SweepMeasure) -> String {
    let with_interval = |mean: PointMean| {
        let value = measure.show(mean.mean);
        format!("{value} {}", spread(measure, mean.mean, mean.interval, " to "))
    };
    let mut measures = vec![measure];
    let is_scenario = table.runs.iter().flatten().flatten().any(|run| run.passed.is_some());
    let others = SweepMeasure::VARIANTS.iter().filter(|other| **other != measure);
    measures.extend(others.filter(|other| is_scenario || **other != SweepMeasure::Passed));
    let columns: Vec<_> = table.axes.iter().map(SweptAxis::name).collect();
    let mut headings = columns.clone();
    headings.extend(["", measure.name()]);
    headings.extend(table.now.map(|_| "against now"));
    headings.extend(measures[1..].iter().map(|other| other.name()));
    let title = format!("{}; the others are means, too", measure.title());
    let mut out = PlainTable::new(title, columns.len() + 1, &headings);
    let all: Vec<_> = measures.iter().map(|one| table.means(*one)).collect();
    for point in 0..table.runs.len() {
        let mut cells = table.labels(point);
        cells.push(if table.now == Some(point) { "now".to_owned() } else { String::new() });
        cells.push(all[0][point].map_or_else(|| "–".to_owned(), with_interval));
        let apart = all[0][point].and_then(|mean| Some((mean.apart?, mean.is_clear)));
        let against = |(apart, is_clear): (Difference, bool)| {
            let sign = if apart.mean > 0.0 { "+" } else { "" };
            let half = apart.half_width().map(|half| format!(" ±{}", measure.show(half)));
            let clear = if is_clear { " *" } else { "" };
            let half = half.unwrap_or_default();
            format!("{sign}{}{half}{clear}", measure.show(apart.mean)).replace('-', "−")
        };
        if table.now.is_some() {
            cells.push(apart.map_or_else(String::new, against));
        }
        for (one, means) in measures[1..].iter().zip(&all[1..]) {
            cells.push(means[point].map_or("–".to_owned(), |mean| one.show(mean.mean)));
        }
        out.row(cells);
    }
    out.text()
}

/// An interval in words: `±2.1` where the mean is its middle.
fn spread(measure: SweepMeasure, mean: f64, interval: Option<(f64, f64)>, between: &str) -> String {
    let Some((low, high)) = interval else { return String::new() };
    match measure {
        SweepMeasure::Passed => format!("{}{between}{}", measure.show(low), measure.show(high)),
        _ => format!("±{}", measure.show(high - mean)),
    }
}

/// The result in one sentence.
fn verdict(table: &SweepTable, present: &str, measure: SweepMeasure) -> String {
    let said = |point: usize| {
        let labels = table.axes.iter().zip(table.labels(point));
        let at: Vec<_> = labels.map(|(axis, label)| format!("{}={label}", axis.name())).collect();
        clean(&at.join(" ")).into_owned()
    };
    let Some(now) = table.now else {
        let present = clean(present);
        return format!(
            "Now it is {present}, which is not among these points: none is compared with it."
        );
    };
    if table.seeds.len() < 2 {
        return "One seed is not judged: --seeds 5 shows how much the seeds vary.".to_owned();
    }
    let means = table.means(measure);
    let sign = if measure.is_better_high() { 1.0 } else { -1.0 };
    let better = means.iter().enumerate().filter_map(|(point, mean)| {
        let PointMean { apart, is_clear, .. } = (*mean)?;
        let gain = sign * apart?.mean;
        (is_clear && gain > 0.0).then_some((point, gain))
    });
    let by = "by Student's t with Holm's correction at 5 %";
    match better.max_by(|(_, one), (_, other)| one.total_cmp(other)) {
        Some((point, gain)) => format!(
            "* clearly different from now ({}) {by}. Best of them: {}, better by {} {}.",
            said(now),
            said(point),
            measure.show(gain),
            measure.title()
        ),
        None => format!("No point is clearly better than now ({}), {by}.", said(now)),
    }
}
