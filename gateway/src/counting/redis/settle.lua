-- Ends a hold and adds what was spent, once per id.
-- KEYS: epoch, the mark that this id ended, then per meter: the hash, its holds by end. ARGV: epoch, time, id, spent,
-- microseconds since it ended, milliseconds the mark is kept.
if lost() then return {'lost'} end
local now, id, spent, age = clock(), ARGV[3], amount(ARGV[4]), tonumber(ARGV[5])
if not redis.call('SET', KEYS[2], '', 'NX', 'PX', ARGV[6]) then return {'ended'} end

for at = 3, #KEYS, 2 do
  local meter, ends = KEYS[at], KEYS[at + 1]
  local found = redis.call('HMGET', meter, 'spent', 'held', 'since', 'of:' .. id)
  if found[4] then
    redis.call('HSET', meter, 'held', digits(minus(amount(found[2] or '0'), amount(found[4]))))
    redis.call('HDEL', meter, 'of:' .. id)
    redis.call('ZREM', ends, id)
  end
  -- A meter that is not known is asked from the database when it is next used, with this in it. So is one asked
  -- from there after this ended; unless that is so recent that the database may not have heard of it.
  if found[1] and (age < 5000000 or now - age >= tonumber(found[3])) then
    redis.call('HSET', meter, 'spent', digits(plus(amount(found[1]), spent)))
    redis.call('PEXPIRE', meter, math.max(redis.call('PTTL', meter), 172800000))
  end
end
return {'settled'}
