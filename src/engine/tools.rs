//! Tools that come and go while a session runs, and what is kept beyond it.

use super::core::Core;
use crate::domain::event::Event;

impl Core {
    /// Makes the tools findable by what they do.
    pub fn index_all(&mut self) {
        for spec in self.tools.specs() {
            self.index.insert(spec);
        }
    }

    /// Says which tools there are at the start.
    pub fn join_all(&mut self) {
        let tools: Vec<_> = self.tools.specs().cloned().collect();
        self.emit(Event::ToolsAdded { tools });
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
            self.emit(Event::ToolsRemoved { tools: changes.left });
        }
        if !joined.is_empty() {
            self.emit(Event::ToolsAdded { tools: joined });
        }
        self.emit(Event::Noticed { text });
        self.replan_quietly("the tools were read again");
        Ok(())
    }

    /// Keeps what was learned. A failure is said once a task, and loses nothing: the journal has it.
    pub fn keep_learned(&mut self) {
        if self.is_broken() {
            return;
        }
        let Some(mut keep) = self.keep.take() else { return };
        if let Err(error) = keep(&self.state.learning) {
            self.emit(Event::Noticed { text: format!("what was learned was not saved: {error}") });
        }
        self.keep = Some(keep);
    }
}
