package main

import (
	"runtime"
	"runtime/debug"
	"time"

	"github.com/RussellLuo/timingwheel"
)

// A facility is what a peer does; T is its handle of a timer.
type facility[T any] struct {
	arm    func(delay time.Duration, callback func()) T
	cancel func(timer T) bool
	// move returns the handle from now on.
	move func(timer T, delay time.Duration, callback func()) T
}

type peer struct {
	Name     string            `json:"name"`
	Title    string            `json:"title"`
	Version  string            `json:"version"`
	Settings string            `json:"settings"`
	Can      []string          `json:"can"`
	Cannot   map[string]string `json:"cannot"`
	run      func(workload string, l load)
}

var peers = []peer{
	{
		Name:     "go_timingwheel",
		Title:    "Go RussellLuo/timingwheel",
		Version:  versionOf("github.com/RussellLuo/timingwheel"),
		Settings: "tick 1 ms, 20 slots; moved by Stop and AfterFunc",
		Can:      realWorkloads,
		Cannot:   map[string]string{"": "has a clock of its own"},
		run:      runOn(openTimingWheel),
	},
	{
		Name:     "go_afterfunc",
		Title:    "Go time.AfterFunc",
		Version:  runtime.Version(),
		Settings: "moved by Reset",
		Can:      realWorkloads,
		Cannot:   map[string]string{"": "has a clock of its own"},
		run:      runOn(openAfterFunc),
	},
}

func versionOf(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				return dependency.Version
			}
		}
	}
	return "unknown"
}

func openTimingWheel() facility[*timingwheel.Timer] {
	wheel := timingwheel.NewTimingWheel(time.Millisecond, 20)
	wheel.Start()
	return facility[*timingwheel.Timer]{
		arm:    wheel.AfterFunc,
		cancel: (*timingwheel.Timer).Stop,
		move: func(timer *timingwheel.Timer, delay time.Duration, callback func()) *timingwheel.Timer {
			timer.Stop()
			return wheel.AfterFunc(delay, callback)
		},
	}
}

func openAfterFunc() facility[*time.Timer] {
	return facility[*time.Timer]{
		arm:    time.AfterFunc,
		cancel: (*time.Timer).Stop,
		move: func(timer *time.Timer, delay time.Duration, _ func()) *time.Timer {
			timer.Reset(delay)
			return timer
		},
	}
}
