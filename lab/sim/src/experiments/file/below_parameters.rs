//! `[parameters.htx]` and `[parameters.peach2]`: parameters of HTX boards and PEACH2 chips below the
//! sockets of a cluster. They are those of clusters of boards or chips alone, as far as they matter there.

use hostwire_plan::file::{Findings, Section};
use hostwire_plan::htx::HtxPlan;
use hostwire_plan::{AdapterKind, Diagnostic, Plan};

use super::cluster_parameters::{BOARDS_NETWORK, HT_CORE, HT_CORE_BELOW, HTX, HTX_BELOW, REMOTE};
use super::parameter::{Parameter, ParameterValue};
use super::parameters::Models;
use super::tca_parameters::{PEACH2_BELOW, TCA, TCA_JOBS, TCA_LATER, check_credits};

/// A table in `[parameters]`.
struct Table {
    key: &'static str,
    title: &'static str,
    of: AdapterKind,
    parameters: fn(Option<&Plan>) -> Vec<&'static Parameter>,
}

const TABLES: [Table; 2] = [
    Table {
        key: "htx",
        title: "[parameters.htx]",
        of: AdapterKind::Htx,
        parameters: |plan| {
            let boards = HTX.iter().filter(|of| HTX_BELOW.contains(&of.key));
            let core = HT_CORE.iter().filter(|of| HT_CORE_BELOW.contains(&of.key));
            let regions = plan.and_then(Plan::boards).map(HtxPlan::regions);
            let remote = match regions.is_some_and(|regions| !regions.is_empty()) {
                true => REMOTE,
                false => &[],
            };
            let boards = boards.chain(BOARDS_NETWORK).chain(core);
            boards.chain(remote).collect()
        },
    },
    Table {
        key: "peach2",
        title: "[parameters.peach2]",
        of: AdapterKind::Peach2,
        parameters: |_| {
            let chips = TCA.iter().chain(TCA_JOBS).chain(TCA_LATER);
            let chips = chips.filter(|of| PEACH2_BELOW.contains(&of.key));
            chips.collect()
        },
    },
];

/// Reads both tables.
pub(super) fn read(
    models: &mut Models,
    parameters: &mut Section<'_>,
    plan: Option<&Plan>,
    out: &mut Findings,
) {
    for table in &TABLES {
        let Some(mut section) = parameters.table(table.key, table.title, out) else {
            continue;
        };
        if plan.is_some_and(|plan| !table.is_of(plan)) {
            out.push(
                Diagnostic::error(
                    "adapter",
                    format!("{}, and no node has a {}", table.title, table.of.key()),
                )
                .label(section.span(), "describes what is not there")
                .help(format!(
                    "give nodes of the cluster a `{}`, or remove this",
                    table.of.key()
                )),
            );
        }
        for parameter in (table.parameters)(plan) {
            parameter.set(models, &mut section, out);
        }
        if table.of == AdapterKind::Peach2 {
            // TLPs of controllers, and of bridges.
            let completion = plan.map_or(0, |plan| plan.bridge().completion_bytes);
            let payload = models.tca.config.chip.payload_bytes;
            check_credits(&models.tca, payload.max(completion), &section, out);
        }
        section.finish(out);
    }
}

/// The values of both tables, as far as the cluster has such devices.
pub(super) fn shown(models: &Models, default: &Models, plan: &Plan) -> Vec<ParameterValue> {
    let tables = TABLES.iter().filter(|table| table.is_of(plan));
    let values = tables.flat_map(|table| {
        let parameters = (table.parameters)(Some(plan)).into_iter();
        parameters.map(|parameter| {
            let value = parameter.shown(models, default);
            ParameterValue {
                key: format!("{}.{}", table.key, value.key).into(),
                ..value
            }
        })
    });
    values.collect()
}

impl Table {
    fn is_of(&self, plan: &Plan) -> bool {
        plan.adapters()
            .iter()
            .any(|adapter| adapter.kind == self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_exists() {
        let counts = TABLES
            .each_ref()
            .map(|table| (table.parameters)(None).len());
        let boards = HTX_BELOW.len() + BOARDS_NETWORK.len() + HT_CORE_BELOW.len();
        let listed = [boards, PEACH2_BELOW.len()];
        assert_eq!(counts, listed);
    }
}
