use super::*;
use std::collections::BTreeMap;

/// The steps that a step needs, and of a derivative its value and the value's floats.
type Described<'a> = (&'a [usize], Option<(u32, u32)>);

fn steps(of: &[Described<'_>]) -> Steps {
    let mut steps = Steps { users: vec![Vec::new(); of.len()], exchanged: Vec::new() };
    for (step, (needs, exchanged)) in of.iter().enumerate() {
        needs.iter().for_each(|&before| steps.users[before].push(step));
        steps.exchanged.push(exchanged.map(|(value, words)| (Value(value), words)));
    }
    steps
}

/// The fewest exchanges of any order, by trying all sets of derivatives for each next exchange.
fn fewest(steps: &Steps) -> usize {
    let derivatives: Vec<usize> = (0..steps.users.len()).filter(|&step| steps.exchanged[step].is_some()).collect();
    let bits: BTreeMap<usize, u32> = derivatives.iter().zip(0..).map(|(&step, bit)| (step, bit)).collect();
    let mut needed = vec![0_u32; steps.users.len()];
    for step in 0..needed.len() {
        let own = needed[step] | bits.get(&step).map_or(0, |bit| 1 << bit);
        steps.users[step].iter().for_each(|&user| needed[user] |= own);
    }
    let fits = |set: u32| {
        let of = derivatives.iter().zip(0..).filter(|(_, bit)| set >> bit & 1 == 1);
        let values: BTreeMap<u32, u32> = of.filter_map(|(&s, _)| steps.exchanged[s]).map(|(v, w)| (v.0, w)).collect();
        values.values().sum::<u32>() <= EXCHANGE_FLOATS_MAX
    };
    let all = (1_u32 << derivatives.len()) - 1;
    let mut reached = BTreeSet::from([0]);
    for count in 0.. {
        if reached.contains(&all) {
            return count;
        }
        let mut next = BTreeSet::new();
        for &done in &reached {
            let is_ready = |(&step, bit): (&usize, u32)| done >> bit & 1 == 0 && needed[step] & !done == 0;
            let ready =
                derivatives.iter().zip(0..).filter(|&item| is_ready(item)).fold(0, |set, (_, bit)| set | 1 << bit);
            // All parts of a set of bits.
            let mut part = ready;
            while part != 0 {
                if fits(part) {
                    next.insert(done | part);
                }
                part = (part - 1) & ready;
            }
        }
        reached = next;
    }
    unreachable!("each exchange takes a derivative at least")
}

#[test]
fn exchanges_take_what_is_needed_soon_and_fill_up() {
    // The vectors 0 and 1 fit, and 2 waits. It has room beside what depends on 0, so that two exchanges are enough.
    let chain = [(&[][..], Some((0, 3))), (&[], Some((1, 3))), (&[], Some((2, 3))), (&[0], Some((3, 1)))];
    assert_eq!(steps(&chain).exchanges(), [vec![0, 1], vec![2, 3]]);
    // The second derivative of the same value takes no room.
    let both = [(&[][..], Some((0, 3))), (&[], Some((1, 3))), (&[], Some((0, 3))), (&[], Some((2, 2)))];
    assert_eq!(steps(&both).exchanges(), [vec![0, 1, 2, 3]]);
    // What a long chain needs comes first, though it is written last.
    let late = [(&[][..], Some((0, 8))), (&[], Some((1, 1))), (&[1], None), (&[2], Some((2, 1)))];
    let late = steps(&late);
    assert_eq!(late.exchanges(), [[1], [0], [3]]);
    assert_eq!(late.places(&late.exchanges()), [1, 0, 1, 2]);
}

#[test]
fn exchanges_are_nearly_as_few_as_can_be() {
    let mut state = 1_u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let (mut made, mut least, mut more) = (0, 0, 0);
    for _ in 0..300 {
        let mut some = Steps::default();
        let mut derivatives = 0;
        for step in 0..14 {
            let needs = (0..step).filter(|_| below(6) == 0).collect::<Vec<usize>>();
            needs.iter().for_each(|&before| some.users[before].push(step));
            let value = below(9) as u32;
            let is_derivative = derivatives < 8 && below(2) == 0;
            derivatives += usize::from(is_derivative);
            some.exchanged.push(is_derivative.then_some((Value(value), if value < 6 { 3 } else { 1 })));
            some.users.push(Vec::new());
        }
        let (count, best) = (some.exchanges().len(), fewest(&some));
        (made, least, more) = (made + count, least + best, more + usize::from(count > best));
        assert!(count <= best + 1, "{count} instead of {best}: {some:?}");
    }
    assert!(more <= 3, "{made} exchanges instead of {least}; {more} of 300 programs have one more");
}
