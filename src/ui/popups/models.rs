//! A model for a role: every configured one, with what it costs and whether it can be reached. Who opens
//! it has that looked for in the background, and the answers come in while it is open.

use ratatui::{buffer::Buffer, crossterm::event::KeyCode, layout::Rect};

use super::{Reply, frame};
use crate::domain::{Command, Role, State};
use crate::ui::hits::{Hits, Target};
use crate::ui::pane::{Cx, Move};
use crate::ui::{key::Key, panes::models::configured, text, update::ScreenRequest, vlist};

pub(super) const KEYS: &str = "enter: choose · r: look again who can be reached · esc: leave";

/// Lines below the list that say more of the selected model.
const MORE: u16 = 3;

/// Who is to play a role.
#[derive(Debug)]
pub struct ModelChoice {
    role: Role,
    selected: usize,
}

impl ModelChoice {
    /// Starts at the model that plays the role now.
    pub fn new(live: &State, role: Role) -> Self {
        let bound = live.models.roles.get(&role).map(|bound| &bound.model);
        let selected = bound.and_then(|model| live.models.known.get_index_of(model));
        Self { role, selected: selected.unwrap_or(0) }
    }

    pub(super) fn key(&mut self, key: Key, live: &State) -> Reply {
        let to = match key.code {
            KeyCode::Enter | KeyCode::Char(' ') => return self.click(self.selected, live),
            KeyCode::Char('r') => {
                return Reply::Keep(vec![ScreenRequest::Send(Command::ProbeModels)]);
            }
            KeyCode::Up | KeyCode::Char('k') => Move::Up,
            KeyCode::Down | KeyCode::Char('j') => Move::Down,
            KeyCode::Home => Move::Top,
            KeyCode::End => Move::Bottom,
            _ => return Reply::Pass,
        };
        let rows = live.models.known.len();
        self.selected = vlist::moved(rows, Some(self.selected), to, 2).unwrap_or(0);
        Reply::Stay
    }

    pub(super) fn click(&mut self, row: usize, live: &State) -> Reply {
        self.selected = row;
        let Some((model, _)) = live.models.known.get_index(row) else { return Reply::Close };
        let role = self.role;
        if live.models.roles.get(&role).is_some_and(|bound| bound.model == *model) {
            return Reply::Close;
        }
        Reply::Done(vec![ScreenRequest::Send(Command::BindRole { role, model: model.clone() })])
    }

    pub(super) fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let models = &cx.live.models;
        let title = format!("Model for the {}, from the next ask on", self.role);
        let rows = u16::try_from(models.known.len()).unwrap_or(u16::MAX);
        let height = rows.saturating_add(2 + MORE);
        let inside = frame::open(cx, (area, buf, hits), &title, KEYS, (100, height));
        // Two cells for the mark of who plays the role now.
        let columns = Rect { x: inside.x + 2, width: inside.width.saturating_sub(2), ..inside };
        configured::draw_head(cx.theme, Rect { height: 1, ..columns }, buf);
        let list = Rect {
            y: inside.y + 1,
            height: inside.height.saturating_sub(2 + MORE).max(1).min(rows),
            ..inside
        };
        let bound = models.roles.get(&self.role).map(|bound| &bound.model);
        let (total, selected) = (models.known.len(), Some(self.selected));
        let window = vlist::Window::default().next(total, usize::from(list.height), selected);
        for (y, i) in (list.y..).zip(window.range()) {
            let Some((name, model)) = models.known.get_index(i) else { continue };
            let line = Rect { y, height: 1, ..list };
            let mark = if bound == Some(name) { "●" } else { "○" };
            buf.set_stringn(line.x, y, mark, 1, cx.theme.text);
            let columns = Rect { y, height: 1, ..columns };
            configured::draw(cx, (name, model), cx.live.at.max(cx.now), columns, buf);
            if i == self.selected {
                buf.set_style(line, cx.theme.selection);
            }
            hits.add(line, Target::PopupRow(i));
        }
        let below = Rect { y: list.bottom() + 1, ..inside };
        let room = inside.bottom().saturating_sub(below.y);
        let Some((_, model)) = models.known.get_index(self.selected) else { return };
        let width = usize::from(below.width);
        let lines = text::wrap_within(&configured::why(model), width, usize::from(room));
        for (y, line) in (below.y..inside.bottom()).zip(lines) {
            buf.set_stringn(below.x, y, line, width, cx.theme.dim);
        }
    }
}
