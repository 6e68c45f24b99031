-- Puts back a hold that Redis may have forgotten, or that was made while it was away.
-- KEYS: epoch, the mark that this id ended, then per meter: the hash, its holds by end. ARGV: epoch, time, id, amount,
-- milliseconds until void.
if lost() then return {'lost'} end
if redis.call('EXISTS', KEYS[2]) == 1 then return {'ended'} end
local now, id, of, remaining = clock(), ARGV[3], amount(ARGV[4]), tonumber(ARGV[5])
for at = 3, #KEYS, 2 do
  local meter, ends = KEYS[at], KEYS[at + 1]
  if redis.call('HEXISTS', meter, 'of:' .. id) == 0 then
    putHold(meter, ends, id, of, amount(redis.call('HGET', meter, 'held') or '0'), now, remaining)
  end
end
return {'restored'}
