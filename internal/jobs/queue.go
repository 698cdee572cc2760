package jobs

import (
	"fmt"
	"strings"
)

// Queue is where a job waits; it decides what share of the slots a job competes for.
type Queue string

// The queues. Interactive is for someone who waits, Batch for work that may take all night.
const (
	Interactive Queue = "interactive"
	Default     Queue = "default"
	Batch       Queue = "batch"
)

// Queues lists the queues, the most urgent first.
func Queues() []Queue { return []Queue{Interactive, Default, Batch} }

// DefaultWeights are the shares that the queues have of the slots when all of them wait.
func DefaultWeights() map[Queue]int {
	return map[Queue]int{Interactive: 6, Default: 3, Batch: 1}
}

// ParseQueue reads the name of a queue. An empty name is Default.
func ParseQueue(name string) (Queue, error) {
	if name == "" {
		return Default, nil
	}
	known := make([]string, 0, len(Queues()))
	for _, queue := range Queues() {
		if name == string(queue) {
			return queue, nil
		}
		known = append(known, string(queue))
	}
	return "", fmt.Errorf("queue: %q is unknown: want one of %s", name, strings.Join(known, ", "))
}
