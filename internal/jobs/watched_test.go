package jobs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWhomAWorkerWatches(t *testing.T) {
	t.Parallel()
	many := strings.Split("lkjihgfedcbazyxwvutsrqpnmo", "")
	for name, test := range map[string]struct {
		self     string
		count    int
		ids      []string
		suspects string
		want     string
	}{
		"everybody where they are few":                 {"a", 1, strings.Split("ihgfedcba", ""), "", "abcdefghi"},
		"else the eight that follow":                   {"c", 1, many, "", "defghijk"},
		"as on a ring":                                 {"w", 1, many, "", "xyzabcde"},
		"and whoever is suspected":                     {"c", 1, many, "az", "defghijkaz"},
		"also one that is not registered itself":       {"cc", 1, many, "", "defghijk"},
		"one that is behind all begins at the front":   {"zz", 1, many, "", "abcdefgh"},
		"everybody now and then":                       {"c", watchAllEvery, many, "", "abcdefghijklmnopqrstuvwxyz"},
		"who is suspected and follows is there once":   {"c", 1, many, "d", "defghijk"},
		"nobody where nobody is registered but others": {"a", 1, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &sweeper{worker: &Worker{id: test.self}, suspects: map[string]time.Time{}, count: test.count}
			for _, id := range test.suspects {
				s.suspects[string(id)] = time.Now()
			}
			require.ElementsMatch(t, strings.Split(test.want, ""), append([]string{}, s.watched(test.ids)...), fmt.Sprint(test.ids))
		})
	}
}

// Each of a hundred workers is watched by eight others.
func TestEveryWorkerIsWatchedByEight(t *testing.T) {
	t.Parallel()
	var ids []string
	for i := range 100 {
		ids = append(ids, fmt.Sprintf("worker-%d", i))
	}
	watchers := map[string]int{}
	for _, id := range ids {
		s := &sweeper{worker: &Worker{id: id}, suspects: map[string]time.Time{}, count: 1}
		for _, watched := range s.watched(ids) {
			require.NotEqual(t, id, watched)
			watchers[watched]++
		}
	}
	for _, id := range ids {
		require.Equal(t, 8, watchers[id], id)
	}
}
