package cli

import "time"

// SignalEcho is how long after a signal the next one counts as the same: timeout(1) sends its
// signal to the process and at once again to the whole group.
const SignalEcho = 100 * time.Millisecond
