//! Shortens journals: content that a line shares with earlier lines, such as the tools and messages of a request, is
//! written once. This works on the text of a line, so that a new kind of event needs no change here:
//!
//! - `{"=7":VALUE}` is the value, and from here on it is part 7;
//! - `{"=":7}` is part 7;
//! - `{"=":7,"key":VALUE}` is the object part 7 with another value for this key, in its place;
//! - `{"=":[7,20,50]}` is a text: 50 bytes from byte 20 on of the text part 7, as JSON has it between the quotes;
//! - `{"=+":[VALUE,VALUE]}` is these texts, or arrays, one after the other;
//! - `{"==":VALUE}` is the value as it stands, where it would look like one of these.
//!
//! Format 2 has the first two and the last.
//!
//! Parts count from 0. Part 0 begins a new list, and all earlier parts are forgotten. So neither writers nor readers
//! keep many, and a reader that starts in the middle begins with the last line that has part 0.
//!
//! In JSON the three characters `{"=` can only be the beginning of an object, never in a string.

mod models;
mod nodes;
mod read;
mod shorter;
mod texts;
mod written;

pub use self::nodes::{string_end, value_end};
pub use self::read::{PartsReader, Span, Whole};
pub use self::written::PartsWriter;

#[cfg(test)]
mod tests;
