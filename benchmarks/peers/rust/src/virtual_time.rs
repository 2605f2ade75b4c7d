//! Every workload in virtual time, compiled around one facility.

use std::time::{Duration, Instant};

use tokio::runtime::Builder;

use crate::dice::{Dice, Load};
use crate::measure::{fail, resident_bytes, say};
use crate::model::Model;

pub const WORKLOADS: &[&str] = &[
    "arm",
    "cancel",
    "cancel+drop",
    "rearm",
    "touch",
    "fire-jumps",
    "worst-step",
    "bytes",
    "d1",
    "d3",
];

/// Timers numbered from 0, in a runtime whose clock is paused, and begins at 0.
pub trait Timers {
    /// Of each handle, which its user has anyway.
    const HANDLE_BYTES: usize;

    fn new(n: usize) -> Self;
    fn arm(&mut self, id: u32, deadline: u64);
    fn cancel(&mut self, id: u32);
    fn move_to(&mut self, id: u32, deadline: u64);
    /// Move time; `fired` gets the numbers of what fires.
    async fn advance(&mut self, now: u64, fired: &mut Vec<u32>);
    /// The same by jumps to when the next is due, until then all have fired.
    async fn jump_to(&mut self, end: u64, fired: &mut Vec<u32>);
}

/// What a round of a workload has come to.
struct Round {
    result: f64, // of each operation
    ops: usize,  // steps of time among them
    fired: usize,
}

const ENOUGH_OPS: usize = 1_000_000;
const LIMIT_MS: u64 = 30_000;

pub fn run<T: Timers>(workload: &str, load: &Load) {
    let (mut ops, mut sum, mut fired) = (0, 0.0, Vec::new());
    while ops < ENOUGH_OPS {
        let round = in_paused_time(round::<T>(workload, load));
        ops += round.ops;
        sum += round.result;
        fired.push(round.fired);
    }
    let expected = in_paused_time(round::<Model>(workload, load)).fired;
    if let Some(other) = fired.iter().find(|&&count| count != expected) {
        fail(&format!("{other} timers fired, not {expected}"));
    }
    let name = if workload == "bytes" { "bytes" } else { "ns" };
    say(name, sum / fired.len() as f64);
}

fn in_paused_time(round: impl Future<Output = Round>) -> Round {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    // Else a task may poll only so many timers before it must yield.
    runtime
        .expect("a runtime")
        .block_on(tokio::task::unconstrained(round))
}

async fn round<T: Timers>(workload: &str, load: &Load) -> Round {
    match workload {
        "arm" => arm::<T>(load).await,
        "cancel" | "cancel+drop" => cancel::<T>(load, workload == "cancel+drop").await,
        "rearm" => rearm::<T>(load).await,
        "touch" => touch::<T>(load).await,
        "fire-jumps" => fire_jumps::<T>(load).await,
        "worst-step" => worst_step::<T>(load).await,
        "bytes" => bytes::<T>(load),
        "d1" => d1::<T>(load).await,
        "d3" => d3::<T>(load).await,
        _ => fail("no such workload"),
    }
}

impl Round {
    fn and_fired(self, fired: usize) -> Round {
        Round { fired, ..self }
    }
}

/// So many operations since then, and steps of time between them.
fn took(began: Instant, ops: usize, steps: usize) -> Round {
    Round {
        result: began.elapsed().as_nanos() as f64 / ops as f64,
        ops: ops + steps,
        fired: 0,
    }
}

fn once(result: f64) -> Round {
    Round {
        result,
        ops: ENOUGH_OPS,
        fired: 0,
    }
}

fn arm_all<T: Timers>(timers: &mut T, load: &Load) {
    let mut dice = load.arming();
    for id in 0..load.n as u32 {
        timers.arm(id, dice.delay(load.is_uniform));
    }
}

fn pending<T: Timers>(load: &Load) -> T {
    let mut timers = T::new(load.n);
    arm_all(&mut timers, load);
    timers
}

/// As many in each millisecond of the limit.
fn pending_within_limit<T: Timers>(load: &Load) -> (T, Dice) {
    let mut timers = T::new(load.n);
    let mut dice = load.arming();
    for id in 0..load.n as u32 {
        timers.arm(id, 1 + dice.below(LIMIT_MS));
    }
    (timers, dice)
}

/// How many fire by themselves, in the end.
async fn fire_all<T: Timers>(timers: &mut T, load: &Load) -> usize {
    let mut fired = Vec::with_capacity(load.n);
    timers.jump_to(load.last_deadline(), &mut fired).await;
    fired.len()
}

async fn arm<T: Timers>(load: &Load) -> Round {
    let mut timers = T::new(load.n);
    let began = Instant::now();
    arm_all(&mut timers, load);
    let round = took(began, load.n, 0);
    round.and_fired(fire_all(&mut timers, load).await)
}

async fn cancel<T: Timers>(load: &Load, is_dropped: bool) -> Round {
    let mut timers = pending::<T>(load);
    let mut fired = Vec::new();
    let began = Instant::now();
    for &id in &load.order {
        timers.cancel(id);
    }
    let round = took(began, load.n, 0);
    timers.advance(load.last_deadline(), &mut fired).await;
    let round = if is_dropped {
        took(began, load.n, 0)
    } else {
        round
    };
    round.and_fired(fired.len())
}

async fn rearm<T: Timers>(load: &Load) -> Round {
    let mut timers = pending::<T>(load);
    let mut dice = load.moving();
    let ops = (20 * load.n).min(5_000_000);
    let began = Instant::now();
    for _ in 0..ops {
        let id = dice.below(load.n as u64) as u32;
        timers.move_to(id, dice.delay(load.is_uniform));
    }
    let round = took(began, ops, 0);
    round.and_fired(fire_all(&mut timers, load).await)
}

async fn fire_jumps<T: Timers>(load: &Load) -> Round {
    let mut timers = pending::<T>(load);
    let began = Instant::now();
    let count = fire_all(&mut timers, load).await;
    took(began, load.n, 0).and_fired(count)
}

async fn worst_step<T: Timers>(load: &Load) -> Round {
    let mut timers = pending::<T>(load);
    let (mut fired, mut count) = (Vec::with_capacity(load.n), 0);
    let mut worst = Duration::ZERO;
    let mut before = Instant::now();
    for now in 1..=load.last_deadline() {
        timers.advance(now, &mut fired).await;
        count += fired.len();
        fired.clear();
        let after = Instant::now();
        worst = worst.max(after - before);
        before = after;
    }
    once(worst.as_nanos() as f64).and_fired(count)
}

fn bytes<T: Timers>(load: &Load) -> Round {
    let before = resident_bytes();
    let _timers = pending::<T>(load);
    let each = (resident_bytes() - before) / load.n as f64;
    once(each - T::HANDLE_BYTES as f64)
}

/// Timers that are touched while time goes by.
struct Touching<'a, T> {
    timers: T,
    load: &'a Load,
    every_ms: u64,
    silent_every: Option<u32>,
    at: usize,
    fired: Vec<u32>,
    fired_count: usize,
}

impl<'a, T: Timers> Touching<'a, T> {
    fn new(load: &'a Load, every_ms: u64, silent_every: Option<u32>) -> Self {
        let (timers, _) = pending_within_limit(load);
        let fired = Vec::with_capacity(load.n);
        Touching {
            timers,
            load,
            every_ms,
            silent_every,
            at: 0,
            fired,
            fired_count: 0,
        }
    }

    /// Returns how many were moved.
    async fn through(&mut self, times: std::ops::Range<u64>) -> usize {
        let n = self.load.n as u64;
        let mut moves = 0;
        for now in times {
            self.timers.advance(now, &mut self.fired).await;
            self.fired_count += self.fired.len();
            for id in self.fired.drain(..) {
                self.timers.arm(id, now + LIMIT_MS);
            }
            for _ in (now - 1) * n / self.every_ms..now * n / self.every_ms {
                let id = self.load.order[self.at];
                self.at += 1;
                if self.at == self.load.n {
                    self.at = 0;
                }
                if self
                    .silent_every
                    .is_some_and(|every| id.is_multiple_of(every))
                {
                    continue;
                }
                self.timers.move_to(id, now + LIMIT_MS);
                moves += 1;
            }
        }
        moves
    }
}

async fn touch<T: Timers>(load: &Load) -> Round {
    let mut touching = Touching::<T>::new(load, 10_000, None);
    let moves_min = (20 * load.n).min(5_000_000);
    let length = LIMIT_MS.max(moves_min as u64 * 10_000 / load.n as u64);
    touching.through(1..20_000).await;
    let began = Instant::now();
    let moves = touching.through(20_000..20_000 + length).await;
    took(began, moves, length as usize).and_fired(touching.fired_count)
}

async fn d1<T: Timers>(load: &Load) -> Round {
    let mut touching = Touching::<T>::new(load, 22_500, Some(100));
    touching.through(1..30_001).await;
    let began = Instant::now();
    let moves = touching.through(30_001..90_001).await;
    took(began, moves, 60_000).and_fired(touching.fired_count)
}

async fn d3<T: Timers>(load: &Load) -> Round {
    const DONE_EVERY_MS: usize = 100;
    let (mut timers, mut dice) = pending_within_limit::<T>(load);
    let (mut fired, mut count) = (Vec::with_capacity(load.n), 0);
    let mut began = Instant::now();
    for now in 1..=70_000 {
        if now == 10_001 {
            began = Instant::now();
        }
        timers.advance(now, &mut fired).await;
        count += fired.len();
        for id in fired.drain(..) {
            timers.arm(id, now + LIMIT_MS);
        }
        for _ in 0..DONE_EVERY_MS {
            let id = dice.below(load.n as u64) as u32;
            timers.cancel(id);
            timers.arm(id, now + LIMIT_MS);
        }
    }
    took(began, 60_000 * DONE_EVERY_MS, 60_000).and_fired(count)
}
