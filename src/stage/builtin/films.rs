//! Views of the film archive. They answer in JSON, so that a program can work with their results.

use serde_json::{Value, json};

use super::arguments;
use crate::films::{Archive, Film, Id};
use crate::tool::{ToolError, ToolErrorKind};

/// A view of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    SearchFilms,
    SearchPeople,
    SearchStudios,
    Film,
    Credits,
    Reviews,
    Similar,
    Releases,
    Person,
    Filmography,
    Studio,
    StudioFilms,
    Collection,
    Prizes,
}

/// The views by the names that manifests use.
pub const VIEWS: [(&str, View); 14] = [
    ("search_films", View::SearchFilms),
    ("search_people", View::SearchPeople),
    ("search_studios", View::SearchStudios),
    ("film", View::Film),
    ("credits", View::Credits),
    ("reviews", View::Reviews),
    ("similar", View::Similar),
    ("releases", View::Releases),
    ("person", View::Person),
    ("filmography", View::Filmography),
    ("studio", View::Studio),
    ("studio_films", View::StudioFilms),
    ("collection", View::Collection),
    ("prizes", View::Prizes),
];

impl View {
    /// The arguments that the view requires.
    pub fn needs(self) -> &'static [&'static str] {
        match self {
            Self::SearchFilms | Self::SearchPeople | Self::SearchStudios => &["query"],
            Self::Film | Self::Credits | Self::Reviews | Self::Similar | Self::Releases => {
                &["film_id"]
            }
            Self::Person | Self::Filmography => &["person_id"],
            Self::Studio | Self::StudioFilms => &["studio_id"],
            Self::Collection => &["collection_id"],
            Self::Prizes => &["year"],
        }
    }

    /// The answer, as JSON.
    pub fn answer(self, arguments: &Value) -> Result<String, ToolError> {
        let archive = Archive::get();
        let named = self.needs().first().copied().unwrap_or_default();
        let value = match self {
            Self::SearchFilms | Self::SearchPeople | Self::SearchStudios => {
                search(archive, self, arguments::text(arguments, named)?)
            }
            Self::Film | Self::Credits | Self::Reviews | Self::Similar | Self::Releases => {
                let id = id(arguments, named)?;
                let film = archive.film(id).ok_or_else(|| none("film", id))?;
                of_film(archive, self, film)
            }
            Self::Person | Self::Filmography => {
                let id = id(arguments, named)?;
                of_person(archive, self, id).ok_or_else(|| none("person", id))?
            }
            Self::Studio | Self::StudioFilms => {
                let id = id(arguments, named)?;
                of_studio(archive, self, id).ok_or_else(|| none("studio", id))?
            }
            Self::Collection => {
                let id = id(arguments, named)?;
                let collection = archive.collection(id).ok_or_else(|| none("collection", id))?;
                let parts = archive.films_where(|film| film.collection == Some(id));
                json!({"id": id, "name": collection.name, "parts": parts})
            }
            Self::Prizes => prizes(archive, arguments::whole(arguments, named)?),
        };
        Ok(value.to_string())
    }
}

fn id(arguments: &Value, name: &str) -> Result<Id, ToolError> {
    let id = arguments::whole(arguments, name)?;
    // No record has the number 0.
    Ok(Id::try_from(id).unwrap_or_default())
}

fn none(what: &str, id: Id) -> ToolError {
    ToolError::new(ToolErrorKind::Failed, format!("no {what} has the id {id}"))
}

/// The records whose name contains the query, in any case.
fn search(archive: &Archive, view: View, query: &str) -> Value {
    let query = query.to_lowercase();
    let matches = |name: &str| name.to_lowercase().contains(query.trim());
    let results = match view {
        View::SearchPeople => {
            let people = archive.people.iter().filter(|person| matches(&person.name));
            people.map(|person| json!({"id": person.id, "name": person.name})).collect()
        }
        View::SearchStudios => {
            let studios = archive.studios.iter().filter(|studio| matches(&studio.name));
            studios.map(|studio| json!({"id": studio.id, "name": studio.name})).collect()
        }
        _ => archive.films_where(|film| matches(&film.title)),
    };
    json!({"total": results.len(), "results": results})
}

fn of_film(archive: &Archive, view: View, film: &Film) -> Value {
    let named = |id: Id, name: Option<&String>| name.map(|name| json!({"id": id, "name": name}));
    match view {
        View::Credits => {
            let credit = |person: Id, key: &str, value: &str| {
                let mut credit = archive.credit(Some(person));
                credit[key] = value.into();
                credit
            };
            let cast = film.cast.iter().map(|part| credit(part.person, "part", &part.part));
            let crew = film.crew.iter().map(|job| credit(job.person, "job", &job.job));
            json!({"id": film.id, "cast": cast.collect::<Vec<_>>(), "crew": crew.collect::<Vec<_>>()})
        }
        View::Reviews => json!({"id": film.id, "results": film.reviews}),
        View::Releases => json!({"id": film.id, "results": film.releases}),
        View::Similar => {
            let films = film.similar.iter().filter_map(|id| archive.film(*id)).map(Film::brief);
            json!({"id": film.id, "results": films.collect::<Vec<_>>()})
        }
        _ => {
            let collection = film.collection.and_then(|id| archive.collection(id));
            let studio = archive.studio(film.studio);
            json!({
                "id": film.id,
                "title": film.title,
                "year": film.year,
                "minutes": film.minutes,
                "genres": film.genres.iter().map(|genre| json!({"name": genre})).collect::<Vec<_>>(),
                "studio": named(film.studio, studio.map(|studio| &studio.name)),
                "collection": collection.and_then(|each| named(each.id, Some(&each.name))),
            })
        }
    }
}

fn of_person(archive: &Archive, view: View, id: Id) -> Option<Value> {
    let person = archive.person(id)?;
    if view == View::Person {
        let born = json!({"date": person.born, "place": person.place});
        return Some(json!({"id": id, "name": person.name, "born": born, "died": person.died}));
    }
    let with = |film: &Film, key: &str, value: &str| {
        let mut brief = film.brief();
        brief[key] = value.into();
        brief
    };
    let mut films: Vec<&Film> = archive.films.iter().collect();
    films.sort_by_key(|film| film.year);
    let (mut cast, mut crew) = (Vec::new(), Vec::new());
    for film in films {
        let parts = film.cast.iter().filter(|part| part.person == id);
        cast.extend(parts.map(|part| with(film, "part", &part.part)));
        let jobs = film.crew.iter().filter(|job| job.person == id);
        crew.extend(jobs.map(|job| with(film, "job", &job.job)));
    }
    Some(json!({"id": id, "cast": cast, "crew": crew}))
}

fn of_studio(archive: &Archive, view: View, id: Id) -> Option<Value> {
    let studio = archive.studio(id)?;
    if view == View::StudioFilms {
        return Some(json!({"id": id, "films": archive.films_where(|film| film.studio == id)}));
    }
    Some(json!({
        "id": id,
        "name": studio.name,
        "city": studio.city,
        "founded": studio.founded,
        "head": archive.credit(studio.head),
    }))
}

fn prizes(archive: &Archive, year: i64) -> Value {
    let given = archive.films.iter().flat_map(|film| {
        let prizes = film.prizes.iter().filter(|prize| i64::from(prize.year) == year);
        prizes.map(|prize| {
            let of = json!({"id": film.id, "title": film.title});
            json!({"name": prize.name, "film": of, "person": archive.credit(prize.person)})
        })
    });
    json!({"year": year, "prizes": given.collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(view: View, arguments: &Value) -> Value {
        serde_json::from_str(&view.answer(arguments).unwrap()).unwrap()
    }

    #[test]
    fn ids_lead_from_view_to_view_and_an_invented_one_leads_nowhere() {
        let found = answered(View::SearchFilms, &json!({"query": "high water"}));
        let id = &found["results"][0]["id"];
        let film = answered(View::Film, &json!({"film_id": id}));
        assert_eq!((&film["title"], &film["minutes"]), (&json!("High Water"), &json!(138)));
        let credits = answered(View::Credits, &json!({"film_id": id}));
        let person = &credits["crew"][0]["person_id"];
        let work = answered(View::Filmography, &json!({"person_id": person}));
        assert!(work["crew"].as_array().unwrap().iter().any(|each| each["id"] == *id));
        let studio = json!({"studio_id": film["studio"]["id"]});
        let made = answered(View::StudioFilms, &studio);
        assert!(made["films"].as_array().unwrap().iter().any(|each| each["id"] == *id));
        let error = View::Credits.answer(&json!({"film_id": -3})).unwrap_err();
        assert_eq!(error.text, "no film has the id 0");
        let nothing = answered(View::SearchFilms, &json!({"query": "Who directed High Water?"}));
        assert_eq!(nothing, json!({"total": 0, "results": []}));
    }

    #[test]
    fn what_is_not_known_is_null() {
        let film = |title: &str| {
            let found = answered(View::SearchFilms, &json!({"query": title}));
            answered(View::Film, &json!({"film_id": found["results"][0]["id"]}))
        };
        assert_eq!(film("Moth Season")["collection"], Value::Null);
        assert_eq!(film("The Last Lamp")["collection"]["name"], "The Lighthouse Trilogy");
        let best = answered(View::Prizes, &json!({"year": 1989}));
        assert_eq!(best["prizes"][0]["person"], Value::Null);
    }
}
