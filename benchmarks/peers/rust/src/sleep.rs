//! tokio::time::sleep: Sleeps that are polled by nobody but us, and have fired when their
//! waker is called.

use std::cell::RefCell;
use std::pin::Pin;
use std::ptr::without_provenance;
use std::sync::OnceLock;
use std::task::{Context, RawWaker, RawWakerVTable, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::measure::ms;
use crate::real::{Facility, Fired};
use crate::virtual_time::Timers;

/// What happens to a timer that fires.
trait Woken {
    fn note(id: u32);
}

/// A waker that notes the number of its timer; it needs no memory.
fn waker_of<W: Woken>(id: u32) -> Waker {
    struct Table<W>(W);
    impl<W: Woken> Table<W> {
        const VTABLE: RawWakerVTable =
            RawWakerVTable::new(Self::clone, Self::wake, Self::wake, Self::drop);

        fn clone(id: *const ()) -> RawWaker {
            RawWaker::new(id, &Self::VTABLE)
        }

        fn wake(id: *const ()) {
            W::note(id.addr() as u32);
        }

        fn drop(_: *const ()) {}
    }
    // SAFETY: the data is a number, so that there is nothing to be shared or freed.
    unsafe { Waker::new(without_provenance(id as usize), &Table::<W>::VTABLE) }
}

struct Sleeps(Pin<Box<[Option<Sleep>]>>);

impl Sleeps {
    fn new(n: usize) -> Sleeps {
        let sleeps: Box<[Option<Sleep>]> = (0..n).map(|_| None).collect();
        Sleeps(sleeps.into())
    }

    fn slot(&mut self, id: u32) -> Pin<&mut Option<Sleep>> {
        // SAFETY: an element of what is pinned, and nothing is moved out of it.
        unsafe {
            self.0
                .as_mut()
                .map_unchecked_mut(|all| &mut all[id as usize])
        }
    }

    /// One that is there is used again.  Returns whether it waits for its time.
    fn arm<W: Woken>(&mut self, id: u32, deadline: Instant) -> bool {
        let mut slot = self.slot(id);
        match slot.as_mut().as_pin_mut() {
            Some(sleep) => sleep.reset(deadline),
            None => slot.set(Some(sleep_until(deadline))),
        }
        let sleep = slot.as_pin_mut().expect("it was just set");
        let waker = waker_of::<W>(id);
        sleep.poll(&mut Context::from_waker(&waker)).is_pending()
    }

    fn cancel(&mut self, id: u32) {
        self.slot(id).set(None);
    }
}

/// In virtual time.
pub struct VirtualSleeps {
    sleeps: Sleeps,
    start: Instant,
    now: u64,
}

thread_local! {
    static WOKEN: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

struct Listed;

impl Woken for Listed {
    fn note(id: u32) {
        WOKEN.with_borrow_mut(|woken| woken.push(id));
    }
}

impl Timers for VirtualSleeps {
    const HANDLE_BYTES: usize = 0; // a Sleep is no handle but the timer itself

    fn new(n: usize) -> VirtualSleeps {
        WOKEN.with_borrow_mut(|woken| woken.reserve(n));
        VirtualSleeps {
            sleeps: Sleeps::new(n),
            start: Instant::now(),
            now: 0,
        }
    }

    fn arm(&mut self, id: u32, deadline: u64) {
        assert!(self.sleeps.arm::<Listed>(id, self.start + ms(deadline)));
    }

    fn cancel(&mut self, id: u32) {
        self.sleeps.cancel(id);
    }

    /// The waker of a Sleep that is pending stays.
    fn move_to(&mut self, id: u32, deadline: u64) {
        let deadline = self.start + ms(deadline);
        self.sleeps
            .slot(id)
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

/// In real time: the runtime's workers call the wakers.
pub struct SharedSleeps(Sleeps);

static FIRED: OnceLock<&'static Fired> = OnceLock::new();

struct Shared;

impl Woken for Shared {
    fn note(id: u32) {
        FIRED.get().expect("it is open").note(id);
    }
}

impl Facility for SharedSleeps {
    const HANDLE_BYTES: usize = 0; // as above

    fn runtime() -> Builder {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2);
        builder
    }

    fn open(_: &'static Runtime, fired: &'static Fired, n: usize) -> SharedSleeps {
        FIRED.get_or_init(|| fired);
        SharedSleeps(Sleeps::new(n))
    }

    /// One whose time has come before it was polled has fired, too.
    fn set(&mut self, id: u32, delay: Duration) {
        if !self.0.arm::<Shared>(id, Instant::now() + delay) {
            Shared::note(id);
        }
    }

    fn clear(&mut self, id: u32) {
        self.0.cancel(id);
    }

    fn reset(&mut self, id: u32, delay: Duration) {
        self.set(id, delay);
    }

    fn run_until(&mut self, then: Instant) {
        std::thread::sleep(then - Instant::now());
    }
}
