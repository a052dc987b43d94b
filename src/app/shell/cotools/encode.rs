//! `toolyard cotools encode`.

use std::path::Path;

use serde_json::json;

use super::args::{EncodeArgs, ReaderArgs};
use super::catalogue::Catalogue;
use super::clock::cpu_seconds;
use super::{captions, open};
use crate::domain::words::counted;
use crate::papers::cotools::{Retrieval, Use};
use crate::shell::{out, trouble::Trouble};
use crate::ui::text::clean;

pub fn encode(args: &EncodeArgs) -> Result<(), Trouble> {
    let catalogue = Catalogue::of_workspace(&args.workspace)?;
    encode_tools(&catalogue, args.heads.as_deref(), &args.reader, args.json)
}

/// Encodes the tools of a catalogue for these heads, or for questions without heads, and prints the cost.
///
/// # Errors
/// The reader or the heads cannot be used.
pub fn encode_tools(
    catalogue: &Catalogue,
    heads: Option<&Path>,
    reader: &ReaderArgs,
    json: bool,
) -> Result<(), Trouble> {
    let mut encoder = open::encoder(reader)?;
    let heads = open::heads(heads, &encoder, Use::Question)?;
    let retrieval = match heads {
        Some(heads) => Retrieval::trained(heads).map_err(Trouble::usage)?,
        None => Retrieval::untrained(Use::Question, encoder.size()),
    };
    let at = retrieval.at();
    let began = cpu_seconds();
    open::encode(&mut encoder, "tools", &catalogue.texts(), at)?;
    let work = encoder.work();
    let seconds = began.zip(cpu_seconds()).map(|(began, now)| now - began);
    let speed = seconds.filter(|time| *time > 0.0).map(|time| work.tokens as f64 / time);
    let resident = memory_stats::memory_stats().map(|of| of.physical_mem);
    if json {
        let object = json!({
            "tools": catalogue.tools.len(), "read": work.texts, "tokens": work.tokens, "cut": work.cut,
            "cpu_seconds": seconds, "tokens_per_cpu_second": speed, "resident_bytes": resident,
            "model": encoder.hash(), "at": captions::place(at),
        });
        return out::print_json(&object.to_string());
    }
    let tools = counted(catalogue.tools.len(), "tool");
    let before = catalogue.tools.len() as u64 - work.texts.min(catalogue.tools.len() as u64);
    let read = match (work.texts, speed) {
        (0, _) => "all were known".to_owned(),
        (texts, Some(speed)) => format!(
            "{texts} read now ({} tokens, {speed:.0} per CPU second), {before} known before",
            work.tokens
        ),
        (texts, None) => {
            format!("{texts} read now ({} tokens), {before} known before", work.tokens)
        }
    };
    out::print_line(format!("{tools}: {read}"))?;
    if work.cut > 0 {
        out::print_line(format!(
            "{} longer than the model's context; their ends were not read",
            counted(usize::try_from(work.cut).unwrap_or(usize::MAX), "description")
        ))?;
    }
    out::print_line(format!("{} · {}", clean(encoder.name()), captions::place(at)))
}
