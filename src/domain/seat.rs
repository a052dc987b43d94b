//! The place of a screen at a session that other screens show too. One of them controls, the others watch.

/// What a screen is told about control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeatNews {
    /// Who controls from now on: this screen if it is `yours`. `None`: nobody.
    Control { yours: bool, controller: Option<String> },
    /// Somebody asks this screen for control.
    Asked { by: String },
    /// What this screen asked for is not done, and why.
    Refused { why: String },
    /// The session takes no commands from this screen any more, and why.
    Lost { why: String },
}

/// What a screen asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatRequest {
    /// Control.
    Take,
    /// To give control up.
    Leave,
}

/// A screen's connection to those who share its session: a stream of [`SeatNews`], and where [`SeatRequest`]s go.
#[derive(Debug)]
pub struct Seat<News, Requests> {
    pub kind: SeatKind,
    pub news: News,
    pub requests: Requests,
}

/// Whose session it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatKind {
    /// This screen started it, and it ends with this screen.
    Own,
    /// It runs elsewhere, and goes on without this screen.
    Attached,
}
