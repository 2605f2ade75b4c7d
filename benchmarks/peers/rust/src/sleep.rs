//! tokio::time::sleep.

use std::cell::RefCell;
use std::pin::Pin;
use std::ptr::without_provenance;
use std::task::{Context, RawWaker, RawWakerVTable, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::measure::ms;
use crate::real::{Facility, Fired};
use crate::virtual_time::Timers;

/// In virtual time: Sleeps that are polled by nobody but us.
pub struct Sleeps {
    sleeps: Pin<Box<[Option<Sleep>]>>,
    start: Instant,
    now: u64,
}

thread_local! {
    static WOKEN: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// A waker that notes the number of its timer; it needs no memory.
fn waker_of(id: u32) -> Waker {
    fn clone(id: *const ()) -> RawWaker {
        RawWaker::new(id, &VTABLE)
    }
    fn wake(id: *const ()) {
        WOKEN.with_borrow_mut(|woken| woken.push(id.addr() as u32));
    }
    fn drop(_: *const ()) {}
    static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, drop);
    // SAFETY: the data is a number, so that there is nothing to be shared or freed.
    unsafe { Waker::new(without_provenance(id as usize), &VTABLE) }
}

impl Sleeps {
    fn slot(&mut self, id: u32) -> Pin<&mut Option<Sleep>> {
        // SAFETY: an element of what is pinned, and nothing is moved out of it.
        unsafe {
            self.sleeps
                .as_mut()
                .map_unchecked_mut(|all| &mut all[id as usize])
        }
    }
}

impl Timers for Sleeps {
    const HANDLE_BYTES: usize = 0; // a Sleep is no handle but the timer itself

    fn new(n: usize) -> Sleeps {
        WOKEN.with_borrow_mut(|woken| woken.reserve(n));
        let sleeps: Box<[Option<Sleep>]> = (0..n).map(|_| None).collect();
        Sleeps {
            sleeps: sleeps.into(),
            start: Instant::now(),
            now: 0,
        }
    }

    /// One that has fired is used again.
    fn arm(&mut self, id: u32, deadline: u64) {
        let deadline = self.start + ms(deadline);
        let mut slot = self.slot(id);
        match slot.as_mut().as_pin_mut() {
            Some(sleep) => sleep.reset(deadline),
            None => slot.set(Some(sleep_until(deadline))),
        }
        let sleep = slot.as_pin_mut().expect("it was just set");
        let is_pending = sleep
            .poll(&mut Context::from_waker(&waker_of(id)))
            .is_pending();
        assert!(is_pending);
    }

    fn cancel(&mut self, id: u32) {
        self.slot(id).set(None);
    }

    /// The waker of a Sleep that is pending stays.
    fn move_to(&mut self, id: u32, deadline: u64) {
        let deadline = self.start + ms(deadline);
        self.slot(id)
            .as_pin_mut()
            .expect("it is armed")
            .reset(deadline);
    }

    async fn advance(&mut self, now: u64, fired: &mut Vec<u32>) {
        tokio::time::advance(ms(now - self.now)).await;
        self.now = now;
        WOKEN.with_borrow_mut(|woken| fired.append(woken));
    }

    /// Its runtime jumps by itself, if it has nothing else to do.
    async fn jump_to(&mut self, end: u64, fired: &mut Vec<u32>) {
        sleep_until(self.start + ms(end)).await;
        self.now = end;
        WOKEN.with_borrow_mut(|woken| fired.append(woken));
    }
}

/// In real time: a task for each timer.
pub struct SleepTasks {
    runtime: &'static Runtime,
    fired: &'static Fired,
    tasks: Vec<Option<JoinHandle<()>>>,
}

impl Facility for SleepTasks {
    const HANDLE_BYTES: usize = size_of::<Option<JoinHandle<()>>>();

    fn runtime() -> Builder {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2);
        builder
    }

    fn open(runtime: &'static Runtime, fired: &'static Fired, n: usize) -> SleepTasks {
        SleepTasks {
            runtime,
            fired,
            tasks: (0..n).map(|_| None).collect(),
        }
    }

    fn set(&mut self, id: u32, delay: Duration) {
        let deadline = Instant::now() + delay;
        let fired = self.fired;
        self.tasks[id as usize] = Some(self.runtime.spawn(async move {
            sleep_until(deadline).await;
            fired.note(id);
        }));
    }

    fn clear(&mut self, id: u32) {
        if let Some(task) = self.tasks[id as usize].take() {
            task.abort();
        }
    }

    fn reset(&mut self, id: u32, delay: Duration) {
        self.clear(id);
        self.set(id, delay);
    }

    fn run_until(&mut self, then: Instant) {
        std::thread::sleep(then - Instant::now());
    }

    fn settle(&self, pending: usize) {
        let metrics = self.runtime.metrics();
        while metrics.num_alive_tasks() != pending || metrics.global_queue_depth() > 0 {
            std::thread::yield_now();
        }
    }
}
