//! Consent to tool calls: requested, given or refused.

use super::{By, EffectRef, family::family};
use crate::approval::Approval;

family! {
        /// Consent to tool calls: requested, given or refused.
    pub enum ConsentEvent {
        /// A tool call waits for a person's consent.
        ConsentAsked {
            effect: EffectRef,
            /// The rule that requires consent.
            rule: String,
        },
        /// A call ran when its session was interrupted, so its effect is unknown.
        OutcomeUnknown {
            effect: EffectRef,
        },
        /// A person has decided on a tool call.
        ConsentGiven {
            effect: EffectRef,
            allowed: bool,
            by: By,
        },
        /// A person has changed the rules.
        ApprovalSet {
            approval: Box<Approval>,
            was: Box<Approval>,
            by: By,
        },
    }
}
