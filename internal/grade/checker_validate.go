package grade

import (
	"fmt"
	"maps"
	"slices"
)

// maxCheckers bounds the validators of a suite, each of which runs for each test.
const maxCheckers = 16

// checkerPrograms holds how many programs each kind wants at least and at most.
var checkerPrograms = map[CheckerKind][2]int{
	"": {}, CheckTokens: {}, CheckExact: {}, CheckText: {}, CheckNone: {}, CheckUnit: {},
	CheckValidator: {1, maxCheckers}, CheckTestlib: {1, maxCheckers}, CheckInteractive: {1, 1},
}

func (k Checker) validate(c *complaints, field string) {
	want, known := checkerPrograms[k.Kind]
	if !known {
		c.add(field+".kind", "%.80q is unknown: want one of %q", string(k.Kind), slices.Sorted(maps.Keys(checkerPrograms))[1:])
		return
	}
	if len(k.Programs) < want[0] || len(k.Programs) > want[1] {
		c.add(field+".programs", "are %d: want %d to %d for a checker of the kind %q", len(k.Programs), want[0], want[1], string(k.Kind))
		return
	}
	for i, program := range k.Programs {
		where := fmt.Sprintf("%s.programs[%d]", field, i)
		c.within(where, program.Validate(anySize))
		if len(program.Stdin) > 0 {
			c.add(where+".stdin", "is %d bytes: want none, for a checker reads what the submission wrote", len(program.Stdin))
		}
		// The name of a batch is made unique for each tenant, which nobody can do inside a blob.
		if program.Reuse != "" {
			c.add(where+".reuse", "%.80q: want none", program.Reuse)
		}
	}
}
