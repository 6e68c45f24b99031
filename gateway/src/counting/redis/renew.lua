-- Keeps slots for another while, and puts back those that Redis has forgotten: they are under way.
-- KEYS: epoch, slots. ARGV: epoch, time, milliseconds, ids.
if lost() then return {'lost'} end
local now = clock()
for at = 4, #ARGV do
  redis.call('ZADD', KEYS[2], whole(now + ARGV[3] * 1000), ARGV[at])
end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return {'renewed'}
