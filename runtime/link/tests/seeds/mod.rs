//! Seeds of the fuzz corpora of the protocol engine.

/// Scripts that reach into every part.
pub fn receive() -> Vec<(&'static str, Vec<u8>)> {
    let line: Vec<u8> = [&[0, 1, 0x2c, 0, 0xc0, 3, 0, 0, 0, 0][..], &[7; 64]].concat();
    // Nine words for eight buffers.
    let words = [
        &[0, 9][..],
        &[0x2c, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4].repeat(9),
    ]
    .concat();
    let step = |step: u8, argument: &[u8]| [&[step, argument.len() as u8][..], argument].concat();
    let open = step(4, &[]);
    vec![
        ("open", open.clone()),
        (
            "put",
            [
                open.clone(),
                step(6, &[3; 100]),
                step(7, &[3]),
                step(4, &[]),
            ]
            .concat(),
        ),
        ("line", [open.clone(), step(3, &line)].concat()),
        (
            "overrun",
            [open.clone(), step(3, &line), step(3, &words)].concat(),
        ),
        (
            "credits",
            [open.clone(), step(3, &[1, 0, 0, 5, 0, 0])].concat(),
        ),
        (
            "malformed",
            [open.clone(), step(3, &[0, 1, 0xff, 0, 0, 0])].concat(),
        ),
        (
            "nak",
            [
                open.clone(),
                step(6, &[1; 64]),
                step(5, &[1]),
                step(2, &[1, 2]),
            ]
            .concat(),
        ),
        (
            "close",
            [
                open.clone(),
                step(7, &[1]),
                step(4, &[]),
                step(7, &[0]),
                step(5, &[9]),
            ]
            .concat(),
        ),
        (
            "reset",
            [open.clone(), step(1, &[2; 80]), step(0, &[0x13; 68])].concat(),
        ),
        (
            "silence",
            [open, step(6, &[1]), step(5, &[255]).repeat(8)].concat(),
        ),
    ]
}

/// Scripts for sealed frames.
pub fn sealed() -> Vec<(&'static str, Vec<u8>)> {
    let step = |step: u8, argument: &[u8]| [&[step, argument.len() as u8][..], argument].concat();
    let header = |kind: u8, source: u8| {
        let mut frame = vec![kind, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, source];
        frame.resize(60, 0);
        frame
    };
    vec![
        ("opened", step(1, b"frame")),
        ("replayed", [step(1, b"frame"), step(4, &[])].concat()),
        ("unsealed", step(0, &header(0x11, 2))),
        ("forged", step(0, &header(0x15, 2))),
        ("foreign", step(0, &header(0x15, 7))),
        (
            "truncated",
            [step(2, &[20, 0, 1]), step(0, &[0x15; 35])].concat(),
        ),
        ("cut", step(2, &[50; 40])),
        (
            "changed",
            [step(3, &[2, 1, 0]), step(3, &[50, 0x80, 0])].concat(),
        ),
        ("empty", [step(1, &[]), step(3, &[0, 9])].concat()),
    ]
}
