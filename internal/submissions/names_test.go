package submissions

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A small archive can hold very many names that are the same as far as they are shown. Counting from 1 for each of them
// would take hours.
func TestManyNamesThatAreCutToTheSame(t *testing.T) {
	t.Parallel()
	const count = 100_000
	all := &plan{source: &single{path: "all.tar"}}
	for i := range count {
		all.order = append(all.order, &planned{name: fmt.Sprintf("%s%d.py", strings.Repeat("x", 300), i), isFile: true})
	}
	nameAll([]*plan{all})
	prefix := "all.tar/" + strings.Repeat("x", 192) + "#" // 200 bytes before the number
	require.Equal(t, prefix+"1", all.order[0].id)
	require.Equal(t, prefix+"100000", all.order[count-1].id)
}
