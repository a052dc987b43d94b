//! Progress reports of tools during their calls.

use std::cell::Cell;
use std::time::Duration;

use tokio::time::Instant;

use crate::domain::{CallProgress, EffectRef, ToolCallEvent};
use crate::handle::Handle;

/// The shortest time between two events.
const EVERY: Duration = Duration::from_millis(100);

/// Makes events of progress reports. Reports that come too soon are left out, since the next one has more.
pub fn told(handle: &Handle, effect: EffectRef) -> impl Fn(CallProgress) {
    let last: Cell<Option<Instant>> = Cell::new(None);
    move |progress| {
        if last.get().is_none_or(|last| last.elapsed() >= EVERY) {
            last.set(Some(Instant::now()));
            handle.emit(ToolCallEvent::ToolCallProgressed { effect, progress });
        }
    }
}
