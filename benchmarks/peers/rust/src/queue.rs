//! tokio_util::time::DelayQueue.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep_until};
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue::Key;

use crate::measure::ms;
use crate::real::{Facility, Fired};
use crate::virtual_time::Timers;

/// Room for n, its pages touched.
fn queue_for(n: usize) -> DelayQueue<u32> {
    let mut queue = DelayQueue::with_capacity(n);
    for id in 0..n {
        queue.insert(id as u32, ms(1));
    }
    queue.clear();
    queue
}

/// Says whether the queue wants to be polled.
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Flag>) {
        self.0.store(true, Relaxed);
    }

    fn wake_by_ref(self: &Arc<Flag>) {
        self.0.store(true, Relaxed);
    }
}

/// In virtual time.
pub struct Queue {
    queue: DelayQueue<u32>,
    keys: Vec<Option<Key>>,
    flag: Arc<Flag>,
    waker: Waker,
    start: Instant,
    now: u64,
}

impl Queue {
    fn key(&self, id: u32) -> Key {
        self.keys[id as usize].expect("it is armed")
    }
}

impl Timers for Queue {
    const HANDLE_BYTES: usize = size_of::<Option<Key>>();

    fn new(n: usize) -> Queue {
        let flag = Arc::new(Flag(AtomicBool::new(true)));
        Queue {
            queue: queue_for(n),
            keys: vec![None; n],
            waker: flag.clone().into(),
            flag,
            start: Instant::now(),
            now: 0,
        }
    }

    fn arm(&mut self, id: u32, deadline: u64) {
        self.keys[id as usize] = Some(self.queue.insert_at(id, self.start + ms(deadline)));
    }

    fn cancel(&mut self, id: u32) {
        self.queue.remove(&self.key(id));
    }

    fn move_to(&mut self, id: u32, deadline: u64) {
        self.queue
            .reset_at(&self.key(id), self.start + ms(deadline));
    }

    async fn advance(&mut self, now: u64, fired: &mut Vec<u32>) {
        tokio::time::advance(ms(now - self.now)).await;
        self.now = now;
        if !self.flag.0.swap(false, Relaxed) {
            return;
        }
        let mut context = Context::from_waker(&self.waker);
        while let Poll::Ready(Some(expired)) = self.queue.poll_expired(&mut context) {
            fired.push(expired.into_inner());
        }
    }

    /// Its runtime jumps by itself, if it has nothing else to do.
    async fn jump_to(&mut self, end: u64, fired: &mut Vec<u32>) {
        while let Some(expired) = poll_fn(|context| self.queue.poll_expired(context)).await {
            fired.push(expired.into_inner());
        }
        self.now = end;
    }
}

/// In real time, in the task that has the queue.
pub struct QueueTask {
    runtime: &'static Runtime,
    fired: &'static Fired,
    queue: DelayQueue<u32>,
    keys: Vec<Option<Key>>,
}

impl Facility for QueueTask {
    const HANDLE_BYTES: usize = size_of::<Option<Key>>();

    fn runtime() -> Builder {
        Builder::new_current_thread()
    }

    fn open(runtime: &'static Runtime, fired: &'static Fired, n: usize) -> QueueTask {
        QueueTask {
            runtime,
            fired,
            queue: queue_for(n),
            keys: vec![None; n],
        }
    }

    fn set(&mut self, id: u32, delay: Duration) {
        self.keys[id as usize] = Some(self.queue.insert(id, delay));
    }

    fn clear(&mut self, id: u32) {
        if let Some(key) = self.keys[id as usize].take() {
            self.queue.remove(&key);
        }
    }

    fn reset(&mut self, id: u32, delay: Duration) {
        match &self.keys[id as usize] {
            Some(key) => self.queue.reset(key, delay),
            None => self.set(id, delay),
        }
    }

    fn run_until(&mut self, then: Instant) {
        self.runtime.block_on(async {
            let mut end = pin!(sleep_until(then));
            poll_fn(|context| {
                while let Poll::Ready(Some(expired)) = self.queue.poll_expired(context) {
                    self.keys[*expired.get_ref() as usize] = None;
                    self.fired.note(expired.into_inner());
                }
                end.as_mut().poll(context)
            })
            .await
        });
    }
}
