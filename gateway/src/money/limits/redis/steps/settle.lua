-- Ends a hold and adds what was spent, once per id.
-- keys: the mark that this id ended, then per meter: the hash, its holds by end. values: id, spent, microseconds since
-- it ended, milliseconds the mark is kept.
local id, spent, age = values[1], amount(values[2]), tonumber(values[3])
if not redis.call('SET', keys[1], '', 'NX', 'PX', values[4]) then return {'ended'} end

for at = 2, #keys, 2 do
  local meter, ends = keys[at], keys[at + 1]
  local found = redis.call('HMGET', meter, 'spent', 'held', 'since', 'of:' .. id)
  local changed = {}
  if found[4] then
    changed = {'held', digits(minus(amount(found[2] or '0'), amount(found[4])))}
    redis.call('HDEL', meter, 'of:' .. id)
    redis.call('ZREM', ends, id)
  end
  -- A meter that is not known is asked from the database when it is next used, with this in it. So is one asked
  -- from there after this ended; unless that is so recent that the database may not have heard of it.
  if found[1] and (age < 5000000 or now - age >= tonumber(found[3])) then
    changed[#changed + 1] = 'spent'
    changed[#changed + 1] = digits(plus(amount(found[1]), spent))
    -- What was held is kept for longer than that already.
    if not found[4] then redis.call('PEXPIRE', meter, math.max(redis.call('PTTL', meter), 172800000)) end
  end
  if #changed > 0 then redis.call('HSET', meter, unpack(changed)) end
end
return {'settled'}
