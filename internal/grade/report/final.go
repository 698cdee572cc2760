package report

import (
	"iter"

	"github.com/sandloop/sandloop/internal/grade"
)

// Final leaves out each item that could not be judged (IE) and has a later result, as a batch that was run again has them.
// It ranges over the items twice each time, which [ReadFile] allows and [Read] does not. In memory are the
// places of what could not be judged, and nothing else.
func Final(items iter.Seq2[Item, error]) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		replaced, err := replacedPlaces(items)
		if err != nil {
			yield(Item{}, err)
			return
		}
		place := 0
		for item, err := range items {
			left := err == nil && replaced[place]
			place++
			if !left && !yield(item, err) {
				return
			}
		}
	}
}

// replacedPlaces are those of the items that a later one stands for.
func replacedPlaces(items iter.Seq2[Item, error]) (map[int]bool, error) {
	type entry struct {
		index int
		id    string
	}
	unjudged, replaced := map[entry]int{}, map[int]bool{}
	place := 0
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		this := entry{item.Index, item.ID}
		if earlier, found := unjudged[this]; found {
			replaced[earlier] = true
			delete(unjudged, this)
		}
		if item.Verdict == grade.IE {
			unjudged[this] = place
		}
		place++
	}
	return replaced, nil
}
