//! Circles of modules: each uses the next one, and the last one uses the first. To read one of them, one has to read
//! all. Only modules of the same folder count; a module may use the one that it is in.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::arrows::{Name, Walk};
use super::source::Sources;

/// Which modules use which, by name.
type Arrows<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let mut found = Vec::new();
    for root in sources.iter() {
        if !root.path.ends_with("src/lib.rs") && !root.path.ends_with("src/main.rs") {
            continue;
        }
        let walk = Walk::through(sources, root);
        for (folder, arrows) in by_folder(&walk) {
            let Some(module) = walk.modules.get(folder) else {
                continue;
            };
            for circle in circles(&arrows) {
                let what = circle.join(", ");
                let text = format!(
                    "these modules use each other in a circle: {what}: move what they share below them, or hand \
                     it in from above"
                );
                found.push(module.source.finding(1, "circle", what, text));
            }
        }
    }
    found
}

/// The arrows between the modules of each folder.
fn by_folder<'a>(walk: &'a Walk<'_>) -> BTreeMap<&'a [String], Arrows<'a>> {
    let mut all: BTreeMap<&[String], Arrows<'_>> = BTreeMap::new();
    for arrow in &walk.uses {
        let (from, to): (&Name, &Name) = (&arrow.from, &arrow.to);
        let same = from.iter().zip(to).take_while(|(one, other)| one == other);
        let same = same.count();
        if let (Some(one), Some(other)) = (from.get(same), to.get(same)) {
            let folder = all.entry(from.get(..same).unwrap_or_default());
            folder.or_default().entry(one).or_default().insert(other);
        }
    }
    all
}

/// The modules of each circle, in the order of their names.
fn circles<'a>(arrows: &Arrows<'a>) -> BTreeSet<Vec<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = arrows
        .keys()
        .map(|from| (*from, reached_from(from, arrows)))
        .collect();
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|all| all.contains(to));
    let in_circle = arrows.keys().filter(|name| reaches(name, name));
    in_circle
        .map(|one| {
            let others = arrows.keys().copied();
            others
                .filter(|other| reaches(one, other) && reaches(other, one))
                .collect()
        })
        .collect()
}

fn reached_from<'a>(from: &str, arrows: &Arrows<'a>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = arrows.get(from).into_iter().flatten().copied().collect();
    while let Some(name) = next.pop() {
        if reached.insert(name) {
            next.extend(arrows.get(name).into_iter().flatten());
        }
    }
    reached
}
