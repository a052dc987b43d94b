//! A screen to type at, without a terminal: keys as people write them in, effects and cells out.

use std::sync::Arc;

use ratatui::crossterm::event::{
    Event as Input, KeyEvent, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::{buffer::Buffer, layout::Rect};
use toolyard::domain::{EffectId, Event, Record};
use toolyard::ui::screen::{Screen, Setup};
use toolyard::ui::{
    hits::Target, key::Key, keymap::Keymap, request::ScreenRequest, shot, theme::Theme,
};

use crate::story::Story;

/// A screen of some size.
pub struct Stage {
    pub screen: Screen,
    pub area: Rect,
    pub buf: Buffer,
}

impl Stage {
    /// Shows this story, at 120×40.
    pub fn of(story: &Story) -> Self {
        Self::with(story, Setup { read_only: None, ..setup() })
    }

    pub fn with(story: &Story, setup: Setup) -> Self {
        let mut screen = Screen::new(setup);
        for record in &story.records {
            screen.receive(Arc::new(record.clone()));
        }
        screen.view.told = false;
        Self::showing(screen)
    }

    /// This screen, at 120×40.
    pub fn showing(screen: Screen) -> Self {
        // Else the first frames would estimate tokens.
        toolyard::domain::tokens::load();
        let area = Rect::new(0, 0, 120, 40);
        let mut stage = Self { screen, area, buf: Buffer::empty(area) };
        stage.draw();
        stage
    }

    pub fn sized(mut self, width: u16, height: u16) -> Self {
        self.area = Rect::new(0, 0, width, height);
        self.draw();
        self
    }

    pub fn draw(&mut self) {
        self.buf = Buffer::empty(self.area);
        let now = self.screen.live().at;
        self.screen.draw_whole(self.area, &mut self.buf, now);
    }

    /// The number of the next effect.
    pub fn next_effect(&self) -> EffectId {
        EffectId(self.screen.live().effects_requested() as u32 + 1)
    }

    /// Something happens.
    pub fn tell(&mut self, event: impl Into<Event>) {
        let (n, at) = (self.screen.live().n + 1, self.screen.live().at);
        self.screen.receive(Arc::new(Record::new(n, at, event)));
        self.draw();
    }

    /// Presses these keys one after the other, with a frame after each.
    pub fn press(&mut self, keys: &str) -> Vec<ScreenRequest> {
        let mut effects = Vec::new();
        for key in keys.split_whitespace() {
            let key: Key = key.parse().unwrap();
            effects.extend(self.screen.handle(&Input::Key(KeyEvent::from(key))));
            self.draw();
        }
        effects
    }

    /// Types a text, letter by letter.
    pub fn write(&mut self, text: &str) {
        for c in text.chars() {
            let key = Key::plain(ratatui::crossterm::event::KeyCode::Char(c));
            self.screen.handle(&Input::Key(KeyEvent::from(key)));
        }
        self.draw();
    }

    pub fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) -> Vec<ScreenRequest> {
        let modifiers = ratatui::crossterm::event::KeyModifiers::NONE;
        let event = MouseEvent { kind, column, row, modifiers };
        let effects = self.screen.handle(&Input::Mouse(event));
        self.draw();
        effects
    }

    /// Clicks on the first cell of a target.
    pub fn click(&mut self, target: &Target) -> Vec<ScreenRequest> {
        let found = self.screen.hits().targets().find(|(_, there)| there == target);
        let area = found.unwrap_or_else(|| panic!("{target:?} is not on the screen")).0;
        self.mouse(MouseEventKind::Down(MouseButton::Left), area.x, area.y)
    }

    pub fn text(&self) -> String {
        shot::text(&self.buf)
    }

    pub fn shows(&self, text: &str) -> bool {
        self.text().contains(text)
    }
}

pub fn setup() -> Setup {
    Setup {
        title: "the demo".into(),
        read_only: None,
        keymap: Keymap::default(),
        themes: vec![Theme::default()],
        charset: toolyard::ui::symbols::Charset::Unicode,
        layouts: toolyard::ui::layout::Saved::default(),
        journal: None,
        ..Setup::default()
    }
}
