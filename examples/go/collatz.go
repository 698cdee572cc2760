// Prints how many steps each argument takes to 1, each in a goroutine of its own.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

func steps(n int) (count int) {
	for n != 1 {
		if n%2 == 0 {
			n /= 2
		} else {
			n = 3*n + 1
		}
		count++
	}
	return count
}

func main() {
	counts := make([]int, len(os.Args)-1)
	var done sync.WaitGroup
	for i, arg := range os.Args[1:] {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 {
			fmt.Fprintf(os.Stderr, "%q is not a number above 0\n", arg)
			os.Exit(1)
		}
		done.Add(1)
		go func(i, n int) {
			defer done.Done()
			counts[i] = steps(n)
		}(i, n)
	}
	done.Wait()
	fmt.Println(counts)
}
