//! A question before something that cannot be taken back.

use ratatui::{buffer::Buffer, crossterm::event::KeyCode, layout::Rect};

use super::{Around, Popup, Reply, frame};
use crate::domain::{Command, State};
use crate::ui::hits::{Hits, Target};
use crate::ui::panes::row::Row;
use crate::ui::{key::Key, pane::Cx, text, update::ScreenRequest};

/// A question with yes and no.
#[derive(Debug)]
pub struct Confirm {
    question: String,
    detail: String,
    yes: ScreenRequest,
}

impl Confirm {
    pub fn quit(live: &State) -> Self {
        let detail = match live.effects_in_flight().count() {
            0 => "The session ends here; its journal keeps what was done.".to_owned(),
            1 => "1 call is running; it is cancelled.".to_owned(),
            n => format!("{n} calls are running; they are cancelled."),
        };
        Self {
            question: "Leave while the agent is at work?".to_owned(),
            detail,
            yes: ScreenRequest::Quit,
        }
    }

    pub fn stop() -> Self {
        Self {
            question: "End this session?".to_owned(),
            detail: "What runs is cancelled. The screen stays, to look back.".to_owned(),
            yes: ScreenRequest::Send(Command::Stop),
        }
    }

    fn agreed(&self) -> Reply {
        Reply::Done(vec![self.yes.clone()])
    }
}

impl Popup for Confirm {
    fn keys(&self) -> &'static str {
        "y or enter: yes · n or esc: no"
    }

    fn key(&mut self, key: Key, _: &mut Around<'_>) -> Reply {
        let ctrl_c = key.code == KeyCode::Char('c') && key.types().is_none();
        let quits = self.yes == ScreenRequest::Quit;
        match key.code {
            // Who presses the key of what is asked about means it.
            _ if quits && (ctrl_c || key.code == KeyCode::Char('q')) => self.agreed(),
            KeyCode::Char('y') | KeyCode::Enter => self.agreed(),
            KeyCode::Char('n') | KeyCode::Esc => Reply::Close,
            _ => Reply::Stay,
        }
    }

    fn click(&mut self, row: usize, _: &mut Around<'_>) -> Reply {
        if row == 0 { self.agreed() } else { Reply::Close }
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let width = text::width(&self.detail).max(text::width(&self.question)).max(30);
        let title = &self.question;
        let inside = frame::open(cx, (area, buf, hits), title, self.keys(), (width, 4));
        if inside.height < 4 {
            return;
        }
        Row::new(frame::rest(inside, inside.y + 1), buf).put(&self.detail, cx.theme.text);
        let mut x = inside.x;
        for (row, label) in ["[ Yes ]", "[ No ]"].into_iter().enumerate() {
            let button = Rect { x, y: inside.y + 3, width: label.len() as u16, height: 1 };
            let button = button.intersection(inside);
            buf.set_stringn(button.x, button.y, label, usize::from(button.width), cx.theme.key);
            hits.add(button, Target::PopupRow(row));
            x += label.len() as u16 + 2;
        }
    }
}
