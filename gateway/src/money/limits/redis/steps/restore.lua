-- Puts back a hold that Redis may have forgotten, or that was made while Redis was unreachable.
-- keys: the mark that this id ended, then per meter: the hash, its holds by end. values: id, amount, milliseconds until
-- void.
if redis.call('EXISTS', keys[1]) == 1 then return {'ended'} end
local id, of, remaining = values[1], amount(values[2]), tonumber(values[3])
for at = 2, #keys, 2 do
  local meter, ends = keys[at], keys[at + 1]
  if redis.call('HEXISTS', meter, 'of:' .. id) == 0 then
    putHold(meter, ends, id, of, amount(redis.call('HGET', meter, 'held') or '0'), now, remaining)
  end
end
return {'restored'}
