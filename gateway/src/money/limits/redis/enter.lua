-- The first call on a connection: writes, because a read-only or full Redis is no use, and replies the epoch, which has
-- one name per life of the data.
-- KEYS: epoch, a key to write. ARGV: the name of the epoch when there is none.
redis.call('SET', KEYS[1], ARGV[1], 'NX')
redis.call('SET', KEYS[2], '', 'PX', 60000)
return {redis.call('GET', KEYS[1])}
