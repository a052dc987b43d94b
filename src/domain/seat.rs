//! The place of a screen at a session that other screens show too. One of them controls, the others watch.

/// News about control for a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeatNews {
    /// Control has changed. With `yours` this screen has it; `controller` is `None` if no screen has it.
    Control { yours: bool, controller: Option<String> },
    /// Another screen asks this screen for control.
    Asked { by: String },
    /// The request of this screen is refused; `why` is the reason.
    Refused { why: String },
    /// The session takes no more commands from this screen; `why` is the reason.
    Lost { why: String },
}

/// Request of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatRequest {
    /// Take control.
    Take,
    /// Give up control.
    Leave,
}

/// A screen's connection to those who share its session: a stream of [`SeatNews`], and where [`SeatRequest`]s go.
#[derive(Debug)]
pub struct Seat<News, Requests> {
    pub kind: SeatKind,
    pub news: News,
    pub requests: Requests,
}

/// Relation of the session to the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatKind {
    /// The session was started by this screen, and ends with it.
    Own,
    /// The session runs elsewhere, and goes on without this screen.
    Attached,
}
