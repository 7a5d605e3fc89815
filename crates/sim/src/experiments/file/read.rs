//! From the bytes of a file to an experiment.

use std::collections::BTreeMap;
use std::fmt;

use hostwire_plan::diagnostic::{Rejected, Source, Span};
use hostwire_plan::file::{Findings, Section, decode, parse, span_of, wrong_type};
use hostwire_plan::{Diagnostic, Fabric, Plan, plan_table};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::configuration::{ClusterFigures, Configuration};
use super::parameters::Family;
use super::range::SweepRange;
use super::{Experiment, Point, parameters, read_workload, sweep};

/// Largest experiment file; it may hold a cluster.
pub const FILE_BYTES_MAX: usize = hostwire_plan::FILE_BYTES_MAX;
/// Events after which a run is given up, unless the file says otherwise: a few
/// minutes.
const EVENTS_MAX: u64 = 2_000_000_000;
const TITLE_CHARS_MAX: usize = 200;

/// Gives the bytes of the cluster file that an experiment names.
type Load<'l> = &'l dyn Fn(&str) -> Result<Vec<u8>, String>;

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
/// at a `[sweep]` table behind the end of the file.
///
/// # Errors
/// As [`read`].
pub fn read_swept(
    name: &str,
    bytes: &[u8],
    swept: Option<&SweepRange>,
    load: Load<'_>,
) -> Result<Experiment, BadExperiment> {
    let swept = swept.map(|swept| format!("\n# from the command line\n{}", swept.toml()));
    let mut out = Findings::default();
    let mut clusters = Clusters {
        load,
        files: BTreeMap::new(),
        inline: None,
        rejected: None,
    };
    let experiment =
        decode(bytes, FILE_BYTES_MAX, "an experiment file", &mut out).and_then(|text| {
            let swept = swept.as_deref().unwrap_or_default();
            read_text(name, text, swept, &mut clusters, &mut out)
        });
    match experiment {
        Some(experiment) if !out.has_errors() => Ok(experiment),
        _ => {
            let shown = bytes.get(..bytes.len().min(FILE_BYTES_MAX));
            let text = String::from_utf8_lossy(shown.unwrap_or_default());
            let own = Rejected {
                source: Source::new(name, text + swept.as_deref().unwrap_or_default()),
                diagnostics: out.into_vec(),
            };
            let files = clusters.rejected.into_iter().chain([own]).collect();
            Err(BadExperiment { files })
        }
    }
}

fn read_text(
    name: &str,
    text: &str,
    swept: &str,
    clusters: &mut Clusters<'_>,
    out: &mut Findings,
) -> Option<Experiment> {
    let mut root = parse(text, out)?.into_inner();
    // Blanks before it let its places be those behind the file.
    let blanks = " ".repeat(if swept.is_empty() { 0 } else { text.len() });
    let swept = blanks + swept;
    for (key, value) in parse(&swept, out)?.into_inner() {
        // Otherwise the key keeps the old place.
        root.remove(key.get_ref().as_ref());
        root.insert(key, value);
    }
    let whole = text.to_owned() + swept.trim_start_matches(' ');
    let (root, text) = (&root, whole.as_str());
    let sweep = if root.iter().any(|(key, _)| key.get_ref() == "sweep") {
        Some(sweep::read(root, out)?)
    } else {
        None
    };
    let mut experiment = Experiment {
        title: title(root).unwrap_or(name).to_owned(),
        sweep: sweep.as_ref().map(|sweep| sweep.key.value.to_owned()),
        points: Vec::new(),
    };
    let Some(sweep) = sweep else {
        experiment
            .points
            .push(read_point(root, None, clusters, out)?);
        return Some(experiment);
    };
    for value in &sweep.values {
        let patched = sweep::patched(root, sweep.key, value, out)?;
        if sweep.key.value.starts_with("cluster") {
            clusters.inline = None;
        }
        let label = sweep::label(text, value);
        let point = read_point(&patched, Some(label), clusters, out)?;
        experiment.points.push(point);
    }
    Some(experiment)
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
    if let Some(title) = file.text("title", "\"ping-pong over a cable\"", out)
        && title.value.chars().count() > TITLE_CHARS_MAX
    {
        out.push(
            Diagnostic::error("value", "`title` is too long")
                .label(title.span, format!("at most {TITLE_CHARS_MAX} characters"))
                .help("put the rest in a comment"),
        );
    }
    let cluster = file.value("cluster");
    let section = file.table("workload", "[workload]", out);
    if section.is_none() && !file.has("workload") {
        file.missing("workload", "{ kind = \"ping-pong\", ... }", out);
    }
    let family = section
        .as_ref()
        .map_or(Family::Cluster, read_workload::family);
    let fabric = match family {
        Family::Tca => Fabric::Peach2,
        _ => Fabric::TcCluster,
    };
    let plan = cluster.and_then(|cluster| clusters.plan(cluster, fabric, out));
    if let (Some(section), None, Family::Cluster | Family::Tca) = (&section, cluster, family) {
        out.push(
            Diagnostic::error("missing-key", "an experiment file has no `cluster`")
                .label(section.span(), "this workload runs on a cluster")
                .help("add `cluster = \"cluster.toml\"`, or a [cluster] table"),
        );
    }
    let without = match family {
        Family::Cluster | Family::Tca => None,
        Family::Htx => Some(("the HTX board", "the board's host is built in")),
        Family::Memory => Some(("a memory system", "its regions are all there is")),
        Family::TcaHost => Some(("two boards in one host", "the host is built in")),
        Family::Htea => Some((
            "Ethernet adapters",
            "`nodes` and one switch are all there is",
        )),
    };
    if let (Some(cluster), Some((what, why))) = (cluster, without) {
        let message = format!("a cluster for a workload of {what}");
        out.push(
            Diagnostic::error("contradiction", message)
                .label(span_of(cluster), why)
                .help("remove `cluster`, or use another workload"),
        );
    }
    let parameters = file.table("parameters", "[parameters]", out);
    let place = parameters.as_ref().map_or(whole, Section::span);
    let (models, parameters) = parameters::read(parameters, family, out);
    let limits = file
        .table("limits", "[limits]", out)
        .and_then(|mut limits| {
            let events = limits.count("events", 1, 1_000_000_000_000_000, out);
            limits.finish(out);
            events
        });
    let events_max = limits.map_or(EVENTS_MAX, |events| events.value);
    let workload = section
        .and_then(|section| read_workload::read(section, plan.as_ref(), &models, events_max, out));
    if let Some(plan) = plan.as_ref().filter(|_| models.damages()) {
        check_damage(plan, place, out);
    }
    // Read by the sweep module.
    let _ = file.value("sweep");
    file.finish(out);
    if out.has_errors() {
        return None;
    }
    let workload = workload?;
    Some(Point {
        label,
        configuration: Configuration {
            cluster: plan.as_ref().map(ClusterFigures::of),
            workload: workload.clone(),
            parameters,
            events_max,
        },
        plan,
        workload,
        models,
        events_max,
    })
}

/// Links below 1,200 MHz have a CRC over time instead of one per packet: they see
/// damage and deliver all the same, so that it would change nothing.
fn check_damage(plan: &Plan, parameters: Span, out: &mut Findings) {
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
struct Clusters<'l> {
    load: Load<'l>,
    files: BTreeMap<String, Plan>,
    inline: Option<Plan>,
    rejected: Option<Rejected>,
}

impl Clusters<'_> {
    /// The plan that the file or the table gives; it has to be for `fabric`.
    fn plan(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        fabric: Fabric,
        out: &mut Findings,
    ) -> Option<Plan> {
        let plan = match value.get_ref() {
            DeValue::String(path) => self.plan_file(path, span_of(value), out),
            DeValue::Table(table) => {
                if self.inline.is_none() {
                    let section = Section::new("[cluster]", table, span_of(value));
                    self.inline = plan_table(section, out);
                }
                self.inline.clone()
            }
            _ => {
                let expected = "a [cluster] table, or the path of a cluster file";
                wrong_type("cluster", expected, value, out);
                None
            }
        }?;
        if plan.fabric() != fabric {
            let (what, is, help) = match fabric {
                Fabric::TcCluster => (
                    "this workload runs on a TCCluster",
                    "this one is for PEACH2",
                    "use a cluster of Opterons, or a workload \"tca-...\"",
                ),
                Fabric::Peach2 => (
                    "this workload runs on a TCA sub-cluster",
                    "this one is a TCCluster",
                    "use a cluster with `fabric = \"peach2\"`",
                ),
            };
            let wrong = Diagnostic::error("fabric", what);
            out.push(wrong.label(span_of(value), is).help(help));
            return None;
        }
        Some(plan)
    }

    fn plan_file(&mut self, path: &str, span: Span, out: &mut Findings) -> Option<Plan> {
        if let Some(plan) = self.files.get(path) {
            return Some(plan.clone());
        }
        let wrong = |what: &str, help: &str| {
            Diagnostic::error("cluster", what)
                .label(span, "named here")
                .help(help)
        };
        let bytes = match (self.load)(path) {
            Ok(bytes) => bytes,
            Err(why) => {
                let what = format!("the cluster file cannot be read: {why}");
                out.push(wrong(
                    &what,
                    "paths begin at the folder of the experiment file",
                ));
                return None;
            }
        };
        match hostwire_plan::plan(path, &bytes) {
            Ok(plan) => {
                self.files.insert(path.to_owned(), plan.clone());
                Some(plan)
            }
            Err(rejected) => {
                self.rejected = Some(rejected);
                let help = "what is wrong with it is said above; `hostwire plan` checks it too";
                out.push(wrong("the cluster cannot be planned", help));
                None
            }
        }
    }
}
