//! The variables of a launcher with PMI.

use hostwire_transport::quoted;

use super::PmiError;

/// `PMI_FD`, `PMI_RANK` and `PMI_SIZE`.
pub(crate) fn fd_rank_size(
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<(u32, u32, u32), PmiError> {
    let fd = number(&lookup, "PMI_FD", "the number of an open socket")?;
    let rank = number(&lookup, "PMI_RANK", "the rank of this process")?;
    let size = number(&lookup, "PMI_SIZE", "the number of processes of the job")?;
    check_rank(rank, size)?;
    Ok((fd, rank, size))
}

pub(crate) fn number(
    lookup: impl Fn(&str) -> Option<String>,
    name: &'static str,
    expected: &'static str,
) -> Result<u32, PmiError> {
    let value = lookup(name);
    value
        .as_deref()
        .and_then(|value| value.trim().parse().ok())
        .ok_or_else(|| {
            let seen = value.map_or_else(|| "missing".to_owned(), |value| quoted(&value));
            PmiError::Variable {
                name,
                seen,
                expected,
            }
        })
}

pub(crate) fn check_rank(rank: u32, size: u32) -> Result<(), PmiError> {
    if rank < size {
        return Ok(());
    }
    Err(PmiError::Variable {
        name: "PMI_RANK",
        seen: format!("{rank} of PMI_SIZE {size}"),
        expected: "a rank below the size",
    })
}
