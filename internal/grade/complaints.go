package grade

import (
	"errors"
	"fmt"
	"strings"
)

// maxComplaints is how many sentences an error has at most. A suite can have thousands of
// tests, all of them wrong.
const maxComplaints = 20

// complaints collect a sentence for each field that is wrong.
type complaints struct {
	errs []error
	more int
}

func (c *complaints) add(field, format string, args ...any) {
	if len(c.errs) == maxComplaints {
		c.more++
		return
	}
	c.errs = append(c.errs, errors.New(field+": "+fmt.Sprintf(format, args...)))
}

// within adds the lines of an error, each of which starts with a field inside the given one.
func (c *complaints) within(field string, err error) {
	if err == nil {
		return
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		inner, sentence, _ := strings.Cut(line, ": ")
		c.add(field+"."+inner, "%s", sentence)
	}
}

func (c *complaints) err() error {
	if c.more > 0 {
		return errors.Join(append(c.errs, fmt.Errorf("and %d more", c.more))...)
	}
	return errors.Join(c.errs...)
}
