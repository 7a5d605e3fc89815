//! Where there is a GPU.

use hostwire_testing::{left_out, need};

use super::*;

const BUSY: Duration = Duration::from_micros(100);

fn gpus() -> Vec<Gpu> {
    match count() {
        Ok(0) => left_out(&need::CUDA, "not run: the driver shows no GPU"),
        Ok(count) => {
            return (0..count)
                .map(|number| Gpu::open(number).unwrap())
                .collect();
        }
        Err(why) => left_out(&need::CUDA, format!("not run: {why}")),
    }
    Vec::new()
}

fn finish(gpu: &Gpu, ticket: Option<Ticket>) {
    let ticket = ticket.unwrap();
    while gpu.finished().unwrap() < ticket {
        gpu.wait(ticket, Duration::from_millis(10), BUSY);
    }
}

#[test]
fn bytes_go_there_and_back() {
    for gpu in gpus() {
        let at = gpu.allocate(1 << 20, 64).unwrap();
        let host = Memory::anonymous(2 << 20);
        gpu.pin(&host, 0, 2 << 20).unwrap();
        let bytes: Vec<u8> = (0..1 << 20).map(|byte| (byte % 251) as u8).collect();
        host.copy_in(0, &bytes).unwrap();
        gpu.write(at, &host, 0, 1 << 20).unwrap().unwrap();
        gpu.copy(at + 1000, at, 500).unwrap().unwrap();
        finish(&gpu, gpu.read(at, &host, 1 << 20, 1 << 20).unwrap());
        let mut got = vec![0; 1 << 20];
        host.copy_out(1 << 20, &mut got).unwrap();
        let mut expected = bytes;
        expected.copy_within(0..500, 1000);
        assert!(got == expected);
        assert!(gpu.write(at + 1, &host, 0, 1 << 20).is_err());
        gpu.release(at).unwrap();
    }
}

#[test]
fn host_memory_may_be_pinned_in_part() {
    let page = rustix::param::page_size();
    for gpu in gpus() {
        let at = gpu.allocate(8 * page, 64).unwrap();
        let host = Memory::anonymous(20 * page);
        gpu.pin(&host, 2 * page, 3 * page).unwrap();
        let bytes: Vec<u8> = (0..8 * page).map(|byte| (byte % 253) as u8).collect();
        host.copy_in(0, &bytes).unwrap();
        gpu.write(at, &host, 0, 8 * page).unwrap().unwrap();
        gpu.pin(&host, 14 * page, page).unwrap();
        finish(&gpu, gpu.read(at, &host, 10 * page, 8 * page).unwrap());
        let mut got = vec![0; 8 * page];
        host.copy_out(10 * page, &mut got).unwrap();
        assert!(got == bytes);
    }
}

#[test]
fn blocks_at_distances() {
    for gpu in gpus() {
        let (from, to) = (gpu.allocate(1000, 64), gpu.allocate(1000, 64));
        let (from, to) = (from.unwrap(), to.unwrap());
        let host = Memory::anonymous(1000);
        let bytes: Vec<u8> = (0..1000).map(|byte| (byte % 249) as u8 + 1).collect();
        host.copy_in(0, &bytes).unwrap();
        gpu.write(from, &host, 0, 1000).unwrap().unwrap();
        // As rows; overlapping ones, one by one; too far apart.
        for (len, count, to_step, from_step) in [(7, 90, 11, 8), (20, 10, 20, 5), (1, 999, 1, 1)] {
            let mut expected = vec![0; 1000];
            finish(
                &gpu,
                gpu.write(to, &Memory::anonymous(1000), 0, 1000).unwrap(),
            );
            let mut done = 0;
            while done < count {
                let rest = Blocks {
                    len,
                    count: count - done,
                    to_step,
                    from_step,
                };
                let (at, source) = (done * to_step, done * from_step);
                let begun = gpu
                    .copy_blocks(to + at as u64, from + source as u64, rest)
                    .unwrap();
                let Some((_, taken)) = begun else { continue };
                assert!(taken == 1 || taken == rest.count);
                done += taken;
            }
            for block in 0..count {
                let source = &bytes[block * from_step..][..len];
                expected[block * to_step..][..len].copy_from_slice(source);
            }
            finish(&gpu, gpu.read(to, &host, 0, 1000).unwrap());
            let mut got = vec![0; 1000];
            host.copy_out(0, &mut got).unwrap();
            assert!(got == expected);
        }
        let far = Blocks {
            len: 8,
            count: 126,
            to_step: 8,
            from_step: 8,
        };
        assert!(gpu.copy_blocks(to, from, far).is_err());
    }
}

#[test]
fn gpus_of_a_process_reach_each_other() {
    let gpus = gpus();
    let pairs = gpus.iter().zip(gpus.iter().skip(1));
    for (one, other) in pairs.flat_map(|(one, other)| [(one, other), (other, one)]) {
        assert!(one.reaches(other));
        let (from, to) = (
            one.allocate(500, 64).unwrap(),
            other.allocate(700, 64).unwrap(),
        );
        let host = Memory::anonymous(1500);
        host.copy_in(0, &[7; 500]).unwrap();
        finish(one, one.write(from, &host, 0, 500).unwrap());
        finish(one, one.copy(to + 100, from, 400).unwrap());
        let blocks = Blocks {
            len: 10,
            count: 10,
            to_step: 20,
            from_step: 10,
        };
        let rows = one.copy_blocks(to + 500, from, blocks).unwrap();
        finish(one, rows.map(|(ticket, _)| ticket));
        finish(other, other.read(to, &host, 500, 700).unwrap());
        let mut got = [0; 700];
        host.copy_out(500, &mut got).unwrap();
        let is_copied =
            |at: usize| (100..500).contains(&at) || (500..700).contains(&at) && at % 20 < 10;
        assert!((0..700).all(|at| got[at] == if is_copied(at) { 7 } else { 0 }));
        other.release(to).unwrap();
        assert!(one.copy(to, from, 8).is_err());
    }
}

#[test]
fn many_copies_are_under_way() {
    for gpu in gpus() {
        let at = gpu.allocate(1 << 20, 64).unwrap();
        let host = Memory::anonymous(1 << 20);
        let mut last = 0;
        for copy in 0..5000 {
            let begun = match copy % 3 {
                0 => gpu.write(at, &host, 0, 64),
                1 => gpu.read(at, &host, 64, 64),
                _ => gpu.copy(at + 4096, at, 64),
            };
            match begun.unwrap() {
                Some(ticket) => {
                    assert_eq!(ticket, last + 1);
                    last = ticket;
                }
                None => gpu.wait(last, Duration::from_millis(10), BUSY),
            }
            assert!(gpu.finished().unwrap() <= last);
        }
        finish(&gpu, Some(last));
        assert_eq!(gpu.finished().unwrap(), last);
    }
}

#[test]
fn all_this_by_a_stand_in() {
    hostwire_testing::stand_in::repeat_with_cuda("cuda::tests", "stand_in");
}

#[test]
fn without_a_driver_the_error_says_so() {
    if let Err(why) = count() {
        assert!(
            why.to_string().starts_with("loading the driver of CUDA: "),
            "{why}"
        );
    }
}
