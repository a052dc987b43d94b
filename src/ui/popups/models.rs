//! A model for a role: every configured one, with what it costs and whether it can be reached. Who opens
//! it has that looked for in the background, and the answers come in while it is open.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Around, Popup, Pressed, Reply, frame, pick::Pick};
use crate::domain::{Command, Role, State};
use crate::ui::action::{Action, Layer};
use crate::ui::symbols::CHOSEN;
use crate::ui::{cx::Cx, hits::Hits, keymap::Hint, panes::models::configured, text};

/// Lines below the list that say more of the selected model.
const MORE: u16 = 3;

/// Who is to play a role.
#[derive(Debug)]
pub struct ModelChoice {
    role: Role,
    pick: Pick,
}

impl ModelChoice {
    /// Starts at the model that plays the role now.
    pub fn new(live: &State, role: Role) -> Self {
        let bound = live.models.roles.get(&role).map(|bound| &bound.model);
        let selected = bound.and_then(|model| live.models.known.get_index_of(model));
        Self { role, pick: Pick::at(selected.unwrap_or(0)) }
    }
}

impl Popup for ModelChoice {
    fn layer(&self) -> Layer {
        Layer::List
    }

    fn hints(&self) -> &'static [Hint] {
        &[
            (&[Action::Accept], "choose"),
            (&[Action::CheckModels], "check reachability again"),
            (&[Action::Leave], "leave"),
        ]
    }

    fn key(&mut self, pressed: Pressed, around: &mut Around<'_>) -> Reply {
        match pressed.action {
            Some(Action::Accept | Action::Toggle) => self.click(self.pick.row, around),
            Some(Action::CheckModels) => Reply::Keep(Command::ProbeModels),
            _ => self.pick.key(pressed, around.live.models.known.len()),
        }
    }

    fn click(&mut self, row: usize, around: &mut Around<'_>) -> Reply {
        let (role, models) = (self.role, &around.live.models);
        match models.known.get_index(row) {
            Some((model, _)) if models.roles.get(&role).is_none_or(|now| now.model != *model) => {
                Reply::send(Command::BindRole { role, model: model.clone() })
            }
            Some(_) | None => Reply::Close,
        }
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let models = &cx.live.models;
        let title = format!("Model for the {}, from the next model call on", self.role);
        let size = (100, models.known.len() + 2 + usize::from(MORE));
        let inside = frame::open(cx, (area, buf, hits), &title, &self.legend(cx), size);
        // Two cells for the mark of who plays the role now.
        let columns =
            |line: Rect| Rect { x: line.x + 2, width: line.width.saturating_sub(2), ..line };
        configured::draw_head(cx.theme, columns(inside), buf);
        let rows = u16::try_from(models.known.len()).unwrap_or(u16::MAX);
        let height = inside.height.saturating_sub(2 + MORE).max(1).min(rows);
        let list = Rect { y: inside.y + 1, height, ..inside };
        let bound = models.roles.get(&self.role).map(|bound| &bound.model);
        let selected = self.pick.draw(cx, (list, buf, hits), models.known.len(), |i, line, buf| {
            let Some((name, model)) = models.known.get_index(i) else { return };
            let mark = if bound == Some(name) { CHOSEN } else { " " };
            buf.set_stringn(line.x, line.y, mark, 1, cx.theme.text);
            configured::draw(cx, (name, model), cx.live.at.max(cx.now), columns(line), buf);
        });
        let Some((_, model)) = models.known.get_index(selected) else { return };
        let below = frame::rest(inside, list.bottom() + 1);
        let (width, rows) = (usize::from(below.width), usize::from(below.height));
        let lines = text::wrap_within(&configured::why(model), width, rows);
        frame::write(lines, cx.theme.dim, below, buf);
    }
}
