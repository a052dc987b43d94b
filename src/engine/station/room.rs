//! How many tools may run at once: as many as the knob `concurrency` says. A held call takes no room.

use futures::{FutureExt, future::LocalBoxFuture};

use super::{Effect, Passage, Station, Verdict};
use crate::{domain::knob::Knob, engine::session::Session};

pub(super) struct Room;

impl Station for Room {
    fn before<'a>(&'a self, passage: &'a mut Passage) -> LocalBoxFuture<'a, Verdict> {
        async move {
            let needs_room = matches!(passage.effect, Effect::Tool(_));
            if !needs_room || passage.handle.read(has_room) {
                return Verdict::Go;
            }
            passage.handle.until(has_room).await;
            // While it waited the world may have changed, and a pause may have come: nothing starts in
            // a pause because something else has ended.
            passage.was_released = false;
            Verdict::Again
        }
        .boxed_local()
    }
}

/// Whether another call may start beside those that run.
fn has_room(session: &Session) -> bool {
    let running = session.state.calls_in_flight().filter(|call| call.started.is_some()).count();
    running < session.state.knobs.count(Knob::Concurrency)
}
