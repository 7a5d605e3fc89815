//! Figures of the papers' hardware that other papers and talks print.

use hostwire_plan::htx::PortKind;

use crate::engine::Ps;
use crate::machine::htx::Setup;
use crate::models::ht::nic::NicConfig;
use crate::models::ht::opteron::OpteronConfig;

use super::htx_board::{LATER_BOARD, read_with_ns, write_bytes_s};
use super::htx_ping_pong::{Pair, ping_pong};
use super::{Claims, ExperimentError, Row, tca_peach2};

const CLAIMS: &str = include_str!("../../experiments/elsewhere/claims.toml");

/// Propagation of the cable between two boards. **Assumed.**
const CABLE: Ps = Ps::from_ns(10);

/// The published numbers.
///
/// # Errors
/// [`ExperimentError::Claims`] if the file is wrong.
pub fn claims() -> Result<Claims, ExperimentError> {
    Claims::parse(CLAIMS)
}

/// Runs everything and compares.
///
/// # Errors
/// [`ExperimentError`] if a run does not come to its end.
pub fn reproduce() -> Result<Vec<Row>, ExperimentError> {
    let wide = Setup {
        width_bits: 16,
        ..Setup::default()
    };
    let mut simulated = vec![
        ("X1", read_with_ns(&wide, 4)?),
        ("X2", later_read_ns(LATER_BOARD.user_mhz)?),
        ("X3", write_bytes_s(&LATER_BOARD, 64)? / 1e9),
        ("X4", between_boards_ns()?),
    ];
    simulated.extend(tca_peach2::elsewhere()?);
    Ok(claims()?.judge(&simulated))
}

/// X2 with another clock of the user logic.
pub(super) fn later_read_ns(user_mhz: u32) -> Result<f64, ExperimentError> {
    let setup = Setup {
        user_mhz,
        ..LATER_BOARD
    };
    read_with_ns(&setup, 4)
}

/// Half a round trip between two hosts with boards and serial links.
fn between_boards_ns() -> Result<f64, ExperimentError> {
    let pair = Pair {
        setup: LATER_BOARD,
        phase: 0,
        port: PortKind::Sfp,
        propagation: CABLE,
        nic: NicConfig::htx_board(0),
        processor: OpteronConfig::opteron_246(),
    };
    let ran = ping_pong(&pair, 16, |sim, _, each| {
        while sim.step().is_some() {
            each(sim);
        }
        Ok(sim.check_stall()?)
    })?;
    Ok(ran.total.as_ns() / ran.messages as f64)
}
