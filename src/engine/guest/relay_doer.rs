//! The doer of a call that a relay passes on to the tool's server.

use std::cell::{Cell, RefCell};
use std::{rc::Rc, sync::Arc};

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::Value;

use super::calls::Returned;
use crate::domain::{ToolError, ToolErrorKind, ToolSpec};
use crate::tool::foreign_calls::{CallSessionEnd, RelayTurn};
use crate::tool::{Invocation, Tool};

/// Why a call fails that was sent on and can no longer be answered.
const LOST: &str = "the relay ended while the call ran: its outcome is unknown";

/// Why a call was not sent on.
const GIVEN_UP: &str = "the client had given up before the tool was called";

/// A tool behind a relay.
pub struct OnWire {
    spec: Arc<ToolSpec>,
    /// The arguments as the client sent them.
    arguments: Value,
    way: Rc<CallSessionEnd>,
    came: RefCell<Option<Returned>>,
    is_sent: Cell<bool>,
}

impl OnWire {
    pub fn new(spec: Arc<ToolSpec>, arguments: Value, way: Rc<CallSessionEnd>) -> Self {
        Self { spec, arguments, way, came: RefCell::default(), is_sent: Cell::new(false) }
    }

    /// Whether the call was sent on.
    pub fn is_sent(&self) -> bool {
        self.is_sent.get()
    }

    /// The server's result, if the server was called and has answered.
    pub fn came(&self) -> Option<Returned> {
        self.came.borrow().clone()
    }
}

impl Tool for OnWire {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn call<'a>(&'a self, invocation: &'a Invocation) -> LocalBoxFuture<'a, Returned> {
        async move {
            let is_other = invocation.arguments != self.arguments;
            let on = RelayTurn::On(is_other.then(|| invocation.arguments.clone()));
            if !self.way.tell(on) {
                return Err(ToolError::new(ToolErrorKind::Cancelled, GIVEN_UP));
            }
            self.is_sent.set(true);
            let Some(returned) = self.way.returned().await else {
                return Err(ToolError::new(ToolErrorKind::Failed, LOST));
            };
            *self.came.borrow_mut() = Some(returned.clone());
            returned
        }
        .boxed_local()
    }
}
