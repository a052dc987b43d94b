//! The invented film archive of the film sample: people, studios, collections and films. Its answers have the shapes
//! of a real film database: lists of hits, ids to follow, parts that may be null.

use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::files::toml_file::read_embedded;

const TEXT: &str = include_str!("../../sample-tools/films/world/films.toml");

/// The number of a record; no two records of the archive share one.
pub type Id = u32;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Archive {
    #[serde(rename = "film")]
    pub films: Vec<Film>,
    #[serde(rename = "person")]
    pub people: Vec<Person>,
    #[serde(rename = "studio")]
    pub studios: Vec<Studio>,
    #[serde(rename = "collection")]
    pub collections: Vec<Collection>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Film {
    pub id: Id,
    pub title: String,
    pub year: i32,
    pub minutes: u32,
    pub genres: Vec<String>,
    pub studio: Id,
    pub collection: Option<Id>,
    pub cast: Vec<FilmPart>,
    pub crew: Vec<Job>,
    pub reviews: Vec<Value>,
    pub releases: Vec<Value>,
    /// Films like it.
    pub similar: Vec<Id>,
    #[serde(default)]
    pub prizes: Vec<Prize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilmPart {
    pub person: Id,
    pub part: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    pub person: Id,
    pub job: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prize {
    /// The year of the award.
    pub year: i32,
    pub name: String,
    /// The person; `None` if the award went to the film.
    pub person: Option<Id>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Person {
    pub id: Id,
    pub name: String,
    pub born: String,
    pub place: String,
    pub died: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Studio {
    pub id: Id,
    pub name: String,
    pub city: String,
    pub founded: i32,
    /// The head of the studio.
    pub head: Option<Id>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collection {
    pub id: Id,
    pub name: String,
}

impl Archive {
    /// The embedded archive, read at its first use.
    #[expect(clippy::unreachable, reason = "the text is part of the program and read by its tests")]
    pub fn get() -> &'static Self {
        static ARCHIVE: OnceLock<Archive> = OnceLock::new();
        ARCHIVE.get_or_init(|| match read_embedded(TEXT) {
            Ok(archive) => archive,
            Err(error) => unreachable!("the embedded film archive is broken: {error}"),
        })
    }

    pub fn film(&self, id: Id) -> Option<&Film> {
        self.films.iter().find(|film| film.id == id)
    }

    pub fn person(&self, id: Id) -> Option<&Person> {
        self.people.iter().find(|person| person.id == id)
    }

    pub fn studio(&self, id: Id) -> Option<&Studio> {
        self.studios.iter().find(|studio| studio.id == id)
    }

    pub fn collection(&self, id: Id) -> Option<&Collection> {
        self.collections.iter().find(|collection| collection.id == id)
    }

    /// `{"person_id", "name"}`, or null.
    pub fn credit(&self, id: Option<Id>) -> Value {
        let person = id.and_then(|id| self.person(id));
        person.map_or(Value::Null, |person| json!({"person_id": person.id, "name": person.name}))
    }

    /// The films with this property, the oldest first.
    pub fn films_where(&self, has: impl Fn(&Film) -> bool) -> Vec<Value> {
        let mut films: Vec<&Film> = self.films.iter().filter(|film| has(film)).collect();
        films.sort_by_key(|film| film.year);
        films.into_iter().map(Film::brief).collect()
    }
}

impl Film {
    /// The film as lists show it.
    pub fn brief(&self) -> Value {
        json!({"id": self.id, "title": self.title, "year": self.year})
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_records_share_a_number_and_every_number_is_one_of_a_record() {
        let archive = Archive::get();
        let ids: Vec<Id> = (archive.films.iter().map(|film| film.id))
            .chain(archive.people.iter().map(|person| person.id))
            .chain(archive.studios.iter().map(|studio| studio.id))
            .chain(archive.collections.iter().map(|collection| collection.id))
            .collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
        for film in &archive.films {
            let cast = film.cast.iter().map(|part| part.person);
            let crew = film.crew.iter().map(|job| job.person);
            let prizes = film.prizes.iter().filter_map(|prize| prize.person);
            for person in cast.chain(crew).chain(prizes) {
                assert!(archive.person(person).is_some(), "{}: {person}", film.title);
            }
            assert!(archive.studio(film.studio).is_some(), "{}", film.title);
            let collection = film.collection;
            assert!(collection.is_none_or(|id| archive.collection(id).is_some()), "{}", film.title);
            assert!(film.similar.iter().all(|id| archive.film(*id).is_some()), "{}", film.title);
        }
        let heads = archive.studios.iter().filter_map(|studio| studio.head);
        assert!(heads.into_iter().all(|head| archive.person(head).is_some()));
    }
}
