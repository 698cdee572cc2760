package grade

// Finding is what is said about one test.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	// Message is for whoever owns the tests: it may quote up to 32 bytes of the answer
	// around the first difference, escaped, so that a teacher sees why at a glance.
	Message string `json:"message,omitempty"`
	// Public is the same for the submitter: place and own output, never a byte of the answer.
	Public string `json:"public,omitempty"`
	// Score and Multiplier are what a scoring validator wrote; nil when it wrote none.
	Score      *float64 `json:"score,omitempty"`
	Multiplier *float64 `json:"score_multiplier,omitempty"`
}

// accepted is the finding of a checker that has nothing to say.
func accepted() Finding { return Finding{Verdict: AC} }
