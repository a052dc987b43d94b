//! The verdict on the newest fault of a watched agent: what the agent did after each call that the fault hit, with the last
//! example of each, and the price against a task that began with the same question.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::facts;
use super::price::dollars;
use crate::domain::words::counted;
use crate::domain::{ReactionExample, State};
use crate::panes::glyph::with_sign;
use crate::panes::row::{self, Row};
use crate::papers::agent_verdict::{Deed, Deeds, HitPrice};
use crate::{cx::Cx, text};

/// The useful rows: the usual deeds and one more, the price in two lines, and lines between them.
pub(super) const ROWS: usize = 11;
/// Cells of what the agent did, and of how often.
const DEED: usize = 21;
const COUNT: usize = 4;

/// The words after the pane's name.
pub(super) fn title(state: &State) -> String {
    if state.faults.is_empty() {
        return String::new();
    }
    let newest = Deeds::newest(state, &state.laps_with_current());
    newest.map_or_else(String::new, |(_, fault, deeds)| {
        format!(" · {} · {}", fault.spec, counted(deeds.hits, "hit"))
    })
}

pub(super) fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
    if cx.state.faults.is_empty() {
        let said = match facts::target(cx.state, cx.view) {
            Some(tool) => format!("No fault yet. <key:fail> breaks {tool}, the most called tool."),
            None => "No fault yet. Select a tool (<key:tools>): <key:fail> breaks it.".to_owned(),
        };
        return row::wrapped(area, &cx.keymap.fill(&said), cx.theme.dim, buf);
    }
    let laps = cx.state.laps_with_current();
    let Some((id, fault, deeds)) = Deeds::newest(cx.state, &laps) else { return };
    if deeds.hits == 0 {
        let said = match (fault.armed, fault.idle(cx.state)) {
            (true, _) => format!("{} is armed, and has hit no call of the agent yet.", fault.spec),
            (false, idle) => format!("{} {}", fault.spec, idle.unwrap_or_default()),
        };
        return row::wrapped(area, &said, cx.theme.injected, buf);
    }
    let rows: Vec<_> =
        deeds.rows().filter(|(deed, n, _)| *deed != Deed::SaidSo || *n > 0).collect();
    let is_over = deeds.rows().all(|(deed, n, _)| deed != Deed::AtWork || n < deeds.hits);
    let price = match HitPrice::of(cx.state, id, &laps) {
        Some(price) => text::wrap_within(&words(&price), usize::from(area.width) - 1, 2),
        None if !is_over => vec!["price  not known before the task ends".to_owned()],
        None => {
            vec!["price  not known: no other task began with the same question".to_owned()]
        }
    };
    let is_tall = usize::from(area.height) >= 3 + rows.len() + price.len();
    let mut lines = area.rows();
    let talks = counted(deeds.conversations, "conversation");
    let mut put = |said: &str, style: Style| {
        lines.next().into_iter().for_each(|line| _ = Row::new(line, buf).gap(1).put(said, style));
    };
    put(&format!("{}, in {talks}", deeds.happened()), cx.theme.text);
    if is_tall {
        put("", cx.theme.text);
    }
    for (deed, count, example) in rows {
        let style = if count > 0 { cx.theme.text } else { cx.theme.dim };
        let Some(line) = lines.next() else { return };
        let mut line = Row::new(line, buf);
        line.gap(1).cell(&label(deed, deeds.thing), DEED, style);
        line.right(&count.to_string(), COUNT, style).gap(3);
        line.put(&example.map(|it| told(deed, it)).unwrap_or_default(), cx.theme.dim);
    }
    for said in is_tall.then(String::new).into_iter().chain(price) {
        let Some(line) = lines.next() else { return };
        Row::new(line, buf).gap(1).put(&said, cx.theme.text);
    }
}

/// The words of a deed about a tool or a model.
fn label(deed: Deed, thing: &str) -> String {
    match deed {
        Deed::Retried => format!("retried the same {thing}"),
        Deed::Switched => format!("used another {thing}"),
        Deed::SaidSo => "said so in its answer".to_owned(),
        deed => deed.short(thing).to_owned(),
    }
}

/// The last example of a deed.
fn told(deed: Deed, example: &ReactionExample) -> String {
    let after = text::span(example.after);
    match (deed, &example.next) {
        (Deed::Retried, Some(next)) => format!("{next} again after {after}"),
        (_, Some(next)) => format!("{next} after {after}"),
        (Deed::AtWork, None) => String::new(),
        (_, None) if example.answer.is_empty() => "without an answer".to_owned(),
        (_, None) => {
            let words: Vec<&str> = example.answer.split_whitespace().collect();
            format!("\"{}\"", words.join(" "))
        }
    }
}

/// The price in words.
fn words(price: &HitPrice) -> String {
    let HitPrice { calls, tokens, dollars: more, against, .. } = *price;
    let calls = with_sign(calls as f64, counted(calls.unsigned_abs(), "call"));
    let tokens = with_sign(tokens as f64, format!("{} tok", text::count(tokens.unsigned_abs())));
    let about = if price.listed { "~" } else { "" };
    let more = more.filter(|more| *more != 0.0);
    let more = more.map(|more| format!(", {about}{}", with_sign(more, dollars(more.abs()))));
    let more = more.unwrap_or_default();
    format!(
        "price  {calls}, {tokens}{more} against task {against}, which began with the same question"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::TaskId;

    #[test]
    fn a_price_names_the_task_that_it_is_compared_with() {
        let price = HitPrice {
            task: TaskId(4),
            against: TaskId(2),
            calls: 1,
            tokens: 355,
            dollars: Some(0.0003),
            listed: true,
        };
        assert_eq!(
            words(&price),
            "price  +1 call, +355 tok, ~+$0.000300 against task 2, which began with the same question"
        );
        let less = HitPrice { calls: 0, tokens: -12, dollars: None, listed: false, ..price };
        assert!(words(&less).starts_with("price  0 calls, −12 tok against task 2"));
    }
}
