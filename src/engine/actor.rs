//! The actors: each effect names its own, and each station names the actors whose effects concern it.

/// The actor that makes an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A run: a strategy that works on a task.
    Run,
    /// A person, by hand.
    Person,
    /// A watched agent: its tools run elsewhere, and it has neither menu nor budget here.
    Guest,
}
