//! Layouts in a file: a table for each strategy and one for watched agents, and in it one for each size class.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::de::value::CowStrDeserializer;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Layout, Size};
use crate::domain::Acting;
use crate::files::text_file::{self, Expectation};
use crate::files::whole_file;
use crate::pane::PaneId;

const FILE: Expectation = Expectation {
    what: "a layout file written by the screen",
    missing: "save a layout",
    largest: 1024 * 1024,
};

/// Panes of older files that no longer exist.
const GONE: [&str; 1] = ["map"];

/// Reads the panes of a slot without those that are [`GONE`].
///
/// # Errors
/// A name of no pane.
pub(super) fn panes<'de, D: Deserializer<'de>>(data: D) -> Result<Vec<PaneId>, D::Error> {
    struct Known(Option<PaneId>);
    impl<'de> Deserialize<'de> for Known {
        fn deserialize<D: Deserializer<'de>>(data: D) -> Result<Self, D::Error> {
            let name = Cow::<str>::deserialize(data)?;
            if GONE.contains(&&*name) {
                return Ok(Known(None));
            }
            PaneId::deserialize(CowStrDeserializer::new(name)).map(|pane| Known(Some(pane)))
        }
    }
    let panes = Vec::<Known>::deserialize(data)?;
    Ok(panes.into_iter().filter_map(|Known(pane)| pane).collect())
}

/// Where layouts are kept.
#[derive(Clone, Debug, Default)]
pub struct LayoutFile {
    /// `None`: the user has no home, and nothing can be saved.
    path: Option<PathBuf>,
    pub saved: Saved,
    /// Problem of the file, which is then left unchanged.
    pub wrong: Option<String>,
    /// Message about a pane that the file names and that no longer exists.
    pub gone: Option<String>,
}

impl LayoutFile {
    /// Reads the saved layouts. Without a file there are none.
    pub fn read(path: Option<PathBuf>) -> Self {
        let Some(file) = path.as_ref().filter(|path| path.exists()) else {
            return Self { path, ..Self::default() };
        };
        let read = text_file::read(file, &FILE).map_err(|problem| problem.to_string());
        let shown = file.display();
        let read = read.and_then(|text| {
            let gone = GONE.iter().find(|gone| text.contains(&format!("\"{gone}\"")));
            let gone = gone.map(|gone| {
                format!("{shown}: the pane `{gone}` no longer exists; save a layout to remove it")
            });
            Saved::read(&text)
                .map(|saved| (saved, gone))
                .map_err(|wrong| format!("{shown}: {wrong}; correct it or delete the file"))
        });
        match read {
            Ok((saved, gone)) => Self { path, saved, wrong: None, gone },
            Err(wrong) => Self { path, wrong: Some(wrong), ..Self::default() },
        }
    }

    /// Replaces the file. Gives its path.
    ///
    /// # Errors
    /// Why the layouts cannot be saved, in words. The old file then still exists.
    pub fn write(&self, saved: &Saved) -> Result<PathBuf, String> {
        if let Some(wrong) = &self.wrong {
            return Err(wrong.clone());
        }
        let path = self.path.clone().ok_or("no home directory")?;
        let text = saved.text()?;
        let wrong = |error: std::io::Error| format!("{}: {error}", path.display());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(wrong)?;
        }
        whole_file::write(&path, |out| out.write_all(text.as_bytes())).map_err(wrong)?;
        Ok(path)
    }
}

/// The layouts that a person saved, by the name of who acts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Saved(BTreeMap<String, BTreeMap<Size, Layout>>);

impl Saved {
    /// Reads what [`Saved::text`] wrote.
    ///
    /// # Errors
    /// What is wrong, with the line if it is known.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut saved: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| text[..span.start].lines().count().max(1));
            let line = line.map_or_else(String::new, |line| format!("line {line}: "));
            format!("{line}{}", error.message())
        })?;
        for layout in saved.0.values_mut().flat_map(BTreeMap::values_mut) {
            mend(layout, text);
        }
        for (strategy, layouts) in &saved.0 {
            strategy.parse::<Acting>().map_err(|error| format!("[{strategy}]: {error}"))?;
            for (size, layout) in layouts {
                if let Some(fault) = fault(layout) {
                    return Err(format!("[{strategy}.{size}]: {fault}"));
                }
            }
        }
        Ok(saved)
    }

    /// The text of the file.
    ///
    /// # Errors
    /// The serializer refuses a value; no such value is known.
    pub fn text(&self) -> Result<String, String> {
        let head = "# Layouts of the screen, by strategy and size. The action save-layout writes this file.\n";
        toml::to_string(self).map(|text| format!("{head}{text}")).map_err(|error| error.to_string())
    }

    pub(super) fn get(&self, (acting, size): (Acting, Size)) -> Option<Layout> {
        self.0.get(&acting.to_string())?.get(&size).cloned()
    }

    pub(super) fn set(&mut self, (acting, size): (Acting, Size), layout: Layout) {
        self.0.entry(acting.to_string()).or_default().insert(size, layout);
    }
}

/// Removes the slots and columns that have no pane left because their panes are [`GONE`]; `text`: of the file.
fn mend(layout: &mut Layout, text: &str) {
    if !GONE.iter().any(|gone| text.contains(gone)) {
        return;
    }
    for column in &mut layout.columns {
        column.slots.retain(|slot| !slot.panes.is_empty());
        for slot in &mut column.slots {
            slot.shown = slot.shown.min(slot.panes.len() - 1);
        }
    }
    layout.columns.retain(|column| !column.slots.is_empty());
}

/// Why a layout cannot be used; `None`: it can.
pub fn fault(layout: &Layout) -> Option<String> {
    let slots = || layout.columns.iter().flat_map(|column| &column.slots);
    if layout.columns.is_empty() || layout.columns.iter().any(|column| column.slots.is_empty()) {
        return Some(
            "a layout needs at least one column, and a column at least one slot".to_owned(),
        );
    }
    if slots().any(|slot| slot.panes.is_empty()) {
        return Some("`panes` is empty: a slot needs at least one pane".to_owned());
    }
    let mut panes: Vec<_> = slots().flat_map(|slot| &slot.panes).collect();
    panes.sort();
    let twice = panes.windows(2).find(|pair| pair[0] == pair[1]);
    twice.map(|pair| format!("the pane `{}` appears twice", pair[0].name().to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Strategy;

    #[test]
    fn what_is_saved_is_read_again() {
        let mut saved = Saved::default();
        let strategy: Strategy = "workers+toolnet+btp".parse().unwrap();
        let mut layout = Layout::standard(strategy, Size::Huge);
        layout.hide(PaneId::Knobs);
        layout.equal();
        saved.set((strategy.into(), Size::Huge), layout.clone());
        saved.set((Acting::Foreign, Size::Small), layout.clone());
        let read = Saved::read(&saved.text().unwrap()).unwrap();
        assert_eq!(read, saved);
        assert_eq!(read.get((strategy.into(), Size::Huge)), Some(layout));
        assert_eq!(read.get((strategy.into(), Size::Small)), None);
    }

    #[test]
    fn a_pane_that_no_longer_exists_leaves_its_place_to_others() {
        let slot = |panes: &str| format!("{{ height = 1, panes = [{panes}], shown = 1 }}");
        let text = format!(
            "[cotools.large]\ncolumns = [{{ width = 1, slots = [{}, {}] }}, {{ width = 1, slots = [{}] }}]\n",
            slot("\"reading\", \"map\""),
            slot("\"map\""),
            slot("\"map\"")
        );
        let read = Saved::read(&text).unwrap();
        let [column] = &*read
            .get(("cotools".parse::<Strategy>().unwrap().into(), Size::Large))
            .unwrap()
            .columns
        else {
            panic!("{read:?}")
        };
        assert_eq!(column.slots[0].panes, [PaneId::Reading]);
        assert_eq!((column.slots.len(), column.slots[0].shown), (1, 0));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let column = |slots: &str| {
            format!("[react.large]\ncolumns = [{{ width = 1, slots = [{slots}] }}]\n")
        };
        let wrong = |text: &str| Saved::read(text).unwrap_err();
        let both = "{ height = 1, panes = [\"graph\"] }, { height = 1, panes = [\"graph\"] }";
        assert!(wrong(&column(both)).contains("the pane `graph` appears twice"));
        assert!(wrong(&column("")).contains("a column at least one slot"));
        let unknown = wrong(&column("{ height = 1, panes = [\"grpah\"] }"));
        assert!(unknown.starts_with("line 2: unknown variant `grpah`"), "{unknown}");
        assert!(wrong("[raect.large]\ncolumns = []\n").starts_with("[raect]: "));
    }

    #[test]
    fn a_file_is_written_and_a_wrong_one_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("toolyard/layouts.toml");
        let file = LayoutFile::read(Some(path.clone()));
        assert_eq!((&file.saved, &file.wrong), (&Saved::default(), &None));
        let mut saved = Saved::default();
        let key = (Acting::Own(Strategy::default()), Size::Large);
        saved.set(key, Layout::standard(key.0, key.1));
        assert_eq!(file.write(&saved), Ok(path.clone()));
        assert_eq!(LayoutFile::read(Some(path.clone())).saved, saved);

        std::fs::write(&path, "[react.large\n").unwrap();
        let file = LayoutFile::read(Some(path.clone()));
        let wrong = file.wrong.clone().unwrap();
        assert!(wrong.contains("layouts.toml: line 1: "), "{wrong}");
        assert_eq!(file.write(&saved), Err(wrong));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[react.large\n");
        assert!(LayoutFile::read(None).write(&saved).is_err());
    }
}
