//! What comes on a TCP connection, in pieces.

use hostwire_transport::fuzzing::kit::{Input, Script, Target, named, shown};

use crate::socket::tcp::framing::{BadLength, FRAME_LEN_MAX, Incoming, PREFIX_BYTES};

/// The buffer for bytes after the frame that has begun.
const BUFFER_BYTES: usize = 256;

/// A script: the stream in chunks, each as the system gives it with a call or several.
pub(super) const FRAMES: Target = Target {
    name: "tcp_frames",
    check: |bytes| {
        let mut input = Input::new(bytes);
        let mut incoming = Incoming::default();
        let mut got = Vec::new();
        let mut stream = Vec::new();
        let mut end = Ok(());
        while !input.is_empty() && end.is_ok() {
            let chunk = input.chunk();
            stream.extend_from_slice(chunk);
            end = feed(&mut incoming, chunk, &mut got);
        }
        if let Err(why) = end {
            shown(why);
        }
        assert_eq!((got, end), by_hand(&stream));
    },
    seeds: || {
        let stream = |chunks: &[&[u8]]| {
            let chunks = chunks.iter();
            let script = chunks.fold(Script::new(), |script, chunk| script.chunk(chunk));
            script.done()
        };
        let long = [&[0, 0, 2, 0][..], &[7; 512]].concat();
        named(vec![
            ("one", stream(&[b"\0\0\0\x03abc"])),
            ("two", stream(&[b"\0\0\0\x03abc\0\0\0\x01d"])),
            (
                "split",
                stream(&[b"\0\0", b"\0\x03a", b"bc\0", b"\0\0\x01d"]),
            ),
            (
                "long",
                stream(&[&long[..200], &long[200..400], &long[400..]]),
            ),
            ("of_nothing", stream(&[b"\0\0\0\x01a\0\0\0\0b"])),
            ("too_long", stream(&[b"\0\0\x40\x41", b"abc"])),
            ("endless", stream(&[b"\xff\xff\xff\xff"])),
        ])
    },
    cost: 1,
};

/// Makes as many calls as needed.
fn feed(
    incoming: &mut Incoming,
    mut chunk: &[u8],
    got: &mut Vec<Vec<u8>>,
) -> Result<(), BadLength> {
    let mut buffer = [0; BUFFER_BYTES];
    while !chunk.is_empty() {
        let mut bytes = 0;
        for place in &mut incoming.places(&mut buffer) {
            assert!(place.len() <= FRAME_LEN_MAX);
            let (now, later) = chunk.split_at(place.len().min(chunk.len()));
            place[..now.len()].copy_from_slice(now);
            bytes += now.len();
            chunk = later;
        }
        incoming.take(bytes, &mut buffer, |frame| got.push(frame.to_vec()))?;
    }
    Ok(())
}

/// The frames of a stream, and how it ends.
fn by_hand(mut stream: &[u8]) -> (Vec<Vec<u8>>, Result<(), BadLength>) {
    let mut frames = Vec::new();
    while let Some((prefix, behind)) = stream.split_first_chunk::<PREFIX_BYTES>() {
        let got = u32::from_be_bytes(*prefix);
        if got == 0 || got as usize > FRAME_LEN_MAX {
            return (frames, Err(BadLength { got }));
        }
        let Some((frame, rest)) = behind.split_at_checked(got as usize) else {
            break;
        };
        frames.push(frame.to_vec());
        stream = rest;
    }
    (frames, Ok(()))
}
