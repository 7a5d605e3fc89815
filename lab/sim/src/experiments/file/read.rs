//! From the bytes of a file to an experiment.

use std::collections::BTreeMap;
use std::fmt;

use hostwire_plan::diagnostic::{Rejected, Source, Span};
use hostwire_plan::file::{Findings, Section, decode, parse, span_of, wrong_type};
use hostwire_plan::{Cluster, Diagnostic, Fabric, Plan, cluster_table};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::configuration::{BoardsFigures, ClusterFigures, Configuration};
use crate::wire::CallCosts;

use super::parameters::Family;
use super::range::SweepRange;
use super::workload::Workload;
use super::{Experiment, Point, calls, parameters, read_workload, sweep};

/// Largest experiment file; it may hold a cluster.
pub const FILE_BYTES_MAX: usize = hostwire_plan::FILE_BYTES_MAX;
/// The default number of events after which a run stops with an error: a few minutes.
const EVENTS_MAX: u64 = 2_000_000_000;
const TITLE_CHARS_MAX: usize = 200;

/// Between the keys of several sweeps, and between their values.
pub const BETWEEN_SWEEPS: &str = ", ";

/// Gives the bytes of the cluster file that an experiment names.
pub type Load<'l> = &'l dyn Fn(&str) -> Result<Vec<u8>, String>;

/// Files that cannot be run, with everything wrong with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadExperiment {
    /// The experiment's file, or the cluster's file that it names.
    pub files: Vec<Rejected>,
}

impl fmt::Display for BadExperiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, file) in self.files.iter().enumerate() {
            let between = if index == 0 { "" } else { "\n" };
            write!(f, "{between}{file}")?;
        }
        Ok(())
    }
}

impl std::error::Error for BadExperiment {}

/// Reads an experiment. `name` is the file's name for messages; `load` gives the
/// bytes of a cluster file by the path in the experiment.
///
/// # Errors
/// [`BadExperiment`] says what is wrong and where. Never panics.
pub fn read(name: &str, bytes: &[u8], load: Load<'_>) -> Result<Experiment, BadExperiment> {
    read_swept(name, bytes, None, load)
}

/// As [`read`], with `swept` instead of the sweep of the file. Findings about it point
/// into its own text, which they call `--sweep`.
///
/// # Errors
/// As [`read`].
pub fn read_swept(
    name: &str,
    bytes: &[u8],
    swept: Option<&SweepRange>,
    load: Load<'_>,
) -> Result<Experiment, BadExperiment> {
    let mut out = Findings::default();
    let mut clusters = Clusters {
        load,
        files: BTreeMap::new(),
        inline: None,
        rejected: None,
    };
    let shown = bytes.get(..bytes.len().min(FILE_BYTES_MAX));
    let shown = String::from_utf8_lossy(shown.unwrap_or_default());
    let mut source = Source::new(name, shown);
    let experiment =
        decode(bytes, FILE_BYTES_MAX, "an experiment file", &mut out).and_then(|text| {
            let texts = Texts {
                name,
                text,
                swept,
                source: &mut source,
            };
            texts.read(&mut clusters, &mut out)
        });
    match experiment {
        Some(experiment) if !out.has_errors() => Ok(experiment),
        _ => {
            let own = Rejected {
                source,
                diagnostics: out.into_vec(),
            };
            // Perhaps only the cluster is wrong.
            let files = clusters.rejected.into_iter().chain([own]).collect();
            Err(BadExperiment { files })
        }
    }
}

/// What an experiment is read from.
struct Texts<'t, 's> {
    name: &'t str,
    text: &'t str,
    swept: Option<&'t SweepRange>,
    /// For findings: gets what is read beside `text`.
    source: &'s mut Source,
}

impl Texts<'_, '_> {
    fn read(self, clusters: &mut Clusters<'_>, out: &mut Findings) -> Option<Experiment> {
        let mut root = parse(self.text, out)?.into_inner();
        if let Some(swept) = self.swept {
            let start = self.source.add("--sweep", swept.text());
            let place = start..start + swept.text().len();
            // Otherwise the key keeps the old place.
            root.remove("sweep");
            root.insert(
                Spanned::new(place.clone(), "sweep".into()),
                Spanned::new(place, DeValue::Table(swept.table(start))),
            );
        }
        let sweeps = sweep::read(&root, out)?;
        // A key of a cluster that is in a file of its own: that file becomes a table of this one.
        let of_cluster = sweeps.iter().any(|sweep| sweep.is_of_cluster());
        let cluster = match sweeps
            .iter()
            .any(|sweep| sweep.key.value.starts_with("cluster."))
        {
            true => clusters.swept_file(&root, self.source, out)?,
            false => None,
        };
        let mut root = root.clone();
        if let Some(cluster) = &cluster {
            let table = DeValue::Table(parse(cluster, out)?.into_inner());
            let named = root.iter_mut().find(|(key, _)| key.get_ref() == "cluster");
            if let Some((_, value)) = named {
                *value.get_mut() = table;
            }
        }
        let mut experiment = Experiment::without_points(title(&root).unwrap_or(self.name));
        let keys: Vec<&str> = sweeps.iter().map(|sweep| sweep.key.value).collect();
        experiment.sweep = (!keys.is_empty()).then(|| keys.join(BETWEEN_SWEEPS));
        let counts: Vec<usize> = sweeps.iter().map(|sweep| sweep.values.len()).collect();
        for point in 0..counts.iter().product() {
            let mut patched = root.clone();
            let mut labels = Vec::new();
            for (sweep, place) in sweeps.iter().zip(places(point, &counts)) {
                let value = sweep.values[place];
                patched = sweep::patched(&patched, sweep.key, value, out)?;
                labels.push(
                    match self.swept.and_then(|swept| swept.values().get(place)) {
                        Some(written) => written.clone(),
                        None => sweep::label(self.text, value),
                    },
                );
            }
            if of_cluster {
                clusters.inline = None;
            }
            let label = (!labels.is_empty()).then(|| labels.join(BETWEEN_SWEEPS));
            let read = read_point(&patched, label, clusters, out)?;
            experiment.points.push(Point {
                place: point,
                ..read
            });
        }
        Some(experiment)
    }
}

/// The place of point `point` in each of the sweeps, of which the last one runs fastest.
fn places(mut point: usize, counts: &[usize]) -> Vec<usize> {
    let backwards = counts.iter().rev().map(|count| {
        let place = point % count;
        point /= count;
        place
    });
    let mut places: Vec<usize> = backwards.collect();
    places.reverse();
    places
}

impl Experiment {
    fn without_points(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            sweep: None,
            points: Vec::new(),
        }
    }
}

/// The title, for the experiment as a whole; [`read_point`] checks it.
fn title<'t>(root: &'t DeTable<'t>) -> Option<&'t str> {
    let (_, value) = root.iter().find(|(key, _)| key.get_ref() == "title")?;
    value.get_ref().as_str()
}

fn read_point(
    root: &DeTable<'_>,
    label: Option<String>,
    clusters: &mut Clusters<'_>,
    out: &mut Findings,
) -> Option<Point> {
    let whole = Span::default();
    let mut file = Section::new("an experiment file", root, whole);
    check_title(&mut file, out);
    let cluster = file.value("cluster");
    let section = file.table("workload", "[workload]", out);
    if section.is_none() && !file.has("workload") {
        file.missing("workload", "{ kind = \"ping-pong\", ... }", out);
    }
    let family = section
        .as_ref()
        .map_or(Some(Family::Cluster), read_workload::family);
    let described = cluster.and_then(|cluster| match family {
        Some(Family::HtxBoards) => clusters.boards(cluster, out),
        Some(Family::Tca | Family::TcaCopies | Family::TcaJobs) => {
            clusters.of(cluster, Fabric::Peach2, out)
        }
        Some(_) => clusters.of(cluster, Fabric::TcCluster, out),
        None => clusters.any(cluster, out),
    });
    let family = family_on(family, described.as_ref());
    check_cluster(section.as_ref(), cluster, family, out);
    let plan = described.as_ref().and_then(Cluster::plan);
    let parameters = file.table("parameters", "[parameters]", out);
    let place = parameters.as_ref().map_or(whole, Section::span);
    let (models, parameters) = parameters::read(parameters, family, plan, out);
    let limits = file
        .table("limits", "[limits]", out)
        .and_then(|mut limits| {
            let events = limits.count("events", 1, 1_000_000_000_000_000, out);
            limits.finish(out);
            events
        });
    let events_max = limits.map_or(EVENTS_MAX, |events| events.value);
    let boards = match &described {
        Some(Cluster::Htx(boards)) => Some(boards),
        _ => None,
    };
    let workload = section
        .and_then(|section| read_workload::read(section, (plan, boards), &models, events_max, out));
    if let Some(plan) = plan.filter(|_| models.damages()) {
        check_damage(plan, place, out);
    }
    let calls = match &workload {
        Some(Workload::Program(_)) => calls::read(file.table("calls", "[calls]", out), out),
        _ => CallCosts::default(),
    };
    // Read by the sweep module.
    let _ = file.value("sweep");
    file.finish(out);
    if out.has_errors() {
        return None;
    }
    let workload = workload?;
    Some(Point {
        place: 0,
        label,
        configuration: Configuration {
            cluster: plan.map(ClusterFigures::of),
            boards: boards.map(BoardsFigures::of),
            workload: workload.clone(),
            parameters,
            calls: (!calls.is_none()).then_some(calls),
            events_max,
        },
        calls,
        cluster: described,
        workload,
        models,
        events_max,
    })
}

/// The kind of machine of a workload on this cluster: a program runs on any, remote memory on boards of hosts
/// and of sockets.
fn family_on(family: Option<Family>, cluster: Option<&Cluster>) -> Family {
    let usual = cluster.map(Family::of);
    match family {
        None => usual.unwrap_or(Family::Cluster),
        Some(Family::HtxBoards) => usual.unwrap_or(Family::HtxBoards),
        Some(family) => family,
    }
}

/// Reads the title, for what is wrong with it.
pub(super) fn check_title(file: &mut Section<'_>, out: &mut Findings) {
    if let Some(title) = file.text("title", "\"ping-pong over a cable\"", out)
        && title.value.chars().count() > TITLE_CHARS_MAX
    {
        out.push(
            Diagnostic::error("value", "`title` is too long")
                .label(title.span, format!("at most {TITLE_CHARS_MAX} characters"))
                .help("put the rest in a comment"),
        );
    }
}

/// Whether there is a cluster exactly where the workload runs on one.
fn check_cluster(
    section: Option<&Section<'_>>,
    cluster: Option<&Spanned<DeValue<'_>>>,
    family: Family,
    out: &mut Findings,
) {
    if let (
        Some(section),
        None,
        Family::Cluster | Family::HtxBoards | Family::Tca | Family::TcaCopies | Family::TcaJobs,
    ) = (section, cluster, family)
    {
        out.push(
            Diagnostic::error("missing-key", "an experiment file has no `cluster`")
                .label(section.span(), "this workload runs on a cluster")
                .help("add `cluster = \"cluster.toml\"`, or a [cluster] table"),
        );
    }
    let without = match family {
        Family::Cluster | Family::Tca | Family::TcaCopies | Family::TcaJobs | Family::HtxBoards => {
            None
        }
        Family::Htx => Some(("the HTX board", "the board's host is built in")),
        Family::Memory => Some(("a memory system", "its regions are all there is")),
        Family::TcaHost => Some(("two boards in one host", "the host is built in")),
        Family::Htea => Some((
            "Ethernet adapters",
            "`nodes` and one switch are all there is",
        )),
        Family::Ethernet => Some((
            "hosts on Ethernet",
            "`hosts` and one switch are all there is",
        )),
        Family::Links => Some(("links of today", "`hosts` and one switch are all there is")),
    };
    if let (Some(cluster), Some((what, why))) = (cluster, without) {
        let message = format!("a cluster for a workload of {what}");
        out.push(
            Diagnostic::error("contradiction", message)
                .label(span_of(cluster), why)
                .help("remove `cluster`, or use another workload"),
        );
    }
}

/// Links below 1,200 MHz have a CRC over time instead of one per packet: they detect
/// damage and still deliver, so damage would change nothing.
pub(super) fn check_damage(plan: &Plan, parameters: Span, out: &mut Findings) {
    let cables = plan.cables().iter();
    let slow = cables.filter(|cable| cable.frequency_mhz.is_some_and(|mhz| mhz < 1_200));
    if let Some(cable) = slow.into_iter().next() {
        let what = "`damaged_packets_per_million` needs links that retry";
        let port = plan.port_name(cable.ends[0]);
        let mhz = cable.frequency_mhz.unwrap_or(0);
        out.push(
            Diagnostic::error("no-retry", what)
                .label(parameters, format!("the cable at {port} runs at {mhz} MHz"))
                .note("links retry from 1200 MHz on; slower ones have no CRC per packet")
                .help("use a faster cluster, or leave the links whole"),
        );
    }
}

/// Plans, by where they come from: points of a sweep mostly share one.
pub(super) struct Clusters<'l> {
    pub(super) load: Load<'l>,
    pub(super) files: BTreeMap<String, Cluster>,
    pub(super) inline: Option<Cluster>,
    pub(super) rejected: Option<Rejected>,
}

impl Clusters<'_> {
    /// The text of the cluster file that an experiment names, with blanks before it, so that its
    /// places are those that it has in `source`. `Some(None)` if the cluster is not in a file.
    fn swept_file(
        &mut self,
        root: &DeTable<'_>,
        source: &mut Source,
        out: &mut Findings,
    ) -> Option<Option<String>> {
        let named = root.iter().find(|(key, _)| key.get_ref() == "cluster");
        let Some((_, value)) = named else {
            return Some(None);
        };
        let Some(path) = value.get_ref().as_str() else {
            return Some(None);
        };
        let bytes = self.load_file(path, span_of(value), out)?;
        match String::from_utf8(bytes) {
            Ok(text) if text.len() <= FILE_BYTES_MAX => {
                let start = source.add(path, text.as_str());
                Some(Some(" ".repeat(start) + &text))
            }
            // This reports its faults.
            _ => {
                self.plan_file(path, span_of(value), out);
                None
            }
        }
    }

    fn load_file(&self, path: &str, span: Span, out: &mut Findings) -> Option<Vec<u8>> {
        (self.load)(path)
            .map_err(|why| {
                let what = format!("the cluster file cannot be read: {why}");
                out.push(
                    Diagnostic::error("cluster", what)
                        .label(span, "named here")
                        .help("paths begin at the folder of the experiment file"),
                );
            })
            .ok()
    }

    /// The cluster that the file or the table gives.
    pub(super) fn any(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        out: &mut Findings,
    ) -> Option<Cluster> {
        match value.get_ref() {
            DeValue::String(path) => self.plan_file(path, span_of(value), out),
            DeValue::Table(table) => {
                if self.inline.is_none() {
                    let section = Section::new("[cluster]", table, span_of(value));
                    self.inline = cluster_table(section, out);
                }
                self.inline.clone()
            }
            _ => {
                let expected = "a [cluster] table, or the path of a cluster file";
                wrong_type("cluster", expected, value, out);
                None
            }
        }
    }

    /// The same; it has to be of HTX boards, or of sockets with boards.
    fn boards(&mut self, value: &Spanned<DeValue<'_>>, out: &mut Findings) -> Option<Cluster> {
        let cluster = self.any(value, out)?;
        let below = cluster.plan().is_some_and(|plan| plan.boards().is_some());
        if below || matches!(cluster, Cluster::Htx(_)) {
            return Some(cluster);
        }
        out.push(
            Diagnostic::error("fabric", "this workload runs on HTX boards")
                .label(span_of(value), "this is a cluster of another kind")
                .help("use a cluster with `fabric = \"htx\"`, or nodes with a `board`"),
        );
        None
    }

    /// The same; it has to be for `fabric`.
    fn of(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        fabric: Fabric,
        out: &mut Findings,
    ) -> Option<Cluster> {
        let cluster = self.any(value, out)?;
        let is = cluster.plan().map(Plan::fabric);
        if is == Some(fabric) {
            return Some(cluster);
        }
        let (what, help) = match fabric {
            Fabric::TcCluster => (
                "this workload runs on a TCCluster",
                "use a cluster of Opterons, or a workload \"tca-...\"",
            ),
            Fabric::Peach2 => (
                "this workload runs on a TCA sub-cluster",
                "use a cluster with `fabric = \"peach2\"`",
            ),
        };
        let is = match is {
            None => "this one is of HTX boards",
            Some(Fabric::TcCluster) => "this one is a TCCluster",
            Some(Fabric::Peach2) => "this one is for PEACH2",
        };
        let wrong = Diagnostic::error("fabric", what);
        out.push(wrong.label(span_of(value), is).help(help));
        None
    }

    fn plan_file(&mut self, path: &str, span: Span, out: &mut Findings) -> Option<Cluster> {
        if let Some(plan) = self.files.get(path) {
            return Some(plan.clone());
        }
        let bytes = self.load_file(path, span, out)?;
        match hostwire_plan::cluster(path, &bytes) {
            Ok(cluster) => {
                self.files.insert(path.to_owned(), cluster.clone());
                Some(cluster)
            }
            Err(rejected) => {
                self.rejected = Some(rejected);
                let help = "what is wrong with it is said above; `hostwire plan` checks it too";
                out.push(
                    Diagnostic::error("cluster", "the cluster cannot be planned")
                        .label(span, "named here")
                        .help(help),
                );
                None
            }
        }
    }
}
