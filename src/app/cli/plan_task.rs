//! `toolyard plan --task`: candidates chosen as in a session, valued by past uses.

use std::{collections::BTreeMap, sync::Arc};

use super::{PlanTaskArgs, out, runtime::runtime, trouble::Trouble};
use crate::domain::{Event, Knob, Lexical, Record, SessionEvent, State, ToolName};
use crate::papers::btp::{Candidate, Estimate, candidates};
use crate::session::{self, PreparedSession, SessionSpec};
use crate::store::experience::{Experience, ExperienceError, Query, Same};
use crate::ui::wording::not_embedded;
use crate::{config::Config, workspace::Workspace};

/// A tool, its input for a plan, and the estimate behind that.
pub type Named = (ToolName, Candidate, Option<Estimate>);

/// The candidates of a task with their initial costs and estimates, and whether plans spread over them.
pub fn tools(task: &str, args: &PlanTaskArgs) -> Result<(Vec<Named>, bool), Trouble> {
    if task.trim().is_empty() {
        return Err(Trouble::Usage("the task is empty".to_owned()));
    }
    let spec = SessionSpec {
        config: args.config.config.clone(),
        workspace: args.workspace.clone(),
        knobs: knobs(args)?,
        ..SessionSpec::default()
    };
    let PreparedSession { config, workspace, .. } = spec.prepare()?;
    let mut store = store(args, &config, &workspace)?;
    let query = read(&mut store, task, &config)?;
    let same = if args.leak_guard { Same::LeftOut } else { Same::Counts };
    let state = opened(&config, &workspace)?;
    let k = state.knobs.count(Knob::Candidates);
    let helped = store
        .helped(&query, k, same, |tool| state.in_shown().offers(tool))
        .map_err(Trouble::from)?;
    let index = Lexical::new(workspace.manifests.iter().map(|manifest| &*manifest.spec));
    let chosen = candidates::candidates(state.in_shown(), &index, task, helped);
    let histories = store.history(&query, &chosen, same).map_err(Trouble::from)?;
    let sharpness = state.knobs.get(Knob::Sharpness);
    let valued = histories.into_iter().map(|history| {
        let estimate =
            candidates::estimate(&state.knobs, &candidates::past(&history.past, sharpness));
        let Estimate { value, limit, .. } = estimate;
        let candidate = Candidate {
            cost: state.use_cost(&history.tool, config.session.strategy.base.spec().decides),
            value,
            limit,
        };
        (history.tool, candidate, Some(estimate))
    });
    Ok((valued.collect(), state.knobs.is_on(Knob::Spread)))
}

/// The state at the start of a session, from which its plans are made.
fn opened(config: &Config, workspace: &Workspace) -> Result<State, Trouble> {
    let opening = session::opening(config, &workspace.title, &session::models(config, &[])?);
    let specs = workspace.manifests.iter().map(|manifest| Arc::clone(&manifest.spec));
    let events = [
        Event::Session(SessionEvent::SessionOpened { opening: Box::new(opening) }),
        Event::Session(SessionEvent::ToolsAdded { tools: specs.collect() }),
    ];
    let records = (1..).zip(events).map(|(n, event)| Record::new(n, 0, event));
    Ok(State::fold(&records.collect::<Vec<_>>()))
}

/// The task as a query, with its embedding if an embedding model is configured. If embedding fails,
/// words are compared.
fn read(store: &mut Experience, task: &str, config: &Config) -> Result<Query, Trouble> {
    let query = store.query(task);
    let model = session::embedder(config)?;
    let Some(model) = model.as_ref().and_then(|model| model.embedder()) else { return Ok(query) };
    if let Some(known) = store.embedding(query.text(), model.model()).map_err(Trouble::from)? {
        return Ok(query.with_embedding(known));
    }
    let embedding = match runtime()?.block_on(model.embed(&[query.text().to_owned()])) {
        Ok(read) => {
            read.notice.iter().for_each(|notice| out::warn(notice));
            read.embeddings.into_iter().next()
        }
        Err(error) => {
            out::warn(&not_embedded(&error));
            None
        }
    };
    let Some(embedding) = embedding else { return Ok(query) };
    // The embedding was paid for, so it is kept: a session on the same task need not pay again.
    store.keep_embeddings(&[(query.text(), embedding.clone())]).map_err(Trouble::from)?;
    Ok(query.with_embedding(embedding))
}

/// Knobs from the command line, which override configured ones.
fn knobs(args: &PlanTaskArgs) -> Result<BTreeMap<Knob, f64>, Trouble> {
    let texts = [
        (Knob::Tau, &args.tau),
        (Knob::Estimate, &args.estimate),
        (Knob::Candidates, &args.candidates),
    ];
    let given = texts.into_iter().filter_map(|(knob, text)| Some((knob, text.as_ref()?)));
    let parsed = given.map(|(knob, text)| {
        let value = knob.spec().parse(text);
        Ok((knob, value.map_err(|why| Trouble::Usage(format!("--{knob}: {why}")))?))
    });
    parsed.collect()
}

/// The store of past uses. It is empty before the first session, unless the file was named.
fn store(
    args: &PlanTaskArgs,
    config: &Config,
    workspace: &Workspace,
) -> Result<Experience, Trouble> {
    if let Some(file) = &args.experience {
        return Experience::open_existing(file).map_err(Trouble::from);
    }
    let file = config.experience_file(args.workspace.as_deref());
    match file.as_deref().map(Experience::open_existing) {
        None | Some(Err(ExperienceError::Missing { .. })) => {
            let mut store = Experience::private().map_err(Trouble::from)?;
            workspace.begin(&mut store).map_err(Trouble::from)?;
            Ok(store)
        }
        Some(opened) => opened.map_err(Trouble::from),
    }
}
