//! The output of `toolyard ask`: each reply as it comes, and at the end how often each choice was made, model by model.

use serde_json::json;

use crate::ask::asking::AskOutcome;
use crate::ask::candidate::Candidate;
use crate::ask::choice::ReplyChoice;
use crate::ask::recorded_call::RecordedCall;
use crate::ask::tally::{AskTally, AskedReply, AskedSums};
use crate::cli::{colour, out, trouble::Trouble};
use crate::domain::{ModelCallState, ModelName, Reply, words::counted};
use crate::ui::panes::format::dollars;
use crate::ui::text::{clean, cut, fit, number, span, width};

/// Columns of a reply, and of a choice.
const REPLY: usize = 160;
const CHOICE: usize = 60;

/// A cell of a row of sums.
type SumCell<'a> = &'a dyn Fn(&AskedSums, &Candidate) -> String;

/// The call that was asked again, and its models.
pub struct Told<'a> {
    pub recorded: &'a RecordedCall,
    pub call: &'a ModelCallState,
    pub candidates: &'a [Candidate],
    /// Calls of each model.
    pub times: u32,
    pub notes: Vec<String>,
    /// Whether programs read it.
    pub as_json: bool,
}

impl Told<'_> {
    /// Prints what is asked again, and what about it differs from the recorded call.
    ///
    /// # Errors
    /// As [`out::print()`].
    pub fn begin(&self) -> Result<(), Trouble> {
        if self.as_json {
            return Ok(());
        }
        let Told { call, recorded, .. } = self;
        let source = recorded.spec().map_or(call.model.as_str(), |spec| &spec.source);
        let size = counted(call.request.messages.len(), "message");
        let offered = counted(call.request.tools.len(), "tool");
        let reply = call.reply().map_or_else(|| "no reply".to_owned(), said);
        out::print_line(format!(
            "call {}, task {}: {size}, {offered}, recorded with {}\nrecorded: {}",
            call.id,
            call.task,
            clean(source),
            cut(&reply, REPLY)
        ))?;
        self.notes.iter().try_for_each(|note| out::print_line(format!("note: {}", clean(note))))?;
        out::print_line("")
    }

    /// Columns of a model's name.
    fn wide(&self) -> usize {
        let widths = self.candidates.iter().map(|it| width(it.name().as_str()));
        widths.max().unwrap_or(0).clamp(10, 32)
    }

    /// Prints a reply as it comes.
    ///
    /// # Errors
    /// As [`out::print()`].
    pub fn reply(&self, asked: &AskedReply) -> Result<(), Trouble> {
        if self.as_json {
            return Ok(());
        }
        let place = fit(&format!("{} {}", asked.model, asked.time), self.wide() + 5);
        let error = asked.error.iter().map(|error| format!("no reply: {}", error.text));
        let text: String = asked.reply.iter().map(said).chain(error).collect();
        out::print_line(format!("{place} {:>8}  {}", span(asked.ms * 1000), cut(&text, REPLY)))
    }

    /// Prints the choices and the sums, or all of it as one object.
    ///
    /// # Errors
    /// As [`out::print()`].
    pub fn end(&self, asked: &AskOutcome) -> Result<(), Trouble> {
        let models: Vec<ModelName> = self.candidates.iter().map(|it| it.name().clone()).collect();
        let tally = AskTally::of(&models, &asked.replies, self.call.reply());
        if !self.as_json {
            return self.table(asked, &tally);
        }
        let mut replies: Vec<&AskedReply> = asked.replies.iter().collect();
        replies.sort_by_key(|asked| (&asked.model, asked.time));
        out::print_pretty(&json!({
            "recorded": self.call,
            "asked": self.candidates.iter().map(|it| it.model.spec()).collect::<Vec<_>>(),
            "notes": self.notes,
            "notices": asked.notices,
            "stopped": asked.signal.is_some(),
            "choices": tally.choices,
            "models": tally.models,
            "replies": replies,
        }))
    }

    fn table(&self, asked: &AskOutcome, tally: &AskTally) -> Result<(), Trouble> {
        let wide = self.wide();
        let line = |first: &str, cells: Vec<String>, last: &str| {
            let cells: String = cells.iter().map(|cell| format!("  {cell:>wide$}")).collect();
            format!("{}{cells}  {last}", fit(first, CHOICE)).trim_end().to_owned() + "\n"
        };
        let names = tally.models.keys().map(|name| cut(name.as_str(), wide).into_owned());
        let mut table = line("", names.collect(), "recorded");
        for row in &tally.choices {
            let counts = row.counts.values().zip(tally.models.values());
            let counts = counts.map(|(n, sums)| format!("{n} of {}", sums.replies)).collect();
            table += &line(&row.choice.to_string(), counts, if row.recorded { "✓" } else { "" });
        }
        table.push('\n');
        let tokens = |sums: &AskedSums, tokens| {
            format!("{}{}", if sums.estimated { "~" } else { "" }, number(tokens))
        };
        let mean = |sums: &AskedSums| sums.ms.checked_div(sums.replies.into());
        let rows: [(&str, SumCell<'_>); 6] = [
            ("no reply", &|sums, _| sums.failed.to_string()),
            ("not sent", &|sums, _| (self.times - sums.replies - sums.failed).to_string()),
            ("tokens in", &|sums, _| tokens(sums, sums.tokens_in)),
            ("tokens out", &|sums, _| tokens(sums, sums.tokens_out)),
            ("time", &|sums, _| {
                mean(sums).map_or("–".to_owned(), |ms| span(ms.saturating_mul(1000)))
            }),
            ("cost", &|sums, of| dollars(sums.dollars, sums.unpriced, of.model.spec().listed)),
        ];
        for (name, cell) in rows {
            let models = tally.models.values().zip(self.candidates);
            let recorded = self.call.dollars.filter(|_| name == "cost");
            let recorded = recorded.map(|sum| dollars(sum.into(), 0, false)).unwrap_or_default();
            table += &line(name, models.map(|(sums, of)| cell(sums, of)).collect(), &recorded);
        }
        asked.notices.iter().for_each(|notice| table += &format!("note: {}\n", clean(notice)));
        if asked.signal.is_some() {
            table += "stopped: no further call was sent\n";
        }
        out::print(colour::headed(&format!("\n{table}"), 1))
    }
}

/// A reply in a line: its choice, and its text.
fn said(reply: &Reply) -> String {
    let text = reply.said().split_whitespace().collect::<Vec<_>>().join(" ");
    match (ReplyChoice::of(reply), text.is_empty()) {
        (ReplyChoice::Text, _) => text,
        (choice, true) => choice.to_string(),
        (choice, false) => format!("{choice} · {text}"),
    }
}
