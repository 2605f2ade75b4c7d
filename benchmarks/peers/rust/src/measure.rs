//! Clocks, memory, and saying results.

use std::time::Duration;

pub fn say(name: &str, value: f64) {
    println!("{name} {value}");
}

pub fn fail(why: &str) -> ! {
    eprintln!("peers: {why}");
    std::process::exit(1);
}

pub fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// What this process has had of processors.
pub fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: it writes to the structure that it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

pub fn resident_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages = text
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<f64>().ok());
    // SAFETY: it only returns a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.expect("a number of pages") * page as f64
}
