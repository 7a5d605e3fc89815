//! Everything once: a quick look whether a job works at all.
use hostwire::*;

fn main() -> Result<()> {
    let job = Job::attach()?;
    let (me, n) = (job.pe(), job.pes());
    let seg = job.alloc::<u64>(1024)?;
    let right = (me + 1) % n;
    let left = (me + n - 1) % n;
    seg.put(right, 3, &[u64::from(me)])?;
    job.barrier()?;
    assert_eq!(seg.load(3)?, u64::from(left));
    assert_eq!(seg.fetch_add(0, 0, 1)? < u64::from(n), true);
    job.barrier()?;
    let mut got = [0; 1];
    seg.get(0, 0, &mut got)?;
    assert_eq!(got[0], u64::from(n));
    for len in [0usize, 1, 7, 56, 57, 1000, 3000, 100_000, 3_000_000] {
        let out: Vec<u8> = (0..len).map(|i| (i as u8).wrapping_add(me as u8)).collect();
        let mut into = vec![0; len];
        let got = job.exchange(right, &out, left, &mut into, 7)?;
        assert_eq!(got, len);
        assert!(
            into.iter()
                .enumerate()
                .all(|(i, b)| *b == (i as u8).wrapping_add(left as u8)),
            "{len}"
        );
    }
    let mut sum = [me, 1];
    job.all_reduce(&mut sum, |a, b| a + b)?;
    assert_eq!(sum, [n * (n - 1) / 2, n]);
    let mut big = vec![1u64; 100_000];
    job.all_reduce(&mut big, |a, b| a + b)?;
    assert!(big.iter().all(|x| *x == u64::from(n)));
    let mut s = [1u32];
    job.scan(&mut s, |a, b| a + b)?;
    assert_eq!(s[0], me + 1);
    let team = job.world().split(Some(me % 2), 0)?.unwrap();
    let mut b = [me];
    team.broadcast(0, &mut b)?;
    assert_eq!(b[0], me % 2);
    team.barrier()?;
    println!("PE {me} of {n} is fine");
    job.finalize()
}
