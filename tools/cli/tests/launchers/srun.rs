//! Under `srun`, with each of its plugins and with none.

use hostwire_testing::{left_out, need};

use crate::job::{eventually, is_running};
use crate::programs::fault_probe;
use crate::slurm::{Slurm, slurm};
use crate::{assert_exchanged, assert_fine};

/// What `--mpi` may be, and the way it leads to.
const PLUGINS: [(&str, &str); 3] = [("pmi2", "PMI-1"), ("pmix", "PMIx"), ("none", "Slurm")];

/// Slurm, and its plugins that this machine has.
fn plugins() -> Option<(&'static Slurm, Vec<(&'static str, &'static str)>)> {
    let slurm = slurm()?;
    let here = PLUGINS.into_iter().filter(|(plugin, _)| {
        let option = format!("--mpi={plugin}");
        let tried = slurm.srun(&[&option, "-n1"], &["true"]);
        if tried.status != 0 && *plugin == "pmix" {
            left_out(&need::SLURM_PMIX, "no PMIx for srun");
            return false;
        }
        assert_eq!(tried.status, 0, "{tried:#?}");
        true
    });
    Some((slurm, here.collect()))
}

#[test]
fn one_binary_runs_under_every_plugin() {
    let Some((slurm, plugins)) = plugins() else {
        return;
    };
    for (plugin, _) in plugins {
        for pes in [1, 2, 4] {
            let (plugin, tasks) = (format!("--mpi={plugin}"), format!("-n{pes}"));
            let ended = slurm.srun(&["-N1", &tasks, &plugin], &[&fault_probe(), "everything"]);
            assert_fine(&ended, pes);
            assert_eq!(ended.stderr, "", "{plugin}");
        }
    }
}

#[test]
fn pes_exchange_bytes_through_every_plugin() {
    let Some((slurm, plugins)) = plugins() else {
        return;
    };
    for (plugin, name) in plugins {
        for pes in [2, 5] {
            let (plugin, tasks) = (format!("--mpi={plugin}"), format!("-n{pes}"));
            let ended = slurm.srun(&["-N1", &tasks, &plugin], &[&fault_probe(), "blobs"]);
            assert_exchanged(&ended, pes, name);
        }
    }
}

/// PMI-1 is what is used there, but it is not all that Slurm speaks.
#[test]
fn pes_exchange_bytes_over_pmi_2() {
    let Some(slurm) = slurm() else {
        return;
    };
    for nodes in ["-N1", "-N2"] {
        let ended = slurm.srun(
            &[nodes, "-n4", "--mpi=pmi2"],
            &[&fault_probe(), "blobs", "pmi2"],
        );
        assert_exchanged(&ended, 4, "PMI-2");
    }
}

/// Two nodes of Slurm, on one host that has both of them.
#[test]
fn what_counts_is_the_host_and_not_what_slurm_calls_a_node() {
    let Some((slurm, plugins)) = plugins() else {
        return;
    };
    for (plugin, _) in plugins {
        let option = format!("--mpi={plugin}");
        let ended = slurm.srun(&["-N2", "-n4", &option], &[&fault_probe(), "everything"]);
        if plugin == "none" {
            assert_ne!(ended.status, 0, "{ended:#?}");
            assert_eq!(ended.stdout, "");
            for word in ["2 nodes", "srun --mpi=pmi2", "srun --mpi=pmix", "srun -N1"] {
                assert!(ended.stderr.contains(word), "{ended:#?}");
            }
        } else {
            assert_fine(&ended, 4);
        }
    }
}

#[test]
fn an_abort_ends_the_step() {
    let Some((slurm, plugins)) = plugins() else {
        return;
    };
    for (plugin, _) in plugins {
        let option = format!("--mpi={plugin}");
        let ended = slurm.srun(
            &["-N1", "-n4", &option],
            &[&fault_probe(), "abort", "1", "7"],
        );
        // Slurm passes the status on with PMIx alone.
        let expected = if plugin == "pmix" { 7 } else { 137 };
        assert_eq!(ended.status, expected, "{plugin}: {ended:#?}");
    }
}

#[test]
fn leaving_without_finalizing_is_noticed() {
    let Some((slurm, plugins)) = plugins() else {
        return;
    };
    for (plugin, _) in plugins {
        let option = format!("--mpi={plugin}");
        let ended = slurm.srun(&["-N1", "-n4", &option], &[&fault_probe(), "leave", "1"]);
        assert_eq!(ended.status, 1, "{plugin}: {ended:#?}");
        assert!(
            ended.stderr.contains("PE 1 is lost"),
            "{plugin}: {ended:#?}"
        );
    }
}

#[test]
fn a_launcher_inside_a_task_counts_and_not_the_task() {
    let Some(slurm) = slurm() else {
        return;
    };
    let probe = fault_probe();
    let hostwire = env!("CARGO_BIN_EXE_hostwire");
    let inner = [hostwire, "run", "-n", "2", &probe, "everything"];
    for plugin in ["--mpi=pmi2", "--mpi=none"] {
        let ended = slurm.srun(&["-N1", "-n1", plugin], &inner);
        assert_fine(&ended, 2);
    }
}

#[test]
fn a_batch_script_is_told_to_use_srun() {
    let Some(slurm) = slurm() else {
        return;
    };
    let probe = fault_probe();
    let script = format!("exec {probe} everything");
    let out = ["-o", "/run/batch.out", "--wait", "-n2", "--wrap"];
    let ended = slurm.run(&[&["sbatch"], &out[..], &[&script]].concat());
    assert_ne!(ended.status, 0, "{ended:#?}");
    let said = slurm.run(&["cat", "/run/batch.out"]).stdout;
    assert!(said.contains("SLURM_NTASKS=2"), "{said}");
    assert!(said.contains("srun"), "{said}");

    let script = format!("srun --mpi=pmi2 {probe} everything");
    let ended = slurm.run(&[&["sbatch"], &out[..], &[&script]].concat());
    assert_eq!(ended.status, 0, "{ended:#?}");
    let mut said = slurm.run(&["cat", "/run/batch.out"]);
    said.stderr.clear();
    assert_fine(&said, 2);
}

#[test]
fn nothing_of_slurm_stays() {
    let Some(slurm) = Slurm::start() else {
        return;
    };
    let inside = slurm.processes();
    // munged, slurmctld, two slurmd and the script.
    assert!(inside.len() >= 5, "{inside:?}");
    let keeper = slurm.keeper.to_string();
    assert_eq!(crate::programs::run("kill", &["-9", &keeper]).status, 0);
    eventually("all processes end", || {
        inside.iter().all(|pid| !is_running(&pid.to_string()))
    });
}
