//! Tools that come and go while a session runs.

use super::session::Session;
use crate::domain::event::SessionEvent;

impl Session {
    /// Makes the tools findable by what they do.
    pub fn index_all(&mut self) {
        for spec in self.tools.specs() {
            self.index.insert(spec);
        }
    }

    /// Says which tools there are at the start.
    pub fn join_all(&mut self) {
        let tools: Vec<_> = self.tools.specs().cloned().collect();
        self.emit(SessionEvent::ToolsAdded { tools });
    }

    /// Reads the tools again and says what changed.
    pub fn reload_tools(&mut self) -> Result<(), String> {
        let reload = self.reload.as_ref().ok_or("these tools are built in; there are no files")?;
        let changes = self.tools.reload(reload()?);
        let text = format!(
            "tools read again: {} new, {} changed, {} gone",
            changes.joined.len(),
            changes.changed.len(),
            changes.left.len()
        );
        for name in &changes.left {
            self.index.remove(name.as_str());
        }
        let joined: Vec<_> = changes.changed.into_iter().chain(changes.joined).collect();
        for spec in &joined {
            self.index.remove(spec.name.as_str());
            self.index.insert(spec);
        }
        if !changes.left.is_empty() {
            self.emit(SessionEvent::ToolsRemoved { tools: changes.left });
        }
        if !joined.is_empty() {
            self.emit(SessionEvent::ToolsAdded { tools: joined });
        }
        self.emit(SessionEvent::Noticed { text });
        self.replan_quietly("the tools were read again");
        Ok(())
    }
}
