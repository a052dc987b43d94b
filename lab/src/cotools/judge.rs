//! `toolyard-lab cotools judge`: after which tokens of a text a call would start.

use serde_json::json;

use super::args::JudgeArgs;
use crate::app::shell::cotools::captions;
use crate::app::shell::{out, trouble::Trouble};
use crate::cotools::open::{self, GOES_ON};
use crate::papers::cotools::{Heads, Use};
use crate::ui::text::clean;

pub fn judge(args: &JudgeArgs) -> Result<(), Trouble> {
    let JudgeArgs { text, threshold, .. } = args;
    if !(0.0..=1.0).contains(threshold) {
        let text = format!("--threshold {threshold}: expected a number from 0 to 1");
        return Err(Trouble::Usage(text));
    }
    let mut encoder = open::encoder(&args.reader)?;
    let heads = open::usual_heads(args.heads.as_deref(), &args.reader, &encoder, Use::Judge)?;
    let Some(heads) = heads else {
        let text = "no heads of a judge; name some with --heads FILE, or train them with \
            `toolyard-lab cotools train judge`";
        return Err(Trouble::Usage(text.to_owned()));
    };
    let Heads::Judge(judge) = &heads.heads else { return Ok(()) };
    let read = encoder.token_states(text, heads.about.layer, &GOES_ON).map_err(Trouble::failed)?;
    let (tokens, mut states) = read;
    heads.about.preparation.apply(&mut states, None).map_err(Trouble::failed)?;
    let p = judge.probabilities(&states).map_err(Trouble::failed)?;
    let mut begin = 0;
    let mut pieces = Vec::new();
    for (end, p) in tokens.ends.iter().zip(p) {
        let piece = String::from_utf8_lossy(text.as_bytes().get(begin..*end).unwrap_or_default());
        pieces.push((piece.into_owned(), f64::from(p)));
        begin = *end;
    }
    let calls = pieces.iter().filter(|(_, p)| p > threshold).count();
    if args.json {
        let tokens: Vec<_> = pieces
            .iter()
            .map(|(text, p)| json!({ "text": text, "p": p, "call": p > threshold }))
            .collect();
        let json = json!({ "threshold": threshold, "calls": calls, "tokens": tokens });
        return out::print_json(&json.to_string());
    }
    for (piece, p) in &pieces {
        let mark = if p > threshold { "  ◀ call" } else { "" };
        // Quoted, so that white space is seen and a control character does nothing.
        out::print_line(format!("{p:.2}  {:?}{mark}", clean(piece)))?;
    }
    if encoder.work().cut > 0 {
        out::warn("the text is longer than the model's context; its end was not read");
    }
    out::print_line(format!(
        "{calls} of {} tokens above {threshold} · {} · {} · heads {}",
        pieces.len(),
        clean(encoder.name()),
        captions::place((heads.about.layer, heads.about.pooling)),
        captions::training(&heads)
    ))
}
