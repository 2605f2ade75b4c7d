package main

// A load is what a workload is asked for.
type load struct {
	n         int
	isUniform bool
	seed      uint64
}

type dice uint64

func (d *dice) random() uint64 {
	*d ^= *d << 13
	*d ^= *d >> 7
	*d ^= *d << 17
	return uint64(*d)
}

func (d *dice) below(bound uint64) uint64 {
	return ((d.random() >> 32) * bound) >> 32
}

func (d *dice) delay(isUniform bool) uint64 {
	if isUniform {
		return 1 + d.below(60000)
	}
	for {
		octave := d.below(22)
		delay := uint64(1)<<octave + d.below(uint64(1)<<octave)
		if delay <= 3600000 {
			return delay
		}
	}
}

// moving returns the dice for timers that are moved.
func (l load) moving() dice {
	return dice(l.seed ^ 0x9e3779b97f4a7c15)
}

func (l load) order() []uint32 {
	dice := dice(l.seed)
	order := make([]uint32, l.n)
	for i := range order {
		order[i] = uint32(i)
	}
	for i := l.n; i > 1; i-- {
		j := dice.below(uint64(i))
		order[i-1], order[j] = order[j], order[i-1]
	}
	return order
}
