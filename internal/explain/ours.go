package explain

import (
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func ourFailure(f *facts) string {
	return "the sandbox itself failed, not your code: " + sentence(f.Result.Message) +
		" Make the same call once more; if that fails too, say so in your answer"
}

func canceled(f *facts) string {
	text := "canceled: somebody ended the call before it was done."
	if len(f.sections) > 0 {
		text += " The output is what came until then."
	}
	return text + " Do not repeat it unless you are asked to"
}

// languageUnknown recognises the refusal by the words of the table of languages itself.
func (f *facts) languageUnknown() bool {
	refusal, _, _ := strings.Cut((&sandbox.UnknownLanguageError{Name: f.Language}).Error(), ": ")
	return f.Result.Outcome == sandbox.OutcomeRejected && strings.HasPrefix(f.Result.Message, refusal)
}

func unknownLanguage(f *facts) string {
	return "nothing was run: " + sentence(f.Result.Message) + " Call again with one of these"
}

func rejectedForAnother(f *facts) bool {
	return f.Result.Outcome == sandbox.OutcomeRejected && !f.languageUnknown()
}

func rejected(f *facts) string {
	return "nothing was run, since the call asks for what is not allowed here: " + sentence(f.Result.Message) +
		" Change that and call again"
}

// sentence makes one line of a message, with a full stop.
func sentence(message string) string {
	message, _ = legible(message)
	message = strings.TrimSpace(strings.ReplaceAll(message, "\n", "; "))
	if message == "" {
		return "no reason is known."
	}
	if strings.HasSuffix(message, ".") {
		return message
	}
	return message + "."
}
