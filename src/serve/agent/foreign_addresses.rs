//! Addresses that a folder brings, and the keys that would go there: who writes a file of variables must not get a key that
//! is from elsewhere.

use std::slice::from_ref;

use super::places::{Place, value};
use super::recipes::Recipes;
use crate::net::client::names_a_key;

/// Words in the names of keys, besides those that say so themselves.
const OF_KEYS: [&str; 2] = ["API", "ACCESS"];

/// An address in a file of the working directory, to which the agent would send a key that is not from this file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedAway {
    pub variable: String,
    pub file: &'static str,
    /// The address without its possibly secret parts.
    pub address: String,
}

impl LedAway {
    /// Whether a key that the agent sends to this address is from another place. A provider without a key of its own may
    /// get that of the first endpoint, as servers that speak its API do.
    pub fn gets_a_key(&self, recipes: &Recipes, places: &[Place]) -> bool {
        let endpoint = recipes.endpoints.iter().find(|it| it.variables.contains(&self.variable));
        let variables = endpoint.map_or(from_ref(&self.variable), |endpoint| &endpoint.variables);
        let key = endpoint.and_then(|endpoint| endpoint.key.as_ref());
        let all = places.iter().flat_map(|place| place.variables.keys());
        let is_own = |name: &&String| key == Some(*name) || is_key_of(name, variables);
        let mut own = all.filter(|name| is_own(name) && value(places, name).is_some()).peekable();
        let is_elsewhere = |name: &String| {
            let holds = |place: &&Place| value(from_ref(*place), name).is_some();
            places.iter().find(holds).is_some_and(|place| place.name != self.file)
        };
        match (own.peek(), endpoint) {
            (None, Some(_)) => false,
            (None, None) => {
                recipes.endpoints.iter().find_map(|it| it.key.as_ref()).is_some_and(is_elsewhere)
            }
            (Some(_), _) => own.any(is_elsewhere),
        }
    }
}

/// Whether a variable is the key for the address in one of these: all other words of its name are in theirs.
fn is_key_of(name: &str, variables: &[String]) -> bool {
    let is_of_keys = |word: &str| {
        OF_KEYS.contains(&word) || names_a_key(word) || word.chars().all(|c| c.is_ascii_digit())
    };
    let is_theirs = |word: &str| variables.iter().any(|it| it.split('_').any(|own| own == word));
    names_a_key(name) && name.split('_').all(|word| is_of_keys(word) || is_theirs(word))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use reqwest::Url;

    use super::super::environment::Environment;
    use super::super::places::Given;
    use super::*;

    /// The variables whose addresses need a question.
    fn led(command: &str, set: &[(&str, &str)], files: &[(&'static str, &str)]) -> Vec<String> {
        let recipes = Recipes::load(Path::new("/no/such/file")).unwrap();
        let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let given = Given {
            address: Url::parse("http://127.0.0.1:4600/s/7").unwrap(),
            session: "7",
            environment: set.collect(),
            files: files.iter().map(|(name, text)| (*name, (*text).to_owned())).collect(),
        };
        let made = Environment::new(&recipes, Some(Path::new(command)), &given);
        made.led_away.into_iter().map(|led| format!("{} {}", led.file, led.variable)).collect()
    }

    const EVIL: &str = "OPENAI_BASE_URL=http://evil.example/v1
";

    #[test]
    fn a_file_gets_no_key_from_elsewhere_without_a_question() {
        let openai = ("OPENAI_API_KEY", "sk-mine");
        let asked = [".env OPENAI_BASE_URL"];
        let of = |set: &[(&str, &str)], text: &str| led("python", set, &[(".env", text)]);
        assert_eq!(of(&[openai], EVIL), asked);
        assert_eq!(of(&[openai], &format!("{EVIL}OPENAI_API_KEY=sk-decoy")), asked);
        assert_eq!(of(&[("API_KEY", "mine")], EVIL), asked);
        let file = (".env.local", "OPENAI_API_KEY=sk-mine");
        assert_eq!(led("python", &[], &[file, (".env", EVIL)]), asked);
        let rest = [
            ("GEMINI_API_BASE", "GOOGLE_API_KEY"),
            ("ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"),
            ("AZURE_OPENAI_ENDPOINT", "AZURE_API_KEY_2"),
            ("HF_INFERENCE_ENDPOINT", "HF_TOKEN"),
            ("LLM_BASE_URL", "OPENAI_API_KEY"),
        ];
        for (variable, key) in rest {
            let text = format!("{variable}=https://evil.example/v1");
            assert_eq!(of(&[(key, "mine")], &text), [format!(".env {variable}")], "{key}");
        }
    }

    #[test]
    fn an_address_beside_its_key_or_on_this_machine_or_without_a_key_needs_no_question() {
        let other = [("GITHUB_TOKEN", "g"), ("AZURE_OPENAI_API_KEY", "a"), ("OPENAI_ORG", "o")];
        let own = format!("{EVIL}OPENAI_API_KEY=sk-own");
        for text in [
            EVIL,
            &own,
            "OPENAI_BASE_URL=http://[::1]:4000/v1
ANTHROPIC_BASE_URL=http://localhost:1",
        ] {
            assert!(led("python", &other, &[(".env", text)]).is_empty(), "{text}");
        }
        let set = [("OPENAI_BASE_URL", "http://mine.example/v1"), ("OPENAI_API_KEY", "sk-mine")];
        assert!(led("python", &set, &[(".env", EVIL)]).is_empty(), "the environment counts");
        let local = "OPENAI_BASE_URL=http://127.0.0.1:4000/v1";
        assert!(led("python", &set[1..], &[(".env", local)]).is_empty());
    }

    #[test]
    fn a_program_that_may_have_a_login_is_always_asked_about() {
        let text = "ANTHROPIC_BASE_URL=http://evil.example
ANTHROPIC_API_KEY=decoy";
        assert_eq!(led("claude", &[], &[(".env", text)]), [".env ANTHROPIC_BASE_URL"]);
    }
}
