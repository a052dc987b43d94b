//! Servers of models on this machine, if no role uses an endpoint: which ones run, and what they do with tools.

use super::{Finding, Subject, Trials, models};
use crate::domain::words::{clipped, counted};
use crate::servers::{self, Absent, ModelServer, ServerAddress};
use crate::trial;

const ABOUT: &str = "model servers";

/// The most characters of a model's name, which is untrusted text.
const NAME: usize = 80;

/// Looks at the usual ports. `tools`: the tokens of the workspace's tools.
pub(super) async fn examine(subject: &Subject<'_>, tools: u64, findings: &mut Vec<Finding>) {
    let places = match servers::places(subject.environment) {
        Ok(places) => places,
        Err(why) => return findings.push(Finding::fail(ABOUT, why)),
    };
    let looked = servers::look(&places, subject.trials != Trials::None).await;
    let before = findings.len();
    for (place, looked) in places.iter().zip(&looked) {
        match looked {
            Ok(found) => findings.extend(of(found, tools)),
            Err(Absent::Nothing) => {}
            Err(absent) => findings.push(Finding::ok(ABOUT, unusable(place, absent))),
        }
    }
    if findings.len() == before && !places.is_empty() {
        let looked_at: Vec<_> = places.iter().map(|place| place.provider.name).collect();
        let text = format!("none of {} answers on this machine", looked_at.join(", "));
        let advice = "to use a real model, start a server and run `toolyard init`; see docs/guide/real-model.md";
        findings.push(Finding::ok(ABOUT, text).advise(advice));
    }
}

fn of(found: &ModelServer, tools: u64) -> Vec<Finding> {
    let ModelServer { provider, url, models: listed, tried } = found;
    let first = clipped(&listed[0], NAME);
    let text =
        format!("{} at {url}: {}, such as {first}", provider.name, counted(listed.len(), "model"));
    let advice =
        format!("to use it: `--model {url}#{first}`, or a project with it: `toolyard init DIR`");
    let mut findings = vec![Finding::ok(ABOUT, text).advise(advice)];
    if let Some(tried) = tried {
        let window = tried.window.map(|window| trial::of_window(window, tools, tried.server));
        let words = [trial::words(&tried.behaviour, tried.server)].into_iter().chain(window);
        findings.extend(
            words.map(|words| models::finding(&format!("{ABOUT}: {}", provider.name), words)),
        );
    }
    findings
}

fn unusable(place: &ServerAddress, absent: &Absent) -> String {
    let why = match absent {
        Absent::Nothing => "nothing listens",
        Absent::NoModel => "it lists no chat model",
        Absent::Failed(why) => why,
    };
    format!("{} answers, but {why}", place.url)
}
