/// What a workload is asked for.
pub struct Load {
    pub n: usize,
    pub is_uniform: bool,
    pub seed: u64,
    pub order: Vec<u32>,
}

pub struct Dice(u64);

impl Dice {
    fn random(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        ((self.random() >> 32) * bound) >> 32
    }

    pub fn delay(&mut self, is_uniform: bool) -> u64 {
        if is_uniform {
            return 1 + self.below(60_000);
        }
        loop {
            let octave = 1 << self.below(22);
            let delay = octave + self.below(octave);
            if delay <= 3_600_000 {
                return delay;
            }
        }
    }
}

impl Load {
    pub fn new(n: usize, is_uniform: bool, seed: u64) -> Load {
        let mut order: Vec<u32> = (0..n as u32).collect();
        let mut dice = Dice(seed);
        for i in (2..=n).rev() {
            order.swap(i - 1, dice.below(i as u64) as usize);
        }
        Load {
            n,
            is_uniform,
            seed,
            order,
        }
    }

    /// For the delays of arming.
    pub fn arming(&self) -> Dice {
        Dice(self.seed)
    }

    /// For the numbers and delays of timers that are moved.
    pub fn moving(&self) -> Dice {
        Dice(self.seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// The delay that none is above.
    pub fn last_deadline(&self) -> u64 {
        if self.is_uniform { 60_000 } else { 3_600_000 }
    }
}
