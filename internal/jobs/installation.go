package jobs

import (
	"cmp"
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// EnsureInstallation returns the id of the installation that all who share a Redis and a
// prefix belong to. The first one to ask makes it: the one that it proposes, or a random one when
// that is empty. A proposal must be one that no other Redis has.
func EnsureInstallation(ctx context.Context, rdb redis.UniversalClient, prefix, proposal string) (string, error) {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	key := keys{prefix: prefix}.installation()
	if err := rdb.SetNX(ctx, key, cmp.Or(proposal, newToken()), 0).Err(); err != nil {
		return "", fmt.Errorf("make installation id: %w", err)
	}
	id, err := rdb.Get(ctx, key).Result()
	if err != nil {
		return "", fmt.Errorf("read installation id: %w", err)
	}
	return id, nil
}
