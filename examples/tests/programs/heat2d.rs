use std::fs::File;
use std::io::BufReader;

use crate::job::run;

const HEAT2D: &str = env!("CARGO_BIN_EXE_heat2d");

#[test]
fn any_number_of_pes_computes_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let mut pictures = Vec::new();
    for pes in 1..=4 {
        let path = directory.path().join(format!("{pes}.png"));
        let picture = path.to_str().unwrap();
        let ended = run(
            pes,
            HEAT2D,
            &["--size", "40x30", "--steps", "250", "--picture", picture],
        )
        .well();
        assert!(ended.stdout.contains("no more than rounding"), "{ended:?}");
        assert!(ended.stdout.contains("check: 0 cells differ"), "{ended:?}");
        pictures.push(decode(&path));
    }
    assert_eq!(pictures[0].0, (40, 30));
    assert!(pictures.iter().all(|picture| *picture == pictures[0]));
    let mut colours: Vec<&[u8]> = pictures[0].1.chunks(3).collect();
    colours.sort_unstable();
    colours.dedup();
    assert!(colours.len() > 50, "hardly any colours");
}

fn decode(path: &std::path::Path) -> ((u32, u32), Vec<u8>) {
    let decoder = png::Decoder::new(BufReader::new(File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    ((info.width, info.height), pixels)
}

#[test]
fn it_settles() {
    let ended = run(3, HEAT2D, &["--size", "20x20"]).well();
    assert!(ended.stdout.contains(": settled after"), "{ended:?}");
}

#[test]
fn a_pe_may_have_a_single_row() {
    run(4, HEAT2D, &["--size", "1x4", "--steps", "30"]).well();
    let ended = run(4, HEAT2D, &["--size", "4x3"]);
    assert_eq!(ended.status, Some(2));
    assert!(ended.stderr.contains("4 PEs cannot share 3 rows"));
}

#[test]
fn the_checks_see_a_row_that_was_left_out() {
    for pes in [1, 3] {
        let ended = run(
            pes,
            HEAT2D,
            &["--size", "64x64", "--steps", "200", "--sabotage"],
        );
        assert_eq!(ended.status, Some(1), "{ended:?}");
        assert!(ended.stdout.contains("WRONG"), "{ended:?}");
        assert!(!ended.stdout.contains("check: 0 cells"), "{ended:?}");
    }
}

#[test]
fn a_picture_that_cannot_be_written_is_named() {
    let ended = run(2, HEAT2D, &["--picture", "/nowhere/plate.png"]);
    assert_eq!(ended.status, Some(1));
    assert!(ended.stderr.contains("/nowhere/plate.png: No such file"));
}
