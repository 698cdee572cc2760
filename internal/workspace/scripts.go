package workspace

import "github.com/redis/go-redis/v9"

// Every script works on the keys of one session, KEYS being head, lease and files, and may be sent again
// when its reply was lost: the second run changes nothing more and replies the same. Times are those of Redis, in
// milliseconds, since the clocks of workers differ.

// prelude is what the scripts share. The files outlive the head by a minute, so that there is no head without them.
const prelude = `
local function get(field)
	return redis.call('HGET', KEYS[1], field)
end
local function micros()
	local time = redis.call('TIME')
	return time[1] * 1000000 + time[2]
end
local function now()
	return math.floor(micros() / 1000)
end
local function number(value)
	return string.format('%.0f', value)
end
local function used(expiry)
	redis.call('HSET', KEYS[1], 'used', number(now()))
	redis.call('PEXPIRE', KEYS[1], expiry)
	redis.call('PEXPIRE', KEYS[3], expiry + 60000)
end
`

func newScript(source string) *redis.Script { return redis.NewScript(prelude + source) }
