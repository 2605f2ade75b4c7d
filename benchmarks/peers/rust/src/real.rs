//! Every workload in real time, compiled around one facility.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

use crate::dice::{Dice, Load};
use crate::measure::{cpu_time, fail, ms, resident_bytes, say};

pub const WORKLOADS: &[&str] = &[
    "real-calls",
    "real-pairs-1",
    "real-pairs-2",
    "real-late",
    "real-idle",
    "real-d1",
    "real-d2",
    "real-d3",
];

/// Timers numbered from 0.
pub trait Facility: Sized {
    /// Of each handle, which its user has anyway.
    const HANDLE_BYTES: usize;

    fn runtime() -> Builder;
    fn open(runtime: &'static Runtime, fired: &'static Fired, n: usize) -> Self;
    fn set(&mut self, id: u32, delay: Duration);
    fn clear(&mut self, id: u32);
    /// Also for one that has fired.
    fn reset(&mut self, id: u32, delay: Duration);
    /// Lets the facility work until then.
    fn run_until(&mut self, then: Instant);
}

/// What happens to a timer that fires.
pub enum Fired {
    Wrong(AtomicUsize),
    Listed(Mutex<Vec<u32>>),
    Noted(Notes),
}

/// How late each was.
pub struct Notes {
    base: Instant,
    notes: Vec<(AtomicU64, AtomicI64)>, // when it should run, how late it was, in ns
}

const NOT_YET: i64 = i64::MIN;
const LIMIT: Duration = Duration::from_secs(30);

impl Fired {
    pub fn note(&self, id: u32) {
        match self {
            Fired::Wrong(count) => _ = count.fetch_add(1, Relaxed),
            Fired::Listed(list) => list.lock().expect("no panic").push(id),
            Fired::Noted(notes) => notes.note(id),
        }
    }
}

impl Notes {
    fn new(n: usize) -> Notes {
        let notes = (0..n)
            .map(|_| (AtomicU64::new(0), AtomicI64::new(NOT_YET)))
            .collect();
        Notes {
            base: Instant::now(),
            notes,
        }
    }

    fn ask(&self, id: u32, due: Instant) {
        self.notes[id as usize]
            .0
            .store((due - self.base).as_nanos() as u64, Relaxed);
    }

    fn note(&self, id: u32) {
        let (due, late) = &self.notes[id as usize];
        let now = self.base.elapsed().as_nanos() as i64;
        late.store(now - due.load(Relaxed) as i64, Relaxed);
    }

    /// Returns how late each was, in order, and says what they cost.
    fn wait_for_all(&self, facility: &mut impl Facility) -> Vec<i64> {
        let cpu = cpu_time();
        let patience = Instant::now() + Duration::from_secs(120);
        let mut all = Vec::with_capacity(self.notes.len());
        while all.len() < self.notes.len() {
            match self.notes[all.len()].1.load(Relaxed) {
                NOT_YET if Instant::now() > patience => fail("not all timers have fired"),
                NOT_YET => facility.run_until(Instant::now() + ms(20)),
                late => all.push(late),
            }
        }
        say(
            "cpu_ns",
            (cpu_time() - cpu).as_nanos() as f64 / all.len() as f64,
        );
        all.sort_unstable();
        all
    }
}

/// A facility, and what its workloads need.
struct Bench<F> {
    runtime: &'static Runtime,
    fired: &'static Fired,
    facility: F,
    bytes_before: f64,
    n: usize,
}

pub fn run<F: Facility>(workload: &str, load: &Load) {
    let runtime: &Runtime = Box::leak(Box::new(
        F::runtime().enable_time().build().expect("a runtime"),
    ));
    let _context = runtime.enter();
    let fired = match workload {
        "real-late" | "real-d2" => Fired::Noted(Notes::new(load.n)),
        "real-d1" => Fired::Listed(Mutex::default()),
        _ => Fired::Wrong(AtomicUsize::new(0)),
    };
    let fired: &Fired = Box::leak(Box::new(fired));
    let bytes_before = resident_bytes();
    let facility = F::open(runtime, fired, load.n);
    let mut bench = Bench {
        runtime,
        fired,
        facility,
        bytes_before,
        n: load.n,
    };
    match workload {
        "real-calls" => bench.calls(load),
        "real-pairs-1" => bench.pairs(1),
        "real-pairs-2" => bench.pairs(2),
        "real-late" => bench.late(load),
        "real-idle" => bench.idle(load),
        "real-d1" => bench.d1(load),
        "real-d2" => bench.d2(load),
        "real-d3" => bench.d3(load),
        _ => fail("no such workload"),
    }
    if let Fired::Wrong(count) = fired
        && count.load(Relaxed) > 0
    {
        fail("timers fired that should not");
    }
    // The runtime and a million timers are not worth taking down.
    std::process::exit(0);
}

fn ns_each(began: Instant, n: usize) -> f64 {
    began.elapsed().as_nanos() as f64 / n as f64
}

/// Of one core, while the work goes on.
fn say_percent(work: impl FnOnce()) {
    let (began, cpu) = (Instant::now(), cpu_time());
    work();
    let cpu = cpu_time() - cpu;
    say(
        "percent",
        100.0 * cpu.as_secs_f64() / began.elapsed().as_secs_f64(),
    );
}

/// Do it for so long; returns how often.
fn as_often_as_it_goes(duration: Duration, mut work: impl FnMut()) -> usize {
    const BETWEEN_LOOKS: usize = 100;
    let (mut count, began) = (0, Instant::now());
    while began.elapsed() < duration {
        (0..BETWEEN_LOOKS).for_each(|_| work());
        count += BETWEEN_LOOKS;
    }
    count
}

fn million_a_second(count: usize, began: Instant) -> f64 {
    count as f64 / began.elapsed().as_secs_f64() / 1e6
}

impl<F: Facility> Bench<F> {
    fn set_all(&mut self, mut dice: Dice, least: u64, span: u64) {
        for id in 0..self.n as u32 {
            self.facility.set(id, ms(least + dice.below(span)));
        }
    }

    fn say_bytes(&self) {
        let each = (resident_bytes() - self.bytes_before) / self.n as f64;
        say("bytes", each - F::HANDLE_BYTES as f64);
    }

    fn run_for(&mut self, duration: Duration) {
        self.facility.run_until(Instant::now() + duration);
    }

    fn clear_all(&mut self, order: &[u32]) {
        for &id in order {
            self.facility.clear(id);
        }
    }

    /// Everything is done twice, and the second time counts.
    fn calls(&mut self, load: &Load) {
        self.set_all(load.arming(), 60_000, 60_000);
        self.say_bytes();
        self.clear_all(&load.order);
        self.call_all(load);
        for (name, ns) in ["arm_ns", "rearm_ns", "cancel_ns"]
            .iter()
            .zip(self.call_all(load))
        {
            say(name, ns);
        }
    }

    fn call_all(&mut self, load: &Load) -> [f64; 3] {
        let began = Instant::now();
        self.set_all(load.arming(), 60_000, 60_000);
        let arm = ns_each(began, self.n);

        let mut dice = load.moving();
        let began = Instant::now();
        for _ in 0..self.n {
            let id = dice.below(self.n as u64) as u32;
            self.facility.reset(id, ms(60_000 + dice.below(60_000)));
        }
        let rearm = ns_each(began, self.n);

        let began = Instant::now();
        self.clear_all(&load.order);
        [arm, rearm, ns_each(began, self.n)]
    }

    fn pairs(&self, threads: usize) {
        self.pairs_for_a_second(threads);
        say("million_a_second", self.pairs_for_a_second(threads));
    }

    fn pairs_for_a_second(&self, threads: usize) -> f64 {
        let (runtime, fired) = (self.runtime, self.fired);
        let pairs = || {
            let _context = runtime.enter();
            let mut own = F::open(runtime, fired, 1);
            as_often_as_it_goes(ms(1_000), || {
                own.set(0, ms(30_000));
                own.clear(0);
            })
        };
        let began = Instant::now();
        let count = thread::scope(|scope| {
            let started: Vec<_> = (0..threads).map(|_| scope.spawn(pairs)).collect();
            started
                .into_iter()
                .map(|thread| thread.join().expect("no panic"))
                .sum()
        });
        million_a_second(count, began)
    }

    fn notes(&self) -> &'static Notes {
        match self.fired {
            Fired::Noted(notes) => notes,
            _ => unreachable!("this workload notes"),
        }
    }

    fn late(&mut self, load: &Load) {
        let (lead, span) = if self.n > 100_000 {
            (2_000, 5_000)
        } else {
            (500, 2_000)
        };
        let notes = self.notes();
        let mut dice = load.arming();
        let began = Instant::now();
        for id in 0..self.n as u32 {
            let delay = ms(lead + dice.below(span));
            notes.ask(id, Instant::now() + delay);
            self.facility.set(id, delay);
        }
        if began.elapsed() > ms(lead) {
            fail("arming took longer than the lead");
        }
        let late = notes.wait_for_all(&mut self.facility);
        say("early", late.partition_point(|&ns| ns < 0) as f64);
        for percent in [
            0.0, 1.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 100.0,
        ] {
            let at = (percent / 100.0 * (self.n - 1) as f64).round() as usize;
            say(&format!("late_us_{percent}"), late[at] as f64 / 1e3);
        }
    }

    fn idle(&mut self, load: &Load) {
        self.set_all(load.arming(), 600_000, 600_000);
        self.run_for(ms(1_000));
        say_percent(|| self.run_for(ms(3_000)));
    }

    /// What has fired since the last time.
    fn listed(&self) -> Vec<u32> {
        match self.fired {
            Fired::Listed(list) => std::mem::take(&mut *list.lock().expect("no panic")),
            _ => unreachable!("this workload lists"),
        }
    }

    /// Connections are pushed back by packets, and set again when they fire;
    /// returns how many did.
    fn hear(&mut self, load: &Load, start: Instant, beats: std::ops::Range<usize>) -> usize {
        const BEATS: usize = 2_250; // between two packets of a connection: 22.5 s
        let mut fired_count = 0;
        for beat in beats {
            self.facility.run_until(start + ms(10) * (beat as u32 + 1));
            let fired = self.listed();
            fired_count += fired.len();
            for id in fired {
                self.facility.reset(id, LIMIT);
            }
            for i in beat * self.n / BEATS..(beat + 1) * self.n / BEATS {
                self.facility.reset(load.order[i % self.n], LIMIT);
            }
        }
        fired_count
    }

    fn d1(&mut self, load: &Load) {
        self.set_all(load.arming(), 1, 30_000);
        let start = Instant::now();
        let mut fired_count = self.hear(load, start, 0..300);
        say_percent(|| fired_count += self.hear(load, start, 300..800));
        // About a fifth; few connections may be luckier.
        if fired_count > self.n || fired_count + 10 < self.n / 10 {
            fail(&format!(
                "{fired_count} of {} connections timed out",
                self.n
            ));
        }
    }

    fn d2(&mut self, load: &Load) {
        let began = Instant::now();
        self.set_all(load.arming(), 1_800_000, 1);
        say("arm_ns", ns_each(began, self.n));
        self.say_bytes();
        self.run_for(ms(1_000));
        say_percent(|| self.run_for(ms(2_000)));
        for id in 0..self.n as u32 {
            self.facility.clear(id);
        }
        self.drain();
    }

    /// All due at one instant.
    fn drain(&mut self) {
        let notes = self.notes();
        let due = Instant::now() + ms(3_000);
        for id in 0..self.n as u32 {
            let left = due - Instant::now();
            if left.is_zero() {
                fail("arming took longer than the lead");
            }
            notes.ask(id, due);
            self.facility
                .set(id, ms(left.as_nanos().div_ceil(1_000_000) as u64));
        }
        let late = notes.wait_for_all(&mut self.facility);
        say("drain_ms", late[self.n - 1] as f64 / 1e6);
    }

    fn d3(&mut self, load: &Load) {
        self.set_all(load.arming(), 30_000, 1);
        let mut dice = load.moving();
        let mut complete = || {
            let id = dice.below(self.n as u64) as u32;
            self.facility.clear(id);
            self.facility.set(id, LIMIT);
        };
        as_often_as_it_goes(ms(1_000), &mut complete);
        let began = Instant::now();
        let count = as_often_as_it_goes(ms(2_000), &mut complete);
        say("million_a_second", million_a_second(count, began));
        self.say_bytes();
    }
}
