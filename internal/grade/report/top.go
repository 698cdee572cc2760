package report

import (
	"container/heap"
	"slices"
)

// top keeps the first few of many values in an order, whatever order they come in.
type top[T any] struct {
	keep int
	// before is a strict order of the values.
	before func(a, b T) bool
	kept   []T
	// seen counts all values.
	seen int
}

// wants counts a value and tells whether it would be kept, so that a costly one need not be made.
func (t *top[T]) wants(value T) bool {
	t.seen++
	return len(t.kept) < t.keep || t.before(value, t.kept[0])
}

// put keeps a wanted value, and drops the last one when there are too many.
func (t *top[T]) put(value T) {
	heap.Push((*lastFirst[T])(t), value)
	if len(t.kept) > t.keep {
		heap.Pop((*lastFirst[T])(t))
	}
}

// sorted returns what is kept in order.
func (t *top[T]) sorted() []T {
	sorted := slices.Clone(t.kept)
	slices.SortFunc(sorted, func(a, b T) int {
		if t.before(a, b) {
			return -1
		}
		return 1
	})
	return sorted
}

// left counts the values that are not kept.
func (t *top[T]) left() int { return t.seen - len(t.kept) }

// lastFirst is the heap of what is kept: its root is the value to drop next.
type lastFirst[T any] top[T]

func (h *lastFirst[T]) Len() int           { return len(h.kept) }
func (h *lastFirst[T]) Less(i, j int) bool { return h.before(h.kept[j], h.kept[i]) }
func (h *lastFirst[T]) Swap(i, j int)      { h.kept[i], h.kept[j] = h.kept[j], h.kept[i] }
func (h *lastFirst[T]) Push(value any)     { h.kept = append(h.kept, value.(T)) }

func (h *lastFirst[T]) Pop() any {
	last := h.kept[len(h.kept)-1]
	clear(h.kept[len(h.kept)-1:])
	h.kept = h.kept[:len(h.kept)-1]
	return last
}
