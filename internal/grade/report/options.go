package report

// Options are what the formats have in common.
type Options struct {
	// Title is the heading of the page and the name of the JUnit suite: "Batch results" when empty.
	Title string
}

func (o Options) title() string {
	if o.Title == "" {
		return "Batch results"
	}
	return legible(o.Title)
}
