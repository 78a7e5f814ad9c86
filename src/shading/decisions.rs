//! Which kernels a program gets. Some conditions of its branches are the same wherever a drawable is shaded, and known
//! before kernels are compiled. So drawables that take different sides get kernels of their own, which have only those
//! sides, while that pays (docs/compiler.md). Pictures are the same.

use rustc_hash::{FxHashMap, FxHashSet};

/// For each decision of a program, what is known of it when a kernel is compiled.
pub(super) type Decided = Vec<Option<bool>>;

/// The most kernels of a program.
const KERNELS_MAX: usize = 16;

/// Times the operations of the whole program that its kernels may have together. A CPU driver compiles eight kernels of
/// one mode each in the time of one of eight modes; what they have in common is compiled for each.
const OPERATIONS_MAX: usize = 4;

/// A condition matters that may save a kernel this part of the program's operations. Others would only make more
/// kernels to compile, whenever a parameter changes.
const LEAST_PART: usize = 16;

/// The operations of a program for some decisions.
type Cost<'a> = &'a dyn Fn(&[Option<bool>]) -> usize;

/// Returns for each of some drawables' decisions those for which its kernel is made. `cost` is that of a kernel.
pub(super) fn kernels_for(drawables: &[Vec<bool>], cost: Cost<'_>) -> Vec<Decided> {
    let count = drawables.first().map_or(0, Vec::len);
    let whole = cost(&vec![None; count]);
    let matters = mattering(count, whole, cost);
    let mut split: Vec<usize> = Vec::new();
    let mut kernels = decided_by(&split, drawables, &matters);
    for &decision in &matters {
        if kernels.iter().all(|kernel| kernel[decision].is_some()) {
            continue;
        }
        split.push(decision);
        let more = decided_by(&split, drawables, &matters);
        let different: FxHashSet<&Decided> = more.iter().collect();
        let pays = different.len() <= KERNELS_MAX
            && different.iter().map(|kernel| cost(kernel)).sum::<usize>() <= OPERATIONS_MAX * whole;
        if pays {
            kernels = more;
        } else {
            split.pop();
        }
    }
    kernels
}

/// Returns the decisions that matter, first those that may save most.
fn mattering(count: usize, whole: usize, cost: Cost<'_>) -> Vec<usize> {
    let saves = |decision: usize| {
        let one = |holds| {
            let mut decided = vec![None; count];
            decided[decision] = Some(holds);
            cost(&decided)
        };
        whole - one(false).min(one(true)).min(whole)
    };
    let mut matters: Vec<(usize, usize)> = (0..count).map(|decision| (saves(decision), decision)).collect();
    matters.retain(|(saved, _)| saved * LEAST_PART >= whole);
    matters.sort_by_key(|&(saved, decision)| (std::cmp::Reverse(saved), decision));
    matters.into_iter().map(|(_, decision)| decision).collect()
}

/// Returns the same where drawables share a kernel that agree on some decisions: of the others that matter, those on
/// which all of them agree are decided as well.
fn decided_by(split: &[usize], drawables: &[Vec<bool>], matters: &[usize]) -> Vec<Decided> {
    let group = |drawable: &Vec<bool>| split.iter().map(|&decision| drawable[decision]).collect::<Vec<bool>>();
    let mut groups: FxHashMap<Vec<bool>, Decided> = FxHashMap::default();
    for drawable in drawables {
        let own = || {
            let mut decided = vec![None; drawable.len()];
            matters.iter().for_each(|&decision| decided[decision] = Some(drawable[decision]));
            decided
        };
        let decided = groups.entry(group(drawable)).or_insert_with(own);
        for (known, &holds) in decided.iter_mut().zip(drawable) {
            *known = known.filter(|known| *known == holds);
        }
    }
    drawables.iter().map(|drawable| groups[&group(drawable)].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of modes: decision `i` is whether the mode is `i`, and each side costs the same.
    fn modes(count: usize, drawn: &[usize]) -> Vec<Vec<bool>> {
        drawn.iter().map(|&mode| (0..count).map(|i| i == mode).collect()).collect()
    }

    /// The operations of a chain of modes after `common` ones.
    fn chain(common: usize, mode: usize) -> impl Fn(&[Option<bool>]) -> usize {
        move |decided| {
            let mut all = common;
            for known in decided {
                all += if *known == Some(false) { 0 } else { mode };
                if *known == Some(true) {
                    break;
                }
            }
            all
        }
    }

    fn different(kernels: &[Decided]) -> usize {
        kernels.iter().collect::<FxHashSet<_>>().len()
    }

    #[test]
    fn modes_have_kernels_of_their_own() {
        let kernels = kernels_for(&modes(8, &[0, 3, 3, 7]), &chain(100, 100));
        assert_eq!(different(&kernels), 3);
        let cost = chain(100, 100);
        assert!(kernels.iter().all(|kernel| cost(kernel) == 200), "{kernels:?}");
    }

    #[test]
    fn one_drawable_decides_all() {
        let kernels = kernels_for(&modes(8, &[5]), &chain(0, 100));
        assert_eq!(kernels, [modes(8, &[5])[0].iter().map(|&holds| Some(holds)).collect::<Vec<_>>()]);
        assert_eq!(kernels_for(&[vec![]], &|_| 100), [vec![]], "nothing is decided");
    }

    #[test]
    fn more_modes_than_kernels_share_one() {
        let all: Vec<usize> = (0..40).collect();
        let kernels = kernels_for(&modes(40, &all), &chain(100, 100));
        assert_eq!(different(&kernels), KERNELS_MAX);
        let cost = chain(100, 100);
        assert!(kernels.iter().map(|kernel| cost(kernel)).max() < Some(2700), "the last do without the first modes");
    }

    #[test]
    fn kernels_that_have_most_in_common_are_one() {
        assert_eq!(different(&kernels_for(&modes(8, &[0, 1, 2, 3, 4, 5, 6, 7]), &chain(10_000, 700))), 5);
        let small = kernels_for(&modes(2, &[0, 1]), &chain(10_000, 100));
        assert_eq!(small, [vec![None; 2], vec![None; 2]], "what hardly matters is not decided");
    }

    /// Sixteen switches that differ in all ways: the largest are decided.
    #[test]
    fn the_costliest_conditions_come_first() {
        let drawables: Vec<Vec<bool>> = (0..1 << 8).map(|bits| (0..8).map(|i| bits >> i & 1 == 1).collect()).collect();
        let cost = |decided: &[Option<bool>]| {
            let side = |(i, known): (usize, &Option<bool>)| if *known == Some(false) { 0 } else { 100 * (i + 1) };
            decided.iter().enumerate().map(side).sum::<usize>()
        };
        let kernels = kernels_for(&drawables, &cost);
        assert!(different(&kernels) > 2 && different(&kernels) <= KERNELS_MAX);
        assert!(kernels.iter().all(|kernel| kernel[7].is_some() && kernel[0].is_none()), "{:?}", kernels[0]);
    }
}
