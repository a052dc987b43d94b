//! The price of a fault: how much more a task takes under it, in calls, tokens and dollars. The baseline is the same
//! tasks of a twin without the fault, if there is one, else the tasks before the fault.

use ratatui::{buffer::Buffer, layout::Rect};

use super::facts::Facts;
use crate::cx::Cx;
use crate::domain::words::counted;
use crate::domain::{Lap, TaskId};
use crate::panes::{glyph::with_sign, row::Row};
use crate::papers::resilience::Means;
use crate::text;
use crate::twin::TwinKind;

pub(super) struct FaultPrice {
    /// Means under the fault, and without it.
    with: Means,
    without: Means,
    /// Whether `without` comes from a twin.
    by_twin: bool,
}

impl FaultPrice {
    /// `None` if no task was hit, or no task serves as the baseline.
    pub fn of(facts: &Facts<'_>) -> Option<Self> {
        let taken = facts.taken.as_ref()?;
        let until = taken.broken.until.unwrap_or(TaskId(u32::MAX));
        let hit = taken.found.hit?;
        let under = |laps: &[Lap], task: TaskId| {
            laps.iter().any(|lap| lap.task == task && lap.outcome.is_some())
        };
        let twin = facts.twin.as_ref().filter(|(twin, _)| twin.kind == TwinKind::Unbroken);
        let twin = twin.map(|(twin, _)| &*twin.laps);
        let is_under = |lap: &&Lap| {
            (hit..=until).contains(&lap.task)
                && under(&facts.laps, lap.task)
                && twin.is_none_or(|twin| under(twin, lap.task))
        };
        let with: Vec<&Lap> = facts.laps.iter().filter(is_under).collect();
        let without: Vec<&Lap> = match twin {
            Some(twin) => twin.iter().filter(is_under).collect(),
            None => facts.laps.iter().filter(|lap| lap.task < hit).collect(),
        };
        let is_known = !with.is_empty() && !without.is_empty();
        let [with, without] = [with, without].map(|laps| Means::of(&laps));
        is_known.then_some(Self { with, without, by_twin: twin.is_some() })
    }

    /// The price for this many tasks, in calls, tokens and dollars.
    fn of_tasks(&self, tasks: f64) -> String {
        let (with, without) = (&self.with, &self.without);
        let calls = tasks * (with.calls - without.calls);
        let tokens = tasks * (with.tokens - without.tokens);
        let places = if calls.abs() < 100.0 { 1 } else { 0 };
        let mut said = vec![
            format!("{} calls", with_sign(calls, format!("{:.places$}", calls.abs()))),
            format!("{} tokens", with_sign(tokens, text::count(tokens.abs().round() as u64))),
        ];
        // Without prices, a difference in dollars says nothing.
        if with.dollars > 0.0 || without.dollars > 0.0 {
            let more = tasks * (with.dollars - without.dollars);
            said.push(with_sign(more, dollars(more.abs())));
        }
        said.join(", ")
    }

    /// The longest words that fit.
    pub fn words(&self, width: usize) -> String {
        let (each, all) = (self.of_tasks(1.0), self.of_tasks(self.with.tasks as f64));
        let tasks = counted(self.without.tasks, "task");
        let (against, short) = match self.by_twin {
            true => ("the same tasks of the twin".to_owned(), "vs twin".to_owned()),
            false => (format!("the {tasks} before it"), format!("vs {tasks} before")),
        };
        let said = format!("price of the fault: {each} per task, compared with {against}");
        let hit = counted(self.with.tasks, "task");
        let long = format!("{said} · {all} in {hit}");
        let short = format!("fault: {each} per task, {short}");
        let fits = |text: &String| text::width(text) <= width;
        [long, said].into_iter().find(fits).unwrap_or(short)
    }

    pub fn draw(&self, cx: &Cx<'_>, line: Rect, buf: &mut Buffer) {
        let mut row = Row::new(line, buf);
        row.gap(1);
        let words = self.words(row.left());
        row.put(&words, cx.theme.text);
    }
}

/// Formats dollars: the difference for a task may be far less than a cent.
pub fn dollars(value: f64) -> String {
    match value {
        0.0..0.000_000_5 => "$0".to_owned(),
        0.0..0.001 => format!("${value:.6}"),
        _ => format!("${value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(tasks: usize, calls: f64, tokens: f64, dollars: f64) -> Means {
        Means { tasks, calls, tokens, dollars, ..Means::default() }
    }

    #[test]
    fn a_price_says_what_it_is_compared_with() {
        let with = means(55, 1.9, 2310.0, 0.0036);
        let mut price =
            FaultPrice { with, without: means(29, 1.4, 2000.0, 0.0031), by_twin: false };
        assert_eq!(
            price.words(200),
            "price of the fault: +0.5 calls, +310 tokens, +$0.000500 per task, compared with the 29 tasks \
             before it · +27.5 calls, +17.1k tokens, +$0.0275 in 55 tasks"
        );
        assert_eq!(
            price.words(77),
            "fault: +0.5 calls, +310 tokens, +$0.000500 per task, vs 29 tasks before"
        );
        price.by_twin = true;
        price.without = means(55, 1.9, 2500.0, 0.0);
        price.with.dollars = 0.0;
        assert_eq!(
            price.words(110),
            "price of the fault: 0.0 calls, −190 tokens per task, compared with the same tasks of the twin"
        );
    }
}
