//! Teams.

use super::{Setup, collective};
use crate::{Error, Job, TEAMS_MAX, Team};

/// All collective operations, small and large.
fn use_team(team: &Team) {
    for (round, len) in [3, 700].into_iter().enumerate() {
        collective::broadcast(team, team.size() - 1, round, len);
        collective::gather(team, round, len);
        collective::reduction(team, round, len);
        collective::scan(team, round, len);
        team.barrier().unwrap();
    }
}

/// Members, ranks and keys are as requested.
pub fn teams_split_and_translate(setup: &Setup<'_>) {
    setup.job(|job| {
        let (own, pes) = (job.pe(), job.pes());
        let world = job.world();
        assert_eq!((world.rank(), world.size()), (own, pes));

        // Threes, in reverse order; PE 1 stays out.
        let color = (own != 1).then_some(own % 3);
        let team = world.split(color, pes - own).unwrap();
        assert_eq!(team.is_some(), color.is_some());
        if let Some(team) = &team {
            let members: Vec<u32> = (0..pes)
                .filter(|pe| *pe != 1 && pe % 3 == own % 3)
                .rev()
                .collect();
            assert_eq!(team.size() as usize, members.len());
            for (rank, pe) in (0..).zip(&members) {
                assert_eq!(team.pe(rank), Some(*pe));
                assert_eq!(team.rank_of(*pe), Some(rank));
                assert_eq!(team.translate(rank, world), Some(*pe));
                assert_eq!(world.translate(*pe, team), Some(rank));
            }
            assert_eq!(team.pe(team.rank()), Some(own));
            assert_eq!(team.pe(team.size()), None);
            assert_eq!(team.translate(team.size(), world), None);
            assert_eq!(world.translate(1, team), None);
            assert_eq!(team.rank_of(pes), None);
            use_team(team);
            let nobody = Error::NoSuchPe {
                what: "rank",
                pe: team.size(),
                pes: team.size(),
            };
            assert_eq!(team.broadcast(team.size(), &mut [0]), Err(nobody));
        }
        // Equal keys: by rank in the parent. Colours may be any number.
        let all = world.split(Some(u32::MAX), 0).unwrap().unwrap();
        assert_eq!(all.rank(), own);
        use_team(&all);
        assert!(world.split(None, 0).unwrap().is_none());
    });
}

/// Teams of teams down to one PE, and rows and columns in use at the same time.
pub fn teams_nest_and_overlap(setup: &Setup<'_>) {
    setup.job(|job| {
        let mut teams: Vec<Team> = Vec::new();
        loop {
            let parent = teams.last().unwrap_or(job.world());
            let half = u32::from(parent.rank() >= parent.size().div_ceil(2));
            let size = parent.size();
            let team = parent.split(Some(half), 0).unwrap().unwrap();
            use_team(&team);
            teams.push(team);
            if size == 1 {
                break;
            }
        }
        drop(teams);

        const COLUMNS: u32 = 2;
        let (row, column) = (job.pe() / COLUMNS, job.pe() % COLUMNS);
        let row = job.world().split(Some(row), column).unwrap().unwrap();
        let column = job
            .world()
            .split(Some(column), row.rank())
            .unwrap()
            .unwrap();
        for _ in 0..5 {
            use_team(&row);
            use_team(&column);
        }
        use_team(job.world());
    });
}

/// There is room for some teams at a time; a dropped one makes room, once all have dropped it.
pub fn team_slots_run_out_and_come_back(setup: &Setup<'_>) {
    setup.job(|job| {
        let mut teams: Vec<Team> = (1..TEAMS_MAX).map(|_| whole(job).unwrap()).collect();
        let full = Err(Error::TooManyTeams { max: TEAMS_MAX });
        assert_eq!(whole(job).map(|_| ()), full);
        // One PE alone drops a team: its slot is still in use elsewhere.
        if job.pe() == 0 {
            teams.remove(40);
        }
        if job.pes() > 1 {
            assert_eq!(whole(job).map(|_| ()), full);
        }
        if job.pe() != 0 {
            teams.remove(40);
        }
        job.barrier().unwrap();
        // The slot has been used before: its flags must start anew.
        for _ in 0..3 {
            let team = whole(job).unwrap();
            use_team(&team);
            drop(team);
            job.barrier().unwrap();
        }
        teams.push(whole(job).unwrap());
        assert_eq!(whole(job).map(|_| ()), full);
        for team in &teams {
            team.barrier().unwrap();
        }
    });
}

fn whole(job: &Job) -> crate::Result<Team> {
    let team = job.world().split(Some(0), job.pe())?;
    Ok(team.expect("a team for all"))
}
