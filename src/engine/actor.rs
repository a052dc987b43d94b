//! Who acts: each effect says it, and each station says whose effects concern it.

/// Who makes an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A run: a strategy that works on a task.
    Run,
    /// A person, by hand.
    Person,
    /// A foreign agent: its tools run elsewhere, and it has neither menu nor budget here.
    Guest,
}
