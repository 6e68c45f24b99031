-- keys: the meter's hash, its holds by end. Replies {'meter', spent, held} or {'unknown'}.
voidExpired(keys[1], keys[2], now)
local found = redis.call('HMGET', keys[1], 'spent', 'held')
if not found[1] then return {'unknown'} end
return {'meter', found[1], found[2] or '0'}
