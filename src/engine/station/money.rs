//! Real money at the beginning of a session, and the words of its limit.

use super::PurseShare;

/// How the reason begins when a session ends at its limit.
pub const DOLLARS_REACHED: &str = "the limit of dollars is reached";

/// How the reason begins when a request of a watched agent is refused, since no price is known for a limit.
pub const UNPRICED: &str = "the limit of dollars cannot count";

/// Amounts of real money with which a session opens, in US dollars.
#[derive(Clone, Debug, Default)]
pub struct MoneyAtStart {
    /// The cost of the answers of an interrupted task.
    pub paid: f64,
    /// How much the session may cost; `None`: any amount.
    pub limit: Option<f64>,
    /// The part of a purse that several sessions have together.
    pub share: Option<PurseShare>,
    /// The amount after which a session without a limit says so.
    pub tells: Option<f64>,
}
