//! What a cluster file says of the whole cluster.

use super::section::Section;
use super::{Fabric, Family, Policy};
use crate::diagnostic::{Diagnostic, Findings, Located, Span};

/// Whether a file says that its cluster is one of HTX boards.
pub(crate) fn is_htx(file: &Section<'_>) -> bool {
    let fabric = file.entries().find(|(key, _)| key.value == "fabric");
    fabric.is_some_and(|(_, value)| value.get_ref().as_str() == Some(HTX))
}

/// The fabric that has no address map.
const HTX: &str = "htx";

/// What connects the nodes of an address map.
pub(super) fn read_fabric(file: &mut Section<'_>, out: &mut Findings) -> Fabric {
    let fabrics = [
        ("tccluster", Some(Fabric::TcCluster)),
        ("peach2", Some(Fabric::Peach2)),
        // Read elsewhere; named for the list of what is possible.
        (HTX, None),
    ];
    file.choice("fabric", &fabrics, out)
        .and_then(|fabric| fabric.value)
        .unwrap_or(Fabric::TcCluster)
}

pub(super) fn read_family(file: &mut Section<'_>, fabric: Fabric, out: &mut Findings) -> Family {
    match fabric {
        Fabric::TcCluster => file
            .choice(
                "family",
                &[("10h", Family::Fam10h), ("15h", Family::Fam15h)],
                out,
            )
            .map_or(Family::Fam10h, |f| f.value),
        Fabric::Peach2 => Family::Fam10h,
    }
}

pub(crate) fn read_policy(mut section: Section<'_>, out: &mut Findings) -> Option<Located<Policy>> {
    let choices = [
        ("auto", Policy::Auto),
        ("minimal", Policy::Minimal),
        ("tree", Policy::Tree),
    ];
    let policy = section.choice("policy", &choices, out);
    section.finish(out);
    policy
}

/// Nodes and cables are either listed or generated. `span` is the first one that is listed.
pub(super) fn check_described(is_generated: bool, is_listed: bool, span: Span, out: &mut Findings) {
    if is_generated && is_listed {
        out.push(
            Diagnostic::error(
                "contradiction",
                "[topology] and nodes or cables in one file",
            )
            .label(span, "[topology] generates all nodes and cables")
            .help("remove [topology], or remove [[node]], [[supernode]] and [[cable]]"),
        );
    } else if !is_generated && !is_listed {
        out.push(
            Diagnostic::error("empty", "the file describes no nodes")
                .help("add [[node]] and [[cable]] tables, or a [topology]"),
        );
    }
}
