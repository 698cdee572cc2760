package jobs

import (
	"context"
	"fmt"
	"log/slog"
)

// asynqLog passes on what asynq logs. Most of it is of interest only when asynq itself is,
// and its errors are repeated by what this package does about them.
type asynqLog struct {
	log *slog.Logger
	// errors is the level of asynq's errors.
	errors slog.Level
}

func (l asynqLog) Debug(args ...any) { l.log.Debug("asynq: " + fmt.Sprint(args...)) }
func (l asynqLog) Info(args ...any)  { l.log.Debug("asynq: " + fmt.Sprint(args...)) }
func (l asynqLog) Warn(args ...any)  { l.log.Debug("asynq: " + fmt.Sprint(args...)) }
func (l asynqLog) Error(args ...any) {
	l.log.Log(context.Background(), l.errors, "asynq: "+fmt.Sprint(args...))
}

// Fatal logs an error: ending the process is main's decision.
func (l asynqLog) Fatal(args ...any) { l.log.Error("asynq: " + fmt.Sprint(args...)) }
