-- KEYS: epoch, the meter's hash, its holds by end. ARGV: epoch, time. Replies {'meter', spent, held} or {'unknown'}.
if lost() then return {'lost'} end
voidExpired(KEYS[2], KEYS[3], clock())
local found = redis.call('HMGET', KEYS[2], 'spent', 'held')
if not found[1] then return {'unknown'} end
return {'meter', found[1], found[2] or '0'}
