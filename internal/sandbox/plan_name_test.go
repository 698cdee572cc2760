package sandbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestNameIsTheMainFileWithoutFolderAndExtension(t *testing.T) {
	t.Parallel()
	java := sandbox.Language{Name: "java", File: "Main.java", Run: []string{"java", "-cp", "{out}", "{name}"}}
	for main, want := range map[string]string{"": "Main", "Shapes.java": "Shapes", "src/a.b/Shapes.v2.java": "Shapes.v2", "bare": "bare"} {
		plan := java.Plan(sandbox.Program{Main: main}, sandbox.DefaultLimits())
		require.Equal(t, []string{"java", "-cp", "./.sandloop-out", want}, plan.Run, main)
	}
}
