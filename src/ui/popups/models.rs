//! The choice of a model for a role: every configured model with its price and reachability. Opening the popup
//! checks reachability in the background, and results arrive while it is open.

use ratatui::{buffer::Buffer, layout::Rect, style::Modifier};

use super::chooser::{Chooser, ChooserFrame};
use super::narrow::Words;
use super::{Pressed, Reply, choice::ChooserPopup};
use crate::action::Action;
use crate::domain::{Command, ModelName, Role, State};
use crate::panes::models::configured;
use crate::panes::row::{self, Row};
use crate::symbols::CHOSEN;
use crate::{cx::Cx, hits::Hits, keymap::Hint, request::World, view::View};

/// Lines below the list with details of the selected model.
const MORE: u16 = 3;

/// The choice of a model for a role.
#[derive(Debug)]
pub struct ModelChoice {
    role: Role,
    models: Vec<ModelName>,
    chooser: Chooser,
}

impl ModelChoice {
    /// Starts at the model that has the role now.
    pub fn new(live: &State, role: Role) -> Self {
        let known = &live.models.known;
        let bound = live.models.roles.get(&role).map(|bound| &bound.model);
        let now = bound.and_then(|model| known.get_index_of(model)).unwrap_or(0);
        let words = known.iter().map(|(name, model)| Words::new(name.as_str(), &model.spec.source));
        let chooser = Chooser::new("model", words.collect(), now).with_foot(MORE);
        Self { role, models: known.keys().cloned().collect(), chooser }
    }
}

impl ChooserPopup for ModelChoice {
    fn hints(&self) -> &'static [Hint] {
        &[
            (&[Action::Accept], "choose"),
            (&[Action::CheckModels], "check reachability again"),
            (&[Action::Leave], "leave"),
        ]
    }

    fn choose(&mut self, thing: usize, world: &World<'_>, _: &mut View) -> Reply {
        let model = &self.models[thing];
        match world.live.models.roles.get(&self.role) {
            Some(now) if now.model == *model => Reply::Close,
            Some(_) | None => {
                Reply::send(Command::BindRole { role: self.role, model: model.clone() })
            }
        }
    }

    fn other_key(&mut self, pressed: Pressed, _: &World<'_>, _: &mut View) -> Reply {
        match pressed.action {
            Some(Action::CheckModels) => Reply::Keep(Command::ProbeModels),
            _ => self.chooser.key(pressed),
        }
    }

    fn chooser(&mut self) -> &mut Chooser {
        &mut self.chooser
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let models = &cx.live.models;
        let title = format!("Model for the {}, from the next model call on", self.role);
        let look = ChooserFrame { title: &title, hints: self.hints(), width: 100 };
        // Cells for the pointer and for the mark of the role's present model.
        let columns =
            |line: Rect| Rect { x: line.x + 3, width: line.width.saturating_sub(3), ..line };
        let bound = models.roles.get(&self.role).map(|bound| &bound.model);
        let parts = self.chooser.draw(cx, (area, buf, hits), &look, |found, line, buf| {
            let Some((_, name, model)) = models.known.get_full(&self.models[found.id]) else {
                return;
            };
            let mark = if bound == Some(name) { CHOSEN } else { " " };
            Row::new(line, buf).gap(1).put(mark, cx.theme.text);
            let now = cx.live.at.max(cx.now);
            configured::draw(cx, (name, model), now, &mut Row::new(columns(line), buf));
            underline(name.as_str(), &found.name, columns(line), buf);
        });
        configured::draw_head(cx.theme, columns(parts.head), buf);
        let selected = self.chooser.selected().and_then(|id| models.known.get(&self.models[id]));
        if let Some(model) = selected {
            row::wrapped(parts.foot, &configured::why(model), cx.theme.dim, buf);
        }
    }
}

/// Underlines the letters that match the input. Looks for the name in the line, since the mark of a fault may precede
/// it.
fn underline(name: &str, places: &[u32], line: Rect, buf: &mut Buffer) {
    let shows = |x: u16, c: char| {
        let symbol = buf.cell((x, line.y)).map(|cell| cell.symbol().to_lowercase());
        symbol == Some(c.to_lowercase().to_string())
    };
    let begins = |x: &u16| (*x..).zip(name.chars()).take(3).all(|(x, c)| shows(x, c));
    let Some(start) = (line.x..line.right()).find(begins) else { return };
    for place in places {
        let x = start.saturating_add(u16::try_from(*place).unwrap_or(u16::MAX));
        if let Some(cell) = buf.cell_mut((x, line.y)) {
            cell.modifier.insert(Modifier::UNDERLINED);
        }
    }
}
