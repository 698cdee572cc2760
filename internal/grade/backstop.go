package grade

import "time"

// WallBackstop is the wall-clock limit beside a limit on CPU time that decides TLE. A busy machine
// gives a program little of its processor, so it is ten times as much and 30 s: only a program that waits
// for something meets it.
func WallBackstop(cpu time.Duration) time.Duration { return 10*cpu + 30*time.Second }
