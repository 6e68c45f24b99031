-- Keeps slots for another while, and puts back those that Redis has forgotten: they are under way.
-- keys: slots. values: milliseconds, ids.
for at = 2, #values do
  redis.call('ZADD', keys[1], whole(now + values[1] * 1000), values[at])
end
redis.call('PEXPIRE', keys[1], values[1])
return {'renewed'}
