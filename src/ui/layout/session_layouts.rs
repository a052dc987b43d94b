//! The layouts of a session: the one in use, those that the person changed, and those that were saved.

use std::collections::HashMap;

use super::load::Saved;
use super::{Layout, Size};
use crate::domain::{Acting, Strategy};

/// Key of a layout: a way of acting and a size of the screen.
type LayoutKey = (Acting, Size);

#[derive(Clone, Debug)]
pub struct Layouts {
    pub saved: Saved,
    key: LayoutKey,
    pub now: Layout,
    /// Layouts that were in use before, as they were left.
    left: HashMap<LayoutKey, Layout>,
}

impl Default for Layouts {
    fn default() -> Self {
        Self::new(Saved::default())
    }
}

impl Layouts {
    pub fn new(saved: Saved) -> Self {
        let key = (Strategy::default().into(), Size::Large);
        let now = saved.get(key).unwrap_or_else(|| Layout::standard(key.0, key.1));
        Self { saved, key, now, left: HashMap::new() }
    }

    /// Takes the layout for this way of acting and this size, as it was left.
    pub fn settle(&mut self, acting: Acting, size: Size) {
        let key = (acting, size);
        if self.key == key {
            return;
        }
        let next = self.left.remove(&key).or_else(|| self.saved.get(key));
        let next = next.unwrap_or_else(|| Layout::standard(acting, size));
        let left = std::mem::replace(&mut self.now, next);
        self.left.insert(std::mem::replace(&mut self.key, key), left);
    }

    /// The size that the layout in use is for.
    pub fn size(&self) -> Size {
        self.key.1
    }

    /// Restores the standard layout.
    pub fn reset(&mut self) {
        self.now = Layout::standard(self.key.0, self.key.1);
    }

    /// Stores the layout in use among the saved ones.
    pub fn save(&mut self) -> LayoutKey {
        self.saved.set(self.key, self.now.clone());
        self.key
    }
}
