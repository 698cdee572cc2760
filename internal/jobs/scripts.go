package jobs

import "github.com/redis/go-redis/v9"

// Every script works on the keys of one job, KEYS being state, body and result, and may
// be sent again when its reply was lost: the second run changes nothing and replies the
// same. So each caller brings a token of its own.

// prelude is what the scripts share.
const prelude = `
local function get(...)
	return unpack(redis.call('HMGET', KEYS[1], ...))
end
local function finish(result, outcome, now, retention, channel)
	redis.call('SET', KEYS[3], result, 'PX', retention)
	redis.call('HSET', KEYS[1], 'state', 'done', 'outcome', outcome, 'finished', now)
	redis.call('PEXPIRE', KEYS[1], retention)
	if outcome == 'infra_error' then
		redis.call('PEXPIRE', KEYS[2], retention)
	else
		redis.call('DEL', KEYS[2])
	end
	redis.call('PUBLISH', channel, outcome)
end
local function remember(line)
	redis.call('HSET', KEYS[1], 'history', (redis.call('HGET', KEYS[1], 'history') or '') .. line)
end
`

func newScript(source string) *redis.Script { return redis.NewScript(prelude + source) }
