//! `toolyard plan --task`: candidates as a session chooses them, valued by past uses.

use toolyard::{
    budget::{Candidate, Estimate, Evidence, Mode},
    config::Config,
    experience::{Experience, ExperienceError, History, Same},
    id::ToolName,
    knob::{Knob, Knobs},
    retrieve::Lexical,
    workspace::Workspace,
};

use super::{PlanTaskArgs, experience::trouble, trouble::Trouble};

/// The candidates of a task, what one use costs by their manifests, and what is expected of them.
pub fn tools(
    task: &str,
    args: &PlanTaskArgs,
) -> Result<Vec<(ToolName, Candidate, Option<Estimate>)>, Trouble> {
    if task.trim().is_empty() {
        return Err(Trouble::Usage("the task is empty".to_owned()));
    }
    let config = Config::find(args.config.config.as_deref()).map_err(Trouble::usage)?;
    let knobs = knobs(args, &config)?;
    let folder = args.workspace.clone().or_else(|| config.session.workspace.clone());
    let workspace =
        Workspace::open(folder.as_deref(), &config.tools.folders).map_err(Trouble::usage)?;
    let store = store(args, &config)?;
    let same = if args.leak_guard { Same::LeftOut } else { Same::Counts };
    let chosen = candidates(task, &workspace, &store, same, knobs.count(Knob::Candidates))?;
    let history = store.history(&store.query(task), &chosen, same).map_err(trouble)?;
    let mode = if knobs.count(Knob::Estimate) == 0 { Mode::Smoothed } else { Mode::Paper };
    let valued = history.into_iter().map(|history| {
        let estimate = estimate(&history, mode, knobs.get(Knob::Tau));
        let mut specs = workspace.manifests.iter().map(|manifest| &manifest.spec);
        let declared = specs.find(|spec| spec.name == history.tool).and_then(|spec| spec.cost);
        let Estimate { value, limit, .. } = estimate;
        let candidate = Candidate { cost: config.cost.tool(declared), value, limit };
        (history.tool, candidate, Some(estimate))
    });
    Ok(valued.collect())
}

/// The configured knobs, with what the command line says in their place.
fn knobs(args: &PlanTaskArgs, config: &Config) -> Result<Knobs, Trouble> {
    let mut knobs = config.knobs.clone();
    for (knob, flag, text) in [
        (Knob::Tau, "--tau", &args.tau),
        (Knob::Estimate, "--estimate", &args.estimate),
        (Knob::Candidates, "--candidates", &args.candidates),
    ] {
        if let Some(text) = text {
            let value = knob.spec().parse(text);
            knobs.set(knob, value.map_err(|why| Trouble::Usage(format!("{flag}: {why}")))?);
        }
    }
    Ok(knobs)
}

/// The past. Where no session has left any yet there is none, unless the file was named.
fn store(args: &PlanTaskArgs, config: &Config) -> Result<Experience, Trouble> {
    if let Some(file) = &args.experience {
        return Experience::open_existing(file).map_err(trouble);
    }
    let opened = match config.experience_file(args.workspace.as_deref()) {
        None => Experience::in_memory(),
        Some(file) => match Experience::open_existing(&file) {
            Err(ExperienceError::Missing { .. }) => Experience::in_memory(),
            opened => opened,
        },
    };
    opened.map_err(trouble)
}

/// As a session chooses them: in turn one that helped in similar tasks and one whose words suit; where
/// these are few, others until there are enough.
fn candidates(
    task: &str,
    workspace: &Workspace,
    store: &Experience,
    same: Same,
    k: usize,
) -> Result<Vec<ToolName>, Trouble> {
    let all = || workspace.manifests.iter().map(|manifest| &*manifest.spec);
    let known = |tool: &str| all().any(|spec| spec.name.as_str() == tool);
    let helped = store.helped(&store.query(task), k, same, known).map_err(trouble)?;
    let mut helped = helped.into_iter().map(|helped| helped.tool);
    let suiting = Lexical::new(all()).search(task, k);
    let mut suiting = suiting.into_iter().map(|(tool, _)| tool);
    let mut others = all().map(|spec| spec.name.clone());
    let mut found: Vec<ToolName> = Vec::new();
    while found.len() < k {
        let mut next: Vec<_> = helped.next().into_iter().chain(suiting.next()).collect();
        if next.is_empty() {
            let Some(other) = others.next() else { break };
            next.push(other);
        }
        for tool in next {
            if !found.contains(&tool) {
                found.push(tool);
            }
        }
    }
    found.truncate(k);
    Ok(found)
}

fn estimate(history: &History, mode: Mode, tau: f64) -> Estimate {
    let mut evidence = Evidence::new(mode);
    for past in &history.past {
        evidence.add_uses(past.similarity, past.helpful, past.unhelpful);
        let uses = past.helpful.saturating_add(past.unhelpful);
        evidence.add_query(past.similarity, uses, past.helpful > 0);
    }
    evidence.estimate(tau)
}
