//! Which host is reached from which.

/// For each host the one from which it is reached; from here, if it has none or it is here. No host reaches more than
/// `fan_out`, and neither does this one. Parents come before the hosts behind them.
pub fn parents(are_here: &[bool], fan_out: usize) -> Vec<Option<usize>> {
    let mut far = Vec::new();
    let mut parents = Vec::new();
    for (host, is_here) in are_here.iter().enumerate() {
        let place = far.len().checked_div(fan_out).unwrap_or(0);
        let parent = place.checked_sub(1).and_then(|parent| far.get(parent));
        parents.push(parent.copied().filter(|_| !is_here));
        if !is_here {
            far.push(host);
        }
    }
    parents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_hosts_are_reached_from_here() {
        assert_eq!(parents(&[true, false, false], 2), [None; 3]);
        assert_eq!(parents(&[false; 1024], 1024), [None; 1024]);
    }

    #[test]
    fn the_first_hosts_reach_the_next() {
        let are_here = [false, true, false, false, false, false, false, false];
        let (root, behind) = (None, Some);
        assert_eq!(
            parents(&are_here, 2),
            [
                root,
                root,
                root,
                behind(0),
                behind(0),
                behind(2),
                behind(2),
                behind(3)
            ]
        );
    }

    #[test]
    fn nobody_reaches_more_than_it_should_and_ways_are_short() {
        let parents = parents(&[false; 1024], 32);
        let mut reached = [0; 1024];
        let mut lengths = Vec::new();
        for (host, parent) in parents.iter().enumerate() {
            assert!(parent.is_none_or(|parent| parent < host));
            parent.iter().for_each(|parent| reached[*parent] += 1);
            lengths.push(parent.map_or(1, |parent: usize| lengths[parent] + 1));
        }
        assert_eq!(parents.iter().filter(|parent| parent.is_none()).count(), 32);
        assert_eq!(reached.into_iter().max(), Some(32));
        assert_eq!(lengths.into_iter().max(), Some(2));
    }
}
