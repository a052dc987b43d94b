//! The last line: a message for a few seconds or until the next key, else what the keys do here. Above it, after the first key
//! of several, the keys that may follow.

use std::borrow::Cow;

use ratatui::widgets::{Clear, Widget};
use ratatui::{buffer::Buffer, layout::Rect};

use super::cx::Cx;
use super::hits::{Hits, Target};
use super::symbols::DONE;
use super::view::{Message, Tone};
use super::{action::Action, panes, panes::row::Row, text, update};
use crate::domain::Mode;

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let popup = cx.view.popups.last();
    let own = popup.and_then(|popup| popup.footer(cx));
    // A success message from before the hold gives way to the keys that act on the held lane.
    let held = cx.live.control.held.iter().map(|hold| hold.since).max();
    let is_old = |told: &Message| held.is_some_and(|since| told.at < since);
    let message = cx.view.message().filter(|told| told.tone != Tone::Good || !is_old(told));
    match (own, message, popup) {
        _ if !cx.view.pending.is_empty() => pending(cx, area, buf),
        (Some((line, style)), ..) => _ = Row::new(area, buf).put(&line, style),
        (None, Some(message), _) => told(cx, message, area, buf),
        (None, None, Some(popup)) => _ = Row::new(area, buf).put(&popup.legend(cx), cx.theme.dim),
        (None, None, None) => keys(cx, area, buf, hits),
    }
}

/// Draws the caption of a tour, and how to leave it.
pub fn caption(cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
    let Some(caption) = cx.view.caption.as_ref().filter(|_| !area.is_empty()) else { return };
    let leave = match cx.view.is_toured {
        true => " enter next · any key: take over",
        false => " the tour has ended",
    };
    let line = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
    buf.set_style(area, cx.theme.selection);
    let mut row = Row::new(line, buf);
    row.put(caption, cx.theme.user);
    let space = row.left().checked_sub(text::width(leave) + 1);
    if let Some(space) = space {
        row.gap(space).put(leave, cx.theme.dim);
    }
}

/// The keys pressed so far.
fn pending(cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
    let keys: String = cx.view.pending.iter().map(|key| format!("{key} ")).collect();
    let mut row = Row::new(area, buf);
    row.put(&format!("{keys}…"), cx.theme.key);
    row.put("  backspace: undo the last key", cx.theme.dim);
}

/// Between two of the keys that may follow.
const APART: usize = 3;

/// Draws the keys that may follow the pending ones, over the lines above the footer.
pub fn following(cx: &Cx<'_>, above: Rect, buf: &mut Buffer) {
    if !cx.view.hinted || cx.view.pending.is_empty() {
        return;
    }
    let following = cx.keymap.following(&update::layers(cx.view), &cx.view.pending);
    let hints: Vec<(String, &str)> =
        following.iter().map(|(key, action)| (key.to_string(), action.spec().name)).collect();
    let key_width = hints.iter().map(|(key, _)| text::width(key)).max().unwrap_or(0);
    let name_width = hints.iter().map(|(_, name)| text::width(name)).max().unwrap_or(0);
    let width = key_width + 1 + name_width + APART;
    let columns = (usize::from(above.width) / width.max(1)).max(1);
    let rows = hints.len().div_ceil(columns);
    let height = u16::try_from(rows).unwrap_or(u16::MAX).min(above.height);
    let area = Rect { y: above.bottom() - height, height, ..above };
    Clear.render(area, buf);
    buf.set_style(area, cx.theme.screen.patch(cx.theme.header));
    for (line, hints) in area.rows().zip(hints.chunks(columns)) {
        let mut row = Row::new(line, buf);
        for (key, name) in hints {
            row.right(key, key_width, cx.theme.key).gap(1);
            row.cell(name, name_width + APART - 1, cx.theme.text);
        }
    }
}

fn told(cx: &Cx<'_>, message: &Message, area: Rect, buf: &mut Buffer) {
    let (mark, style) = match message.tone {
        Tone::Good => (DONE, cx.theme.good),
        Tone::Plain => ("", cx.theme.accent),
        Tone::Bad => ("!", cx.theme.warn),
    };
    let width = usize::from(area.width);
    let between = if mark.is_empty() { "" } else { " " };
    let shown = format!("{mark}{between}{}", message.text);
    Row::new(area, buf).put(&shown, style);
    // A truncated message is kept, and can be read in full.
    let all = cx.keymap.key(Action::Messages).map(|key| format!("  {key}: full text"));
    if let Some(all) = all.filter(|all| text::width(&shown) > width && width > all.len()) {
        let x = area.right() - all.len() as u16;
        buf.set_stringn(x, area.y, &all, all.len(), cx.theme.key);
    }
}

/// Actions that share words, and the words; `None`: those of the action.
type Hint = (&'static [Action], Option<&'static str>);

/// Hints worth a place in the footer everywhere, the most useful first.
const ALWAYS: [Hint; 9] = [
    (&[Action::RunOrPause], None),
    (&[Action::Step], None),
    (&[Action::Open], None),
    (&[Action::Fail], None),
    (&[Action::Edit], None),
    (&[Action::Undo], None),
    (&[Action::StepBack, Action::StepForward], Some("time")),
    (&[Action::Find], None),
    (&[Action::Palette], None),
];

/// The same hints while the past is looked at.
const IN_THE_PAST: [Hint; 9] = [
    (&[Action::Live], None),
    (&[Action::StepBack, Action::StepForward], Some("step")),
    (&[Action::EventBack, Action::EventForward], Some("event")),
    (&[Action::TaskBack, Action::TaskForward], Some("task")),
    (&[Action::PreviousWrong, Action::NextWrong], Some("wrong")),
    (&[Action::PreviousFailure, Action::NextFailure], Some("failed")),
    (&[Action::Open], None),
    (&[Action::Find], None),
    (&[Action::Palette], None),
];

/// The same, while a call is held.
const HELD: [Hint; 10] = [
    (&[Action::Consent], None),
    (&[Action::Edit], None),
    (&[Action::Answer], None),
    (&[Action::Remove], Some("cancel")),
    (&[Action::RunAgain], None),
    (&[Action::RunOrPause], None),
    (&[Action::Step], None),
    (&[Action::Open], None),
    (&[Action::Find], None),
    (&[Action::Palette], None),
];

/// The hints after a search has found something in a text.
const FOUND: [Hint; 2] = [
    (&[Action::NextMatch, Action::PreviousMatch], Some("next, previous match")),
    (&[Action::Leave], Some("ends")),
];

/// Draws keys and words with room between them. The help always has its place at the right.
fn keys(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let help = cx.keymap.key(Action::Help);
    let help = help.map_or_else(String::new, |key| format!("{key} {}", Action::Help.spec().short));
    let right = area.right().saturating_sub(help.len() as u16 + 1).max(area.x);
    let is_past = cx.view.moment.is_some() || cx.view.read_only.is_some();
    let is_held = update::edits::held_here(cx.live, cx.view).is_some();
    let always: &[Hint] = match (is_past, is_held) {
        (true, _) => &IN_THE_PAST,
        (false, true) => &HELD,
        (false, false) => &ALWAYS,
    };
    // A key that means something else while a call is held is shown only once.
    let is_said = |action: &&Action| always.iter().any(|(actions, _)| actions.contains(action));
    // In a pane that is another one for watched agents, most keys would never be possible.
    let is_other = cx.live.watched.is_some() && panes::spec(cx.view.focus).watched.is_some();
    let can = |action: &&Action| !is_other || action.spec().why_not(cx.live, cx.view).is_none();
    let here = panes::spec(cx.view.focus).keys.iter();
    let here = here.filter(|action| !is_said(action) && can(action));
    let here = here.map(|action| (std::slice::from_ref(action), None));
    let search = cx.view.found(cx.view.focus);
    let found: &[Hint] = match search.map(|found| found.filters) {
        Some(Some(_)) => &[(&[Action::Leave], Some("shows all"))],
        Some(None) => &FOUND,
        None => &[],
    };
    let last: Hint = (&[Action::NextPane], None);
    let mut x = area.x;
    if let Some(found) = search {
        let said = format!("/{} {}", text::clean(found.needle.text()), found.count());
        x = Row::new(area, buf).put(&said, cx.theme.input).gap(2).x();
    }
    // While a call is held, only the actions that are possible now are shown.
    let always = always.iter().filter(|(actions, _)| {
        !is_held || actions.iter().any(|action| action.spec().why_not(cx.live, cx.view).is_none())
    });
    for (actions, words) in found.iter().chain(always).copied().chain(here).chain([last]) {
        let room = Rect { x, width: right.saturating_sub(x), ..area };
        x = hint(cx, (actions, words), room, buf, hits).unwrap_or(x);
    }
    let spot = Rect { x: right + 1, width: area.right().saturating_sub(right + 1), ..area };
    buf.set_stringn(spot.x, spot.y, help, usize::from(spot.width), cx.theme.key);
    hits.add(spot, Target::Action(Action::Help));
}

/// Draws a hint, where there is room for it; gives the cell where the next one may begin.
fn hint(
    cx: &Cx<'_>,
    (actions, words): Hint,
    room: Rect,
    buf: &mut Buffer,
    hits: &mut Hits,
) -> Option<u16> {
    let keyed: Vec<(Action, &str)> =
        actions.iter().filter_map(|action| Some((*action, cx.keymap.key(*action)?))).collect();
    let (first, _) = keyed.first()?;
    let words = words.map_or_else(|| short(cx, *first), Cow::Borrowed);
    let keys: usize = keyed.iter().map(|(_, key)| text::width(key) + 1).sum();
    let width = (keys + text::width(&words)) as u16;
    if width > room.width {
        return None;
    }
    let can = keyed.iter().any(|(action, _)| action.spec().why_not(cx.live, cx.view).is_none());
    let (bold, plain) =
        if can { (cx.theme.key, cx.theme.text) } else { (cx.theme.dim, cx.theme.dim) };
    let mut x = room.x;
    for (action, key) in &keyed {
        let start = x;
        x = buf.set_stringn(x, room.y, key, usize::from(width), bold).0 + 1;
        hits.add(Rect { x: start, width: x - start, ..room }, Target::Action(*action));
    }
    let after = buf.set_stringn(x, room.y, &words, usize::from(width), plain).0;
    hits.add(Rect { x, width: after - x, ..room }, Target::Action(*first));
    Some(after + 2)
}

/// The words of an action; for [`Action::RunOrPause`] the words of what it would do, for [`Action::Edit`] the held call.
fn short(cx: &Cx<'_>, action: Action) -> Cow<'static, str> {
    let edited = update::edits::edited(cx.live, cx.view).filter(|_| action == Action::Edit);
    match (action, cx.live.shown_mode()) {
        (Action::RunOrPause, _) if cx.view.offers_again(cx.live) => "run all again".into(),
        (Action::RunOrPause, Mode::Running | Mode::Stepping | Mode::SteppingTask) => "pause".into(),
        (Action::RunOrPause, _) => "run".into(),
        _ => edited.map_or(action.spec().short.into(), |call| format!("edit call {call}").into()),
    }
}
