//! How much goes into a submission: as much as the device does in a set time, by the rates measured so far.

use crate::pipeline::stage::Work;
use crate::schedule::perturb::Random;

/// Seconds that one submission should take: short enough that no desktop GPU is reset.
const SUBMISSION_S: f64 = 0.05;

/// Seconds that one submission should take while a picture is edited, so that the one under way ends soon: on GPUs, for
/// which as many short ones cost little, and on processors.
const LIVE_SUBMISSION_S: [f64; 2] = [0.008, 0.025];

/// The least that a submission has of it, if there is as much.
const UNITS_MIN: u64 = 1 << 12;

/// Portions of items are multiples of this, if they have as many: whole workgroups.
const GROUP: u64 = 64;

/// A perturbed portion is smaller by a factor of 2 to a power below this.
const PERTURBED_LOG2: u64 = 12;

/// A submission that is filled but for less than this fraction takes only what fits whole.
const REMNANT: f64 = 0.25;

const WORKS: usize = Work::ALL.len();

/// How many times as much of it the next submission may have. Loops are guessed to be long; most are not.
fn growth_max(work: Work) -> f64 {
    if work == Work::LoopLoad { 8.0 } else { 2.0 }
}

/// What a submission has of it before anything is known of the device's speed.
fn guess(work: Work) -> u64 {
    match work {
        Work::Load => 1 << 17,
        Work::LoopLoad => 1 << 12,
        Work::Trips => 1 << 21,
        Work::Fill => 1 << 24,
        Work::Filter => 1 << 23,
        Work::Scan | Work::Choose | Work::Mark | Work::Depth => 1 << 21,
        Work::Split => 1 << 15,
        Work::Imager => 1 << 16,
        Work::SortCells | Work::CutSolids => 1 << 19,
        _ => 1 << 20,
    }
}

/// How much of each kind of work a submission should have if it had no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quota([u64; WORKS]);

impl Quota {
    pub(crate) fn of(&self, work: Work) -> u64 {
        self.0[work as usize]
    }
}

/// What a submission was made of: units of work, in the order of its stages if there is more than one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Portion(Vec<(Work, u64)>);

impl Portion {
    /// Of one kind.
    pub(crate) fn of(work: Work, units: u64) -> Self {
        Self(vec![(work, units)])
    }
}

/// A submission that is being filled.
#[derive(Debug)]
pub(crate) struct Filling {
    quota: Quota,
    /// The part of its time that is left.
    left: f64,
    portion: Portion,
}

impl Filling {
    pub(crate) fn new(quota: Quota) -> Self {
        Self { quota, left: 1.0, portion: Portion::default() }
    }

    /// How many of `items` go into it, of which the first n are `units(n)` units of work: none where they go better
    /// into the next one, but at least one into an empty submission.
    pub(crate) fn take(&mut self, work: Work, items: u64, units: impl Fn(u64) -> f64) -> u64 {
        let quota = self.quota.of(work) as f64;
        let fit = most(items, |some| units(some) <= self.left * quota);
        let whole_groups = if fit >= GROUP { fit - fit % GROUP } else { fit };
        let some = match (fit == items, self.portion.0.is_empty()) {
            (true, _) => items,
            (false, true) => whole_groups.max(1),
            (false, false) if self.left < REMNANT => 0,
            (false, false) => whole_groups,
        };
        if some > 0 {
            self.left -= units(some) / quota;
            self.portion.0.push((work, units(some) as u64));
        }
        some
    }

    /// What it came to.
    pub(crate) fn portion(self) -> Portion {
        self.portion
    }
}

/// The largest number up to `end` that fits, where smaller ones do if it does.
fn most(end: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = high - (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

/// A device's pace.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    next: Quota,
    /// Seconds that one submission should take.
    submission_s: f64,
    /// Makes submissions as different as they can be (a test aid).
    perturbation: Option<Random>,
}

impl Pace {
    /// Before anything is known of the device's speed. With a seed, portions are much smaller than they should be, by
    /// chance.
    pub(crate) fn new(perturb: Option<u64>) -> Self {
        Self { next: Quota(Work::ALL.map(guess)), submission_s: SUBMISSION_S, perturbation: perturb.map(Random::new) }
    }

    /// Makes submissions so short that a picture can be stopped soon.
    pub(crate) fn live(mut self, is_cpu: bool) -> Self {
        self.submission_s = LIVE_SUBMISSION_S[usize::from(is_cpu)];
        let part = self.submission_s / SUBMISSION_S;
        self.next = Quota(self.next.0.map(|units| ((units as f64 * part) as u64).max(UNITS_MIN)));
        self
    }

    /// What the next submission should have.
    pub(crate) fn quota(&mut self) -> Quota {
        let Some(random) = &mut self.perturbation else { return self.next };
        Quota(self.next.0.map(|units| (units >> random.below(PERTURBED_LOG2)).max(1)))
    }

    /// Adapts the rates to the time that a submission took, by stage.
    pub(crate) fn took(&mut self, portion: &Portion, stages_s: &[f64]) {
        // Perturbed submissions are what the seed says, whatever the device's speed.
        if self.perturbation.is_some() {
            return;
        }
        let all_s = [stages_s.iter().sum()];
        let seconds = if portion.0.len() == 1 { &all_s } else { stages_s };
        for (&(work, units), &seconds) in portion.0.iter().zip(seconds) {
            let next = &mut self.next.0[work as usize];
            let by_rate = adapted(*next, units, seconds / self.submission_s, growth_max(work));
            *next = by_rate.clamp(UNITS_MIN, 1 << 32);
        }
        self.next.0[Work::SlabRest as usize] = self.next.of(Work::Slab);
    }
}

/// A quarter of the way from `now` to what would have taken the wanted time, of which `done` took `times` as much, at
/// most to `growth_max` times as much; all the way where that is less than half. Too little work (less than a sixteenth
/// of `now`) changes nothing.
fn adapted(now: u64, done: u64, times: f64, growth_max: f64) -> u64 {
    if done == 0 || done < now / 16 || times <= 0.0 {
        return now;
    }
    let wanted = done as f64 / times;
    let now = now as f64;
    let step = if wanted < now / 2.0 { 1.0 } else { 0.25 };
    (now + (wanted - now) * step).min(now * growth_max) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submissions_come_to_the_wanted_time_whatever_the_rate() {
        for rate in [1e5, 1e6, 1e8] {
            let mut pace = Pace::new(None);
            for _ in 0..60 {
                let units = pace.quota().of(Work::Load);
                pace.took(&Portion::of(Work::Load, units), &[0.25, 0.75].map(|part| part * units as f64 / rate));
            }
            let seconds = pace.quota().of(Work::Load) as f64 / rate;
            assert!((0.04..0.06).contains(&seconds), "{seconds} s at {rate} vertices a second");
            assert_eq!(pace.quota().of(Work::Slab), guess(Work::Slab), "nothing was composited");
        }
    }

    #[test]
    fn submissions_of_edited_pictures_are_short() {
        for (is_cpu, wanted) in [(false, 0.008), (true, 0.025)] {
            let mut pace = Pace::new(None).live(is_cpu);
            assert!(pace.quota().of(Work::Load) < guess(Work::Load));
            for _ in 0..60 {
                let units = pace.quota().of(Work::Load);
                pace.took(&Portion::of(Work::Load, units), &[units as f64 / 1e7]);
            }
            let seconds = pace.quota().of(Work::Load) as f64 / 1e7;
            assert!((0.8..1.2).contains(&(seconds / wanted)), "{seconds} s");
        }
    }

    #[test]
    fn loops_that_are_short_soon_have_submissions_of_the_wanted_time() {
        let mut pace = Pace::new(None);
        for _ in 0..6 {
            let units = pace.quota().of(Work::LoopLoad);
            pace.took(&Portion::of(Work::LoopLoad, units), &[units as f64 / 4e6]);
        }
        assert!(pace.quota().of(Work::LoopLoad) > 150_000, "of 200,000: {}", pace.quota().of(Work::LoopLoad));
    }

    #[test]
    fn remnants_change_nothing_and_slow_submissions_are_corrected_at_once() {
        let mut pace = Pace::new(None);
        pace.took(&Portion::of(Work::Load, 100), &[0.05]);
        assert_eq!(pace.quota(), Pace::new(None).quota());
        pace.took(&Portion::of(Work::Slab, 1 << 20), &[1.6]);
        assert_eq!(pace.quota().of(Work::Slab), 1 << 15);
    }

    /// The portions of `items` items of work that takes `each` units an item, at `rate` units a second: seconds of each
    /// submission.
    fn submissions(pace: &mut Pace, items: u64, each: f64, rate: f64) -> Vec<f64> {
        let (mut done, mut seconds) = (0, Vec::new());
        while done < items {
            let mut filling = Filling::new(pace.quota());
            let some = filling.take(Work::Composite, items - done, |some| some as f64 * each);
            assert!(
                some > 0 && (some.is_multiple_of(GROUP) || done + some == items || some < GROUP),
                "{some} of {items}"
            );
            done += some;
            seconds.push(some as f64 * each / rate);
            pace.took(&filling.portion(), &[some as f64 * each / rate]);
        }
        seconds
    }

    #[test]
    fn slow_devices_cut_and_fast_ones_do_not() {
        let (mut slow, mut fast) = (Pace::new(None), Pace::new(None));
        for _ in 0..20 {
            submissions(&mut slow, 100_000, 16.0, 1e6);
            submissions(&mut fast, 100_000, 16.0, 1e9);
        }
        let longest = submissions(&mut slow, 100_000, 16.0, 1e6).into_iter().fold(0.0, f64::max);
        assert!((0.04..0.06).contains(&longest), "{longest} s");
        assert_eq!(submissions(&mut fast, 100_000, 16.0, 1e9).len(), 1);
        // An item that is more than a submission goes alone.
        assert_eq!(submissions(&mut slow, 3, 1e6, 1e6).len(), 3);
    }

    #[test]
    fn what_fits_the_time_goes_into_one_submission() {
        let mut pace = Pace::new(None);
        let quota = pace.quota();
        let mut filling = Filling::new(quota);
        let half = |work: Work| quota.of(work) / 2;
        let even = |some: u64| some as f64;
        assert_eq!(filling.take(Work::Mark, half(Work::Mark), even), half(Work::Mark));
        assert_eq!(
            filling.take(Work::Sort, 1, |some| (some * quota.of(Work::Sort)) as f64),
            0,
            "what cannot be cut waits"
        );
        assert_eq!(filling.take(Work::Composite, 1 << 30, even), half(Work::Composite));
        assert_eq!(filling.take(Work::Filter, 1 << 30, even), 0, "it is full");
        // Each stage's time is its own work's.
        pace.took(&filling.portion(), &[0.025, 0.1]);
        assert_eq!(pace.quota().of(Work::Mark), quota.of(Work::Mark));
        assert_eq!(pace.quota().of(Work::Composite), quota.of(Work::Composite) / 4);
        assert_eq!(Filling::new(quota).take(Work::Sort, 1, |some| some as f64 * 1e12), 1, "nor does it wait for ever");
    }

    #[test]
    fn items_of_much_work_go_in_small_portions() {
        let mut pace = Pace::new(None);
        let quota = pace.quota().of(Work::Slab);
        // The last tenth of the items holds nearly all of the work.
        let before = |item: u64| if item <= 9000 { item } else { 9000 + (item - 9000) * quota / 100 };
        let (mut done, mut portions) = (0, Vec::new());
        while done < 10_000 {
            let units = |some: u64| (before(done + some) - before(done)) as f64;
            portions.push(Filling::new(pace.quota()).take(Work::Slab, 10_000 - done, units));
            done += portions[portions.len() - 1];
        }
        assert!(portions[0] > 9000 && portions[1..].iter().all(|&some| some <= 100), "{portions:?}");
        // Later calls say nothing about the first one, and use its rate.
        pace.took(&Portion::of(Work::SlabRest, quota), &[1e-6]);
        assert_eq!(pace.quota().of(Work::SlabRest), quota);
    }

    #[test]
    fn every_kind_of_work_has_its_place() {
        assert!(Work::ALL.iter().enumerate().all(|(place, &work)| work as usize == place));
    }
}
