use super::*;
use crate::domain::Role;

const SEARCH: &str = "def search_movie(query: str, page: int = None):
    \"\"\"Searches movies.
    query: the title
    Returns {
      page: int
      results: [{
        id: int
        title: str
      }]
    }
    Example: search_movie(query=\"Amelie\", page=1)\"\"\"";

const DETAILS: &str = "def movie_details(movie_id: int):
    \"\"\"All about a movie.
    Returns {
      id: int
      studio?: null|{
        id: int
      }
      seasons: [int]
    }\"\"\"";

fn replied(text: String) -> String {
    let request = Request::new(Role::Prober, vec![Message::user(text)]);
    reply(&request)
}

#[test]
fn an_id_is_taken_from_a_function_that_returns_it_and_never_guessed() {
    let credits = "def movie_credits(movie_id: int):\n    \"\"\"Who made it.\"\"\"";
    let alone = replied(format!("{FUNCTIONS}{credits}"));
    assert!(alone.contains("r1 = movie_credits()\nprint(r1)"), "{alone}");
    let chained = replied(format!("{FUNCTIONS}{credits}\n\n{SEARCH}\n\n{DETAILS}"));
    let calls = "r1 = search_movie(query=\"Amelie\")\n\
                 r2 = movie_credits(movie_id=r1[\"results\"][0][\"id\"])\nprint(r2)";
    assert!(chained.contains(calls), "{chained}");
    let studio = "def studio_films(studio_id: int):\n    \"\"\"Its films.\"\"\"";
    let deep = replied(format!("{FUNCTIONS}{studio}\n\n{SEARCH}\n\n{DETAILS}"));
    let calls = "r2 = movie_details(movie_id=r1[\"results\"][0][\"id\"])\n\
                 r3 = studio_films(studio_id=r2[\"studio\"][\"id\"])";
    assert!(deep.contains(calls), "{deep}");
}

#[test]
fn a_name_is_taken_from_a_result_or_else_it_is_a_known_one() {
    let plain =
        replied(format!("{FUNCTIONS}{}", "def search_studio(query: str):\n    \"\"\"Finds.\"\"\""));
    assert!(plain.contains("search_studio(query=\"Universal Pictures\")"), "{plain}");
    let details = "def film_of_day():\n    \"\"\"A film.\n    Returns {\n      studio: {\n        name: str\n      }\n    }\"\"\"";
    let search = "def search_studio(query: str):\n    \"\"\"Finds.\"\"\"";
    let chained = replied(format!("{FUNCTIONS}{search}\n\n{details}"));
    assert!(chained.contains("search_studio(query=r1[\"studio\"][\"name\"])"), "{chained}");
}

#[test]
fn functions_about_the_same_things_are_selected_first() {
    let list = "- weather(city): Tells.\n- search_tv(query): Searches shows.\n\
                - movie_reviews(movie_id): Reviews.\n- search_movie(query): Searches movies.";
    let document = "def movie_credits(movie_id: int):\n    \"\"\"Who made it.\"\"\"";
    let chosen = replied(format!("{document}\n\n{FUNCTIONS}{list}"));
    assert_eq!(chosen, "search_movie\nsearch_tv\nweather\nmovie_reviews");
    assert_eq!(replied(format!("{document}\n\n{FUNCTIONS}")), "none");
}
