-- The first call on a connection: writes, because a read-only or full Redis is no use, and replies the epoch.
-- KEYS: epoch, a key to write. ARGV: the epoch to set when there is none, what to write.
redis.call('SET', KEYS[1], ARGV[1], 'NX')
redis.call('SET', KEYS[2], ARGV[2], 'PX', 60000)
return {redis.call('GET', KEYS[1])}
