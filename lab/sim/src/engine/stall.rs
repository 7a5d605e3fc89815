//! The components that wait, and for what, when no event is left.

use std::fmt;

use super::id::ComponentId;

/// One thing a component cannot do until another component acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The missing resource, e.g. "posted data credit of end A".
    pub resource: String,
    /// The component that could supply it; `None` if there is none.
    pub holder: Option<ComponentId>,
}

/// The components that still want something although no event is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StallReport {
    /// One line per wait: (waiting component, what it waits for, holder).
    pub waits: Vec<(String, String, Option<String>)>,
    /// A cycle of components each waiting for the next, if there is one; the
    /// first is repeated at the end.
    pub cycle: Option<Vec<String>>,
    /// Faults of components, also of those for which no component waits: (component,
    /// fault).
    pub faults: Vec<(String, String)>,
}

impl StallReport {
    pub(super) fn new(
        names: &[String],
        waits: Vec<(ComponentId, Wait)>,
        faults: Vec<(ComponentId, String)>,
    ) -> StallReport {
        let name = |id: ComponentId| {
            names
                .get(id.index())
                .cloned()
                .unwrap_or_else(|| "outside".into())
        };
        let edges: Vec<_> = waits
            .iter()
            .filter_map(|(from, wait)| Some((*from, wait.holder?)))
            .collect();
        StallReport {
            faults: faults
                .into_iter()
                .map(|(who, what)| (name(who), what))
                .collect(),
            cycle: find_cycle(&edges).map(|ids| ids.into_iter().map(name).collect()),
            waits: waits
                .into_iter()
                .map(|(from, wait)| (name(from), wait.resource, wait.holder.map(name)))
                .collect(),
        }
    }
}

/// Depth-first walk from every waiting component. The graph is as large as the
/// number of stalled components, so the quadratic bound does not matter.
fn find_cycle(edges: &[(ComponentId, ComponentId)]) -> Option<Vec<ComponentId>> {
    let mut done: Vec<ComponentId> = Vec::new();
    for &(start, _) in edges {
        let mut path = vec![start];
        let mut next = vec![0usize];
        while let (Some(&at), Some(position)) = (path.last(), next.last_mut()) {
            let target = edges
                .iter()
                .skip(*position)
                .position(|&(from, _)| from == at);
            let Some(found) = target.map(|offset| *position + offset) else {
                done.push(at);
                path.pop();
                next.pop();
                continue;
            };
            *position = found + 1;
            let Some(&(_, to)) = edges.get(found) else {
                continue;
            };
            if let Some(from) = path.iter().position(|&id| id == to) {
                let mut cycle = path.split_off(from);
                cycle.push(to);
                return Some(cycle);
            }
            if !done.contains(&to) {
                path.push(to);
                next.push(0);
            }
        }
    }
    None
}

impl fmt::Display for StallReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.waits.len() {
            0 => writeln!(f, "no event is left:")?,
            1 => writeln!(f, "no event is left, but a wait is open:")?,
            count => writeln!(f, "no event is left, but {count} waits are open:")?,
        }
        for (who, resource, holder) in &self.waits {
            match holder {
                Some(holder) => writeln!(f, "  {who} waits for {resource}, held by {holder}")?,
                None => writeln!(f, "  {who} waits for {resource}, which nobody can supply")?,
            }
        }
        if let Some(cycle) = &self.cycle {
            writeln!(f, "  cycle: {}", cycle.join(" -> "))?;
        }
        for (who, what) in &self.faults {
            writeln!(f, "  {who} {what}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u32) -> ComponentId {
        ComponentId(n)
    }

    #[test]
    fn finds_the_cycle_behind_a_tail() {
        let edges = [
            (id(0), id(1)),
            (id(1), id(2)),
            (id(2), id(3)),
            (id(3), id(1)),
            (id(9), id(0)),
        ];
        assert_eq!(find_cycle(&edges), Some(vec![id(1), id(2), id(3), id(1)]));
    }

    #[test]
    fn a_tree_has_no_cycle() {
        let edges = [
            (id(0), id(1)),
            (id(0), id(2)),
            (id(1), id(3)),
            (id(2), id(3)),
        ];
        assert_eq!(find_cycle(&edges), None);
    }

    #[test]
    fn report_reads_as_sentences() {
        let names = vec!["a".to_string(), "b".to_string()];
        let wait = |holder| Wait {
            resource: "posted data credit".into(),
            holder,
        };
        let report = StallReport::new(
            &names,
            vec![(id(0), wait(Some(id(1)))), (id(1), wait(Some(id(0))))],
            vec![(id(1), "never trained".into())],
        );
        let text = report.to_string();
        assert!(
            text.contains("a waits for posted data credit, held by b"),
            "{text}"
        );
        assert!(text.contains("cycle: a -> b -> a"), "{text}");
        assert!(text.contains("\n  b never trained\n"), "{text}");
    }
}
