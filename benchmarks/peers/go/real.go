package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var realWorkloads = []string{"real-calls", "real-pairs-1", "real-pairs-2",
	"real-late", "real-idle", "real-d1", "real-d2", "real-d3"}

// runOn returns what runs a workload on a facility opened for it.
func runOn[T any](open func() facility[T]) func(workload string, l load) {
	return func(workload string, l load) {
		f := open()
		switch workload {
		case "real-calls":
			realCalls(f, l)
		case "real-pairs-1":
			realPairs(f, 1)
		case "real-pairs-2":
			realPairs(f, 2)
		case "real-late":
			realLate(f, l)
		case "real-idle":
			realIdle(f, l)
		case "real-d1":
			realD1(f, l)
		case "real-d2":
			realD2(f, l)
		case "real-d3":
			realD3(f, l)
		default:
			fail("cannot do %q", workload)
		}
		if count := wrong.Load(); count > 0 {
			fail("%d timers fired that should not", count)
		}
	}
}

// fireWrongly is for timers that are so far away that none may fire.
func fireWrongly() {
	wrong.Add(1)
}

var wrong atomic.Int64

func ms(count uint64) time.Duration {
	return time.Duration(count) * time.Millisecond
}

func each(began time.Time, n int) float64 {
	return float64(time.Since(began)) / float64(n)
}

// cpuTime is what this process has had of processors.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail("getrusage: %v", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// percentOf one core that the process uses while work goes on.
func percentOf(work func()) float64 {
	began, cpu := time.Now(), cpuTime()
	work()
	return 100 * float64(cpuTime()-cpu) / float64(time.Since(began))
}

func aliveBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.HeapAlloc
}

func bytesEach(before uint64, n int) float64 {
	return (float64(aliveBytes()) - float64(before)) / float64(n)
}

// handles returns room for n, its pages touched.
func handles[T any](n int) []T {
	timers := make([]T, n)
	clear(timers)
	return timers
}

// armAll arms all of them at least + below(span) ms, never to fire.
func armAll[T any](f facility[T], l load, timers []T, least, span uint64) {
	dice := dice(l.seed)
	for i := range timers {
		timers[i] = f.arm(ms(least+dice.below(span)), fireWrongly)
	}
}

func cancelled[T any](f facility[T], timer T) {
	if !f.cancel(timer) {
		fail("a timer could not be cancelled")
	}
}

// realCalls does everything twice, and the second time counts.
func realCalls[T any](f facility[T], l load) {
	order, timers := l.order(), handles[T](l.n)
	before := aliveBytes()
	armAll(f, l, timers, 60000, 60000)
	say("bytes", bytesEach(before, l.n))
	for _, timer := range timers {
		cancelled(f, timer)
	}
	callAll(f, l, order, timers)
	took := callAll(f, l, order, timers)
	for i, name := range []string{"arm_ns", "rearm_ns", "cancel_ns"} {
		say(name, float64(took[i])/float64(l.n))
	}
}

func callAll[T any](f facility[T], l load, order []uint32, timers []T) [3]time.Duration {
	began := time.Now()
	armAll(f, l, timers, 60000, 60000)
	armed := time.Now()
	dice := l.moving()
	for range timers {
		id := dice.below(uint64(l.n))
		timers[id] = f.move(timers[id], ms(60000+dice.below(60000)), fireWrongly)
	}
	moved := time.Now()
	for _, id := range order {
		cancelled(f, timers[id])
	}
	return [3]time.Duration{armed.Sub(began), moved.Sub(armed), time.Since(moved)}
}

// asOftenAsItGoes does it for so long, and returns how often a second.
func asOftenAsItGoes(duration time.Duration, do func()) float64 {
	const betweenLooks = 100
	count, began := 0, time.Now()
	for ; time.Since(began) < duration; count += betweenLooks {
		for range betweenLooks {
			do()
		}
	}
	return float64(count) / time.Since(began).Seconds()
}

func realPairs[T any](f facility[T], threads int) {
	var all sync.WaitGroup
	rates := make([]float64, threads)
	pair := func() {
		cancelled(f, f.arm(30*time.Second, fireWrongly))
	}
	for i := range rates {
		all.Add(1)
		go func(rate *float64) {
			defer all.Done()
			asOftenAsItGoes(time.Second, pair)
			*rate = asOftenAsItGoes(time.Second, pair)
		}(&rates[i])
	}
	all.Wait()
	sum := 0.0
	for _, rate := range rates {
		sum += rate
	}
	say("million_a_second", sum/1e6)
}

func realIdle[T any](f facility[T], l load) {
	timers := handles[T](l.n)
	armAll(f, l, timers, 600000, 600000)
	time.Sleep(time.Second)
	say("percent", percentOf(func() { time.Sleep(3 * time.Second) }))
	runtime.KeepAlive(timers)
}

// connections are pushed back by packets, and armed again when they fire.
type connections[T any] struct {
	facility[T]
	order     []uint32
	timers    []T
	callbacks []func()
	beat      int
	beatTime  time.Time

	mutex sync.Mutex
	fired []uint32 // since the last beat
	count int      // of all that have fired
}

const limit = 30 * time.Second

func openConnections[T any](f facility[T], l load) *connections[T] {
	c := &connections[T]{facility: f, order: l.order(), timers: handles[T](l.n),
		callbacks: make([]func(), l.n)}
	dice := dice(l.seed)
	for i := range c.timers {
		id := uint32(i)
		c.callbacks[i] = func() {
			c.mutex.Lock()
			c.fired = append(c.fired, id)
			c.mutex.Unlock()
		}
		c.timers[i] = f.arm(ms(1+dice.below(30000)), c.callbacks[i])
	}
	c.beatTime = time.Now()
	return c
}

// push is also for what has fired: whichever of both comes first, it is armed
// once in the end.
func (c *connections[T]) push(id uint32) {
	c.timers[id] = c.move(c.timers[id], limit, c.callbacks[id])
}

func (c *connections[T]) hearFor(duration time.Duration) {
	const beats = 2250 // between two packets of a connection: 22.5 s
	n, end := len(c.timers), c.beatTime.Add(duration)
	var fired []uint32
	for ; c.beatTime.Before(end); c.beat++ {
		c.beatTime = c.beatTime.Add(10 * time.Millisecond)
		time.Sleep(time.Until(c.beatTime))

		c.mutex.Lock()
		fired, c.fired = c.fired, fired[:0]
		c.mutex.Unlock()
		for _, id := range fired {
			c.push(id)
		}
		c.count += len(fired)
		for i := c.beat * n / beats; i < (c.beat+1)*n/beats; i++ {
			c.push(c.order[i%n])
		}
	}
}

func realD1[T any](f facility[T], l load) {
	c := openConnections(f, l)
	c.hearFor(3 * time.Second)
	say("percent", percentOf(func() { c.hearFor(5 * time.Second) }))
	// About a fifth; few connections may be luckier.
	if c.count > l.n || c.count < l.n/10-10 {
		fail("%d of %d connections timed out", c.count, l.n)
	}
}

func realD2[T any](f facility[T], l load) {
	timers := handles[T](l.n)
	before := aliveBytes()
	began := time.Now()
	armAll(f, l, timers, 1800000, 1)
	say("arm_ns", each(began, l.n))
	say("bytes", bytesEach(before, l.n))
	time.Sleep(time.Second)
	say("percent", percentOf(func() { time.Sleep(2 * time.Second) }))
	for _, timer := range timers {
		cancelled(f, timer)
	}
	drain(f, timers)
}

func realD3[T any](f facility[T], l load) {
	timers := handles[T](l.n)
	before := aliveBytes()
	armAll(f, l, timers, 30000, 1)
	dice := l.moving()
	complete := func() {
		id := dice.below(uint64(l.n))
		cancelled(f, timers[id])
		timers[id] = f.arm(limit, fireWrongly)
	}
	asOftenAsItGoes(time.Second, complete)
	say("million_a_second", asOftenAsItGoes(2*time.Second, complete)/1e6)
	say("bytes", bytesEach(before, l.n))
	runtime.KeepAlive(timers)
}
