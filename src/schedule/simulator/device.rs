//! FakeDevice devices: how fast, how large, how late, and how they fail.

use super::super::capacity::{Capacity, Fit};
use super::super::perturb::Random;
use super::super::region::Region;
use super::super::render::Poll;
use super::super::report::Failure;
use super::super::summed_area::SummedArea;
use super::super::virtual_clock::VirtualDevice;
use std::collections::VecDeque;
use std::time::Duration;

/// Length of a grid in pixels.
const GRID_PX: f64 = 8.0;

/// What failures say.
const WHY: &str = "simulated";

/// How a life of a device ends early; counted from the region that it begins as the n-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It does not.
    None,
    /// It does not open at all.
    Unusable,
    /// It takes longer to open than anybody waits.
    NeverOpens,
    /// Lost while it works on the n-th region.
    Lost(u64),
    /// Beginning the n-th region fails.
    OutOfMemory(u64),
    /// From the n-th region on, polls return but nothing happens.
    Hang(u64),
    /// From the n-th region on, a poll does not return for this long, and then as if nothing had been.
    Stuck(u64, Duration),
    /// Once n regions are begun, one poll does not return for this long, because a kernel is being compiled.
    Compiles(u64, Duration),
}

/// What a device is like.
#[derive(Clone, Debug)]
pub(super) struct FakeDeviceSetup {
    /// Micropolygons a millisecond.
    pub(super) speed: f64,
    /// What every region takes on top.
    pub(super) overhead: Duration,
    pub(super) depth: usize,
    pub(super) capacity: Capacity,
    /// Bytes that regions really need, over the estimate.
    pub(super) truth: f64,
    pub(super) opens_after: Duration,
    /// Of the first life and of the second.
    pub(super) troubles: [Trouble; 2],
    /// The region that holds this pixel brings the device down.
    pub(super) poison: Option<[u32; 2]>,
}

impl FakeDeviceSetup {
    /// Creates a sound device on which everything fits.
    pub(super) fn sound(speed: f64) -> Self {
        let capacity = Capacity {
            samples: [4, 4],
            apron_px: [1, 1],
            subpixel_count_max: 1 << 24,
            part_bytes: u64::MAX,
            fixed_bytes: 0,
            bytes_per_subpixel: 16,
            bytes_per_pixel: 16,
            bytes_per_grid: 64,
        };
        Self {
            speed,
            overhead: Duration::from_millis(2),
            depth: 2,
            capacity,
            truth: 1.0,
            opens_after: Duration::ZERO,
            troubles: [Trouble::None; 2],
            poison: None,
        }
    }

    /// Returns any device, for a picture of `pixels`; `doomed` ones always fail.
    pub(super) fn random(random: &mut Random, pixels: u64, doomed: bool) -> Self {
        let sound = Self::sound(10.0 * 1.5_f64.powi(random.below(10) as i32));
        let subpixel_count_max = match random.below(4) {
            0 => 1 << 24,
            _ => 16 * (pixels / (1 + random.below(40)) + 30),
        };
        // A device that cannot even render one pixel only fits a tiny picture: it cuts down to pixels.
        let part_bytes = match random.below(4) {
            0 | 1 if pixels < 150 => 0,
            2 => 800 * (pixels / (1 + random.below(40)) + 30),
            _ => u64::MAX,
        };
        let mut trouble = |likely: bool| if likely { Trouble::random(random) } else { Trouble::None };
        let troubles = [trouble(doomed), trouble(doomed)];
        Self {
            overhead: Duration::from_micros(random.below(3000)),
            depth: 1 + random.below(4) as usize,
            capacity: Capacity { subpixel_count_max, part_bytes, ..sound.capacity },
            truth: if random.one_in(3) { 0.5 + random.below(100) as f64 / 50.0 } else { 1.0 },
            opens_after: if random.one_in(20) {
                Duration::from_millis(2500)
            } else {
                Duration::from_micros(random.below(4).pow(4) * random.below(1000))
            },
            troubles,
            ..sound
        }
    }
}

impl Trouble {
    fn random(random: &mut Random) -> Self {
        let nth = 1 + random.below(3).pow(2);
        match random.below(9) {
            0 => Self::Unusable,
            1 => Self::NeverOpens,
            2..=4 => Self::Lost(nth),
            5 => Self::OutOfMemory(nth),
            6 => Self::Hang(nth),
            _ => Self::Stuck(nth, Duration::from_millis(random.below(3000))),
        }
    }
}

/// A region in flight.
#[derive(Clone, Copy, Debug)]
struct SimulatedRegion {
    region: Region,
    done_at: Duration,
    too_large: bool,
}

/// A device at work.
#[derive(Debug)]
pub(super) struct FakeDevice {
    setup: FakeDeviceSetup,
    /// 0 or 1.
    life: usize,
    begun: u64,
    free_at: Duration,
    compiled_at: Duration,
    flights: VecDeque<SimulatedRegion>,
    random: Random,
}

impl FakeDevice {
    pub(super) fn new(setup: FakeDeviceSetup, random: Random) -> Self {
        Self {
            setup,
            life: 0,
            begun: 0,
            free_at: Duration::ZERO,
            compiled_at: Duration::ZERO,
            flights: VecDeque::new(),
            random,
        }
    }

    fn trouble(&self) -> Trouble {
        self.setup.troubles[self.life]
    }

    /// Returns what the oldest region in flight comes to.
    fn done(&mut self) -> Poll<()> {
        let flight = self.flights.pop_front().expect("polls are for regions in flight");
        if flight.too_large { Poll::TooLarge(flight.region) } else { Poll::Finished(flight.region, ()) }
    }

    fn random_part(&mut self, of: Duration) -> Duration {
        of.mul_f64(self.random.below(1000) as f64 / 1000.0)
    }
}

impl VirtualDevice for FakeDevice {
    fn opens_after(&self) -> Option<Duration> {
        (self.trouble() != Trouble::NeverOpens).then_some(self.setup.opens_after)
    }

    fn open(&mut self) -> Result<usize, Failure> {
        if self.trouble() == Trouble::Unusable { Err(Failure::Unusable(WHY.into())) } else { Ok(self.setup.depth) }
    }

    /// A second life begins.
    fn reopen(&mut self) {
        self.life = 1;
        self.begun = 0;
        self.flights.clear();
    }

    fn fit(&self, table: &SummedArea, region: Region) -> Fit {
        self.setup.capacity.fit(table, region)
    }

    fn begin(&mut self, table: &SummedArea, region: Region, now: Duration) -> Result<(), Failure> {
        self.begun += 1;
        if self.trouble() == Trouble::OutOfMemory(self.begun) {
            return Err(Failure::OutOfMemory(WHY.into()));
        }
        assert!(self.flights.len() < self.setup.depth, "more regions in flight than the device has memory for");
        let capacity = &self.setup.capacity;
        let need = capacity.bytes(table, region) as f64 * self.setup.truth;
        let too_large =
            need > capacity.part_bytes as f64 || capacity.subpixel_count(region) > capacity.subpixel_count_max;
        // Grids that cross the border are diced in both regions: as if each side was longer by a grid's length.
        let longer = |pixels: u32| 1.0 + GRID_PX / f64::from(pixels);
        let overlap = longer(region.width()) * longer(region.height());
        let work = Duration::from_secs_f64(1e-3 * overlap * table.work(region) as f64 / self.setup.speed);
        let lasts = self.setup.overhead + if too_large { Duration::ZERO } else { work };
        self.free_at = self.free_at.max(now) + lasts;
        self.flights.push_back(SimulatedRegion { region, done_at: self.free_at, too_large });
        Ok(())
    }

    fn poll(&mut self, now: Duration, timeout: Duration) -> (Duration, Result<Poll<()>, Failure>) {
        let first = self.flights.front().map_or(now, |flight| flight.done_at).max(now);
        let in_time = first <= now + timeout;
        let poisoned = self
            .setup
            .poison
            .and_then(|[x, y]| Region::new([x, y, x + 1, y + 1].map(u32::cast_signed)))
            .is_some_and(|pixel| self.flights.iter().any(|flight| flight.region.intersection(pixel).is_some()));
        let lost = || Err(Failure::Lost(WHY.into()));
        match self.trouble() {
            _ if poisoned => (now, lost()),
            Trouble::Lost(nth) if nth <= self.begun => (now + self.random_part(first.saturating_sub(now)), lost()),
            Trouble::Hang(nth) if nth <= self.begun => (now + timeout, Ok(Poll::Waiting("nothing".into()))),
            Trouble::Stuck(nth, back_after) if nth <= self.begun => (first + back_after, Ok(self.done())),
            Trouble::Compiles(nth, takes) if nth <= self.begun && self.compiled_at.is_zero() => {
                self.compiled_at = first + takes;
                (self.compiled_at, Ok(self.done()))
            }
            _ if in_time => (first, Ok(self.done())),
            _ => (now + timeout, Ok(Poll::Advanced)),
        }
    }

    fn compiles(&self, now: Duration) -> bool {
        now < self.compiled_at
    }

    fn wakes_after(&mut self) -> Duration {
        Duration::from_micros(self.random.below(500))
    }
}
