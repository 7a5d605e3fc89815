//! Structures of the program in symmetric memory and in messages. This package depends on
//! `hostwire` and not on `zerocopy`, as the one of a user does.

use hostwire::{Element, FromBytes, Immutable, IntoBytes, Job};

#[derive(Clone, Copy, Debug, Default, PartialEq, FromBytes, IntoBytes, Immutable)]
#[zerocopy(crate = "hostwire::zerocopy")]
#[repr(C)]
struct Particle {
    place: [f64; 3],
    kind: Kind,
    charge: i32,
}

#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    hostwire::FromBytes,
    hostwire::IntoBytes,
    hostwire::Immutable,
)]
#[zerocopy(crate = "hostwire::zerocopy")]
#[repr(transparent)]
struct Kind(u32);

#[test]
fn structures_are_elements_without_another_dependency() {
    fn is_element<T: Element>() {}
    is_element::<Kind>();
    is_element::<[Particle; 4]>();
    assert!(!include_str!("../../Cargo.toml").contains("zerocopy"));

    let one = Particle {
        place: [0.5, 1.0, -2.0],
        kind: Kind(3),
        charge: -1,
    };
    let job = Job::attach().unwrap();
    let particles = job.alloc::<Particle>(10).unwrap();
    particles.put(job.pe(), 7, &[one]).unwrap();
    assert_eq!(particles.load(6).unwrap(), Particle::default());
    assert_eq!(particles.load(7).unwrap(), one);
    job.send(job.pe(), 0, &[one]).unwrap();
    assert_eq!(job.recv_vec::<Particle>(job.pe(), 0).unwrap(), [one]);
    job.finalize().unwrap();
}
