//! Programs that run again beside the screen, to show their past.

use futures::future::LocalBoxFuture;

use crate::domain::program::{Interpreter, Reached};
use crate::moment_run::ProgramQuery;
use crate::screen::Screen;

type LookFuture = LocalBoxFuture<'static, (Box<dyn Interpreter>, ProgramQuery, Reached)>;

/// Runs programs again to show their past, one at a time.
pub struct Looks {
    make: fn() -> Box<dyn Interpreter>,
    /// Interpreter that stays warm for the next look.
    idle: Option<Box<dyn Interpreter>>,
    work: Option<LookFuture>,
}

impl Looks {
    pub fn new(make: fn() -> Box<dyn Interpreter>) -> Self {
        Self { make, idle: None, work: None }
    }

    /// Begins to run a program again if the screen needs that.
    pub fn begin(&mut self, screen: &mut Screen) {
        if self.work.is_some() {
            return;
        }
        let Some((wanted, again)) = screen.rerun() else { return };
        let mut interpreter = self.idle.take().unwrap_or_else(self.make);
        self.work = Some(Box::pin(async move {
            let reached = interpreter.again(&again).await;
            (interpreter, wanted, reached)
        }));
    }

    /// Waits until the program that runs again has reached its moment; for ever if none runs.
    pub async fn end(&mut self) -> (ProgramQuery, Reached) {
        let Some(work) = &mut self.work else { return std::future::pending().await };
        let (interpreter, wanted, reached) = work.await;
        (self.idle, self.work) = (Some(interpreter), None);
        (wanted, reached)
    }
}
