//! Timers as simple as can be, to know how many must fire.

use std::collections::HashMap;

use crate::virtual_time::Timers;

pub struct Model {
    deadlines: Vec<u64>,
    calendar: HashMap<u64, Vec<u32>>, // with entries that are out of date
}

impl Timers for Model {
    const HANDLE_BYTES: usize = 0;

    fn new(n: usize) -> Model {
        Model {
            deadlines: vec![0; n],
            calendar: HashMap::new(),
        }
    }

    fn arm(&mut self, id: u32, deadline: u64) {
        self.deadlines[id as usize] = deadline;
        self.calendar.entry(deadline).or_default().push(id);
    }

    fn cancel(&mut self, id: u32) {
        self.deadlines[id as usize] = 0;
    }

    fn move_to(&mut self, id: u32, deadline: u64) {
        self.arm(id, deadline);
    }

    async fn advance(&mut self, now: u64, fired: &mut Vec<u32>) {
        for id in self.calendar.remove(&now).unwrap_or_default() {
            if self.deadlines[id as usize] == now {
                self.deadlines[id as usize] = 0;
                fired.push(id);
            }
        }
    }

    async fn jump_to(&mut self, end: u64, fired: &mut Vec<u32>) {
        let all = self.deadlines.iter().zip(0..);
        fired.extend(
            all.filter(|&(&at, _)| at > 0 && at <= end)
                .map(|(_, id): (_, u32)| id),
        );
    }
}
