//! Reports of the reader, a language model that reads along: the tools that it has encoded, and where a call starts.

use super::{EffectRef, family::family};
use crate::reading::{JudgedPiece, ReaderAbout};

family! {
    /// Events of the reader besides the effects of a session.
    pub enum ReaderEvent {
        /// The reader is ready, with these heads.
        HeadsLoaded {
            reader: ReaderAbout,
        },
        /// The number of tools that have a state now.
        ToolEncoded {
            encoded: usize,
            tools: usize,
        },
        /// A map of the tools, in older journals only. It is no longer drawn, and its data is not read.
        ToolsMapped {},
        /// The reader has stopped: tools are ranked by words alone from here on.
        ReaderFailed {
            error: String,
        },
        /// The judge has read more of what a model call writes (CoTools, eq. 3 and 4).
        TokenJudged {
            effect: EffectRef,
            pieces: Vec<JudgedPiece>,
        },
    }
}
