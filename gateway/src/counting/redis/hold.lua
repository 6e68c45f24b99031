-- Reserves money on every meter, or on none.
-- KEYS: epoch, then per meter: the hash, its holds by end. ARGV: epoch, time, id, amount, milliseconds until void,
-- then per meter: limit, floor, what the database says was spent ('' when not asked), microseconds since it was asked.
-- Replies {'held', amount, spent and held of each meter after it}, {'denied', which meter} or
-- {'unknown', which meters ...}; meters are numbers from 0.
if lost() then return {'lost'} end
local now, id, least, remaining = clock(), ARGV[3], amount(ARGV[4]), tonumber(ARGV[5])
local count = (#KEYS - 1) / 2
local spent, held, unknown, before = {}, {}, {'unknown'}, nil

for at = 1, count do
  local meter, ends = KEYS[2 * at], KEYS[2 * at + 1]
  local seed, age = ARGV[4 * at + 4], ARGV[4 * at + 5]
  voidExpired(meter, ends, now)
  if seed ~= '' and redis.call('HSETNX', meter, 'spent', seed) == 1 then
    redis.call('HSET', meter, 'since', whole(now - age))
    redis.call('PEXPIRE', meter, 172800000)
  end
  local found = redis.call('HMGET', meter, 'spent', 'held', 'of:' .. id)
  if not found[1] then
    unknown[#unknown + 1] = at - 1
  else
    spent[at], held[at] = amount(found[1]), amount(found[2] or '0')
    before = before or found[3]
  end
end
if #unknown > 1 then return unknown end

if not before then
  for at = 1, count do
    local left = minus(minus(amount(ARGV[4 * at + 2]), spent[at]), held[at])
    if less(left, amount(ARGV[4 * at + 3])) or less(left, {0, 1}) then return {'denied', at - 1} end
    if less(left, least) then least = left end
  end
  for at = 1, count do
    putHold(KEYS[2 * at], KEYS[2 * at + 1], id, least, held[at], now, remaining)
    held[at] = plus(held[at], least)
  end
end

local reply = {'held', before or digits(least)}
for at = 1, count do
  reply[#reply + 1] = digits(spent[at])
  reply[#reply + 1] = digits(held[at])
end
return reply
