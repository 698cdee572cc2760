package jobs

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// EnsureInstallation returns the id of the installation that all who share a Redis and a
// prefix belong to. The first one to ask makes it.
func EnsureInstallation(ctx context.Context, rdb redis.UniversalClient, prefix string) (string, error) {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	key := keys{prefix: prefix}.installation()
	if err := rdb.SetNX(ctx, key, newToken(), 0).Err(); err != nil {
		return "", fmt.Errorf("make installation id: %w", err)
	}
	id, err := rdb.Get(ctx, key).Result()
	if err != nil {
		return "", fmt.Errorf("read installation id: %w", err)
	}
	return id, nil
}
