package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// server is a redis-server of one measurement.
type server struct {
	addr    string
	rdb     *redis.Client
	process *exec.Cmd
	ended   chan struct{}
	dir     string
}

// startServer starts a server and waits until it answers. The kernel ends it with this process.
func startServer(ctx context.Context, stderr io.Writer, args ...string) (*server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		return nil, err
	}
	s := &server{addr: fmt.Sprintf("127.0.0.1:%d", port), ended: make(chan struct{})}
	if s.dir, err = os.MkdirTemp("", "simulate-"); err != nil {
		return nil, err
	}
	s.process = exec.Command("redis-server", append([]string{ //nolint:gosec,noctx // arguments are ours; ended by stop
		"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", s.dir, "--save", "", "--maxmemory-policy", "noeviction",
	}, args...)...)
	s.process.Stderr = stderr
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.process.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	go func() {
		_ = s.process.Wait()
		close(s.ended)
	}()
	s.rdb = redis.NewClient(&redis.Options{Addr: s.addr, ReadTimeout: time.Minute})
	for s.rdb.Ping(ctx).Err() != nil {
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), s.stop())
		case <-s.ended:
			return nil, errors.Join(errors.New("redis-server ended before it answered"), s.stop())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return s, nil
}

// stop ends the server and removes its folder.
func (s *server) stop() error {
	_ = s.process.Process.Kill()
	<-s.ended
	return errors.Join(s.rdb.Close(), os.RemoveAll(s.dir))
}

// reading is what a server has told of itself at one moment.
type reading struct {
	at time.Time
	// memory is what its data takes in bytes, cpu the CPU time that it has had in seconds.
	memory, cpu float64
	// commands are all it has done, those within scripts too; scripts are the calls of scripts; bytes have gone in and out.
	commands, scripts, bytes float64
	// machine is the CPU time in seconds that all processes of the machine have had.
	machine float64
}

func (s *server) read(ctx context.Context) (reading, error) {
	text, err := s.rdb.Info(ctx, "memory", "cpu", "stats", "commandstats").Result()
	if err != nil {
		return reading{}, err
	}
	info := map[string]string{}
	for _, line := range strings.Split(text, "\r\n") {
		if key, value, found := strings.Cut(line, ":"); found {
			info[key] = value
		}
	}
	number := func(key string) float64 {
		value, parseErr := strconv.ParseFloat(info[key], 64)
		err = errors.Join(err, parseErr)
		return value
	}
	r := reading{
		at: time.Now(), memory: number("used_memory"), cpu: number("used_cpu_sys") + number("used_cpu_user"),
		commands: number("total_commands_processed"), bytes: number("total_net_input_bytes") + number("total_net_output_bytes"),
	}
	_, calls, _ := strings.Cut(info["cmdstat_evalsha"], "calls=")
	calls, _, _ = strings.Cut(calls, ",")
	r.scripts, _ = strconv.ParseFloat(calls, 64) // none yet
	var machineErr error
	r.machine, machineErr = machineSeconds()
	return r, errors.Join(err, machineErr)
}

// machineSeconds is the CPU time that all processes of the machine have had.
func machineSeconds() (float64, error) {
	content, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(content), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 {
		return 0, fmt.Errorf("/proc/stat begins with %q, which is no line of CPU times", line)
	}
	var ticks float64
	for _, field := range []int{1, 2, 3, 6, 7, 8} { // user, nice, system, irq, softirq, steal
		value, err := strconv.ParseFloat(fields[field], 64)
		if err != nil {
			return 0, err
		}
		ticks += value
	}
	return ticks / 100, nil // USER_HZ is 100 on all that we know
}
