//! Everything that this screen has told, the newest last.

use super::Page;
use crate::ui::text;
use crate::ui::view::{Message, Tone};

pub(super) fn write(messages: &[Message], page: &mut Page<'_>) {
    if messages.is_empty() {
        page.text("No messages yet.", page.theme.dim);
    }
    for message in messages {
        let style = match message.tone {
            Tone::Good => page.theme.good,
            Tone::Plain => page.theme.text,
            Tone::Bad => page.theme.bad,
        };
        page.field_in(&text::span(message.at), &message.text, style);
    }
}
