//! The gap between two layers: every bundle of edges that changes rows there gets a vertical lane.

use std::collections::BTreeMap;

/// Edges that are drawn as one line in a channel, because they share the node at one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Net {
    /// All edges joined to this node at the left of the channel.
    Left(usize),
    /// All edges joined to this node at the right of the channel.
    Right(usize),
    /// A single edge between two layers that it passes.
    Alone(usize),
}

/// The rows at which a net enters and leaves a channel.
#[derive(Clone, Debug, Default)]
struct NetRows {
    left: Vec<usize>,
    right: Vec<usize>,
}

/// Cost of an order that draws two different edges over each other, in crossings.
const OVERLAP: usize = 100;
/// Rounds of improvement; a channel has a dozen nets, and few rounds settle it.
const ROUNDS: usize = 20;

impl NetRows {
    fn span(&self) -> (usize, usize) {
        let all = || self.left.iter().chain(&self.right).copied();
        (all().min().unwrap_or(0), all().max().unwrap_or(0))
    }

    fn is_straight(&self) -> bool {
        let (top, bottom) = self.span();
        top == bottom
    }

    fn touches(&self, other: &NetRows) -> bool {
        let ((top, bottom), (other_top, other_bottom)) = (self.span(), other.span());
        top <= other_bottom && other_top <= bottom
    }

    /// The cost, in crossings, of placing this net's lane left of the other's.
    fn cost_left_of(&self, other: &NetRows) -> usize {
        let inside = |row: &&usize, (top, bottom): (usize, usize)| top < **row && **row < bottom;
        let out = self.right.iter().filter(|row| inside(row, other.span())).count();
        let into = other.left.iter().filter(|row| inside(row, self.span())).count();
        let over = self.right.iter().filter(|row| other.left.contains(row)).count();
        out + into + OVERLAP * over
    }
}

/// The lane of each net that needs one, from the left, and how many lanes there are. `hops` are the
/// edges through the channel: net, row at the left, row at the right.
pub fn lanes(hops: &[(Net, usize, usize)]) -> (BTreeMap<Net, usize>, usize) {
    let mut nets: BTreeMap<Net, NetRows> = BTreeMap::new();
    for (net, left, right) in hops {
        let rows = nets.entry(*net).or_default();
        rows.left.push(*left);
        rows.right.push(*right);
    }
    let mut order: Vec<(Net, NetRows)> =
        nets.into_iter().filter(|(_, rows)| !rows.is_straight()).collect();
    untangle(&mut order);
    pack(&order)
}

/// Moves nets to where they cost least, until nothing is saved any more.
fn untangle(order: &mut Vec<(Net, NetRows)>) {
    for _ in 0..ROUNDS {
        let mut better = false;
        for i in 0..order.len() {
            let to = best_place(order, i);
            let net = order.remove(i);
            order.insert(to, net);
            better |= to != i;
        }
        if !better {
            return;
        }
    }
}

/// The place where the net at `i` costs least; among equal places the nearest, so `i` if no other is better.
fn best_place(order: &[(Net, NetRows)], i: usize) -> usize {
    let net = &order[i].1;
    // The cost of the net at each place, compared to the left end.
    let mut cost = 0;
    let passed =
        order.iter().enumerate().filter(|(place, _)| *place != i).map(|(_, (_, other))| {
            cost += other.cost_left_of(net) as isize - net.cost_left_of(other) as isize;
            cost
        });
    let costs = [0].into_iter().chain(passed).enumerate();
    // Places to the right count as nearer than those to the left.
    let far = |place: usize| if place < i { order.len() + i - place } else { place - i };
    costs.min_by_key(|(place, cost)| (*cost, far(*place))).map_or(i, |(place, _)| place)
}

/// Assigns lanes: nets that do not meet may share one, and the others keep their order.
fn pack(order: &[(Net, NetRows)]) -> (BTreeMap<Net, usize>, usize) {
    let mut placed: Vec<(&NetRows, usize)> = Vec::new();
    for (_, rows) in order {
        let met = placed.iter().filter(|(other, _)| other.touches(rows));
        placed.push((rows, met.map(|(_, lane)| lane + 1).max().unwrap_or(0)));
    }
    let count = placed.iter().map(|(_, lane)| lane + 1).max().unwrap_or(0);
    let nets = order.iter().map(|(net, _)| *net);
    (nets.zip(placed.iter().map(|(_, lane)| *lane)).collect(), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_turns_do_not_cross() {
        let (a, b) = (Net::Alone(0), Net::Alone(1));
        // Both go down: the lower one has to turn first.
        let (lanes, count) = lanes(&[(a, 1, 5), (b, 2, 6)]);
        assert_eq!(count, 2);
        assert!(lanes[&b] < lanes[&a]);
    }

    #[test]
    fn what_does_not_meet_shares_a_lane_and_straight_lines_need_none() {
        let hops = [(Net::Alone(0), 0, 2), (Net::Alone(1), 5, 3), (Net::Left(7), 9, 9)];
        let (lanes, count) = lanes(&hops);
        assert_eq!(count, 1);
        assert_eq!(lanes.len(), 2);
    }

    #[test]
    fn a_line_never_runs_over_another() {
        // One leaves at the row at which the other enters.
        let (a, b) = (Net::Alone(0), Net::Alone(1));
        let (lanes, _) = lanes(&[(a, 0, 4), (b, 4, 8)]);
        assert!(lanes[&b] < lanes[&a], "b must have turned off before a comes to that row");
    }
}
