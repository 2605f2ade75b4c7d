// The adapter of the peers in Go: ../README.md has its questions and answers.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "peers: "+format+"\n", values...)
	os.Exit(1)
}

func say(name string, value float64) {
	fmt.Printf("%s %.6g\n", name, value)
}

// readLoad reads the last three words of the command line.
func readLoad(words []string) load {
	n, err := strconv.ParseUint(words[0], 10, 32)
	if err != nil || n == 0 {
		fail("N is a whole number above 0, not %q", words[0])
	}
	if words[1] != "uniform" && words[1] != "log-uniform" {
		fail("DELAYS is uniform or log-uniform, not %q", words[1])
	}
	seed, err := strconv.ParseUint(words[2], 10, 64)
	if err != nil || seed == 0 {
		fail("SEED is a whole number above 0, not %q", words[2])
	}
	return load{n: int(n), isUniform: words[1] == "uniform", seed: seed}
}

func throwDice(l load) {
	dice := dice(l.seed)
	order := l.order()
	delays := make([]uint64, l.n)
	var sum uint64
	for i := range delays {
		delays[i] = dice.delay(l.isUniform)
		sum += uint64(i+1) * (delays[i] + uint64(order[i]))
	}
	line("delays", delays[:min(8, l.n)])
	line("order", order[:min(8, l.n)])
	fmt.Println("sum", sum)
}

func line[T any](name string, numbers []T) {
	fmt.Print(name)
	for _, number := range numbers {
		fmt.Print(" ", number)
	}
	fmt.Println()
}

func describe() {
	percent := debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	answer := map[string]any{
		"language":  "Go",
		"toolchain": runtime.Version(),
		"flags":     fmt.Sprintf("GOMAXPROCS=%d GOGC=%d", runtime.GOMAXPROCS(0), percent),
		"peers":     peers,
	}
	text, err := json.MarshalIndent(answer, "", " ")
	if err != nil {
		fail("%v", err)
	}
	fmt.Println(string(text))
}

func run(name, workload string, l load) {
	for _, peer := range peers {
		if peer.Name == name {
			peer.run(workload, l)
			return
		}
	}
	fail("there is no peer %q", name)
}

func main() {
	words := os.Args[1:]
	switch {
	case len(words) == 1 && words[0] == "describe":
		describe()
	case len(words) == 4 && words[0] == "dice":
		throwDice(readLoad(words[1:]))
	case len(words) == 6 && words[0] == "run":
		run(words[1], words[2], readLoad(words[3:]))
	default:
		fail("describe | dice N DELAYS SEED | run PEER WORKLOAD N DELAYS SEED")
	}
}
