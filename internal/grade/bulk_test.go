package grade_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestWhatBecomesFarMoreThanItIsLongIsRefused(t *testing.T) {
	t.Parallel()
	many := func(element string, count int) string {
		return "[" + strings.Repeat(element+",", count-1) + element + "]"
	}
	for name, test := range map[string]struct{ text, want string }{
		"tests":                       {`{"tests":` + many(`{"name":"a"}`, 20_001) + `}`, "tests: more than 20000 are given"},
		"tests that are null":         {`{"tests":` + many("null", 20_001) + `}`, "objects in 100016 bytes"},
		"tests in capitals":           {`{"grade":{"suite":{"TESTS": ` + many(`{"name":"a"}`, 20_001) + `}}}`, "TESTS: more than 20000"},
		"tests in an escape":          {`{"\u0074ests":` + many(`{"name":"a"}`, 20_001) + `}`, "ests: more than 20000"},
		"tests in another alphabet":   {`{"teſts":` + many(`{"name":"a"}`, 20_001) + `}`, "more than 20000"},
		"checkers":                    {`{"checker":{"programs":` + many("{}", 17) + `}}`, "programs: more than 16 are given"},
		"known reports":               {`{"known":{` + strings.Repeat(`"a long name":{},`, 20_000) + `"a":{}}}`, "known: more than 20000 are given"},
		"connections":                 {`{"network":{"connections":` + many("{}", 1001) + `}}`, "connections: more than 1000"},
		"files":                       {`{"files":` + many("{}", 100_000) + `}`, "more than 28273 objects in 300011 bytes"},
		"files that are null":         {`{"files":` + many("null", 100_000) + `}`, "more than 46455 objects in 500011 bytes"},
		"files in tests":              {`{"tests":[{"files":` + many("{}", 100_000) + `}]}`, "objects in "},
		"objects in each other":       {strings.Repeat(`{"a long name":`, 10_001), "lies more than 10000 levels deep"},
		"arrays in each other":        {strings.Repeat(`[`, 10_001), "lies more than 10000 levels deep"},
		"after a string with a quote": {`{"a":"\\\"","b":"\\","tests":` + many(`{"name":"a"}`, 20_001) + `}`, "tests: more than 20000"},
	} {
		require.ErrorContains(t, grade.CheckBulk([]byte(test.text)), test.want, name)
	}
}

func TestWhatLooksLikeManyAndIsRightIsTaken(t *testing.T) {
	t.Parallel()
	suite := grade.Suite{Root: &grade.Group{Rule: grade.LegacyRule{}}}
	suite.Tests = append(suite.Tests, grade.Test{Name: "files"})
	for i := range 50_000 {
		suite.Tests[0].Files = append(suite.Tests[0].Files, grade.DataFile{Path: fmt.Sprint(i % 10)})
	}
	for i := range 19_999 {
		suite.Tests = append(suite.Tests, grade.Test{Name: fmt.Sprint(i)})
	}
	for i := range 5000 { // groups of nothing are the shortest
		suite.Root.Items = append(suite.Root.Items, grade.Item{Group: &grade.Group{Name: fmt.Sprint(i % 10), Rule: grade.ScoringRule{}}})
	}
	for _, value := range []any{
		suite,
		sandbox.Program{Args: make([]string, 100_000), Files: make([]sandbox.File, 50_000), Env: map[string]string{"tests": "[{},{}]", "a": `{"known":{`}},
		grade.Task{Known: map[string]grade.TestReport{"tests": {}, "known": {}, "programs": {Name: "programs", Stdout: &sandbox.Stream{}}}},
	} {
		text, err := json.Marshal(value)
		require.NoError(t, err)
		require.NoError(t, grade.CheckBulk(text))
	}
	for _, text := range []string{``, `"`, `"\`, `}`, `]]`, `,`, `{"a`, `:`, `"\"`} {
		require.NoError(t, grade.CheckBulk([]byte(text)), "that is for whoever reads it")
	}
}

func TestASuiteThatIsABombIsRefusedBeforeMemoryIsTakenForIt(t *testing.T) { //nolint:paralleltest // it looks at the memory of the whole process
	bomb := []byte(`{"tests":[` + strings.Repeat("{},", 2_000_000) + `{}]}`) // 600 MB of tests
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := grade.DecodeSuite(bomb)
	runtime.ReadMemStats(&after)
	require.EqualError(t, err, "suite: tests: more than 20000 are given")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}
