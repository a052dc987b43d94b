//! Saves the last copied text, and the session as a scenario: beside the screen, since its journal may be long.

use super::Loop;
use crate::scenario::SavedScenario;
use crate::view::Tone;

impl Loop {
    pub(super) fn save_layout(&mut self) {
        let (acting, size) = self.front.screen.view.layouts.save();
        match self.layouts.write(&self.front.screen.view.layouts.saved) {
            Ok(path) => {
                let text = format!("layout saved for {acting}, {size} screens: {}", path.display());
                self.front.screen.tell(Tone::Good, text);
            }
            Err(why) => self.front.screen.tell(Tone::Bad, format!("layout not saved: {why}")),
        }
    }

    pub(super) fn save_watches(&mut self) {
        if let Err(why) = self.watches.write(&self.front.screen.view.watches) {
            self.front.screen.tell(Tone::Bad, format!("watches not saved: {why}"));
        }
    }

    /// Writes the last copied text to a file.
    pub(super) fn keep_copy(&mut self) {
        match self.clipboard.write(&self.shots) {
            Ok(path) => self.front.screen.tell(Tone::Good, format!("written: {}", path.display())),
            Err(error) => self.front.screen.tell(Tone::Bad, format!("not written: {error}")),
        }
    }

    pub(super) fn save_scenario(&mut self) {
        if let Err(why) = self.front.save_scenario(self.saved.0.clone()) {
            self.told_of_scenario(Err(why));
        }
    }

    /// Tells where the scenario is.
    pub(super) fn told_of_scenario(&mut self, saved: SavedScenario) {
        match saved {
            Ok(path) => {
                let text = format!("scenario saved: {}", path.display());
                self.front.screen.tell(Tone::Good, text);
            }
            Err(why) => {
                let text = format!("scenario not saved: {why}");
                self.front.screen.tell(Tone::Bad, text);
            }
        }
    }
}
