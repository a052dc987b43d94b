//! Control of a session. One side controls at a time; the others watch. A side gets control only while no other has it;
//! the controlling side is told which side requests it.

use std::collections::BTreeMap;

/// A side of a session: a screen or another program.
pub(super) type SideId = u64;

/// The screen that started the session.
pub(super) const STARTER: SideId = 0;

/// Notice to a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    Control { yours: bool, controller: Option<String> },
    Asked(String),
    Refused(String),
}

/// Notices, and the sides that get them.
pub(super) type Notices = Vec<(SideId, Notice)>;

/// Keeps track of the side in control.
#[derive(Debug, Default)]
pub(super) struct Desk {
    /// All sides, by their names.
    sides: BTreeMap<SideId, String>,
    /// The side in control, and since when, for people.
    controller: Option<(SideId, String)>,
    /// Sides that have requested control, the first one first.
    asked: Vec<SideId>,
}

impl Desk {
    /// Adds a side, which watches.
    pub fn join(&mut self, side: SideId, name: String) {
        self.sides.insert(side, name);
    }

    pub fn controls(&self, side: SideId) -> bool {
        self.controller.as_ref().is_some_and(|(controller, _)| *controller == side)
    }

    /// Whether a side other than the screen that started the session controls it.
    pub fn is_taken_by_guest(&self) -> bool {
        self.controller.as_ref().is_some_and(|(controller, _)| *controller != STARTER)
    }

    /// Name of the side in control, and since when.
    pub fn controller(&self) -> Option<String> {
        let (side, since) = self.controller.as_ref()?;
        let name = self.sides.get(side)?;
        Some(format!("{name}, since {since}"))
    }

    /// Requests control for a side at this time. The side gets it if no other has it.
    pub fn take(&mut self, side: SideId, now: &str) -> Notices {
        match self.controller.as_ref().map(|(controller, _)| *controller) {
            None => self.give(Some(side), now),
            Some(controller) if controller == side => self.told_who(|other| other == side),
            Some(_) if self.asked.contains(&side) => {
                vec![(side, Notice::Refused("you have already asked for control".to_owned()))]
            }
            Some(controller) => {
                self.asked.push(side);
                let by = self.sides.get(&side).cloned().unwrap_or_default();
                let who = self.controller().unwrap_or_default();
                let why = format!("controlled by {who}; it was asked to hand over");
                vec![(controller, Notice::Asked(by)), (side, Notice::Refused(why))]
            }
        }
    }

    /// Gives up the control of a side: to the first one that requested it, else to the screen that started the session.
    pub fn leave(&mut self, side: SideId, now: &str) -> Notices {
        self.asked.retain(|asked| *asked != side);
        if !self.controls(side) {
            return Vec::new();
        }
        let starter = (side != STARTER && self.sides.contains_key(&STARTER)).then_some(STARTER);
        let next = self.asked.first().copied().or(starter);
        self.give(next, now)
    }

    /// Removes a side.
    pub fn part(&mut self, side: SideId, now: &str) -> Notices {
        let told = self.leave(side, now);
        self.sides.remove(&side);
        told.into_iter().filter(|(other, _)| *other != side).collect()
    }

    fn give(&mut self, side: Option<SideId>, now: &str) -> Notices {
        self.asked.retain(|asked| Some(*asked) != side);
        self.controller = side.map(|side| (side, now.to_owned()));
        self.told_who(|_| true)
    }

    /// Tells these sides who controls.
    fn told_who(&self, is_told: impl Fn(SideId) -> bool) -> Notices {
        let controller = self.controller();
        let told = self.sides.keys().filter(|side| is_told(**side));
        told.map(|side| {
            let (yours, controller) = (self.controls(*side), controller.clone());
            (*side, Notice::Control { yours, controller })
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desk(sides: &[SideId]) -> Desk {
        let mut desk = Desk::default();
        sides.iter().for_each(|side| desk.join(*side, format!("pid {side}")));
        desk
    }

    fn control(yours: bool, controller: Option<&str>) -> Notice {
        Notice::Control { yours, controller: controller.map(str::to_owned) }
    }

    #[test]
    fn one_controls_and_a_second_one_is_refused_with_the_reason() {
        let mut desk = desk(&[1, 2]);
        let who = Some("pid 1, since 10:12");
        assert_eq!(desk.take(1, "10:12"), [(1, control(true, who)), (2, control(false, who))]);
        let why = "controlled by pid 1, since 10:12; it was asked to hand over";
        assert_eq!(
            desk.take(2, "10:13"),
            [(1, Notice::Asked("pid 2".into())), (2, Notice::Refused(why.into()))]
        );
        assert!(desk.controls(1) && !desk.controls(2));
        let again = desk.take(2, "10:13");
        assert!(matches!(&again[..], [(2, Notice::Refused(why))] if why.contains("already")));
        assert_eq!(desk.take(1, "10:14"), [(1, control(true, who))]);
    }

    #[test]
    fn control_goes_to_who_asked_first_when_the_controller_leaves_or_is_gone() {
        let mut desk = desk(&[1, 2, 3]);
        desk.take(1, "10:00");
        desk.take(3, "10:01");
        desk.take(2, "10:02");
        let who = Some("pid 3, since 10:03");
        let all = [(1, control(false, who)), (2, control(false, who)), (3, control(true, who))];
        assert_eq!(desk.leave(1, "10:03"), all);
        let who = Some("pid 2, since 10:04");
        assert_eq!(desk.part(3, "10:04"), [(1, control(false, who)), (2, control(true, who))]);
        assert_eq!(desk.part(2, "10:05"), [(1, control(false, None))]);
        assert_eq!(desk.leave(1, "10:06"), []);
        assert_eq!(desk.controller(), None);
    }

    #[test]
    fn the_screen_that_started_the_session_gets_control_back() {
        let mut desk = desk(&[STARTER, 1]);
        desk.take(STARTER, "10:00");
        assert_eq!(desk.leave(STARTER, "10:01").last(), Some(&(1, control(false, None))));
        desk.take(1, "10:02");
        assert!(desk.controls(1));
        desk.part(1, "10:03");
        assert!(desk.controls(STARTER));
    }

    #[test]
    fn who_is_gone_gets_nothing_any_more() {
        let mut desk = desk(&[1, 2]);
        desk.take(1, "10:00");
        desk.take(2, "10:00");
        desk.part(2, "10:01");
        assert_eq!(desk.leave(1, "10:02"), [(1, control(false, None))]);
    }
}
