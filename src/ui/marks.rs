//! The words for the marks of a call: facts that nobody tells its agent.

use crate::domain::state::{CallMark, Rewritten, Uncached};
use crate::domain::{
    Finish, Gone, GoneMessage, LostPrefix, Unread,
    words::{counted, quoted},
};
use crate::text;

/// How many messages one line names.
const NAMED: usize = 2;
/// Characters of the beginning of a message in such a line.
const BEGINS: usize = 40;

/// A mark in a few words, for beside a call.
pub fn short(mark: &CallMark<'_>) -> String {
    match mark {
        CallMark::CutAnswer(Finish::Filtered) => "cut off by a content filter".to_owned(),
        CallMark::CutAnswer(_) => "cut off at the token limit".to_owned(),
        CallMark::DroppedInput(unread) => read(unread),
        CallMark::LostPrefix { lost, uncached } => {
            let uncached = uncached.map_or(String::new(), |it| format!(", {}", not_cached(it)));
            format!("{} differs from the request before{uncached}", lost.field)
        }
        CallMark::Rewritten(past) => dropped(past),
        CallMark::NoResult => "the agent never sent its result".to_owned(),
    }
}

/// A mark in a sentence.
pub fn long(mark: &CallMark<'_>) -> String {
    match mark {
        CallMark::DroppedInput(unread) => input(unread),
        CallMark::LostPrefix { lost, uncached } => {
            let uncached = uncached.map_or(String::new(), |it| format!("; {}", not_cached(it)));
            format!("{}{uncached}", prefix(lost))
        }
        CallMark::Rewritten(past) => match &past.gone {
            Some(gone) => format!("{}: {}", dropped(past), named(gone, past.dropped)),
            None => dropped(past),
        },
        CallMark::CutAnswer(_) | CallMark::NoResult => short(mark),
    }
}

/// Says how much an endpoint read, and what may be missing.
pub fn input(unread: &Unread) -> String {
    let tools = match unread.tools {
        true => "; the messages alone have no more, so it may have dropped the tools",
        false => "",
    };
    format!("{}{tools}", read(unread))
}

fn read(unread: &Unread) -> String {
    let (read, of) = (text::number(unread.read), text::number(unread.of));
    format!("the endpoint read {read} tokens of some {of}")
}

/// Where a request differs from the one before it.
pub fn prefix(lost: &LostPrefix) -> String {
    let (was, now) = (quoted(&lost.was), quoted(&lost.now));
    format!("{} differs from the request before: {now}, not {was}", lost.field)
}

fn not_cached(Uncached { tokens, of }: Uncached) -> String {
    let (tokens, of) = (text::number(tokens), text::number(of));
    format!("{tokens} of its {of} tokens were not cached")
}

fn dropped(past: &Rewritten) -> String {
    let size = past.gone.as_ref().map(|gone| format!(" ({})", text::bytes(gone.bytes)));
    let (dropped, kept) = (counted(past.dropped, "message"), past.kept);
    format!("the agent dropped {dropped}{} and kept the first {kept}", size.unwrap_or_default())
}

/// Names the first dropped messages.
pub fn named(gone: &Gone, dropped: u32) -> String {
    let first = gone.messages.iter().take(NAMED).map(|message| {
        let begins: String = message.begins.chars().take(BEGINS).collect();
        let begins = begins.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{} \u{201c}{begins}\u{201d}", message.role)
    });
    let mut all: Vec<String> = first.collect();
    let more = (dropped as usize).saturating_sub(all.len());
    all.extend((more > 0).then(|| format!("{more} more")));
    all.join(", ")
}

/// A dropped message as a row.
pub fn row(message: &GoneMessage) -> (String, String) {
    let begins = message.begins.split_whitespace().collect::<Vec<_>>().join(" ");
    (message.role.clone(), format!("{:>8}  {begins}", text::bytes(message.bytes)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::EffectId;

    #[test]
    fn a_mark_says_what_was_counted() {
        let unread = Unread { read: 2048, of: 9000, tools: false };
        let read = "the endpoint read 2,048 tokens of some 9,000";
        assert_eq!(long(&CallMark::DroppedInput(unread)), read);
        let tools = Unread { tools: true, ..unread };
        assert!(long(&CallMark::DroppedInput(tools)).ends_with("it may have dropped the tools"));
        let field = "system".to_owned();
        let [was, now] = ["It is\n12:00", "It is\n12:01"].map(str::to_owned);
        let lost = LostPrefix { after: EffectId(1), field, was, now };
        let uncached = Some(Uncached { tokens: 1007, of: 1010 });
        assert_eq!(
            long(&CallMark::LostPrefix { lost: &lost, uncached }),
            "system differs from the request before: \u{201c}It is 12:01\u{201d}, not \u{201c}It is 12:00\u{201d}; \
             1,007 of its 1,010 tokens were not cached"
        );
        let message =
            |role: &str| GoneMessage { role: role.to_owned(), begins: "so".to_owned(), bytes: 700 };
        let messages = ["user", "tool", "tool"].map(message).into();
        let gone = Some(Arc::new(Gone { messages, bytes: 2100 }));
        let past = Rewritten { kept: 2, dropped: 3, gone };
        assert_eq!(
            long(&CallMark::Rewritten(&past)),
            "the agent dropped 3 messages (2.1 kB) and kept the first 2: user \u{201c}so\u{201d}, tool \
             \u{201c}so\u{201d}, 1 more"
        );
    }
}
