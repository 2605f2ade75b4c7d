package main

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// A note says how late a timer was; its callback writes it.
type note struct {
	due  time.Time
	late atomic.Int64 // in ns
}

const notYet = math.MinInt64

func openNotes(n int) []note {
	notes := make([]note, n)
	for i := range notes {
		notes[i].late.Store(notYet)
	}
	return notes
}

// callback keeps no more than the note's address.
func (n *note) callback() func() {
	return func() { n.late.Store(int64(time.Since(n.due))) }
}

// waitForAll returns how late each was, in order, and says what they cost.
func waitForAll(notes []note) []int64 {
	cpu, patience := cpuTime(), time.Now().Add(2*time.Minute)
	late := make([]int64, 0, len(notes))
	for len(late) < len(notes) {
		if ns := notes[len(late)].late.Load(); ns != notYet {
			late = append(late, ns)
		} else if time.Now().After(patience) {
			fail("not all timers have fired")
		} else {
			time.Sleep(20 * time.Millisecond)
		}
	}
	say("cpu_ns", float64(cpuTime()-cpu)/float64(len(notes)))
	slices.Sort(late)
	return late
}

func realLate[T any](f facility[T], l load) {
	lead, span := uint64(500), uint64(2000)
	if l.n > 100000 {
		lead, span = 2000, 5000
	}
	notes := openNotes(l.n)
	timers := handles[T](l.n)
	dice := dice(l.seed)
	began := time.Now()
	for i := range notes {
		delay := ms(lead + dice.below(span))
		notes[i].due = time.Now().Add(delay)
		timers[i] = f.arm(delay, notes[i].callback())
	}
	if time.Since(began) > ms(lead) {
		fail("arming took longer than the lead")
	}
	sayLate(waitForAll(notes))
}

func sayLate(late []int64) {
	early, _ := slices.BinarySearch(late, 0)
	say("early", float64(early))
	for _, percent := range []float64{0, 1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100} {
		at := int(percent/100*float64(len(late)-1) + 0.5)
		fmt.Printf("late_us_%v %.3f\n", percent, float64(late[at])/1e3)
	}
}

// drain arms all for one instant, and says how long they take to run.
func drain[T any](f facility[T], timers []T) {
	notes := openNotes(len(timers))
	due := time.Now().Add(3 * time.Second)
	for i := range notes {
		left := time.Until(due)
		if left <= 0 {
			fail("arming took longer than the lead")
		}
		notes[i].due = due
		delay := (left + time.Millisecond - 1).Truncate(time.Millisecond)
		timers[i] = f.arm(delay, notes[i].callback())
	}
	late := waitForAll(notes)
	say("drain_ms", float64(late[len(late)-1])/1e6)
}
