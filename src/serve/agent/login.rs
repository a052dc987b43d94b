//! The login of a program: a file that it keeps for its account, such as that of Codex.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::places::Variables;
use crate::files::text_file::{self, Expectation};
use crate::files::toml_file::TomlField;
use crate::net::learn;

const FILE: Expectation =
    Expectation { what: "a login", missing: "log in with the program", largest: 1024 * 1024 };

/// The place of a login.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginFile {
    file: String,
    /// The folder of the file, below the home folder.
    folder: String,
    /// The variable that names another folder.
    variable: String,
    /// The variable with the key that the program's arguments use in place of the login.
    pub key: Option<String>,
}

impl LoginFile {
    /// The place as a recipe has it.
    pub(super) fn of(field: &TomlField<'_>) -> Option<Self> {
        let mut fields = field.table()?;
        let mut text = |name, advice| Some(fields.need(name, advice)?.text()?.to_owned());
        let file = text("file", "file = \"auth.json\"");
        let folder = text("folder", "folder = \".codex\"");
        let variable = text("variable", "variable = \"CODEX_HOME\"");
        let key = fields.get("key").and_then(|field| Some(field.text()?.to_owned()));
        fields.finish();
        Some(Self { file: file?, folder: folder?, variable: variable?, key })
    }

    /// The login, if it is there. Its tokens are hidden from now on.
    pub fn found(&self, environment: &Variables) -> Option<KnownLogin> {
        let named = environment.get(&self.variable).filter(|folder| !folder.is_empty());
        let folder = match named {
            Some(folder) => PathBuf::from(folder),
            None => Path::new(environment.get("HOME")?).join(&self.folder),
        };
        let mut login = KnownLogin { path: folder.join(&self.file), written: None };
        login.learn();
        login.written.is_some().then_some(login)
    }
}

/// A login that its program may renew.
#[derive(Debug)]
pub struct KnownLogin {
    pub path: PathBuf,
    /// When the file that was read was written.
    written: Option<SystemTime>,
}

impl KnownLogin {
    /// Hides the tokens in the file, if it was written since.
    pub fn learn(&mut self) {
        let written = self.path.metadata().and_then(|file| file.modified()).ok();
        if written != self.written
            && let Ok(text) = text_file::read(&self.path, &FILE)
        {
            learn::variable("", &text);
            self.written = written;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::known::without_known;

    #[test]
    fn a_login_is_found_and_its_tokens_are_hidden() {
        let home = tempfile::tempdir().unwrap();
        let login = LoginFile {
            file: "auth.json".into(),
            folder: ".prog".into(),
            variable: "PROG_HOME".into(),
            key: None,
        };
        let at = |name: &str, folder: &Path| {
            Variables::from([(name.to_owned(), folder.display().to_string())])
        };
        let found = |variables: Variables| login.found(&variables);
        assert!(found(at("HOME", home.path())).is_none() && found(Variables::new()).is_none());
        let folder = home.path().join(".prog");
        std::fs::create_dir(&folder).unwrap();
        let text =
            r#"{"tokens": {"refresh_token": "rt.1.AAx81-login-Zq", "id_token": "eyJ9.login.s1g"}}"#;
        std::fs::write(folder.join("auth.json"), text).unwrap();
        let [one, mut other] =
            [found(at("HOME", home.path())), found(at("PROG_HOME", &folder))].map(Option::unwrap);
        assert_eq!(
            (&one.path, &other.path),
            (&folder.join("auth.json"), &folder.join("auth.json"))
        );
        assert!(!without_known(text).contains("login"), "{}", without_known(text));
        // The program renews it.
        let text = text.replace("login", "n3wlogin");
        std::fs::write(folder.join("auth.json"), &text).unwrap();
        let file = std::fs::File::options().append(true).open(folder.join("auth.json")).unwrap();
        file.set_modified(SystemTime::now() + std::time::Duration::from_secs(9)).unwrap();
        assert!(without_known(&text).contains("n3wlogin"));
        other.learn();
        assert!(!without_known(&text).contains("n3wlogin"), "{}", without_known(&text));
    }
}
