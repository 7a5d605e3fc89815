//! Where there is a GPU.

use hostwire_testing::{left_out, need};

use super::*;

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
        gpu.wait(Duration::from_millis(10));
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
fn without_a_driver_the_error_says_so() {
    if let Err(why) = count() {
        assert!(
            why.to_string().starts_with("loading the driver of CUDA: "),
            "{why}"
        );
    }
}
