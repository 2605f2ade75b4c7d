//! The adapter of the peers in Rust: ../README.md has its questions and answers.

mod dice;
mod measure;
mod model;
mod queue;
mod real;
mod sleep;
mod virtual_time;

use dice::Load;
use measure::fail;

struct Peer {
    name: &'static str,
    title: &'static str,
    dependency: &'static str,
    settings: &'static str,
    cannot: &'static [(&'static str, &'static str)],
    run_virtual: fn(&str, &Load),
    run_real: fn(&str, &Load),
}

/// Of stepping through time with little or nothing due.
const STEP: &str = "a step of the paused clock is a turn of the runtime, dearer than the timers";

const PEERS: [Peer; 2] = [
    Peer {
        name: "tokio_sleep",
        title: "tokio sleep",
        dependency: "tokio",
        settings: "virtual time: Sleeps pinned in an array, fired when the waker is called; the \
                   paused clock of a current-thread runtime, each step a turn of it, which is \
                   included; real time: the same Sleeps, 2 worker threads",
        cannot: &[("fire-steps", STEP), ("empty", STEP), ("d2", STEP)],
        run_virtual: virtual_time::run::<sleep::VirtualSleeps>,
        run_real: real::run::<sleep::SharedSleeps>,
    },
    Peer {
        name: "tokio_delayqueue",
        title: "tokio-util DelayQueue",
        dependency: "tokio-util",
        settings: "one task of a current-thread runtime, room for all from the start; virtual \
                   time: its paused clock, each step a turn of the runtime, which is included, \
                   and no task budget",
        cannot: &[
            ("fire-steps", STEP),
            ("empty", STEP),
            ("d2", STEP),
            ("real-pairs-2", "belongs to one task"),
        ],
        run_virtual: virtual_time::run::<queue::Queue>,
        run_real: real::run::<queue::QueueTask>,
    },
];

/// As the manifest says it.
fn version_of(dependency: &str) -> &'static str {
    let manifest = include_str!("../Cargo.toml");
    let (_, rest) = manifest
        .split_once(&format!("\n{dependency} = {{ version = \"="))
        .expect("the manifest has it");
    rest.split('"').next().expect("a version")
}

impl Peer {
    fn can(&self) -> Vec<String> {
        virtual_time::WORKLOADS
            .iter()
            .chain(real::WORKLOADS)
            .filter(|workload| self.cannot.iter().all(|(other, _)| other != *workload))
            .map(|workload| format!("{workload:?}"))
            .collect()
    }

    fn describe(&self) -> String {
        let cannot: Vec<String> = self
            .cannot
            .iter()
            .map(|(workload, why)| format!("{workload:?}: {why:?}"))
            .collect();
        format!(
            "{{\"name\": {:?}, \"title\": {:?}, \"version\": {:?}, \"settings\": {:?},\n   \
             \"can\": [{}],\n   \"cannot\": {{{}}}}}",
            self.name,
            self.title,
            version_of(self.dependency),
            self.settings,
            self.can().join(", "),
            cannot.join(", ")
        )
    }

    fn run(&self, workload: &str, load: &Load) {
        if !self.can().contains(&format!("{workload:?}")) {
            fail(&format!("{} cannot do {workload:?}", self.name));
        }
        if workload.starts_with("real-") {
            (self.run_real)(workload, load);
        } else {
            (self.run_virtual)(workload, load);
        }
    }
}

fn describe() {
    println!(
        "{{\"language\": \"Rust\", \"toolchain\": {:?}, \"flags\": \"opt-level=3 lto=fat \
         codegen-units=1\",\n \"peers\": [\n  {}]}}",
        env!("TOOLCHAIN"),
        PEERS.each_ref().map(Peer::describe).join(",\n  ")
    );
}

fn throw_dice(load: &Load) {
    let mut dice = load.arming();
    let delays: Vec<u64> = (0..load.n).map(|_| dice.delay(load.is_uniform)).collect();
    let order: Vec<u64> = load.order.iter().map(|&number| number.into()).collect();
    let mut sum = 0u64;
    for (i, (delay, order)) in delays.iter().zip(&order).enumerate() {
        sum = sum.wrapping_add((i as u64 + 1).wrapping_mul(delay + order));
    }
    for (name, numbers) in [("delays", &delays), ("order", &order)] {
        let shown: String = numbers
            .iter()
            .take(8)
            .map(|number| format!(" {number}"))
            .collect();
        println!("{name}{shown}");
    }
    println!("sum {sum}");
}

fn read_load(n: &str, delays: &str, seed: &str) -> Load {
    let n = n.parse().ok().filter(|&n: &u32| n > 0);
    let seed = seed.parse().ok().filter(|&seed: &u64| seed > 0);
    match (n, delays, seed) {
        (Some(n), "uniform" | "log-uniform", Some(seed)) => {
            Load::new(n as usize, delays == "uniform", seed)
        }
        _ => fail("N and SEED are above 0, DELAYS is uniform or log-uniform"),
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["describe"] => describe(),
        ["dice", n, delays, seed] => throw_dice(&read_load(n, delays, seed)),
        ["run", name, workload, n, delays, seed] => {
            match PEERS.iter().find(|peer| peer.name == name) {
                Some(peer) => peer.run(workload, &read_load(n, delays, seed)),
                None => fail(&format!("there is no peer {name:?}")),
            }
        }
        _ => fail("describe | dice N DELAYS SEED | run PEER WORKLOAD N DELAYS SEED"),
    }
}
