package jobs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// The oldest Redis that has all that is used here.
const minRedisMajor, minRedisMinor = 6, 2

// CheckRedis looks whether Redis is fit to keep jobs. Warnings are for the operator to
// read; the error says that it does not answer, is too old, or would throw away jobs when
// its memory is full. What a server does not tell is a warning.
func CheckRedis(ctx context.Context, rdb redis.UniversalClient) (warnings []string, err error) {
	cluster, isCluster := rdb.(*redis.ClusterClient)
	if !isCluster {
		return checkServer(ctx, rdb)
	}
	var mu sync.Mutex
	err = cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		found, err := checkServer(ctx, master)
		mu.Lock()
		defer mu.Unlock()
		for _, warning := range found {
			warnings = append(warnings, master.Options().Addr+": "+warning)
		}
		return err
	})
	return warnings, err
}

func checkServer(ctx context.Context, rdb redis.Cmdable) (warnings []string, err error) {
	if err := rdb.Ping(ctx).Err(); err != nil {
		return nil, fmt.Errorf("reach redis: %w", err)
	}
	text, err := rdb.Info(ctx).Result()
	if err != nil {
		return []string{"redis does not tell about itself, so its version and settings are not checked: " + err.Error()}, nil
	}
	info := parseInfo(text)
	problem := checkVersion(info["redis_version"])
	switch {
	case info["redis_version"] == "":
		warnings = append(warnings, "redis does not tell its version")
	case problem != nil:
		return nil, problem
	}
	switch policy := info["maxmemory_policy"]; {
	case policy == "" || policy == "noeviction":
	case info["maxmemory"] == "0":
		warnings = append(warnings, fmt.Sprintf("maxmemory-policy is %s: want noeviction, or jobs are thrown away once maxmemory is set", policy))
	default:
		return warnings, fmt.Errorf("redis throws away jobs when its memory is full: maxmemory-policy is %s: want noeviction", policy)
	}
	if info["aof_enabled"] == "0" {
		warnings = append(warnings, "appendonly is off: jobs of the time since the last snapshot are lost when redis stops")
	}
	return warnings, nil
}

func parseInfo(text string) map[string]string {
	info := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		if key, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			info[key] = value
		}
	}
	return info
}

func checkVersion(version string) error {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return fmt.Errorf("redis has the version %q, which is not one", version)
	}
	major, majorErr := strconv.Atoi(parts[0])
	minor, minorErr := strconv.Atoi(parts[1])
	switch {
	case errors.Join(majorErr, minorErr) != nil:
		return fmt.Errorf("redis has the version %q, which is not one", version)
	case major < minRedisMajor || (major == minRedisMajor && minor < minRedisMinor):
		return fmt.Errorf("redis is %s: want at least %d.%d", version, minRedisMajor, minRedisMinor)
	}
	return nil
}
