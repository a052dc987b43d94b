//! The timetable: how to get from one city of the sample world to another.

use serde_json::Value;

use super::arguments;
use super::knowledge::{NOTHING, unknown_city};
use crate::{tool::ToolError, world::World};

/// The fastest route `from` one city `to` another.
pub fn timetable(arguments: &Value) -> Result<String, ToolError> {
    let from = arguments::text(arguments, "from")?;
    let to = arguments::text(arguments, "to")?;
    let mut cities: Vec<&str> = World::get()
        .tables
        .connections
        .iter()
        .flat_map(|connection| connection.between.iter().map(String::as_str))
        .collect();
    cities.sort_unstable();
    cities.dedup();
    let find =
        |name: &str| cities.iter().position(|city| city.to_lowercase() == name.to_lowercase());
    let (start, goal) = match (find(from), find(to)) {
        (Some(start), Some(goal)) => (start, goal),
        (None, _) => return Ok(unknown_city(from, cities.into_iter())),
        (Some(_), None) => return Ok(unknown_city(to, cities.into_iter())),
    };
    Ok(fastest(&cities, start, goal).unwrap_or_else(|| NOTHING.into()))
}

/// The Bellman-Ford algorithm: the network is so small that each round may check every connection.
fn fastest(cities: &[&str], start: usize, goal: usize) -> Option<String> {
    let place = |name: &str| cities.binary_search(&name).ok();
    let connections = &World::get().tables.connections;
    let mut minutes = vec![None; cities.len()];
    let mut before = vec![None; cities.len()];
    minutes[start] = Some(0);
    for _ in cities {
        for connection in connections {
            let [a, b] = [place(&connection.between[0])?, place(&connection.between[1])?];
            for (here, there) in [(a, b), (b, a)] {
                let Some(arrival) = minutes[here].map(|minutes| minutes + connection.minutes)
                else {
                    continue;
                };
                if minutes[there].is_none_or(|known| arrival < known) {
                    minutes[there] = Some(arrival);
                    before[there] = Some((here, connection));
                }
            }
        }
    }
    let total = minutes[goal]?;
    let (mut legs, mut fare, mut at) = (Vec::new(), 0, goal);
    while let Some((here, connection)) = before[at] {
        legs.push(format!(
            "{} to {} by {}, {} minutes",
            cities[here], cities[at], connection.by, connection.minutes
        ));
        fare += connection.fare;
        at = here;
    }
    legs.reverse();
    legs.push(format!("in all {total} minutes, {fare} pells"));
    Some(legs.join("; "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_fastest_way_may_change_and_runs_both_ways() {
        let there = timetable(&json!({ "from": "lumenport", "to": "Greywick" })).unwrap();
        assert_eq!(
            there,
            "Lumenport to Harrowgate Bay by train (Coast Line), 430 minutes; Harrowgate Bay to \
             Greywick by train, 95 minutes; in all 525 minutes, 76 pells"
        );
        let back = timetable(&json!({ "from": "Greywick", "to": "Lumenport" })).unwrap();
        assert!(back.ends_with("in all 525 minutes, 76 pells"), "{back}");
        let nowhere = timetable(&json!({ "from": "Lumenprt", "to": "Greywick" })).unwrap();
        assert!(nowhere.starts_with(NOTHING) && nowhere.contains("\"Lumenport\""), "{nowhere}");
    }
}
