//! Things that a session names, and that run programs, reach keys or spare consent: workspace, configuration, MCP files and
//! some settings. Who names them on the command line has agreed to them; a journal from elsewhere needs a yes.

use std::fmt::Display;
use std::path::Path;

use super::{ConfigArgs, question, sessions, trouble::Trouble};
use crate::config::Config;
use crate::session::{JournalChoice, SessionSpec, first_of, spec_of};
use crate::store::journal::folder;
use crate::trust_answers::{Brought, Kind, whole};

/// The command line's word on the things that a journal names.
pub struct Agreed<'a> {
    pub config: &'a ConfigArgs,
    pub workspace: Option<&'a Path>,
    /// Whether it agrees to all of them.
    pub trusts: bool,
}

/// Expects a yes for what the journal names, if it is not in the user's own folder of journals and the command line does not
/// name something else.
///
/// # Errors
/// The journal cannot be read, or nobody agrees.
pub fn expect_known(journal: &Path, agreed: &Agreed<'_>, asks: bool) -> Result<(), Trouble> {
    if agreed.trusts || is_own(journal, agreed) {
        return Ok(());
    }
    let own = sessions::folder_of(agreed.config).ok().map(|folder| whole(&folder));
    let mut spec = spec_of(journal)?;
    spec.workspace = spec.workspace.filter(|_| agreed.workspace.is_none());
    spec.config = spec.config.filter(|_| agreed.config.config.is_none());
    let mut brought = of(&spec, journal)?;
    let here = whole(Path::new("."));
    brought.retain(|one| {
        let is_known = || one.place.starts_with(&here) || was_used(&one.place, own.as_deref());
        one.kind != Kind::Workspace || !is_known()
    });
    let tell = |one: Brought| {
        let what = match one.kind {
            Kind::Setting => one.what.clone(),
            _ => one.place.display().to_string(),
        };
        let told = format!("{} names the {} {what}", journal.display(), <&str>::from(one.kind));
        (one, told)
    };
    let asked = "This was not used here yet; its tools would run. Go on with it?";
    let advice = "this was not used here yet: add --trust-journal if you know the journal";
    question::expect_yes(brought.into_iter().map(tell).collect(), asks, asked, advice)
}

/// Expects a yes for the agent that a journal names, as [`expect_known`] does. `told`: its command and folder.
///
/// # Errors
/// Nobody agrees.
pub fn expect_agent(
    journal: &Path,
    agreed: &Agreed<'_>,
    told: &str,
    asks: bool,
) -> Result<(), Trouble> {
    if agreed.trusts || is_own(journal, agreed) {
        return Ok(());
    }
    let brought = Brought::setting(journal, &format!("agent = {told}"));
    let told = format!("{} names the agent {told}", journal.display());
    let asked = "It was not started from here yet. Start it?";
    let advice = "this was not started from here yet: add --trust-journal if you know the journal";
    question::expect_yes(vec![(brought, told)], asks, asked, advice)
}

/// Whether a journal is in the user's own folder of journals.
fn is_own(journal: &Path, agreed: &Agreed<'_>) -> bool {
    let own = sessions::folder_of(agreed.config).ok().map(|folder| whole(&folder));
    whole(journal).parent() == own.as_deref()
}

/// Remembers what the command line names for a session whose journal is perhaps not in the folder for journals, so that
/// resuming it asks nothing.
pub fn remember(spec: &SessionSpec) {
    let journal = match (&spec.journal, &spec.resumed) {
        (_, Some(path)) | (JournalChoice::File(path), None) => path,
        (JournalChoice::Configured | JournalChoice::None, None) => return,
    };
    for one in of(spec, journal).unwrap_or_default() {
        // Without it, there is one question more.
        if one.answer() == Ok(None) {
            let _ = one.keep(true);
        }
    }
}

/// The things that the spec of this journal names, and that may need a yes. The user's own configuration needs none.
fn of(spec: &SessionSpec, journal: &Path) -> Result<Vec<Brought>, Trouble> {
    let usual = Config::file(None, &|name| std::env::var_os(name)).map(|file| whole(&file));
    let config = spec.config.iter().filter(|file| Some(whole(file)) != usual);
    let files = config.map(|file| Brought::file(Kind::Configuration, file));
    let files = files.chain(spec.mcp.iter().map(|file| Brought::file(Kind::McpFile, file)));
    let mut all = files.collect::<Result<Vec<_>, _>>().map_err(Trouble::Usage)?;
    all.extend(spec.workspace.as_deref().map(Brought::workspace));
    let first = first_of(journal);
    all.extend(settings(spec).iter().map(|text| Brought::setting(&first, text)));
    Ok(all)
}

/// The settings that let calls pass without consent, reach endpoints, cost money, or name files that are written.
fn settings(spec: &SessionSpec) -> Vec<String> {
    let SessionSpec { allow, model, roles, endpoints, max_dollars, learned, experience, .. } =
        spec.anchored();
    let files = [("learned", learned), ("experience", experience)];
    let files = files.into_iter().filter_map(|(name, file)| Some((name, file?)));
    let one = |name: &str, value: &dyn Display| format!("{name} = {value}");
    let all = allow.iter().map(|rule| one("allow", rule));
    let all = all.chain(model.iter().map(|model| one("model", model)));
    let all = all.chain(roles.iter().map(|(role, model)| one(&format!("roles.{role}"), model)));
    let all =
        all.chain(endpoints.iter().map(|(model, url)| one(&format!("endpoints.{model}"), url)));
    let all = all.chain(max_dollars.iter().map(|most| one("max_dollars", most)));
    all.chain(files.map(|(name, file)| one(name, &file.display()))).collect()
}

/// Whether a session of this user had this workspace.
fn was_used(workspace: &Path, journals: Option<&Path>) -> bool {
    let journals = journals.and_then(|folder| folder::journals(folder).ok());
    let has = |path: &Path| spec_of(path).ok().and_then(|spec| spec.workspace);
    let mut used = journals.into_iter().flatten().filter_map(|kept| has(&kept.path));
    used.any(|folder| whole(&folder) == workspace)
}
