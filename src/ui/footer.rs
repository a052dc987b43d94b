//! The last line: a message until the next key, else what the keys of this place do.

use ratatui::{buffer::Buffer, layout::Rect};

use super::hits::{Hits, Target};
use super::pane::Cx;
use super::view::{Message, Tone};
use super::{action::Action, keymap::Keymap, panes::row::Row, text};

pub fn draw(cx: &Cx<'_>, keymap: &Keymap, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let popup = cx.view.popups.last();
    let own = popup.and_then(|popup| popup.footer(cx.theme));
    match (own, cx.view.message(), popup) {
        (Some((line, style)), ..) => _ = Row::new(area, buf).put(&line, style),
        (None, Some(message), _) => told(cx, message, keymap, area, buf),
        (None, None, Some(popup)) => _ = Row::new(area, buf).put(popup.keys(), cx.theme.dim),
        (None, None, None) => keys(cx, keymap, area, buf, hits),
    }
}

fn told(cx: &Cx<'_>, message: &Message, keymap: &Keymap, area: Rect, buf: &mut Buffer) {
    let (mark, style) = match message.tone {
        Tone::Good => ("✓ ", cx.theme.good),
        Tone::Plain => ("", cx.theme.accent),
        Tone::Bad => ("! ", cx.theme.warn),
    };
    let width = usize::from(area.width);
    let shown = format!("{mark}{}", message.text);
    Row::new(area, buf).put(&shown, style);
    // What is cut is kept, and can be read.
    let all = keymap.key(Action::Messages).map(|key| format!("  {key}: all of it"));
    if let Some(all) = all.filter(|all| text::width(&shown) > width && width > all.len()) {
        let x = area.right() - all.len() as u16;
        buf.set_stringn(x, area.y, &all, all.len(), cx.theme.key);
    }
}

/// What is worth a place in the footer, the most useful first.
fn worth(cx: &Cx<'_>) -> Vec<Action> {
    use Action as A;
    let here = cx.view.focus.spec().keys;
    let first: &[Action] = match (cx.view.moment, cx.view.read_only) {
        (Some(_), _) | (_, Some(_)) => {
            &[A::Live, A::EventBack, A::EventForward, A::StepBack, A::StepForward]
        }
        (None, None) => &[A::RunOrPause, A::Step],
    };
    let always =
        [A::NewTask, A::Faults, A::Undo, A::Zoom, A::StepBack, A::Screenshot, A::Palette, A::Quit];
    let mut actions: Vec<Action> = Vec::new();
    for action in first.iter().chain(here).chain(&always) {
        if !actions.contains(action) {
            actions.push(*action);
        }
    }
    actions
}

fn keys(cx: &Cx<'_>, keymap: &Keymap, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let hint =
        |action: Action| keymap.key(action).map(|key| (key.to_string(), action.spec().short));
    // The help has its place at the right, whatever else fits.
    let help = hint(Action::Help).map(|(key, short)| format!("{key} {short}")).unwrap_or_default();
    let help_width = help.len() as u16;
    let right = area.right().saturating_sub(help_width + 1).max(area.x);
    let mut x = area.x;
    for action in worth(cx) {
        let Some((key, short)) = hint(action) else { continue };
        let width = (text::width(&key) + 1 + text::width(short)) as u16;
        if x + width + 1 > right {
            break;
        }
        let can = action.spec().why_not(cx.live, cx.view).is_none();
        let (bold, plain) =
            if can { (cx.theme.key, cx.theme.text) } else { (cx.theme.dim, cx.theme.dim) };
        let after = buf.set_stringn(x, area.y, &key, usize::from(width), bold).0;
        buf.set_stringn(after + 1, area.y, short, usize::from(width), plain);
        hits.add(Rect { x, width, ..area }, Target::Action(action));
        x += width + 2;
    }
    let spot = Rect { x: right + 1, width: area.right().saturating_sub(right + 1), ..area };
    buf.set_stringn(spot.x, spot.y, help, usize::from(spot.width), cx.theme.key);
    hits.add(spot, Target::Action(Action::Help));
}
