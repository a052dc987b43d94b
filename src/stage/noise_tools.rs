//! Tools that no task needs, for trials with many tools: generated from lists of words, and all of them find nothing.

use std::path::Path;

use crate::builtin;
use crate::tool::manifest::Manifest;

/// Subjects of the tools: a name, and its words in a description.
const ABOUT: [(&str, &str); 48] = [
    ("hotel", "hotels"),
    ("flight", "flights"),
    ("car_rental", "rental cars"),
    ("restaurant", "restaurants"),
    ("concert", "concerts"),
    ("museum", "museums"),
    ("cinema", "films in cinemas"),
    ("recipe", "recipes"),
    ("workout", "workouts"),
    ("medicine", "medicines"),
    ("doctor", "appointments with doctors"),
    ("insurance", "insurance contracts"),
    ("mortgage", "mortgages"),
    ("stock", "stocks"),
    ("bond", "bonds"),
    ("crypto", "coins of blockchains"),
    ("invoice", "invoices"),
    ("payroll", "salaries"),
    ("tax", "taxes"),
    ("budget_sheet", "household budgets"),
    ("shipment", "parcels"),
    ("warehouse", "stocks of warehouses"),
    ("order", "orders of a shop"),
    ("coupon", "coupons"),
    ("product", "products of a shop"),
    ("review", "reviews of products"),
    ("email", "e-mails"),
    ("contact", "contacts of an address book"),
    ("meeting", "meetings"),
    ("reminder", "reminders"),
    ("todo", "items of a to-do list"),
    ("note", "notes"),
    ("photo", "photos"),
    ("video", "videos"),
    ("song", "songs"),
    ("podcast", "podcasts"),
    ("game", "games"),
    ("league", "results of sports leagues"),
    ("ticket", "tickets of a help desk"),
    ("server", "servers of a data centre"),
    ("deployment", "deployments of software"),
    ("repository", "repositories of source code"),
    ("certificate", "certificates of web sites"),
    ("sensor", "readings of sensors"),
    ("lamp", "lamps of a smart home"),
    ("thermostat", "thermostats"),
    ("job_offer", "job offers"),
    ("course", "online courses"),
];

/// Actions of the tools: a verb for the name, words for the description, and the arguments.
const DOES: [(&str, &str, &[&str]); 26] = [
    ("list", "Lists the newest", &["page"]),
    ("find", "Finds single", &["name"]),
    ("compare", "Compares prices of", &["first", "second"]),
    ("rate", "Rates the quality of", &["name", "stars"]),
    ("count", "Counts the registered", &["region"]),
    ("forecast", "Forecasts the demand for", &["region", "month"]),
    ("tag", "Lists the tags of", &["name"]),
    ("archive", "Lists archived", &["year"]),
    ("recommend", "Recommends suitable", &["customer"]),
    ("track", "Tracks the state of", &["number"]),
    ("audit", "Lists irregularities among", &["year"]),
    ("export", "Says where exports lie of", &["format"]),
    ("validate", "Checks the data of", &["number"]),
    ("group", "Groups by owner all", &["owner"]),
    ("schedule", "Shows the schedule of", &["week"]),
    ("history", "Shows earlier versions of", &["number"]),
    ("popular", "Ranks by popularity the", &["region"]),
    ("nearby", "Finds in the neighbourhood", &["street"]),
    ("owner", "Says who owns single", &["number"]),
    ("price", "Shows the current prices of", &["name", "size"]),
    ("discount", "Finds discounts on", &["customer"]),
    ("duplicate", "Finds duplicates among", &["name"]),
    ("report", "Shows monthly reports on", &["month", "year"]),
    ("rules", "Explains the rules for", &["region"]),
    ("label", "Shows the printed labels of", &["number"]),
    ("quota", "Shows how many are still allowed of", &["customer"]),
];

/// The most tools that can be generated.
pub const MOST: usize = ABOUT.len() * DOES.len();

/// The first `count` of these tools.
pub fn tools(count: usize) -> impl Iterator<Item = Manifest> {
    // Subjects change fastest, so that even a few tools have different subjects.
    let all = DOES.iter().flat_map(|does| ABOUT.iter().map(move |about| (about, does)));
    all.take(count).filter_map(|((about, words), (verb, does, arguments))| {
        let name = format!("{about}_{verb}");
        let required: Vec<_> = arguments.iter().map(|name| format!("{name:?}")).collect();
        let properties: String = arguments
            .iter()
            .map(|name| {
                let about = format!("The {name} that the {words} belong to");
                format!(
                    "[parameters.properties.{name}]\ntype = \"string\"\ndescription = {about:?}\n"
                )
            })
            .collect();
        let text = format!(
            "name = {name:?}\ndescription = \"{does} {words}.\"\ncost = 1\neffect = \"read\"\n\
             [parameters]\nrequired = [{}]\nadditionalProperties = false\n{properties}\
             [source]\nbuiltin = \"nothing_found\"\n",
            required.join(", "),
        );
        Manifest::parse(&name, &text, Path::new(""), builtin::read).ok()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn all_of_them_are_valid_and_different() {
        let names: HashSet<_> = tools(MOST).map(|tool| tool.spec.name.clone()).collect();
        assert_eq!(names.len(), MOST);
        // The paper's tables have as many.
        const { assert!(MOST >= 1223) };
    }
}
