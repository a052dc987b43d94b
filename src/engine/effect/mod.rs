//! Effects: everything that reaches a model, a tool, an embedding model or a reader, with one number, on
//! one path (see [`perform`]). Only files of this folder touch a model or a tool.

mod ask;
mod call_judge;
mod effect_end;
mod kinds;
mod lively;
mod pending;
mod perform;
mod probe;
mod progress;
mod real;
mod request;
mod stream;

pub use self::kinds::{
    Effect, Embedded, EmbeddingCall, GuestCall, ModelCall, Outcome, Ranked, ReadingCall, ToolCall,
};
pub(super) use self::{
    ask::{Caller, ask},
    effect_end::redacted,
    pending::PendingEffect,
    perform::perform,
    probe::probe_models,
    request::{occurrence, request, requested},
};
