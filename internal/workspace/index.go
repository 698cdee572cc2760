package workspace

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// listChunk is how many heads travel in one round trip.
const listChunk = 500

// enter puts a session that was just used into the index of its tenant, and takes out those that expired.
func (s *Store) enter(ctx context.Context, session Session) error {
	index, now := s.keys.index(session.Tenant), time.Now()
	_, err := s.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.ZAdd(ctx, index, redis.Z{Score: float64(now.Add(s.options.Expiry).UnixMilli()), Member: session.Name})
		pipe.ZRemRangeByScore(ctx, index, "-inf", strconv.FormatInt(now.UnixMilli(), 10))
		pipe.PExpire(ctx, index, s.options.Expiry)
		return nil
	})
	if err != nil {
		return fmt.Errorf("list %s among those of its tenant: %w", session, err)
	}
	return nil
}

// List returns the sessions of a tenant by name.
func (s *Store) List(ctx context.Context, tenant string) ([]Head, error) {
	names, err := s.rdb.ZRange(ctx, s.keys.index(tenant), 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	heads := []Head{}
	for chunk := range slices.Chunk(names, listChunk) {
		sessions := make([]Session, len(chunk))
		for i, name := range chunk {
			sessions[i] = Session{Tenant: tenant, Name: name}
		}
		found, err := s.heads(ctx, sessions)
		if err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		heads = append(heads, found...)
	}
	slices.SortFunc(heads, func(a, b Head) int { return strings.Compare(a.Name, b.Name) })
	return heads, nil
}
